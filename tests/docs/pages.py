"""The pages of the guide as tests see them: blocks, tables, and commands that can be run."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcensus.cli.shared.run import run

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide"
EXAMPLES = GUIDE / "examples"

_FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page: its language, where it begins and what it says.

    ``reason`` tells why it cannot be run, where the page says so: ``not run: a part of a file``
    behind the language.
    """

    language: str
    line: int
    text: str
    reason: str = ""


def page_text(name: str) -> str:
    """A page of the guide."""
    return (GUIDE / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[Block]:
    """The fenced blocks of a page in one language."""
    text = page_text(name)
    found = []
    for match in _FENCE.finditer(text):
        indent, kind, more, body = match.groups()
        _, mark, reason = more.partition("not run:")
        assert not mark or reason.strip(), f"{name}: why is it not run?"
        lines = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(kind, line, lines, reason.strip()))
    return [one for one in found if one.language == language]


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its depth or higher."""
    depth = heading.index(" ")
    lines = text.splitlines()
    start = lines.index(heading) + 1
    for end in range(start, len(lines)):
        mark = re.match(r"#+ ", lines[end])
        if mark and len(mark[0]) - 1 <= depth:
            return "\n".join(lines[start:end])
    return "\n".join(lines[start:])


def rows(text: str) -> list[list[str]]:
    """The rows of all tables in a text, without their heads."""
    found: list[list[str]] = []
    before = ""
    in_table = False
    for line in text.splitlines():
        if re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line):
            in_table = before.startswith("|")
        elif in_table and line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            found.append([cell.strip().replace("\\|", "|") for cell in cells])
        else:
            in_table = False
        before = line
    return found


def words(cell: str) -> list[str]:
    """What stands in code marks in a text."""
    return _CODE.findall(cell)


def steps(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the answer that is shown.

    A command goes on in the next line where a line ends with a backslash.
    """
    command: str | None = None
    answer: list[str] = []
    for line in re.sub(r"\\\n *", "", block.text).splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command, "\n".join(answer)
            command, answer = line[2:], []
        else:
            answer.append(line)
    if command is not None:
        yield command, "\n".join(answer)


def answer_of(command: str, folder: Path) -> tuple[int, str]:
    """Run one command of a page in a folder: its exit code, and what a terminal would show."""
    program, *arguments = shlex.split(command)
    if program == "sdcensus":
        shown = io.StringIO()
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(shown),
            contextlib.redirect_stderr(shown),
        ):
            code = run(arguments)
        return code, shown.getvalue()
    if program == "python":
        done = subprocess.run(
            [sys.executable, "-W", "error", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout + done.stderr
    raise AssertionError(f"the guide may not ask for {program!r}")


_CHANGING = (
    (re.compile(r"\b\d+ min \d+ s\b|\b[\d.]+ m?s\b"), "TIME"),
    (re.compile(r"\b[\d.]+ (?:bytes|[kMG]B)"), "SIZE"),
    (re.compile(r"\bsdcensus \d+\.\d+\S*"), "sdcensus VERSION"),
)
_ID = re.compile(r"\b(?:[0-9a-f]{32}|[0-9a-f]{16})\b")


def comparable(text: str, *, random_secret: bool) -> str:
    """A text without what differs from run to run: times, sizes, and what a secret decides."""
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    if random_secret:
        text = _ID.sub("ID", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def answers_as_shown(answer: str, shown: str, *, random_secret: bool) -> bool:
    """Whether a command answers what a page shows; a line ``...`` stands for any lines.

    Examples:
        >>> answers_as_shown("a\\nb\\nc\\nd", "a\\n...\\nd", random_secret=False)
        True
        >>> answers_as_shown("a\\nb\\nc\\nd", "a\\n...\\nc", random_secret=False)
        False
        >>> answers_as_shown("anything", "", random_secret=False)
        True
    """
    if not shown.strip():
        return True
    lines = comparable(shown, random_secret=random_secret).splitlines()
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in lines)
    text = comparable(answer, random_secret=random_secret) + "\n"
    return re.fullmatch(pattern, text) is not None
