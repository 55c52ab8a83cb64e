"""Collecting the mistakes of a document, so that all are shown at once, and reading its texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.values import RawText
from sdcensus.errors import DocumentError, Mistake, unknown
from sdcensus.model.text import Text


class Document(Protocol):
    """A document that a person wrote: its values, and where each of them stands."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def data(self) -> dict[str, Any]:
        """The values."""
        ...

    @property
    def unsaved(self) -> Mapping[Path, bytes]:
        """Files beside it that are not written yet, with their content."""
        ...

    def line_of(self, *path: str | int) -> int:
        """The line of a value, from 1; 0 where documents of this kind have no lines."""
        ...

    def where(self, *path: str | int) -> str:
        """How a message calls the place of a value, besides its line."""
        ...


@dataclass(slots=True)
class Mistakes:
    """The mistakes found so far in one document."""

    document: Document
    found: dict[Mistake, None] = field(default_factory=dict)

    def add(self, path: KeyPath, text: str) -> None:
        """Note a mistake at the place of ``path``."""
        where = self.document.where(*path)
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


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages of a census; none declared means that any is welcome."""

    declared: tuple[str, ...] = ()

    @property
    def first(self) -> str:
        """The language of texts that do not say theirs."""
        return self.declared[0] if self.declared else "en"

    def text(self, raw: RawText, path: KeyPath, mistakes: Mistakes) -> Text:
        """A label as a text; a language that was not declared is a mistake."""
        if isinstance(raw, str):
            return Text.of(raw, language=self.first)
        for language in raw:
            if self.declared and language not in self.declared:
                mistakes.add(
                    (*path, language),
                    f"{unknown('language', language, self.declared)} Add it to"
                    " 'languages' in [census] if it is meant.",
                )
        return Text.of(raw)

    def choose(self, text: Text) -> Text:
        """A ready-made text in the declared languages, where it has any of them."""
        known = dict(text.by_language)
        chosen = tuple((one, known[one]) for one in self.declared if one in known)
        return Text(chosen) if chosen else text
