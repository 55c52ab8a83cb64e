"""What anybody may be told about a claim. Public: no field can hold a true count or a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sdcensus.model.published.record_changes import RecordChange, sentence_name
from sdcensus.model.quantities import number_text
from sdcensus.model.sentences import speak
from sdcensus.report.page import bullets, page, section


class Bracket(StrEnum):
    """The chance that a claim is right, as one of three that are fixed for every census."""

    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"


class MethodKind(StrEnum):
    """What kind of protection of numbers is named; the order is that of the answer."""

    NOISE = "noise"
    ROUNDING = "rounding"
    HIDING = "hiding"
    GROUPS = "groups"
    OTHER = "other"


class CellCase(StrEnum):
    """What a reader sees in the cell."""

    NOBODY = "nobody"
    FEW = "few"
    SEVERAL = "several"
    WEIGHTED = "weighted"
    NOT_SHOWN = "not_shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicAnswer:
    """The answer for whoever made the claim. Public.

    Attributes:
        census: What the census is called.
        table: The name of the published table.
        title: What the table shows.
        cell: The cell: each axis and where the cell stands on it, in words.
        published: The published number, as it is shown; the sign where there is none.
        case: What a reader sees in the cell.
        kinds: The kinds of protection that the table names.
        bracket: The chance that such a claim is right.
    """

    census: str
    table: str
    title: str
    cell: tuple[tuple[str, str], ...]
    published: int | str
    case: CellCase
    kinds: tuple[RecordChange | MethodKind, ...]
    bracket: Bracket


def cell_words(cell: tuple[tuple[str, str], ...], language: str | None) -> str:
    """A cell in one line."""
    if not cell:
        return speak("claim.everybody", language)
    return "; ".join(f"{axis}: {code}" for axis, code in cell)


def _published(answer: PublicAnswer, language: str | None) -> str:
    value = answer.published
    return number_text(value, language) if isinstance(value, int) else value


def _sentence_name(kind: RecordChange | MethodKind) -> str:
    return sentence_name(kind) if isinstance(kind, RecordChange) else f"claim.kind.{kind}"


def _parts(answer: PublicAnswer, language: str | None) -> tuple[list[str], list[str], list[str]]:
    """The sentences: about the cell, about how numbers were made, about the chance."""
    words = cell_words(answer.cell, language)
    shown = _published(answer, language)
    about = [
        speak("claim.about", language, table=answer.table, title=answer.title),
        speak("claim.cell", language, cell=words),
        speak("claim.published", language, value=shown),
    ]
    kinds = [speak(_sentence_name(kind), language) for kind in answer.kinds]
    if not kinds:
        kinds = [speak("claim.kind.none", language)]
    bracket = speak(f"claim.bracket.{answer.bracket}", language)
    chance = [
        speak(f"claim.case.{answer.case}", language),
        speak("claim.chance", language, bracket=bracket),
        speak("claim.same", language),
        speak("claim.nothing", language),
    ]
    return about, kinds, chance


def answer_text(answer: PublicAnswer, language: str | None = None) -> str:
    """The answer as plain text."""
    about, kinds, chance = _parts(answer, language)
    title = f"{speak('claim.title', language)}: {answer.census}"
    lines = [
        *(title, "=" * len(title), "", *about),
        *("", speak("claim.how", language), *(f"- {kind}" for kind in kinds)),
        *("", speak("claim.can", language), *chance, ""),
    ]
    return "\n".join(lines)


def answer_page(answer: PublicAnswer, language: str | None = None) -> str:
    """The answer as a page."""
    about, kinds, chance = _parts(answer, language)
    return page(
        f"{speak('claim.title', language)}: {answer.census}",
        *about,
        section(speak("claim.how", language), bullets(kinds)),
        section(speak("claim.can", language), *chance),
        stamp=None,
        language=language or "en",
    )
