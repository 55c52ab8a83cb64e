"""What was found in a file while it was read: mistakes, and things worth knowing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sdcensus.errors import DocumentError, Mistake

#: A mistake that is made in every line is listed so often; of the rest, the number is.
MOST_OF_A_KIND = 20


@dataclass(slots=True)
class FileNotes:
    """The notes on one file; all mistakes are collected, so that they are shown at once."""

    path: Path
    listed: dict[Mistake, None] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    beyond: dict[str, Mistake] = field(default_factory=dict)
    observed: dict[str, Mistake] = field(default_factory=dict)

    def mistake(self, kind: str, line: int, text: str) -> None:
        """Note a mistake; ``kind`` tells which ones are alike."""
        mistake = Mistake(line, text)
        if mistake in self.listed:
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= MOST_OF_A_KIND:
            self.listed[mistake] = None
        else:
            self.beyond.setdefault(kind, mistake)

    def observe(self, kind: str, line: int, text: str) -> None:
        """Note something that is not wrong; of each kind the first is kept."""
        self.observed.setdefault(kind, Mistake(line, text))

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """All mistakes in the order of their lines; the many of one kind end with a number."""
        more = []
        for kind, mistake in self.beyond.items():
            rest = self.counts[kind] - MOST_OF_A_KIND - 1
            end = f" There are {rest} more mistakes like this." if rest else ""
            more.append(Mistake(mistake.line, f"{mistake.text}{end}"))
        return tuple(sorted((*self.listed, *more), key=lambda one: one.line))

    def raise_if_any(self) -> None:
        """Stop here if there was any mistake."""
        if self.listed:
            raise DocumentError(str(self.path), self.mistakes)
