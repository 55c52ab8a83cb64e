"""Lines of a file of tau-ARGUS as words, and messages that name the line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import InputError

_WORD = re.compile(r'"([^"]*)"|(<[^>]*>)|([^\s"<]+)')


@dataclass(frozen=True, slots=True)
class ArgusLine:
    """A line that is not empty.

    Attributes:
        file: The file.
        number: Its number, from 1.
        text: What stands in it.
    """

    file: Path
    number: int
    text: str

    def words(self) -> list[str]:
        """Words, keywords with their brackets in capital letters, and what stands in quotes.

        Examples:
            >>> ArgusLine(Path("a"), 1, ' <hierleadstring> "@" x').words()
            ['<HIERLEADSTRING>', '@', 'x']
        """
        words = []
        for quoted, keyword, word in _WORD.findall(self.text):
            words.append(keyword.strip().upper() if keyword else (word or quoted))
        return words

    def mistake(self, text: str) -> InputError:
        """An error about this line."""
        return InputError(f"{self.file}, line {self.number}: {text}")


def lines_of(path: str | Path) -> Iterator[ArgusLine]:
    """The lines of a file, without empty ones and comments (``//``)."""
    file = Path(path)
    for number, text in enumerate(text_of(file).splitlines(), start=1):
        if text.strip() and not text.lstrip().startswith("//"):
            yield ArgusLine(file, number, text)


def text_of(file: Path) -> str:
    """The text of a file: in UTF-8, else as Windows writes it."""
    try:
        content = file.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{file} cannot be read: {reason}.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def beside(named: str, file: Path) -> Path:
    """A file that another one names: where it says, else beside it, whatever the case."""
    path = Path(named.replace("\\", "/"))
    for folder in (Path(), file.parent):
        if (folder / path).is_file():
            return folder / path
    wanted = path.name.lower()
    for other in sorted(file.parent.iterdir() if file.parent.is_dir() else ()):
        if other.name.lower() == wanted:
            return other
    return file.parent / path.name
