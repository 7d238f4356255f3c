"""The type of an attachment is detected from its content."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

import bough
from bough import Invalid, Media, NotFound, Text
from bough.cli.ask.attach import attached, question
from bough.model.files import block_of
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"

KINDS = [
    (PNG, "image", "image/png"),
    (b"\xff\xd8\xff\xe0\0\x10JFIF", "image", "image/jpeg"),
    (b"GIF89a\1\0", "image", "image/gif"),
    (b"RIFF\1\2\3\4WEBPVP8 ", "image", "image/webp"),
    (PDF, "document", "application/pdf"),
    (b"RIFF\1\2\3\4WAVEfmt ", "audio", "audio/wav"),
    (b"ID3\4\0", "audio", "audio/mpeg"),
    (b"\0\0\0\x20ftypisom", "video", "video/mp4"),
]


@pytest.mark.parametrize(("content", "kind", "mime"), KINDS, ids=[mime for *_, mime in KINDS])
def test_media_types_are_detected_from_the_first_bytes(content: bytes, kind: str, mime: str) -> None:
    block = block_of(content, "notes.txt")
    assert isinstance(block, Media)
    assert (block.kind, block.mime, block.data, block.name) == (kind, mime, content, "notes.txt")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"plain", "plain"),
        ("Grüße, 世界 🌳".encode(), "Grüße, 世界 🌳"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        ("wide".encode("utf-16"), "wide"),
        (b"", ""),
    ],
)
def test_text_is_attached_with_its_file_name(content: bytes, text: str) -> None:
    block = block_of(content, "a.py")
    assert isinstance(block, Text)
    assert block.text == f'<file name="a.py">\n{text}\n</file>'
    assert block.extra == {"file": "a.py"}


@pytest.mark.parametrize("content", [b"\x7fELF\2\1\1\0", b"PK\3\4\xff\xfe", b"a\0b", b"caf\xe9"])
def test_unsupported_content_is_refused(content: bytes) -> None:
    with pytest.raises(Invalid, match="neither text nor a picture"):
        block_of(content, "thing")


def test_a_missing_file_and_a_directory_are_errors(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no file"):
        attached([str(tmp_path / "nowhere.txt")])
    with pytest.raises(Invalid, match="cannot be attached"):
        attached([str(tmp_path)])


def test_a_url_is_fetched_by_the_provider() -> None:
    (picture, paper) = attached(["https://example.org/a.png?x=1", "http://example.org/b.pdf"])
    assert picture == Media("image", "image/png", url="https://example.org/a.png?x=1")
    assert isinstance(paper, Media)
    assert paper.kind == "document"
    with pytest.raises(Invalid, match="fetch it, and attach the file"):
        attached(["https://example.org/a.html"])


def test_words_follow_files_and_piped_input(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A")
    parts = question(["what", "is", "this?"], [str(tmp_path / "a.txt")], b"piped\n")
    assert [part.text for part in parts if isinstance(part, Text)] == [
        '<file name="a.txt">\nA\n</file>',
        "<stdin>\npiped\n\n</stdin>",
        "what is this?",
    ]


def test_a_silent_socket_is_not_waited_for(sh: Shell) -> None:
    ScriptedShell(sh).script("Reply.")
    ours, theirs = socket.socketpair()
    with ours, theirs, bough_process(sh, theirs.fileno()) as process:
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, b"Reply.\n")


def test_waiting_for_an_open_pipe_is_reported(sh: Shell) -> None:
    ScriptedShell(sh).script("Reply.")
    with bough_process(sh, subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        assert b"--skip-stdin" in process.stderr.readline()
        out, _ = process.communicate(b"late", timeout=30)
    assert out == b"Reply.\n"
    with bough.connect(sh.db) as store:
        assert [node.message.text for node in store.list_messages()][-1] == "<stdin>\nlate\n</stdin>\nhello"


def bough_process(sh: Shell, stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "bough", "run", "hello"],
        cwd=sh.directory,
        env={**sh.environment, "BOUGH_MODEL": "scripted:script"},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_without_words_piped_input_is_the_question() -> None:
    assert question([], [], b"why?\n") == [Text("why?")]
    assert question(["-"], [], b"why?\n") == [Text("why?")]
    assert question([], [], b" \n") == []
    (picture,) = question([], [], PNG)
    assert isinstance(picture, Media)
