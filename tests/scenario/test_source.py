from __future__ import annotations

import os
from pathlib import Path

import pytest

from mockdriver.scenario.load import load
from mockdriver.scenario.mistakes import ScenarioMistakes
from mockdriver.scenario.source import MAX_BYTES, MAX_LINES, MAX_WORDS, read_text


def refusal_of(path: Path | str) -> str:
    """Return the one line that reading a file ends in, without the file's name."""
    with pytest.raises(ScenarioMistakes) as caught:
        load(str(path))
    (line,) = str(caught.value).splitlines()
    return line.removeprefix(f"{path}:")


def test_a_file_is_read_as_utf_8_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfscenario: sm\xc3\xa5ll\n")
    assert read_text(str(path)) == "scenario: småll\n"
    assert load(str(path)).name == "småll"


def test_a_file_of_exactly_one_mebibyte_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    head = b"scenario: x\n#"
    path.write_bytes(head + b"-" * (MAX_BYTES - len(head)))
    assert load(str(path)).name == "x"


def test_a_larger_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    with path.open("wb") as file:
        file.truncate(50 * MAX_BYTES)
    monkeypatch.setattr(os, "fdopen", None)  # what reads would fail
    assert refusal_of(path) == "1:1: file: has 52428800 bytes, allowed: at most 1048576"


def test_a_size_that_the_folder_does_not_tell_is_found_out_by_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # files in /proc, and files that grow meanwhile, hold more than their size says
    path = tmp_path / "a.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    smaller = tmp_path / "b.yaml"
    smaller.touch()
    status = smaller.stat()
    monkeypatch.setattr(os, "fstat", lambda _: status)
    line = "1:1: file: has more than 1048576 bytes, which is all that is allowed"
    assert refusal_of(path) == line


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusal_of(tmp_path) == "1:1: file: is a folder, a YAML file is needed"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal_of(tmp_path / "a.yaml") == "1:1: file: there is no such file"


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    os.mkfifo(path)
    assert refusal_of(path) == "1:1: file: is not a regular file, a YAML file is needed"


def test_a_device_is_refused() -> None:
    assert refusal_of("/dev/zero") == "1:1: file: is not a regular file, a YAML file is needed"


def test_a_file_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("scenario: x")
    path.chmod(0)

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    if os.geteuid() == 0:  # root reads everything
        monkeypatch.setattr(os, "open", refuse)
    assert refusal_of(path) == "1:1: file: cannot be read, permission denied"


def test_a_name_too_long_for_a_file_is_refused() -> None:
    assert refusal_of("a" * 300 + ".yaml") == "1:1: file: cannot be read: File name too long"


def test_a_name_with_a_nul_byte_is_refused_on_one_line() -> None:
    with pytest.raises(ScenarioMistakes) as caught:
        load("a\0\n/b.yaml")
    assert (
        str(caught.value) == "a\\x00\\x0a/b.yaml:1:1: file: cannot be read: a NUL byte in its name"
    )


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.symlink_to(path)
    assert refusal_of(path).startswith("1:1: file: cannot be read: Too many levels")


def written(folder: Path, content: bytes) -> Path:
    path = folder / "a.yaml"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\x89PNG\r\n\x1a\n", "1:1: file: is not UTF-8 text: byte 0x89"),
        (b"scenario: x\nabout: \xff\n", "2:8: file: is not UTF-8 text: byte 0xff"),
        (
            b"scenario: x\nabout: a\x00b\n",
            "2:9: file: is not text: control character U+0000, YAML allows tabs and line breaks",
        ),
        (
            b"scenario: \x1b[31mx\n",
            "1:11: file: is not text: control character U+001B, YAML allows tabs and line breaks",
        ),
        ("scenario: x".encode("utf-16"), "1:1: file: is not UTF-8 text: byte 0xff"),
    ],
)
def test_what_is_not_text_is_refused_with_its_position(
    content: bytes, line: str, tmp_path: Path
) -> None:
    assert refusal_of(written(tmp_path, content)) == line


def test_too_many_lines_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, b"scenario: x\n" + b"#\n" * MAX_LINES)
    assert refusal_of(path) == "1:1: file: has more than 50000 lines, which is all that is allowed"


def test_too_many_words_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, b"scenario:" + b" x" * MAX_WORDS)
    assert refusal_of(path) == "1:1: file: has more than 150000 words, which is all that is allowed"
