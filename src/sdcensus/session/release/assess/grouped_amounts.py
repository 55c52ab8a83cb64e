"""Amounts that a treatment has changed: how many of a file are still true, how many share each."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.microdata.continuous.microaggregation import (
    EACH,
    MEAN,
    MEDIAN,
    TOGETHER,
    Microaggregation,
    homes_of,
)
from sdcensus.microdata.continuous.rank_swap import RankSwap
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import share_text
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.text import Text
from sdcensus.session.derive.step import method_from_text, step_from_text
from sdcensus.session.release.assess.ladders import variable_text
from sdcensus.session.release.designed import DesignedRecords
from sdcensus.session.release.make.shown import rows_of
from sdcensus.session.release.opened import OpenRelease
from sdcensus.session.release.treatments import grouped_records, treatments_of
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: Groups that are tried where those of the plan are too small, as multiples of them.
_WIDER = (1, 2, 3, 4, 6, 10)
#: Of larger files nothing is tried: groups would be formed anew many times.
_MOST_TRIED = 50_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupedAmount(Confidential):
    """What a file tells of an amount that a treatment has changed.

    Units are those that the variable is about: a rent that every member of a household tells is
    one. Who shares an amount is counted by households: members of one tell nothing of others.
    Amounts of 0, which mean that there is none, are nobody's secret and are not counted as
    true ones.

    Attributes:
        variable: The amount.
        methods: The methods that have changed it.
        units: Units of the file that have an amount other than 0.
        unchanged: Those of which the file tells it to the last digit.
        values: Different amounts in the file; where zeros take no part, without 0.
        shared_by_few: Those that fewer than ``group`` households of the file share; of units that
            are in none, each is one.
        group: How many are to share each amount; 0 where no group is promised.
    """

    variable: FileVariable
    methods: tuple[str, ...]
    units: int
    unchanged: int
    values: int
    shared_by_few: int
    group: int

    def __repr__(self) -> str:
        return f"<GroupedAmount {self.variable.name!r}: confidential>"

    @property
    def share(self) -> float:
        """Amounts that are still the true ones, as a share of those that the file tells."""
        return self.unchanged / self.units if self.units else 0.0

    def holds(self, accepted: float) -> bool:
        """Whether the file keeps what the treatment promises."""
        return self.share <= accepted and not self.shared_by_few


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Units(Confidential):
    """The units of an amount in a file: rows that tell them, households, and true amounts."""

    rows: Integers
    homes: Integers
    true: Integers
    blanked: Mask

    def __repr__(self) -> str:
        return "<_Units: confidential>"


def grouped_amounts(opened: OpenRelease, told: DesignedRecords) -> tuple[GroupedAmount, ...]:
    """Every amount that a file tells to the last digit and that a treatment has changed."""
    counted = []
    methods = _methods(opened, told)
    for variable in told.design.variables:
        own = tuple(each for each in methods if variable.source.name in each.variables)
        if variable.amounts and own:
            units = _units(opened.store, told.records, variable)
            amounts = told.records.amounts[variable.name][units.rows]
            counted.append(_counted(variable, own, units, amounts))
    return tuple(counted)


def _methods(opened: OpenRelease, told: DesignedRecords) -> tuple[Microaggregation | RankSwap, ...]:
    built = (
        method_from_text(treatment.method)
        for _, treatment in treatments_of(opened.plan, told.design)
    )
    return tuple(each for each in built if isinstance(each, Microaggregation | RankSwap))


def _units(store: CensusStore, records: FileRecords, variable: FileVariable) -> _Units:
    """The units of a variable in a file, each once, whoever tells them."""
    entity, kind = variable.entity, variable.source.entity
    rows = records.sample.rows[entity]
    units = holder_rows(records.store, entity, kind)[rows]
    told = records.amounts[variable.name]
    # A unit that somebody tells is told: those with an amount come first.
    order = np.argsort(told == NO_VALUE, kind="stable")
    first = order[np.unique(units[order], return_index=True)[1]]
    own, _ = rows_of(store, records.store.digests(entity)[rows[first]], entity)
    true = np.asarray(store.values(entity, variable.source)[slice(None)])[own]
    homes = homes_of(records.store, entity)[rows[first]]
    return _Units(first, homes, true, told[first] == NO_VALUE)


def _counted(
    variable: FileVariable,
    methods: tuple[Microaggregation | RankSwap, ...],
    units: _Units,
    amounts: Integers,
) -> GroupedAmount:
    groups = [each for each in methods if isinstance(each, Microaggregation)]
    group = max((each.group for each in groups), default=0)
    stated = ~units.blanked & (amounts != NO_VALUE)
    some = stated & (units.true != NO_VALUE) & (units.true != 0)
    taking = stated
    if any(each.leave_zeros for each in groups):
        taking = stated & (amounts != 0)
    pairs = np.unique(np.stack([amounts[taking], units.homes[taking]]), axis=1)
    _, sharing = np.unique(pairs[0], return_counts=True)
    return GroupedAmount(
        variable=variable,
        methods=tuple(dict.fromkeys(each.name for each in methods)),
        units=int(some.sum()),
        unchanged=int((some & (amounts == units.true)).sum()),
        values=int(sharing.size),
        shared_by_few=int((sharing < group).sum()),
        group=group,
    )


# ------------------------------------------------------------------------------- in words


def grouped_facts(counted: tuple[GroupedAmount, ...]) -> Iterator[FactTable]:
    """The same as a table."""
    if not counted:
        return
    lines: list[tuple[Fact, ...]] = [
        (
            variable_text(each.variable).show(),
            each.units,
            each.unchanged,
            round(100 * each.share, 1),
            each.values,
            each.shared_by_few if each.group else None,
            each.group or None,
        )
        for each in counted
    ]
    heads = ("variable", "units", "true", "percent", "values", "few", "group")
    yield FactTable(
        name="true-amounts",
        title=sentence("release.true_amounts.title"),
        headings=tuple(sentence(f"release.true_amounts.{head}") for head in heads),
        rows=tuple(lines),
        note=sentence("release.true_amounts.note"),
    )


def grouped_notes(opened: OpenRelease, counted: tuple[GroupedAmount, ...]) -> Iterator[Sentence]:
    """How many amounts are true, and what nobody can count."""
    for each in counted:
        yield sentence(
            "release.true_amounts.counted", name=each.variable.name, value=_share(each.share)
        )
    steps = {step.method for step in opened.store.manifest.lineage}
    before = sorted(steps & {Microaggregation.name, RankSwap.name})
    if before:
        yield sentence("release.true_amounts.derived", methods=", ".join(before))


def grouped_refusals(
    opened: OpenRelease, told: DesignedRecords, counted: tuple[GroupedAmount, ...]
) -> Iterator[Sentence]:
    """Promises that do not hold in the file, each with what makes it pass."""
    accepted = opened.plan.acceptance.unchanged_amounts
    passing: dict[str, str] = {}
    for each in counted:
        if each.holds(accepted):
            continue
        name = each.variable.name
        if each.share > accepted:
            yield sentence(
                "release.true_amounts.unchanged",
                name=name,
                methods=", ".join(each.methods),
                value=_share(each.share),
                accepted=_share(accepted),
            )
        if each.shared_by_few:
            yield sentence(
                "release.true_amounts.shared",
                name=name,
                few=each.shared_by_few,
                values=each.values,
                group=each.group,
            )
        if told.design.extract:
            # Its groups are those of the whole design, of which it is a part.
            extract = told.design.extract
            yield sentence("release.true_amounts.extract", name=name, extract=extract)
            continue
        text = _only_treatment(opened, told, each.variable)
        if text and text not in passing:
            passing[text] = _passing(opened, told, text, counted)
        if passing.get(text):
            yield sentence("release.true_amounts.settings", method=passing[text])
        yield from _without(each.variable)


def _without(variable: FileVariable) -> Iterator[Sentence]:
    """What always passes."""
    name = variable.source.name
    yield sentence("release.true_amounts.leave", name=name)
    classes = [
        level.name
        for level in variable.source.plain_levels
        if sum(not code.is_missing for code in level.codes) > 1
    ]
    if classes:
        setting = f'recode = {{ {name} = "{classes[-1]}" }}'
        yield sentence("release.true_amounts.classes", setting=setting)


def _only_treatment(opened: OpenRelease, told: DesignedRecords, variable: FileVariable) -> str:
    """The treatment that groups an amount, as the plan writes it; empty if there are several."""
    texts = [
        treatment.method
        for _, treatment in treatments_of(opened.plan, told.design)
        if variable.source.name in getattr(method_from_text(treatment.method), "variables", ())
    ]
    return texts[0] if len(texts) == 1 else ""


def _passing(
    opened: OpenRelease, told: DesignedRecords, text: str, counted: tuple[GroupedAmount, ...]
) -> str:
    """The first other setting of a treatment with which the file keeps its promise; or none."""
    records, accepted = told.records, opened.plan.acceptance.unchanged_amounts
    step = step_from_text(told.ungrouped, text, secret=opened.secret)
    method = step.method
    if not isinstance(method, Microaggregation):
        return ""
    variables = [each.variable for each in counted if each.variable.source.name in method.variables]
    units = [_units(opened.store, records, variable) for variable in variables]
    if any(each.rows.size > _MOST_TRIED for each in units):
        return ""
    for other, words in _settings(method):
        trial = replace(step, method=other)
        view = DerivedView(grouped_records(trial, records.sample), step.derivation)
        held = []
        for variable, own in zip(variables, units, strict=True):
            rows = records.sample.rows[variable.entity][own.rows]
            amounts = np.asarray(view.values(variable.entity, variable.source)[slice(None)])[rows]
            held.append(_counted(variable, (other,), own, amounts).holds(accepted))
        if all(held):
            return words
    return ""


def _settings(method: Microaggregation) -> Iterator[tuple[Microaggregation, str]]:
    """Other settings, those that change least first, each as a document writes it."""
    changes: list[dict[str, Any]] = [{}]
    if method.value == MEDIAN:
        changes.append({"value": MEAN})
    if method.grouping == TOGETHER and len(method.variables) > 1:
        changes.append({"grouping": EACH})
    if method.strata:
        changes.append({"strata": ()})
    if len(changes) > 2:
        changes.append({name: value for each in changes for name, value in each.items()})
    for change in changes:
        for times in _WIDER:
            group = times * method.group
            block = max(method.block, 2 * group)
            other = replace(method, group=group, block=block, **change)
            if other != method:
                yield other, _text(other)


def _text(method: Microaggregation) -> str:
    """A method in one line, without what is taken where nothing is said."""
    usual = {each.name: each.default for each in fields(method)}
    said = {each.name: getattr(method, each.name) for each in method.takes}
    words = [method.name]
    for name, value in said.items():
        if value == usual[name]:
            continue
        shown = ",".join(value) if isinstance(value, tuple) else str(value)
        words.append(f"{name}={shown.lower() if isinstance(value, bool) else shown}")
    return shlex.join(words)


def _share(share: float) -> Text:
    return in_every_language(lambda language: share_text(share, language, digits=2))
