"""Solving for the cells that published tables withhold, in all tables together.

The intruder writes down how cells add up, in every table and across them, and computes the smallest
and the largest value of each cell that has no number. He needs numbers that add up: noise and
rounding leave him nothing to solve, and the other attacks are for those.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.bounding import claims_at
from sdcensus.attack.claims import AttackResult, CellClaims, Int64, Mask, merged
from sdcensus.attack.targets import Target, named
from sdcensus.errors import SpecError
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import Mark

NAME = "withheld"
#: Withheld cells up to which linear programs are solved; beyond, single sums have to do.
MOST_PROGRAMS = 5_000
#: Cells of tables that are put together at most.
MOST_CELLS = 2_000_000


def attack_withheld(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim every withheld cell of which one value is left, or only 0 and 1."""
    result = AttackResult(NAME)
    groups: dict[str, list[Target]] = {}
    for target in targets:
        groups.setdefault(target.data, []).append(target)
    for group in groups.values():
        if not any(_hidden(target).any() for target in group):
            said = f"{_begin(group)} no cell is withheld: there is nothing to solve for."
            result = merged(result, AttackResult(NAME, (), (said,)))
            continue
        exact = _exact(group)
        if len(exact) < len(group):
            said = _left_out([target for target in group if target not in exact])
            result = merged(result, AttackResult(NAME, (), (said,)))
        result = merged(result, _solve(exact, assumptions, progress))
    return result


def _exact(group: Sequence[Target]) -> list[Target]:
    """Tables that withhold cells, and those whose numbers add up with them."""
    from sdcensus.solvers.audit.linked import ShownTable, exact_together

    if _cells(group) > MOST_CELLS:
        return list(group)
    tables = [
        ShownTable(target.table.spec, target.table.published, ~hidden, keeps=bool(hidden.any()))
        for target in group
        for hidden in [_hidden(target)]
    ]
    try:
        return [group[at] for at in exact_together(tables)]
    except SpecError:
        return list(group)


def _cells(group: Sequence[Target]) -> int:
    return sum(target.table.spec.cells for target in group)


def _left_out(targets: Sequence[Target]) -> str:
    return f"Numbers of {named(targets)} do not add up with withheld cells, and are left out."


def _hidden(target: Target) -> Mask:
    flags = target.table.flags
    return np.zeros(target.table.shape, dtype=bool) if flags is None else np.asarray(flags != 0)


def _begin(group: Sequence[Target]) -> str:
    return f"In {named(group)}"


def _solve(group: Sequence[Target], assumptions: Assumptions, progress: Progress) -> AttackResult:
    from sdcensus.solvers.audit.audit import audit_system
    from sdcensus.solvers.audit.intervals import DoesNotAddUp
    from sdcensus.solvers.audit.linked import linked_system

    if _cells(group) > MOST_CELLS:
        said = f"{_begin(group)} there are more than {MOST_CELLS:,} cells: nothing was solved."
        return AttackResult(NAME, (), (said,))
    try:
        linked = LinkedTables.of([target.table.spec for target in group])
    except SpecError as error:
        return AttackResult(NAME, (), (f"{_begin(group)} nothing was solved: {error}",))
    values, known, withheld, agree = _put_together(group, linked)
    if not agree:
        return AttackResult(NAME, (), (_no_sums(group),))
    intervals, programs = None, False
    # That closed cells are not empty is a guess: without it, if it fits nothing.
    for least in (_least(group, linked, assumptions), None):
        system, asked = linked_system(
            linked, values, ~known, least=least, upper=_upper(group, linked, assumptions)
        )
        asked &= withheld
        programs = int(asked.sum()) <= MOST_PROGRAMS
        try:
            intervals = audit_system(system, asked=asked, programs=programs, progress=progress)
            break
        except DoesNotAddUp:
            continue
    if intervals is None:
        return AttackResult(NAME, (), (_no_sums(group),))
    claims: list[CellClaims] = []
    examined: list[tuple[str, Int64]] = []
    for target, cells in zip(group, linked.cell_of, strict=True):
        hidden = _hidden(target) & (cells >= 0)
        low, high = intervals.lower[cells], intervals.upper[cells]
        settled = hidden & ((low == high) | ((low == 0) & (high == 1)))
        claims += claims_at(NAME, target, low, high, settled)
        examined.append((target.name, np.flatnonzero(hidden.reshape(-1))))
    elsewhere = int((withheld & known).sum())
    said = _sentence(group, claims, sum(cells.size for _, cells in examined), elsewhere, programs)
    figures = {"withheld here, published there": elsewhere}
    return AttackResult(
        NAME, tuple(claims), (said,), MappingProxyType(figures), examined=tuple(examined)
    )


def _put_together(group: Sequence[Target], linked: LinkedTables) -> tuple[Int64, Mask, Mask, bool]:
    """Values of all cells that some table shows, which cells these are, and which are withheld."""
    values = np.zeros(linked.size, dtype=np.int64)
    known, withheld = np.zeros(linked.size, dtype=bool), np.zeros(linked.size, dtype=bool)
    for target, cells in zip(group, linked.cell_of, strict=True):
        hidden, possible = _hidden(target), cells >= 0
        shown = possible & ~hidden
        values[cells[shown]] = target.table.published[shown]
        known[cells[shown]], withheld[cells[possible & hidden]] = True, True
    agree = all(
        (values[cells[shown]] == target.table.published[shown]).all()
        for target, cells in zip(group, linked.cell_of, strict=True)
        for shown in [(cells >= 0) & ~_hidden(target)]
    )
    return values, known, withheld, agree


def _least(group: Sequence[Target], linked: LinkedTables, assumptions: Assumptions) -> Int64 | None:
    """That a withheld cell holds somebody, in tables that show their empty cells."""
    if not assumptions.zeros_known:
        return None
    least = np.zeros(linked.size, dtype=np.int64)
    for target, cells in zip(group, linked.cell_of, strict=True):
        hidden = _hidden(target)
        if (target.table.published[~hidden] == 0).any():
            least[cells[hidden & (cells >= 0)]] = 1
    return least if least.any() else None


def _upper(group: Sequence[Target], linked: LinkedTables, assumptions: Assumptions) -> Int64 | None:
    """What the intruder knows of values that are withheld because they are small."""
    if assumptions.withheld_below is None:
        return None
    upper = np.full(linked.size, np.iinfo(np.int64).max, dtype=np.int64)
    for target, cells in zip(group, linked.cell_of, strict=True):
        if target.table.flags is not None:
            small = np.isin(target.table.flags, (Mark.WITHHELD, Mark.BELOW_THRESHOLD))
            upper[cells[small & (cells >= 0)]] = assumptions.withheld_below - 1
    return upper


def _no_sums(group: Sequence[Target]) -> str:
    return (
        f"{_begin(group)} published numbers do not add up, so withheld ones cannot be solved for"
        " exactly."
    )


def _sentence(
    group: Sequence[Target],
    claims: Sequence[CellClaims],
    hidden: int,
    elsewhere: int,
    programs: bool,
) -> str:
    exact = sum(int(claim.exact.sum()) for claim in claims)
    narrow = sum(claim.count for claim in claims) - exact
    how = "solves all sums together" if programs else "goes through all sums one by one"
    text = (
        f"Whoever has {named(group)} and {how} settles {exact:,} of {hidden:,} withheld cells"
        " exactly"
    )
    text += f", and {narrow:,} as 0 or 1." if narrow else "."
    if elsewhere:
        text += f" {elsewhere:,} of them are published in another table."
    return text
