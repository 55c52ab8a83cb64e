"""Edit rules as classes: which units may have which combination without breaking a rule.

For every rule about one record there are few ways in which its free variables can matter. A unit is
of the class of those that the rest of it (variables that are not listed, or stay, and the records
that it holds) forbids. A combination has the profiles of the units that had it: whoever comes takes
the leaves of one of them. Rules about two records are looked at afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.safe.combinations import Combinations
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.edit_rules import EditRule, edit_rules
from sdcensus.store.census_store import CensusStore, inside

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RuleClasses(Confidential):
    """Who may have which combination.

    Attributes:
        classes: For each unit its class.
        own: For each unit its profile: in which way each rule sees its free variables.
        fits: For each profile and class whether a unit of the class may take the leaves of a unit
            of the profile.
        profiles: For each combination its row of ``allowed``.
        allowed: For each of these rows and class whether such a unit may come.
    """

    classes: Int64
    own: Int64
    fits: Mask
    profiles: Int64
    allowed: Mask

    def __repr__(self) -> str:
        return "<RuleClasses: confidential>"

    @property
    def forbids(self) -> bool:
        """Whether anything is forbidden to anybody."""
        return not bool(self.allowed.all())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Seen(Confidential):
    """How one rule sees the units.

    Attributes:
        ways: How many ways there are in which the free variables can matter to it.
        own: For each unit the way that it has.
        forbidden: For each unit, for each way, whether the rule would be broken that was kept.
    """

    ways: int
    own: Int64
    forbidden: Mask


def rule_classes(records: CensusStore, found: Combinations) -> RuleClasses:
    """Find out who may have which combination."""
    units = found.rows.size
    classes, own = np.zeros(units, dtype=np.int64), np.zeros(units, dtype=np.int64)
    seen = list(_seen_by_rules(records, found))
    for each in seen:
        for way in range(each.ways):
            classes = _numbered(classes * 2 + each.forbidden[:, way])
        own = _numbered(own * each.ways + each.own)
    class_units = np.unique(classes, return_index=True)[1]
    own_units = np.unique(own, return_index=True)[1]
    fits = np.ones((own_units.size, class_units.size), dtype=bool)
    for each in seen:
        fits &= ~each.forbidden[class_units][:, each.own[own_units]].T
    profiles, allowed = _profiles(found, own, fits)
    return RuleClasses(classes, own, fits, profiles, allowed)


def _numbered(numbers: Int64) -> Int64:
    """The same numbers without gaps."""
    return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _profiles(found: Combinations, own: Int64, fits: Mask) -> tuple[Int64, Mask]:
    """For each combination a row that says which classes may come: by any of its profiles."""
    several = own.max(initial=0) + 1
    pairs = np.unique(found.homes * several + own)
    cells, profiles = pairs // several, pairs % several
    starts = np.searchsorted(cells, np.arange(found.counts.size + 1))
    rows = [fits[profile] for profile in range(int(several) if own.size else 0)]
    chosen = profiles[starts[:-1]] if found.counts.size else np.zeros(0, dtype=np.int64)
    known: dict[tuple[int, ...], int] = {}
    for cell in np.flatnonzero(np.diff(starts) > 1):
        together = tuple(profiles[starts[cell] : starts[cell + 1]].tolist())
        if together not in known:
            known[together] = len(rows)
            rows.append(fits[list(together)].any(axis=0))
        chosen[cell] = known[together]
    return chosen, np.array(rows, dtype=bool).reshape(len(rows), fits.shape[1])


def _seen_by_rules(records: CensusStore, found: Combinations) -> Iterator[_Seen]:
    """Each rule about one record that free variables can break."""
    schema, unit = records.schema, found.listed.unit
    free = {each.variable.name for each in found.listed.free}
    places = np.full(records.rows(unit), -1, dtype=np.int64)
    places[found.rows] = np.arange(found.rows.size)
    for rule in schema.kept(edit_rules):
        if rule.second is None and any(each.name in free for each in rule.when.variables):
            yield _seen(records, found, rule, free, places)


def _seen(
    records: CensusStore, found: Combinations, rule: EditRule, free: set[str], places: Int64
) -> _Seen:
    unit = found.listed.unit
    rows = records.rows(rule.entity)
    columns = [records.column(rule.entity, each) for each in rule.when.variables]
    before = inside(rule.when, columns, slice(0, rows), rows)
    kinds = [
        classes[column[slice(0, rows)]]
        for classes, column in zip(rule.when.classes, columns, strict=True)
    ]
    changing = [each.name in free for each in rule.when.variables]
    sizes = [size for size, changes in zip(rule.when.truth.shape, changing, strict=True) if changes]
    holder = records.holder_rows(rule.entity, unit)[slice(0, rows)]
    held = np.flatnonzero(holder != NO_ROW)
    owners = places[holder[held]]
    ways = list(itertools.product(*map(range, sizes)))
    forbidden = np.zeros((found.rows.size, len(ways)), dtype=bool)
    for way, values in enumerate(ways):
        given = iter(values)
        asked = tuple(
            np.full(rows, next(given)) if changes else kind
            for kind, changes in zip(kinds, changing, strict=True)
        )
        broken = (rule.when.truth[asked] & ~before)[held]
        forbidden[owners[broken], way] = True
    own = np.zeros(found.rows.size, dtype=np.int64)
    for variable, classes, changes, size in zip(
        rule.when.variables, rule.when.classes, changing, rule.when.truth.shape, strict=True
    ):
        if changes:
            leaves = records.column(unit, variable)[slice(0, records.rows(unit))][found.rows]
            own = own * size + classes[leaves]
    return _Seen(len(ways), own, forbidden)
