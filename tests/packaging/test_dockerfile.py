"""The Dockerfile's steps, run one by one in a folder: there is no need of a container engine."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from packaging.utils import canonicalize_name

from csi_spec import csi_pb2, csi_pb2_grpc
from tests.packaging.locks import read_lock
from tests.packaging.tree import ROOT, copy_to

DOCKERFILE = ROOT / "Dockerfile"


@dataclass(frozen=True)
class Instruction:
    """One instruction of a Dockerfile, on one line."""

    name: str
    text: str


def stages() -> list[list[Instruction]]:
    """Return the instructions of each stage; the first of each is its FROM."""
    found: list[list[Instruction]] = []
    for line in DOCKERFILE.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        assert not line.endswith("\\"), "this reader knows one line an instruction"
        name, _, text = line.partition(" ")
        if name == "FROM":
            found.append([])
        found[-1].append(Instruction(name, text))
    return found


def texts(stage: list[Instruction], name: str) -> list[str]:
    """Return what a stage says with one kind of instruction."""
    return [instruction.text for instruction in stage if instruction.name == name]


# ----------------------------------------------------------------------------------- what it says


def test_the_image_is_built_in_one_stage_and_run_in_another() -> None:
    build, final = stages()
    assert texts(build, "FROM") == ["python:3.13-slim AS build"]
    assert texts(final, "FROM") == ["python:3.13-slim"]
    assert texts(final, "RUN") == []


def test_the_container_does_not_run_as_root() -> None:
    (user,) = texts(stages()[-1], "USER")
    uid, gid = user.split(":")
    assert int(uid) > 0
    assert int(gid) > 0


def test_the_socket_is_in_the_mounted_folder() -> None:
    final = stages()[-1]
    (folder,) = texts(final, "VOLUME")
    assert f"CSI_ENDPOINT=unix://{folder}/csi.sock" in texts(final, "ENV")


def test_what_is_made_here_is_not_copied_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    generated = {"csi_spec/csi_pb2*", "kubelet_spec/*_pb2*"}
    assert {".git", ".venv", ".cache", "**/__pycache__"} | generated <= set(ignored)


def test_packages_are_installed_with_hashes_or_from_the_build_alone() -> None:
    installs = [text for text in texts(stages()[0], "RUN") if " pip install " in text]
    assert len(installs) == 3
    assert all("--require-hashes" in text or "--no-index" in text for text in installs)


# ----------------------------------------------------------------------------------- what it does


def run_step(command: str, cwd: Path) -> None:
    """Run a RUN step as the image would: with nothing of this environment's Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    arguments = shlex.split(command)
    if arguments[0] == "python":
        arguments[0] = sys.executable
    done = subprocess.run(
        arguments,
        cwd=cwd,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Carry out the build stage in a folder that stands for the image's root."""
    root = tmp_path_factory.mktemp("image")
    context = copy_to(tmp_path_factory.mktemp("context"))
    source = root / "src"
    for instruction in stages()[0]:
        text = instruction.text.replace("/opt/", f"{root}/opt/")
        match instruction.name:
            case "WORKDIR":
                assert text == "/src"
                source.mkdir()
            case "COPY":
                what, where = text.split()
                shutil.copytree(context / what, source / where, dirs_exist_ok=True)
            case "RUN":
                run_step(text, source)
            case "FROM":
                pass
            case other:
                raise AssertionError(f"{other} is not carried out here")
    return root


@pytest.mark.packaging
def test_the_image_holds_the_core_and_no_tools_to_build(image: Path) -> None:
    listed = subprocess.run(
        [image / "opt/mockdriver/bin/python", "-m", "pip", "list", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = {canonicalize_name(item["name"]) for item in json.loads(listed)}
    assert names - {"pip", "setuptools"} <= {*read_lock("core"), "mockdriver"}
    assert "mockdriver" in names


@pytest.mark.packaging
def test_the_container_answers_and_stops_at_sigterm(image: Path, tmp_path: Path) -> None:
    final = stages()[-1]
    command = [
        *json.loads(texts(final, "ENTRYPOINT")[0]),
        *json.loads(texts(final, "CMD")[0]),
    ]
    socket = tmp_path / "csi.sock"
    process = subprocess.Popen(
        [image / "opt/mockdriver/bin" / command[0], *command[1:]],
        env={"CSI_ENDPOINT": f"unix://{socket}", "PYTHONUNBUFFERED": "1"},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert "is ready" in process.stdout.readline()
        with grpc.insecure_channel(f"unix:{socket}") as channel:
            info = csi_pb2_grpc.IdentityStub(channel).GetPluginInfo(
                csi_pb2.GetPluginInfoRequest(), timeout=60
            )
        assert info.name == "mock.csi.example.com"
        process.send_signal(getattr(signal, texts(final, "STOPSIGNAL")[0]))
        assert process.wait(timeout=60) == 0
        assert not socket.exists()
    finally:
        process.kill()
        process.communicate()
