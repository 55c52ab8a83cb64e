"""Texts of a document in the languages that it declares."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.documents.toml.values import RawText
from sdcensus.errors import unknown
from sdcensus.model.text import Text


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
