"""What a report on a load consists of, before it is a page or a text. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.ingest.load_facts import GeographyFacts
from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import number_text, share_text, written_as
from sdcensus.model.schema.remedies import units_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import Text
from sdcensus.report.page import PageCell, Tone


class _Block(Confidential):
    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class ShareCell(_Block):
    """A share, drawn as a bar where there is room for one."""

    part: int
    whole: int
    tone: Tone = Tone.PLAIN

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.part / self.whole if self.whole else 0.0


Cell = str | PageCell | ShareCell


@dataclass(frozen=True, slots=True, repr=False)
class Listing(_Block):
    """A table: what it shows, its headings, its rows, and how many columns hold words."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: int = 1


@dataclass(frozen=True, slots=True, repr=False)
class SchemaLines(_Block):
    """Lines that can be put into the schema."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class AreaPicture(_Block):
    """Where the records lie."""

    geography: GeographyFacts


Piece = str | Listing | SchemaLines | AreaPicture


@dataclass(frozen=True, slots=True, repr=False)
class Part(_Block):
    """A heading with what stands below it."""

    title: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Content(_Block):
    """A whole report.

    Attributes:
        title, facts: What it is about.
        lead: What happened, in a sentence.
        findings: What to look at, the most serious first.
        sizes: Numbers that tell most, each with its words.
        parts: The rest.
        language: Of the words.
        refused: Whether there is no store.
    """

    title: str
    facts: str
    lead: str
    findings: tuple[str, ...]
    sizes: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    language: str
    refused: bool = False


class Words:
    """The words of a report in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, key: str, **values: str | Text) -> str:
        """A text of the area ``load`` with its gaps filled; begins with a capital letter."""
        template = Text.named(f"load.report.{key}")
        text = template.filled(**values).show(self.language)
        # Names of variables and files stay as they are.
        named = template.show(self.language).startswith(("{variable}", "{file}"))
        return text if named else text[:1].upper() + text[1:]

    def number(self, number: int) -> str:
        """A whole number."""
        return number_text(number, self.language)

    def amount(self, number: int | None, decimals: int) -> str:
        """A number in units of its last decimal."""
        if number is None:
            return ""
        whole, rest = divmod(abs(number), 10**decimals)
        sign = "−" if number < 0 else ""
        digits = f".{rest:0{decimals}d}".rstrip("0") if decimals and rest else ""
        return sign + written_as(f"{whole:,}{digits}", self.language)

    def share(self, cell: ShareCell) -> str:
        """A share in percent; nothing where it is none."""
        return share_text(cell.share, self.language) if cell.part else ""

    def units(self, entity: Entity) -> str:
        """The word for many units of a kind."""
        return units_text(entity).show(self.language)

    def unit(self, entity: Entity) -> str:
        """The word for one unit of a kind."""
        return Text.named(f"load.unit.{entity.value}").show(self.language)

    def text(self, text: Text) -> str:
        """A text in the language, or in its first one."""
        return text.show(self.language)
