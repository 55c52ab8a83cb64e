"""What a file for researchers costs its users: measured against the census that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.release.records import FileRecords, records_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.session.release.utility.facts import utility_facts, utility_verdict
from sdcensus.session.release.utility.models import compared_models
from sdcensus.session.release.utility.results import (
    AmountUtility,
    CorrelationChange,
    EstimateCheck,
    ReleaseUtility,
    VariableUtility,
)
from sdcensus.session.release.utility.stations import CensusStation, RecordsStation, Station
from sdcensus.session.release.utility.surveys import survey_verdicts
from sdcensus.store.census_store import CensusStore
from sdcensus.utility.records.amounts import amount_summary, correlation
from sdcensus.utility.records.distributions import (
    detail_kept,
    distribution_change,
    shares,
    weighted_counts,
)
from sdcensus.utility.records.pairs import PairChange, PairColumns, grouped_table, pair_change
from sdcensus.utility.records.sampling_error import ratio_estimate, share_estimates

Integers = npt.NDArray[Any]
#: Pairs that a report shows, the worst first.
MOST_PAIRS = 40
#: Records times pairs up to which all pairs are compared.
MOST_COMPARED = 4_000_000_000
_NAMES = re.compile(r"[^\W\d]\w*")
#: Codes of a variable whose shares are estimated, the most frequent ones.
MOST_CODES = 200


def measured_utility(
    store: CensusStore,
    records: FileRecords,
    plan: ReleasePlan,
    *,
    most_pairs: int = MOST_PAIRS,
    census: CensusStation | None = None,
    progress: Progress = no_progress,
) -> ReleaseUtility:
    """Measure a file against the census.

    Args:
        store: The census as it was counted, before any change of records.
        records: The records that go out, after swapping, suppression and so on.
        plan: Says which weight counts, the surveys of the country, and the models.
        most_pairs: How many pairs the tables of facts show.
        census: The columns of the census where they serve several files.
        progress: Told how far it is.
    """
    station = census or CensusStation(store, plan)
    work = _Work(station, store, as_counted(store, records), records, plan, progress)
    variables = tuple(work.variables())
    amounts = tuple(work.amounts())
    pairs = tuple(sorted(work.pairs(), key=_worst_first))
    estimates = tuple(
        [check for variable in variables for check in variable.estimates]
        + [amount.mean for amount in amounts if amount.mean is not None]
    )
    progress("comparing models", 0.9)
    utility = ReleaseUtility(
        variables=variables,
        pairs=pairs,
        amounts=amounts,
        correlations=tuple(work.correlations()),
        estimates=estimates,
        surveys=survey_verdicts(plan.surveys, estimates, *work.sizes()),
        models=compared_models(store, records, plan),
        left_out=work.left_out,
    )
    return ReleaseUtility(
        **{name: getattr(utility, name) for name in _MEASURED},
        facts=utility_facts(utility, most_pairs),
        verdict=utility_verdict(utility),
    )


def as_counted(store: CensusStore, records: FileRecords) -> FileRecords:
    """What the file would tell of the same units had nothing been changed.

    Units are found by the digest of their identity, which changed stores keep.
    """
    if store is records.store:
        return records_of(store, records.design, records.sample, warned=False)
    rows = {}
    for entity, taken in records.sample.rows.items():
        digests = store.digests(entity)
        order = np.argsort(digests, kind="stable")
        wanted = records.store.digests(entity)[taken]
        rows[entity] = order[np.searchsorted(digests[order], wanted)].astype(np.int64)
    sample = replace(records.sample, rows=rows)
    return records_of(store, records.design, sample, warned=False)


_MEASURED = (
    "variables",
    "pairs",
    "amounts",
    "correlations",
    "estimates",
    "surveys",
    "models",
    "left_out",
)


def _worst_first(pair: PairChange) -> tuple[float, float, tuple[str, str]]:
    return -abs(pair.change or 0.0), -pair.total_variation, pair.names


class _Work:
    """The three stations, and what is measured between them."""

    def __init__(
        self,
        census: CensusStation,
        store: CensusStore,
        before: FileRecords,
        after: FileRecords,
        plan: ReleasePlan,
        progress: Progress,
    ) -> None:
        self.census, self.plan = census, plan
        self.sample, self.file = RecordsStation(before), RecordsStation(after)
        self.design = after.design
        self.store, self.progress = store, progress
        self.unchanged: dict[str, bool] = {}
        self.left_out = 0
        self.kinds = tuple(
            entity
            for entity in (Entity.HOUSEHOLD, Entity.PERSON)
            if entity in after.sample.rows and self.design.of(entity)
        )

    def sizes(self) -> tuple[int, float]:
        """Persons of the census, and persons in a household on average."""
        kinds = {spec.entity for spec in self.store.schema.entities}
        persons = self.store.rows(Entity.PERSON) if Entity.PERSON in kinds else 0
        households = self.store.rows(Entity.HOUSEHOLD) if Entity.HOUSEHOLD in kinds else 0
        return persons, persons / households if households else 1.0

    def _coded(self) -> list[FileVariable]:
        return [
            variable
            for entity in self.kinds
            for variable in self.design.of(entity)
            if variable.level.codes and not variable.amounts
        ]

    def _amounts(self) -> list[FileVariable]:
        return [
            variable
            for entity in self.kinds
            for variable in self.design.of(entity)
            if variable.amounts
        ]

    # ------------------------------------------------------------------------------ variables

    def variables(self) -> Iterator[VariableUtility]:
        coded = self._coded()
        for at, variable in enumerate(coded):
            self.progress("comparing distributions", 0.3 * at / len(coded))
            yield self._variable(variable)

    def _variable(self, variable: FileVariable) -> VariableUtility:
        entity, size = variable.entity, len(variable.level.codes)
        leaves = weighted_counts(
            self.census.leaves(variable, entity),
            len(variable.source.codes),
            self.census.weights(entity),
        )
        census = weighted_counts(variable.level.group_array, size, leaves)
        sample, file = (
            weighted_counts(station.codes(variable, entity), size, station.weights(entity))
            for station in (self.sample, self.file)
        )
        return VariableUtility(
            variable=variable,
            detail=detail_kept(leaves, variable.level.group_array),
            sampling=distribution_change(census, sample),
            changes=distribution_change(sample, file),
            together=distribution_change(census, file),
            estimates=tuple(self._shares(variable, census)),
        )

    def _shares(
        self, variable: FileVariable, census: npt.NDArray[np.float64]
    ) -> Iterator[EstimateCheck]:
        frequent = np.argsort(-census, kind="stable")[:MOST_CODES]
        chosen = sorted(int(at) for at in frequent if census[at] > 0)
        if not chosen:
            return
        entity = variable.entity
        truth = shares(census)
        estimates = share_estimates(
            self.file.codes(variable, entity), chosen, self.file.clusters(entity)
        )
        for at, estimate in zip(chosen, estimates, strict=True):
            if estimate is not None:
                code = variable.level.codes[at]
                yield EstimateCheck(variable.name, entity, code, float(truth[at]), estimate)

    # ------------------------------------------------------------------------------ pairs

    def pairs(self) -> Iterator[PairChange]:
        every = self._compared()
        for at, (first, second) in enumerate(every):
            self.progress("comparing pairs of variables", 0.3 + 0.6 * at / len(every))
            entity = first.entity if first.entity is second.entity else Entity.PERSON
            change = self._pair(first, second, entity)
            if change is not None:
                yield change

    def _compared(self) -> list[tuple[FileVariable, FileVariable]]:
        """All pairs; of large censuses those of keys, sensitive variables and models."""
        coded = [variable for variable in self._coded() if len(variable.level.codes) > 1]
        every = [
            (first, second)
            for first, second in combinations(coded, 2)
            if first.source.name != second.source.name  # two levels of one variable
        ]
        records = max((self.census.weights(entity).size for entity in self.kinds), default=0)
        if records * len(every) <= MOST_COMPARED:
            return every
        named = set(_NAMES.findall(" ".join(self._named())))
        chosen = [
            pair
            for pair in every
            if all(each.source.name in named or each.role is Role.SENSITIVE for each in pair)
        ]
        self.left_out = len(every) - len(chosen)
        return chosen

    def _named(self) -> Iterator[str]:
        """What the plan says of keys, sensitive variables and models."""
        yield from (key.source.name for key in self.design.ladder)
        yield from self.plan.risk.sensitive
        for model in self.plan.models:
            yield from (model.formula, model.where)

    def _pair(self, first: FileVariable, second: FileVariable, entity: Entity) -> PairChange | None:
        sizes = (len(first.level.codes), len(second.level.codes))

        def columns(station: Station, weights: npt.NDArray[np.float64] | None) -> PairColumns:
            codes = (station.codes(first, entity), station.codes(second, entity))
            return PairColumns(*codes, sizes, weights)

        finest = self.census.finest_table(first, second, entity)
        recoded: npt.NDArray[np.float64] | None
        if finest is None:
            recoded = columns(self.census, self.census.own_weights(entity)).table()
        elif _is_told_finely(first) and _is_told_finely(second):
            recoded = finest
        else:
            groups = (first.level.group_array, second.level.group_array)
            recoded = grouped_table(finest, groups, sizes)
        sample = columns(self.sample, self.sample.weights(entity)).table()
        if recoded is None or sample is None:
            return None
        file: npt.NDArray[np.float64] | None = sample
        if not (self._is_unchanged(first) and self._is_unchanged(second)):
            file = columns(self.file, self.file.weights(entity)).table()
        assert file is not None, "tables of one size"
        return pair_change(
            (first.name, second.name), census=finest, recoded=recoded, sample=sample, file=file
        )

    def _is_unchanged(self, variable: FileVariable) -> bool:
        """Whether the file tells a variable, and weighs its records, as the sample does."""
        name = variable.name
        if name not in self.unchanged:
            entities = [variable.entity, *self.kinds]
            self.unchanged[name] = all(
                np.array_equal(self.sample.weights(entity), self.file.weights(entity))
                for entity in entities
            ) and np.array_equal(
                self.sample.codes(variable, variable.entity),
                self.file.codes(variable, variable.entity),
            )
        return self.unchanged[name]

    # ------------------------------------------------------------------------------ amounts

    def amounts(self) -> Iterator[AmountUtility]:
        for variable in self._amounts():
            entity, decimals = variable.entity, variable.source.decimals
            census, sample, file = (
                amount_summary(station.amounts(variable, entity), decimals, station.weights(entity))
                for station in (self.census, self.sample, self.file)
            )
            numbers = self.file.amounts(variable, entity)
            stated = numbers != NO_VALUE
            estimate = ratio_estimate(
                np.where(stated, numbers, 0) / 10.0**decimals, self.file.clusters(entity), stated
            )
            mean = (
                None
                if estimate is None or census.mean is None
                else EstimateCheck(variable.name, entity, None, census.mean, estimate)
            )
            yield AmountUtility(variable, census, sample, file, mean)

    def correlations(self) -> Iterator[CorrelationChange]:
        for first, second in combinations(self._amounts(), 2):
            entity = first.entity if first.entity is second.entity else Entity.PERSON
            values: Sequence[float | None] = [
                correlation(
                    station.amounts(first, entity),
                    station.amounts(second, entity),
                    station.weights(entity),
                )
                for station in (self.census, self.sample, self.file)
            ]
            yield CorrelationChange((first.name, second.name), values[0], values[1], values[2])


def _is_told_finely(variable: FileVariable) -> bool:
    """Whether the file tells the codes of the census, in their order."""
    return variable.level.group == tuple(range(len(variable.source.codes))) and len(
        variable.level.codes
    ) == len(variable.source.codes)
