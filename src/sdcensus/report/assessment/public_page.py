"""The page about a published table that anybody may read.

It takes what is published and nothing else, so that no figure in it can come from a true count.
"""

from __future__ import annotations

from sdcensus.model.catalogue import FIRST
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.quantities import number_text
from sdcensus.model.sentences import in_language, speak
from sdcensus.report.assessment.results import PublicAssessment
from sdcensus.report.assessment.words import public_lead
from sdcensus.report.page import Html, Tile, bullets, page, section, table, tiles


def public_page(public: PublicAssessment, *, date: str = "", language: str | None = None) -> str:
    """The page for anybody: no figure in it was computed from a true count."""
    key = "one_cell" if public.cells == 1 else "cells"
    method = speak("assess.public.unsaid", language)
    if public.method:
        method = speak("assess.public.by", language, method=public.method)
    facts = [
        *([public.shows] if public.shows != public.title else []),
        speak(f"assess.page.{key}", language, n=public.cells),
        method,
        *([date] if date else []),
    ]
    notes = [note.show(language or FIRST) for note in public.table.notes]
    parts: list[str] = [tiles(_tiles(public, language))]
    if notes:
        parts.append(section(speak("assess.public.readers", language), bullets(notes)))
    if public.promises:
        promises = [in_language(promise, language) for promise in public.promises]
        parts.append(section(speak("assess.public.promises", language), bullets(promises)))
    parts.append(
        section(
            speak("assess.public.based", language),
            speak("assess.public.based_text", language),
            made_table(public.provenance, language),
        )
    )
    return page(
        public.title,
        *parts,
        facts=" · ".join(facts),
        lead=public_lead(public, language),
        stamp=None,
        language=language or FIRST,
    )


def _tiles(public: PublicAssessment, language: str | None) -> list[Tile]:
    shown = []
    if public.interior_cells is not None:
        words = speak("assess.public.interior", language)
        shown.append(Tile(number_text(public.interior_cells, language), words))
    if public.zeros is not None:
        words = speak("assess.public.zeros", language)
        shown.append(Tile(number_text(public.zeros, language), words))
    key = "assess.public.small" if shown else "assess.public.small_alone"
    visible = number_text(sum(public.visible.visible), language)
    shown.append(Tile(visible, speak(key, language)))
    rows = [
        Tile(in_language(row.value, language), in_language(row.label, language))
        for row in public.rows
    ]
    return [*shown, *rows]


#: What is told of how a table was made, in this order.
_FIELDS = (
    *("method", "method_version", "fingerprint", "data_version", "key_version", "secret_id"),
    *("package_version", "spec_hash", "lineage"),
)


def made_table(provenance: Provenance | None, language: str | None = None) -> Html:
    """How a table was made, as far as that may be told."""
    if provenance is None:
        return Html("")
    told = provenance.to_json()
    rows = [
        [speak(f"assess.made.{name}", language), str(told[name])]
        for name in _FIELDS
        if told.get(name, "") != ""
    ]
    heads = [speak(f"assess.made.{name}", language) for name in ("what", "which")]
    return table(speak("assess.made.title", language), heads, rows, words=2)
