"""What the office is told about imputation, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from sdcensus.microdata.imputation.donors import WHOLE, SearchStep
from sdcensus.microdata.imputation.selection import Selection
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.model.schema.variable import Variable
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore


def selection_facts(selection: Selection, donors: int) -> FactTable:
    """Who is blanked, and how many could give."""
    lines: list[tuple[Fact, ...]] = [(sentence("impute.selected.eligible"), selection.eligible)]
    if selection.at_risk is not None:
        lines += [
            (sentence("impute.selected.at_risk"), selection.at_risk),
            (sentence("impute.selected.at_risk_chosen"), selection.chosen_at_risk),
        ]
    lines += [
        (sentence("impute.selected.chosen"), int(selection.rows.size)),
        (sentence("impute.selected.donors"), donors),
    ]
    return FactTable(
        name="imputation-selected",
        title=sentence("impute.selected.title", units=selection.unit.many),
        headings=(sentence("impute.selected.what"), sentence("impute.selected.records")),
        rows=tuple(lines),
    )


def donor_facts(
    numbers: Sequence[tuple[SearchStep, int]], variables: int, *, foreseen: bool
) -> FactTable:
    """How near donors are: how many variables agree, in which areas."""
    kind = "available" if foreseen else "found"
    heads = ("agreeing", "of", "within", kind)
    return FactTable(
        name=f"imputation-donors-{kind}",
        title=sentence(f"impute.donors.title_{kind}"),
        headings=tuple(sentence(f"impute.donors.{head}") for head in heads),
        rows=tuple(
            (
                step.agreeing,
                variables,
                sentence("impute.country") if step.place == WHOLE else step.place,
                number,
            )
            for step, number in numbers
        ),
        note=sentence("impute.donors.note") if foreseen else None,
    )


def changed_facts(changed: Sequence[tuple[Variable, int]], imputed: int) -> FactTable:
    """Of the records that were imputed, how many have another value, by variable."""
    heads = ("variable", "imputed", "changed", "share")
    return FactTable(
        name="imputation-changed",
        title=sentence("impute.changed.title"),
        headings=tuple(sentence(f"impute.changed.{head}") for head in heads),
        rows=tuple(
            (variable.name, imputed, number, round(number / imputed, 4) if imputed else None)
            for variable, number in changed
        ),
        note=sentence("impute.changed.note"),
    )


def failure_facts(records: CensusStore, selection: Selection, failures: Sequence[str]) -> FactTable:
    """The records without a donor, by area and reason."""
    geography = records.schema.geography
    rows = selection.rows
    places: list[str | None] = [None] * rows.size
    if geography is not None and records.schema.path(selection.unit, geography.entity) is not None:
        leaves = records.column(selection.unit, geography)[slice(0, records.rows(selection.unit))]
        codes = np.array([code.code for code in geography.codes], dtype=object)
        places = codes[leaves[rows]].tolist()
    counts = Counter((place, why) for place, why in zip(places, failures, strict=True) if why)
    return FactTable(
        name="imputation-failures",
        title=sentence("impute.failures.title"),
        headings=tuple(
            sentence(f"impute.failures.{head}") for head in ("area", "reason", "records")
        ),
        rows=tuple(
            (
                sentence("impute.country") if place is None else place,
                sentence(f"impute.failures.{why}"),
                number,
            )
            for (place, why), number in sorted(counts.items(), key=str)
        ),
        note=sentence("impute.failures.note"),
    )
