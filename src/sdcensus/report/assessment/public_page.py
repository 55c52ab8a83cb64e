"""The page about a published table that anybody may read.

It takes what is published and nothing else, so that no figure in it can come from a true count.
"""

from __future__ import annotations

from sdcensus.model.published.provenance import Provenance
from sdcensus.model.quantities import number_text
from sdcensus.report.assessment.results import PublicAssessment
from sdcensus.report.assessment.words import public_lead
from sdcensus.report.page import Html, Tile, bullets, page, section, table, tiles


def public_page(public: PublicAssessment, *, date: str = "") -> str:
    """The page for anybody: no figure in it was computed from a true count."""
    facts = [
        *([public.shows] if public.shows != public.title else []),
        "1 cell" if public.cells == 1 else f"{number_text(public.cells)} cells",
        f"protected by {public.method}" if public.method else "how it was protected is not said",
        *([date] if date else []),
    ]
    notes = [note.show("en") for note in public.table.notes]
    parts: list[str] = [tiles(_tiles(public))]
    if notes:
        parts.append(section("What readers should know", bullets(notes)))
    if public.promises:
        parts.append(section("What the method promises", bullets(public.promises)))
    parts.append(
        section(
            "What this page is based on",
            "Every figure on this page can be computed from the published table by anyone. Nothing"
            " here was computed from true counts, and nothing tells how large changes are.",
            made_table(public.provenance),
        )
    )
    return page(public.title, *parts, facts=" · ".join(facts), lead=public_lead(public), stamp=None)


def _tiles(public: PublicAssessment) -> list[Tile]:
    shown = []
    if public.interior_cells is not None:
        words = "cells from which all totals are made"
        shown.append(Tile(number_text(public.interior_cells), words))
    if public.zeros is not None:
        shown.append(Tile(number_text(public.zeros), "of them are published as 0"))
    words = "of them are published as 1 or 2" if shown else "cells are published as 1 or 2"
    shown.append(
        Tile(number_text(sum(public.visible.visible)), f"{words}; what was counted may differ")
    )
    return [*shown, *(Tile(row.value, row.label) for row in public.rows)]


_FIELDS = {
    "method": "method",
    "method_version": "version of the method",
    "fingerprint": "fingerprint of the parameters",
    "data_version": "version of the records",
    "key_version": "version of the keys",
    "secret_id": "name of the secret",
    "package_version": "sdcensus",
    "spec_hash": "digest of the table",
    "lineage": "how the records were derived",
}


def made_table(provenance: Provenance | None) -> Html:
    """How a table was made, as far as that may be told."""
    if provenance is None:
        return Html("")
    said = provenance.to_json()
    rows = [[words, str(said[name])] for name, words in _FIELDS.items() if said.get(name, "") != ""]
    return table("How the table was made", ["what", "which"], rows, words=2)
