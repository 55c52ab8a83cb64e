"""Exact amounts in a file: an income that few share finds its owner without any other key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import share_text
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.text import Text
from sdcensus.session.release.assess.grouped_amounts import (
    grouped_amounts,
    grouped_facts,
    grouped_notes,
    grouped_refusals,
)
from sdcensus.session.release.assess.ladders import variable_text
from sdcensus.session.release.designed import DesignedRecords
from sdcensus.session.release.opened import OpenRelease


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AmountRisk(Confidential):
    """How many records of a file tell an amount that too few of the census have.

    Attributes:
        variable: The amount.
        stated: Records of the file that tell one.
        rare: Those whose amount fewer than k of the census have, to the last digit.
        units: Units of the census that the variable is about.
    """

    variable: FileVariable
    stated: int
    rare: int
    units: int

    def __repr__(self) -> str:
        return f"<AmountRisk {self.variable.name!r}: confidential>"

    @property
    def share(self) -> float:
        """Records with a rare amount, as a share of all units of the census."""
        return self.rare / self.units if self.units else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AmountFindings(Confidential):
    """What is told about the amounts of a file: tables, notes, and why it should not go out."""

    facts: tuple[FactTable, ...]
    notes: tuple[Sentence, ...]
    refusals: tuple[Sentence, ...]

    def __repr__(self) -> str:
        return "<AmountFindings: confidential>"


def amount_findings(opened: OpenRelease, told: DesignedRecords) -> AmountFindings:
    """Look at every amount of a file: whom it gives away, and what treatments promise of it."""
    plan = opened.plan
    risks, grouped = amount_risks(told.records, plan.risk.k), grouped_amounts(opened, told)
    return AmountFindings(
        facts=(*amount_facts(risks, plan), *grouped_facts(grouped)),
        notes=tuple(grouped_notes(opened, grouped)),
        refusals=(*amount_refusals(risks, plan), *grouped_refusals(opened, told, grouped)),
    )


def amount_risks(records: FileRecords, k: int) -> tuple[AmountRisk, ...]:
    """Every amount that a file tells to the last digit."""
    return tuple(
        _risk(records, variable, k) for variable in records.design.variables if variable.amounts
    )


def _risk(records: FileRecords, variable: FileVariable, k: int) -> AmountRisk:
    store, entity = records.store, variable.entity
    every = store.values(entity, variable.source)[slice(None)]
    amounts, counts = np.unique(every[every != NO_VALUE], return_counts=True)
    told = records.amounts[variable.name]
    told = told[told != NO_VALUE]
    rare = 0
    if amounts.size:
        at = np.minimum(np.searchsorted(amounts, told), amounts.size - 1)
        # An amount that nobody of the census has was made by a treatment: it is nobody's.
        rare = int(((amounts[at] == told) & (counts[at] < k)).sum())
    return AmountRisk(variable=variable, stated=int(told.size), rare=rare, units=store.rows(entity))


def amount_facts(risks: tuple[AmountRisk, ...], plan: ReleasePlan) -> Iterator[FactTable]:
    """The same as a table."""
    if not risks:
        return
    lines: list[tuple[Fact, ...]] = [
        (variable_text(risk.variable).show(), risk.stated, risk.rare, round(100 * risk.share, 3))
        for risk in risks
    ]
    heads = ("variable", "stated", "rare", "share")
    yield FactTable(
        name="rare-amounts",
        title=sentence("release.amounts.title", k=plan.risk.k),
        headings=tuple(sentence(f"release.amounts.{head}") for head in heads),
        rows=tuple(lines),
        note=sentence("release.amounts.note"),
    )


def amount_refusals(risks: tuple[AmountRisk, ...], plan: ReleasePlan) -> Iterator[Sentence]:
    """Amounts that too few share for the class of users."""
    accepted = plan.acceptance.not_anonymous
    for risk in risks:
        if risk.share > accepted:
            yield sentence(
                "release.amounts.refused",
                name=risk.variable.name,
                k=plan.risk.k,
                value=_share(risk.share),
                accepted=_share(accepted),
            )


def _share(share: float) -> Text:
    return in_every_language(lambda language: share_text(share, language, digits=2))
