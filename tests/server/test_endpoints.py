"""Which endpoints are understood, and that sockets with odd names can be listened on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mockdriver.server.sockets import MAX_PATH_BYTES, EndpointMistake, parse_endpoint
from tests.conftest import Serve
from tests.requests import is_ready
from tests.server.in_process import listening
from tests.serving import serving

ODD_NAMES = ("a b.sock", "100%.sock", "%41.sock", "größe-体积.sock", "a#b.sock", "a?b=c.sock", "~")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose name leaves room for a socket's."""
    with TemporaryDirectory(prefix="mockdriver-test-") as name:
        yield Path(name)


def path_of(folder: Path, size: int) -> Path:
    """Return a path in the folder that has so many bytes."""
    return folder / ("s" * (size - len(os.fsencode(folder)) - 1))


@pytest.mark.parametrize("written", ["unix:///run/csi.sock", "unix:/run/csi.sock", "/run/csi.sock"])
def test_a_full_path_is_understood_with_and_without_scheme(written: str) -> None:
    assert parse_endpoint(written) == Path("/run/csi.sock")


@pytest.mark.parametrize("written", ["csi.sock", "./csi.sock", "x/../csi.sock"])
def test_a_plain_relative_path_is_relative_to_the_working_folder(
    written: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)

    assert parse_endpoint(written) == folder / "csi.sock"


@pytest.mark.parametrize("scheme", ["", "unix:", "unix://"])
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_path_is_taken_as_it_is_written(scheme: str, name: str) -> None:
    assert parse_endpoint(f"{scheme}/run/{name}") == Path("/run") / name


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("tcp://127.0.0.1:10000", "only Unix sockets"),
        ("tcp:/run/csi.sock", "only Unix sockets"),
        ("unix-abstract:csi", "only Unix sockets"),
        ("unix://relative.sock", "must be absolute"),
        ("unix:relative.sock", "must be absolute"),
        ("unix://", "must be absolute"),
        ("unix:", "must be absolute"),
        ("", "is empty"),
        ("/run/a\0b.sock", "no zero byte"),
        ("unix:///run/\0", "no zero byte"),
    ],
)
def test_what_is_no_endpoint_is_refused_with_the_reason(written: str, reason: str) -> None:
    with pytest.raises(EndpointMistake, match=reason) as refused:
        parse_endpoint(written)
    assert not written or repr(written) in str(refused.value)


def test_a_path_may_have_107_bytes(folder: Path) -> None:
    path = path_of(folder, MAX_PATH_BYTES)

    assert parse_endpoint(f"unix://{path}") == path
    with listening(path) as client:
        assert is_ready(client)


def test_a_short_name_in_the_longest_folder_can_be_listened_on(folder: Path) -> None:
    inner = path_of(folder, MAX_PATH_BYTES - 2)
    inner.mkdir()

    with listening(inner / "s") as client:
        assert is_ready(client)


def test_a_path_of_108_bytes_is_refused_with_both_numbers(folder: Path) -> None:
    path = path_of(folder, MAX_PATH_BYTES + 1)

    with pytest.raises(EndpointMistake, match=r"has 108 bytes, .* at most 107; choose a shorter"):
        parse_endpoint(f"unix://{path}")


def test_the_bytes_of_a_path_are_counted_not_its_characters() -> None:
    # 5 bytes for "/run/", and two for each letter
    assert parse_endpoint("/run/" + "ü" * 51).name == "ü" * 51
    with pytest.raises(EndpointMistake, match="has 109 bytes"):
        parse_endpoint("/run/" + "ü" * 52)


@pytest.mark.parametrize("name", [*ODD_NAMES, "s", "~s", "_"])
def test_a_socket_with_an_odd_name_is_answered_on_and_removed(name: str, folder: Path) -> None:
    with listening(folder / name) as client:
        assert is_ready(client)
        assert [path.name for path in folder.iterdir()] == [name]

    assert list(folder.iterdir()) == []


def test_a_path_that_is_no_text_is_listened_on_and_printed(serve: Serve) -> None:
    name = b"\xff \xc3\xbc.sock"
    server = serve(endpoint=os.fsdecode(name), variables={"PYTHONIOENCODING": "utf-8:strict"})

    with server.connect() as client:
        assert is_ready(client)
    assert name in os.fsencode(server.printed().splitlines()[0])
    assert server.stop() == 0


@pytest.mark.parametrize("form", ["{}", "unix:{}", "unix://{}"])
def test_csi_endpoint_is_taken_with_and_without_scheme(form: str, folder: Path) -> None:
    path = folder / "a b%41ü#c?d.sock"

    with serving(variables={"CSI_ENDPOINT": form.format(path)}) as server:
        assert server.printed().splitlines()[0].endswith(f"listening on unix://{path}")
        assert path.is_socket()
        assert server.stop() == 0
    assert not path.exists()


def test_a_relative_endpoint_is_printed_in_full(serve: Serve) -> None:
    server = serve("--endpoint", "inner.sock")

    assert server.printed().splitlines()[0].endswith(f"unix://{server.folder}/inner.sock")
    assert (server.folder / "inner.sock").is_socket()


@pytest.mark.parametrize("endpoint", ["tcp://127.0.0.1:1", "unix://relative", "/" + "s" * 107])
def test_a_server_with_a_wrong_endpoint_ends_with_one_line(endpoint: str, serve: Serve) -> None:
    server = serve(variables={"CSI_ENDPOINT": endpoint}, ready=False)

    assert server.exit_code() == 1
    assert server.log().startswith(f"Error: endpoint {endpoint!r}: ")
    assert server.log().count("\n") == 1
    assert server.printed() == ""
