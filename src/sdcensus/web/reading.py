"""The page about the figures: which of its sentences hold here, in their order."""

from __future__ import annotations

from collections.abc import Callable

from sdcensus.model.policy.rules import WhenSparse
from sdcensus.model.published.table import Mark
from sdcensus.model.quantities import number_text
from sdcensus.model.vocabulary import Measure
from sdcensus.session.answer.reading import ReadingFacts
from sdcensus.session.protect.smallest_group import note_for

#: A part of the page: its name, and its paragraphs.
Part = tuple[str, list[str]]

_SIGNS = {
    Mark.LOW_RELIABILITY: "sign_brackets",
    Mark.REFUSED: "sign_dot",
    Mark.WITHHELD: "sign_c",
    Mark.NOT_AVAILABLE: "sign_colon",
    Mark.NOT_BROKEN_DOWN: "sign_k",
}
_SPARSE = {
    WhenSparse.WITHHOLD_AREA: "withheld_withhold_area",
    WhenSparse.C: "withheld_c",
    WhenSparse.REFUSE_TABLE: "withheld_refuse_table",
}


def about_page(facts: ReadingFacts, language: str, say: Callable[..., str]) -> dict[str, object]:
    """What the page about the figures says.

    Args:
        facts: What is true of all figures.
        language: The language of the page.
        say: Gives a text of the page by its key.
    """

    def text(key: str, **values: object) -> str:
        return say(f"pages.about.{key}", **values)

    def spoken(number: int | None) -> str:
        return "" if number is None else number_text(number, language)

    zero = facts.zeros.show(language)
    weighted = [text("weighted")] if facts.measure is Measure.WEIGHTED else []
    smallest = []
    if facts.smallest_group:
        smallest = [note_for(facts.smallest_group, facts.measure).show(language)]
    parts: list[Part] = [
        (
            "protected",
            [
                *weighted,
                *(note.show(language) for note in facts.records),
                text("protected_1"),
                *([text("protected_mean")] if facts.unbiased else []),
                *([text("protected_exact")] if facts.exact else []),
                f"{text('protected_2')} {zero}",
                *smallest,
                text("protected_3"),
            ],
        ),
        ("totals", [text("totals_1"), text("totals_2"), text("totals_3")]),
        ("groups", [text("groups_1"), text("groups_2"), text("groups_3")]),
        (
            "consistent",
            [
                text("consistent_1"),
                *([text("consistent_plan")] if facts.planned else []),
                text("consistent_2"),
            ],
        ),
        ("signs", []),
        (
            "reliability",
            [
                text("reliability_1"),
                *([text("brackets", n=spoken(facts.brackets))] if facts.brackets else []),
                text("brackets_computed", n=spoken(facts.low_below)),
                text("reliability_2"),
            ],
        ),
        ("withheld", _withheld(facts, text)),
        ("limits", [text("limits_1"), text("limits_2")]),
    ]
    short = ["short_1", "short_2", "short_3", *(["short_4"] if facts.areas else [])]
    signs = [("0", zero), *((mark.sign, text(_SIGNS[mark])) for mark in facts.signs)]
    return {
        "parts": [part for part in parts if part[1] or part[0] == "signs"],
        "short": [text(key) for key in short],
        "signs": signs,
    }


def _withheld(facts: ReadingFacts, text: Callable[..., str]) -> list[str]:
    """What is withheld and why; nothing where the policy withholds nothing."""
    said = []
    if facts.sparse is not None:
        said.append(f"{text('withheld_sparse')} {text(_SPARSE[facts.sparse])}")
    if facts.filters:
        said.append(text("withheld_population"))
    if not said:
        return []
    said.append(text("withheld_public" if facts.filters else "withheld_2"))
    return [*said, text("withheld_3")]
