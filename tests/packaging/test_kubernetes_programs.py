"""What the Kubernetes programs are built from, and when they are built.

Here a shell script is Go. `make e2e` builds with the real one, from forks too.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT
from tests.waiting import wait_until
from tools.go_module import GoModule
from tools.kubernetes_forks import forks, version_of_tree
from tools.kubernetes_programs import MODULE, main, programs

PROGRAMS = [
    *("csi-attacher", "csi-provisioner", "csi-resizer", "csi-snapshotter", "etcd", "hollownode"),
    *("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
    "snapshot-controller",
]

FAKE_GO = """#!/bin/sh
case "$1 $2" in
"env GOVERSION")
    echo go1.99.0 ;;
"mod edit")
    echo "$@" >>"$RECORD" ;;
build*)
    echo "$@" >>"$RECORD"
    while [ "$1" != -o ]; do shift; done
    echo a/package >&2
    test -z "$FAILING" || { echo "no such thing" >&2; exit 1; }
    test -z "$SLOW" || { echo begun >"$2"; exec sleep 1000; }
    echo program >"$2"
    chmod +x "$2" ;;
esac
"""


class Building:
    """Runs the tool with a Go that only writes down what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.into = folder / "bin"
        self._record = folder / "record"
        self._record.touch()
        go = folder / "path" / "go"
        go.parent.mkdir()
        go.write_text(FAKE_GO)
        go.chmod(0o755)
        self._variables = {
            **os.environ,
            "PATH": f"{go.parent}{os.pathsep}{os.environ['PATH']}",
            "RECORD": str(self._record),
            "MOCKDRIVER_CACHE": str(folder / "cache"),
            "FAILING": "",
            "SLOW": "",
        }

    def begin(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tools.kubernetes_programs", "--into", self.into, *arguments],
            cwd=ROOT,
            env={**self._variables, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, **variables: str) -> tuple[int, str]:
        """Return the exit code and what was printed."""
        with self.begin(*arguments, **variables) as process:
            printed, _ = process.communicate(timeout=60)
        return process.returncode, printed

    def built(self) -> list[str]:
        """Return the packages that Go was asked for, in this order."""
        lines = self._record.read_text().splitlines()
        return [line.split()[-1] for line in lines if line.startswith("build")]

    def asked(self) -> str:
        """Return all that Go was asked."""
        return self._record.read_text()


@pytest.fixture
def building(tmp_path: Path) -> Building:
    return Building(tmp_path)


def test_these_programs_are_pinned() -> None:
    assert sorted(program.name for program in programs()) == PROGRAMS


def test_the_page_names_the_versions_that_are_pinned() -> None:
    page = (ROOT / "docs" / "real-kubernetes.md").read_text(encoding="utf-8")
    introduction, _, _ = page.partition("```")
    versions = {program.name: program.version for program in programs()}

    named = re.findall(r"v\d+\.\d+\.\d+", introduction)
    assert named == [
        versions["kube-apiserver"],
        versions["etcd"],
        versions["csi-attacher"],
        versions["csi-provisioner"],
    ]


def test_the_modules_of_kubernetes_are_replaced_by_those_of_its_release() -> None:
    _, version = MODULE.module_of("k8s.io/kubernetes")
    replaced = re.findall(r"^\t(k8s\.io/\S+) => (\S+) (\S+)$", MODULE.text, re.MULTILINE)

    assert len(replaced) > 30
    for module, other, other_version in replaced:
        assert (other, other_version) == (module, f"v0.{version.removeprefix('v1.')}")


def test_a_module_has_tools_one_by_one_or_in_a_block(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("go 1.24\ntool a.example/b\ntool (\n\tc.example/d\n)\n")

    assert GoModule(tmp_path).tools == ["c.example/d", "a.example/b"]


def test_what_is_built_already_is_left_alone(building: Building) -> None:
    code, printed = building.run("kubectl", "etcd")
    assert code == 0
    assert "1/2 kubectl v1." in printed
    assert "2/2 etcd v3." in printed
    assert building.built() == ["k8s.io/kubernetes/cmd/kubectl", "go.etcd.io/etcd/server/v3"]

    assert building.run("kubectl", "etcd") == (0, "")
    assert len(building.built()) == 2


def test_what_was_built_from_other_pins_is_built_again(building: Building) -> None:
    building.run("kubectl")
    (building.into / "kubectl.built-from").write_text("something else")

    building.run("kubectl")

    assert len(building.built()) == 2


def test_a_build_that_fails_shows_why_and_leaves_the_program_of_before(building: Building) -> None:
    building.run("kubectl")
    (building.into / "kubectl.built-from").write_text("something else")

    code, printed = building.run("kubectl", FAILING="yes")

    assert code == 1
    assert printed.endswith("no such thing\nkubernetes_programs: kubectl could not be built\n")
    assert (building.into / "kubectl").read_text() == "program\n"
    assert list(building.into.glob("*.unfinished")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_build_that_is_interrupted_is_made_by_the_next_one(
    building: Building, number: signal.Signals
) -> None:
    unfinished = building.into / "kubectl.unfinished"
    with building.begin("kubectl", SLOW="yes") as process:
        wait_until(lambda: unfinished.exists() and unfinished.read_text(), "Go is building")
        os.killpg(process.pid, number)  # as a terminal does
        printed, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert ("interrupted; the next build goes on here" in printed) is (number == signal.SIGINT)
    assert not (building.into / "kubectl").exists()

    assert building.run("kubectl")[0] == 0

    assert (building.into / "kubectl").read_text() == "program\n"
    assert not unfinished.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_build_that_is_told_to_end_takes_go_along(
    building: Building, number: signal.Signals
) -> None:
    unfinished = building.into / "kubectl.unfinished"
    with building.begin("kubectl", SLOW="yes") as process:
        wait_until(lambda: unfinished.exists() and unfinished.read_text(), "Go is building")
        process.send_signal(number)
        printed, _ = process.communicate(timeout=60)  # until Go, which has this pipe too, has ended
    assert process.returncode == 1
    assert "interrupted; the next build goes on here" in printed
    assert not unfinished.exists()


def test_a_second_build_waits_for_the_first_and_then_has_nothing_to_do(
    building: Building,
) -> None:
    unfinished = building.into / "kubectl.unfinished"
    with building.begin("kubectl", SLOW="yes") as first:
        wait_until(unfinished.exists, "Go is building")
        with building.begin("kubectl") as second:
            assert second.stdout is not None
            assert second.stdout.readline() == (
                "kubernetes-programs: waiting for another process that does this\n"
            )
            os.killpg(first.pid, signal.SIGKILL)
            assert second.wait(60) == 0
    assert len(building.built()) == 2


def module(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text(f"module {name}\n\ngo 1.24\n")
    return folder


def kubernetes_tree(folder: Path) -> Path:
    module(folder, "k8s.io/kubernetes")
    for name in ("api", "component-base"):
        module(folder / "staging" / "src" / "k8s.io" / name, f"k8s.io/{name}")
    return folder


def test_a_module_is_replaced_in_a_copy_of_go_mod_and_only_its_programs_are_built(
    building: Building, tmp_path: Path
) -> None:
    name = "github.com/kubernetes-csi/external-attacher/v4"
    fork = module(tmp_path / "fork", name)

    code, printed = building.run("--replace", f"{name}={fork}")

    assert code == 0
    assert "1/1 csi-attacher v4.13.0+fork" in printed
    assert building.built() == [f"{name}/cmd/csi-attacher"]
    copies = tmp_path / "cache" / "kubernetes" / "forks"
    assert f"mod edit -replace={name}={fork} {copies}/" in building.asked()
    assert f"-modfile={copies}/" in building.asked()
    (copy,) = copies.glob("*.mod")
    assert copy.read_text() == MODULE.text  # our Go edits nothing


def test_a_kubernetes_tree_replaces_all_modules_that_it_has(tmp_path: Path) -> None:
    tree = kubernetes_tree(tmp_path / "kubernetes")

    assert forks([], tree).folders == {
        "k8s.io/kubernetes": tree,
        "k8s.io/api": tree / "staging" / "src" / "k8s.io" / "api",
        "k8s.io/component-base": tree / "staging" / "src" / "k8s.io" / "component-base",
    }


def test_the_programs_of_a_kubernetes_tree_are_built_without_being_named(
    building: Building, tmp_path: Path
) -> None:
    building.run("--kubernetes", str(kubernetes_tree(tmp_path / "kubernetes")))

    assert [package.rpartition("/")[2] for package in building.built()] == [
        *("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "hollownode")
    ]


def test_a_fork_is_always_given_to_go_and_its_programs_do_not_pass_for_pinned_ones(
    building: Building, tmp_path: Path
) -> None:
    tree = kubernetes_tree(tmp_path / "kubernetes")

    for _ in range(2):
        building.run("kubectl", "--kubernetes", str(tree))
    building.run("kubectl")

    assert len(building.built()) == 3


@pytest.mark.parametrize(
    ("source", "version"),
    [
        ('DefaultKubeBinaryVersion = "1.37"', "v1.37.2+fork"),
        ('DefaultKubeBinaryVersion = "1.38"', "v1.38.0+fork"),
        ("", "v1.37.2+fork"),
    ],
)
def test_programs_of_a_tree_report_its_version(tmp_path: Path, source: str, version: str) -> None:
    tree = kubernetes_tree(tmp_path / "kubernetes")
    folder = tree / "staging" / "src" / "k8s.io" / "component-base" / "version"
    folder.mkdir()
    (folder / "base.go").write_text(f"package version\n\nconst {source}\n")

    assert version_of_tree(tree, "v1.37.2") == version


def test_replacements_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    other = module(tmp_path / "other", "example.com/other")
    empty = tmp_path / "empty"
    empty.mkdir()
    for replacement, complaint in (
        ("example.com/one", "must be MODULE=FOLDER"),
        (f"example.com/one={empty}", "holds no Go module, example.com/one is wanted"),
        (f"example.com/one={other}", "holds the module example.com/other, example.com/one is"),
    ):
        with pytest.raises(SystemExit, match=complaint):
            forks([replacement], None)
    with pytest.raises(SystemExit, match="is no Kubernetes tree: it has no staging/src/k8s"):
        forks([], other)


def test_mistakes_on_the_command_line_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fork = module(tmp_path / "fork", "example.com/one")
    with pytest.raises(SystemExit):
        main(["--replace", f"example.com/one={fork}"])
    assert "need --into, so that pinned programs stay pinned" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="no program 'kubelet'; known: csi-attacher, csi-prov"):
        main(["kubelet"])
