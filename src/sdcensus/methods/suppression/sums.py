"""Suppression of sums: how far off closed sums have to be thought possible, and by whose measure.

Sums are large, and only how far they can move matters. So a problem of sums is put as changes: the
true table is 0 everywhere, each cell can go down as far as it is above what it can be, and
distances are counted in units so large that solvers tell them apart exactly. What is rounded is
rounded to the safe side: more is asked, and less room is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.magnitude.sums import present
from sdcensus.methods.suppression.combinations import MOST_ATOMS, say_more_than_sums
from sdcensus.methods.suppression.problem import Reach, SuppressionProblem
from sdcensus.methods.suppression.rules import Rule
from sdcensus.methods.suppression.sum_settings import CALLED
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import Contributions
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.primary_rules import PrimaryRule, PrimaryRules
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.audit.atoms import atoms_of
from sdcensus.solvers.audit.system import FREE

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Where a rule asks for no distance, closed sums have to be off by so many percent.
DEFAULT_PERCENT = 10
#: The largest distance that is asked for has at most so many units, and no cell has more room than
#: so many times that: all of it stays far within what solvers compute exactly.
_MOST_UNITS, _MOST_ROOM = 10_000_000, 16
_HUNDRED, _MILLION = 100, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """What an office asks of closed sums, besides its rules.

    Attributes:
        lower, upper: How far below and above its sum a cell has to be possible, in units of the
            amount.
        percent: The same both ways as a share of the sum.
        width: How far apart its smallest and its largest possible value have to be.
        known_within: Everybody knows each closed sum to so many percent beforehand.
    """

    lower: int | None = None
    upper: int | None = None
    percent: int | None = None
    width: int = 1
    known_within: int | None = None


def check_rules_fit(spec: TableSpec, *, contributions: bool, group: int | None) -> None:
    """Refuse rules about contributions for counts, and about groups for sums.

    Raises:
        SpecError: A rule says nothing of such a table.
    """
    if contributions and not spec.measure.is_sum:
        raise SpecError(
            f"{spec.title}: dominance, percent_rule and pq_rule are about contributions to sums,"
            " and the table shows counts. Leave them out, or ask for a table of sums by its"
            " measure, such as sum(income)."
        )
    if group is not None and spec.measure.is_sum:
        raise SpecError(
            f"{spec.title}: the rule about groups (group) is about counts, and the table shows"
            " sums. Leave it out."
        )


def named_contributions(rules: PrimaryRules | None) -> dict[str, Rule]:
    """The rules about contributions, by what the office calls them."""
    if rules is None:
        return {}

    def named(name: PrimaryRule) -> Rule:
        def rule(cube: Cube) -> Mask:
            known, decimals = _contributions(cube)
            return rules.masks(known, decimals)[name]

        return rule

    return {CALLED[name]: named(name) for name in rules.names}


def costs_of(linked: LinkedCubes) -> Int64:
    """What closing each cell costs: its count, or its size in millionths of the largest sum."""
    if linked.sums is None:
        return linked.counts
    size = np.abs(linked.sums.values)
    # Sums may be too large to be multiplied.
    return size // max(-(-int(size.max(initial=0)) // _MILLION), 1)


def few_contributors(fewest: int, *, zeros: bool) -> Rule:
    """Cells of sums to which fewer contribute; with those to which nobody does, if asked."""

    def rule(cube: Cube) -> Mask:
        known, decimals = _contributions(cube)
        few = PrimaryRules(fewest=fewest).masks(known, decimals)[PrimaryRule.FEW]
        return few | (known.contributors == 0) if zeros else few

    return rule


def _contributions(cube: Cube) -> tuple[Contributions, int | None]:
    known = cube.values.contributions
    if known is None or known.absolute is None:
        raise SpecError(
            f"{cube.spec.title}: the table was tabulated without the contributions to its sums."
        )
    return known, cube.spec.weight_decimals if cube.spec.measure.is_weighted else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Asked(Confidential):
    """Distances of each cell, in last decimals of the amount."""

    down: Int64
    up: Int64


def as_changes(
    linked: LinkedCubes,
    problem: SuppressionProblem,
    rules: PrimaryRules | None,
    distances: Distances,
) -> SuppressionProblem:
    """A problem of sums as one of changes.

    Args:
        linked: The tables.
        problem: What has to become of their cells; ``least`` is what is known of each.
        rules: The rules about contributions that ask for a distance, if there are any.
        distances: What else is asked.
    """
    if linked.sums is None:
        raise SpecError("There are no sums in these tables.")
    values = linked.sums.values
    asked = _distances(linked, problem, rules, distances)
    most = int(max(asked.down.max(initial=0), asked.up.max(initial=0), 1))
    decimals = 10 ** linked.tables.specs[0].decimals
    most = max(most, distances.width * decimals)
    unit = -(-most // _MOST_UNITS)
    limit = _MOST_ROOM * -(-most // unit)
    below = np.where(problem.least <= -FREE, FREE, (values - problem.least) // unit)
    above = np.full(values.shape, FREE, dtype=np.int64)
    if distances.known_within is not None:
        known = _percent_of(np.abs(values), distances.known_within) // unit
        below, above = np.minimum(below, known), known
    below, above = np.minimum(below, limit), np.minimum(above, limit)
    together = say_more_than_sums(linked)
    many = together and atoms_of(linked.tables) > MOST_ATOMS
    reach = Reach(
        lower=np.minimum(-(-asked.down // unit), below),
        upper=-(-asked.up // unit),
        width=-(-distances.width * decimals // unit),
        most=above,
        combined=_combined(linked, unit, limit) if together and not many else None,
        many_combined=together and many,
    )
    return replace(problem, values=np.zeros_like(values), least=-below, reach=reach)


def _combined(linked: LinkedCubes, unit: int, limit: int) -> tuple[Int64, Int64]:
    """How far each combination of codes can go down and up."""
    sums = linked.combined_sums
    # On the safe side it is known to which of them nobody contributes less than 0.
    below = np.minimum(np.where(sums.negative, limit, sums.values // unit), limit)
    return below, np.full(below.shape, limit, dtype=np.int64)


def _distances(
    linked: LinkedCubes,
    problem: SuppressionProblem,
    rules: PrimaryRules | None,
    distances: Distances,
) -> _Asked:
    """How far down and up each primary cell has to be possible.

    What its rules ask, and where they ask nothing a share of what is contributed to it; or what the
    office says, where that is farther.
    """
    levels, absolute = np.zeros((2, problem.size), dtype=np.int64)
    for cube, cells in zip(linked.cubes, linked.tables.cell_of, strict=True):
        known, decimals = _contributions(cube)
        held = cells >= 0
        absolute[cells[held]] = present(known.absolute)[held]
        if rules is not None:
            np.maximum.at(levels, cells[held], rules.levels(known, decimals)[held])
    said = max(distances.percent or 0, 0)
    # Rounded up: less than the last decimal would be nothing.
    share = _percent_of(absolute, said or DEFAULT_PERCENT) + 1
    unit = 10 ** linked.tables.specs[0].decimals
    own = distances.lower is not None or distances.upper is not None
    default = np.where(levels > 0, levels, 0 if own and not said else share)
    at_least = share if said else np.zeros_like(share)
    ways = []
    for distance in (distances.lower, distances.upper):
        way = np.maximum(default, at_least)
        if distance is not None:
            way = np.maximum(way, distance * unit)
        ways.append(np.where(problem.primary, way, 0))
    return _Asked(*ways)


def _percent_of(values: Int64, percent: int) -> Int64:
    """A percentage of values, rounded down; no more than what stands for no bound."""
    whole, rest = np.divmod(values, _HUNDRED)
    share = np.minimum(whole, FREE // percent) * percent + rest * percent // _HUNDRED
    return np.asarray(share, dtype=np.int64)
