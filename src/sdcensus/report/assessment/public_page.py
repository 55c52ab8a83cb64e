"""The page about a published table that anybody may read.

It takes what is published and nothing else, so that no figure in it can come from a true count.
"""

from __future__ import annotations

from sdcensus.model.catalogue import FIRST
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.sentences import in_language, speak
from sdcensus.report.assessment.counted import part_heads, public_rows
from sdcensus.report.assessment.results import PublicAssessment
from sdcensus.report.assessment.words import public_lead
from sdcensus.report.page import Html, Tile, bullets, page, section, table, tiles


def public_page(public: PublicAssessment, *, date: str = "", language: str | None = None) -> str:
    """The page for anybody: no figure in it was computed from a true count."""
    cells = public.whole.cells
    key = "one_cell" if cells == 1 else "cells"
    method = speak("assess.public.unsaid", language)
    if public.method:
        method = speak("assess.public.by", language, method=public.method)
    facts = [
        *([public.shows] if public.shows != public.title else []),
        speak(f"assess.page.{key}", language, n=cells),
        method,
        *([date] if date else []),
    ]
    notes = [note.show(language or FIRST) for note in public.table.notes]
    shown = [
        Tile(in_language(row.value, language), in_language(row.label, language))
        for row in public.rows
    ]
    parts: list[str] = [*([tiles(shown)] if shown else []), _counted(public, language)]
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


def _counted(public: PublicAssessment, language: str | None) -> Html:
    """What is published, counted alike in interior cells and totals."""
    heads = [speak("assess.risk.measure", language), *part_heads(public, language)]
    rows = [[label, *texts] for label, texts in public_rows(public, language)]
    return table(speak("assess.public.counted", language), heads, rows, wrapped=True)


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
