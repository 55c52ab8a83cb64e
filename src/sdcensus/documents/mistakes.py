"""Collecting the mistakes of a document, so that all of them are shown at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sdcensus.documents.toml_lines import KeyPath, TomlDocument
from sdcensus.errors import DocumentError, Mistake

#: Tables whose entries have names of their own, which a message should say.
_NAMED = frozenset({"files", "entity", "variable", "role"})


@dataclass(slots=True)
class Mistakes:
    """The mistakes found so far in one document."""

    document: TomlDocument
    found: dict[Mistake, None] = field(default_factory=dict)

    def add(self, path: KeyPath, text: str) -> None:
        """Note a mistake at the line of ``path``."""
        where = section_name(path)
        self.found[Mistake(self.document.line_of(*path), f"{where}: {text}" if where else text)] = (
            None
        )

    def add_all(self, path: KeyPath, texts: Iterable[str], *, most: int = 20) -> None:
        """Note several mistakes at one line; beyond ``most``, how many more there are."""
        listed = list(texts)
        for text in listed[:most]:
            self.add(path, text)
        if len(listed) > most:
            self.add(path, f"There are {len(listed) - most} more mistakes like these.")

    def raise_if_any(self) -> None:
        """Stop here if there was any mistake."""
        if self.found:
            raise DocumentError(str(self.document.path), self.found)


def section_name(path: KeyPath) -> str:
    """How a message calls the part of the document that a path lies in.

    Examples:
        >>> section_name(("variable", "age", "range")), section_name(("impossible", 0, "when"))
        ('variable.age', 'impossible (number 1)')
    """
    if not path:
        return ""
    if len(path) > 1 and path[0] in _NAMED:
        return f"{path[0]}.{path[1]}"
    if len(path) > 1 and isinstance(path[1], int):
        return f"{path[0]} (number {path[1] + 1})"
    return str(path[0])
