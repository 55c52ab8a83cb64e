"""What an intruder is taken to know about the method of a table, if nothing else is said.

The assumption has to be true of the table, or no conclusion can be drawn: where a method names no
largest change, or a step after it changes more, the largest change in the table itself is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdcensus.errors import SdcensusError
from sdcensus.methods.listed_cells import mask_of
from sdcensus.methods.method import Mask, Method, MethodKind
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import is_interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.sentences import sentence
from sdcensus.risk.feasibility import Feasibility, How, feasibility
from sdcensus.risk.looks.chance import large_variance

_SUMS = sentence("assess.intruder.sums")
_OBSERVED = sentence("assess.intruder.observed")
_EXACT = sentence("assess.intruder.exact")
_EXEMPT = sentence("assess.intruder.exempt")
_SHOWN = sentence("closed.shown")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Intruder(Confidential):
    """What an intruder is taken to know, and what he works with.

    Attributes:
        known: The largest change, and what is known of empty and withheld cells.
        whole: The same with everything else that the method says about which counts lead to which
            value; ``None`` where that narrows nothing more.
        table: What he works with: the published table, totals left out where they are sums.
        exact: Cells that he knows to be published as they are; ``None`` if there are none.
        exempt: Those of them that the office exempts, which are not counted as given away.
        shown: Cells that are published as they are on purpose, by a method that withholds the
            others; not counted as given away either. ``None`` for other methods.
        notes: What a reader has to know about all this, as sentences.
    """

    known: Knowledge
    whole: Knowledge | None
    table: Table
    exact: Mask | None = None
    exempt: Mask | None = None
    shown: Mask | None = None
    notes: tuple[str, ...] = ()

    @property
    def on_purpose(self) -> Mask | None:
        """Cells that are published exactly on purpose; ``None`` if there are none."""
        masks = [mask for mask in (self.exempt, self.shown) if mask is not None]
        return np.logical_or.reduce(masks) if masks else None

    def __repr__(self) -> str:
        return f"<Intruder of {self.table.spec.title}: confidential>"


def noise_of(
    method: Method | None, perturbation: Perturbation | None = None
) -> Perturbation | None:
    """The perturbation behind a method, if it has one."""
    return method.noise if perturbation is None and method is not None else perturbation


def variance_of(method: Method | None, perturbation: Perturbation | None) -> float | None:
    """The variance of large counts, where every cell has noise of its own; else ``None``.

    Averages over tables are computed with it. Where totals are sums, or a step moves values
    afterwards, the looks of a budget are no independent draws of that variance.
    """
    if method is not None and any(step.kind is MethodKind.ADDS_UP for step in method.steps):
        return None
    if method is None or method.first.has_own_noise:
        noise = noise_of(method, perturbation)
        return None if noise is None else large_variance(noise)
    return method.first.variance


def intruder_of(
    cube: Cube, table: Table, method: Method | None, perturbation: Perturbation | None = None
) -> Intruder:
    """What is taken to be known about a table that was made by a method.

    Args:
        cube: True counts, which the assumption must fit.
        table: What is published.
        method: How it was made; without it only the table itself is known.
        perturbation: The noise, where the method has none of its own.
    """
    inside = _sums_of_interior(table, method)
    shown = np.ones(table.shape, dtype=bool) if table.flags is None else table.flags == 0
    if inside is not None:
        shown &= inside
    change = np.abs(table.published - cube.count)[shown]
    observed = int(change.max()) if change.size else 0
    stated = _stated_bound(method, noise_of(method, perturbation))
    bound = observed if stated is None else max(stated, observed)
    notes = [_SUMS] if inside is not None else []
    if stated is None or observed > stated:
        notes.append(_OBSERVED)
    exact, exempt = _exact_cells(cube, method)
    if exact is not None:
        notes.append(_EXACT)
    if exempt is not None:
        notes.append(_EXEMPT)
    true = _true_on_purpose(table, method)
    if true is not None:
        notes.append(_SHOWN)
    zeros = _zeros_known(cube, table, method, shown)
    below = _withheld_below(cube, table, method, bound)
    if below is not None:
        notes.append(sentence("assess.intruder.withheld", n=below - 1 + bound))
    known = Knowledge(max_deviation=bound, zeros_known=zeros, withheld_below=below)
    whole = None
    if method is not None and stated is not None and observed <= stated:
        support = method.first.support
        if support is not None:
            whole = replace(known, support=support)
    used = table if inside is None else _hidden(table, ~inside)
    return Intruder(
        known=known,
        whole=whole,
        table=used,
        exact=exact,
        exempt=exempt,
        shown=true,
        notes=tuple(notes),
    )


def given_intruder(
    cube: Cube, table: Table, method: Method | None, knowledge: Knowledge
) -> Intruder:
    """An intruder of whom somebody else says what he knows; exact cells he knows anyway."""
    exact, exempt = _exact_cells(cube, method)
    notes = [note for note, cells in ((_EXACT, exact), (_EXEMPT, exempt)) if cells is not None]
    true = _true_on_purpose(table, method)
    return Intruder(
        known=knowledge,
        whole=None,
        table=table,
        exact=exact,
        exempt=exempt,
        shown=true,
        notes=(*notes, *(() if true is None else (_SHOWN,))),
    )


def intervals_of(
    cube: Cube,
    intruder: Intruder,
    *,
    exact: bool,
    left_out: list[str],
    progress: Progress = no_progress,
) -> list[Feasibility]:
    """What is left for an intruder, from the one who knows least to the one who knows most.

    Args:
        cube: True counts.
        intruder: Who.
        exact: Whether linear programs are used as well.
        left_out: Is told what could not be measured.
        progress: Told how far it is.
    """
    wanted: list[tuple[Knowledge, How]] = []
    known = intruder.known
    if known.zeros_known:
        wanted.append((replace(known, zeros_known=False), How.SHUTTLE))
    last = How.LINEAR if exact else How.SHUTTLE
    ways: Sequence[How] = (How.SHUTTLE, How.LINEAR) if exact else (How.SHUTTLE,)
    wanted += [(known, how) for how in ways]
    if intruder.whole is not None:
        wanted.append((intruder.whole, last))
    intervals = []
    for knowledge, how in wanted:
        try:
            intervals.append(fitting(cube, intruder, knowledge, how=how, progress=progress))
        except SdcensusError as error:
            what = sentence("assess.left_out.intervals", how=how.value)
            left_out.append(sentence("assess.left_out.why", what=what, why=error.said))
    return intervals


def fitting(
    cube: Cube,
    intruder: Intruder,
    knowledge: Knowledge,
    *,
    how: How = How.SHUTTLE,
    progress: Progress = no_progress,
) -> Feasibility:
    """What is left for an intruder who knows this, from the table that he works with."""
    return feasibility(
        cube,
        intruder.table,
        knowledge,
        how=how,
        cells=None if intruder.on_purpose is None else ~intruder.on_purpose,
        exact=intruder.exact,
        progress=progress,
    )


def _true_on_purpose(table: Table, method: Method | None) -> Mask | None:
    """The cells with a number, where a method withholds the others and changes nothing."""
    if method is None or not method.claims().shown_are_true:
        return None
    return np.ones(table.shape, dtype=bool) if table.flags is None else table.flags == 0


def _sums_of_interior(table: Table, method: Method | None) -> Mask | None:
    """The interior cells, where the method only adds them up to all others.

    Where cells are withheld, totals do tell something about them, and are used.
    """
    if method is None or method.steps or table.flags is not None:
        return None
    return is_interior(table.spec) if method.claims().additive else None


def _hidden(table: Table, cells: Mask) -> Table:
    """The table as if these cells were not published."""
    flags = np.where(cells, np.uint8(Mark.WITHHELD), np.uint8(Mark.NONE))
    return Table(table.spec, np.where(cells, 0, table.published), flags)


def _stated_bound(method: Method | None, noise: Perturbation | None) -> int | None:
    """The largest change that a method makes by design; ``None`` where it names none."""
    stated = None if method is None else method.first.largest_deviation
    return noise.max_deviation if stated is None and noise is not None else stated


def _exact_cells(cube: Cube, method: Method | None) -> tuple[Mask | None, Mask | None]:
    """Cells that are known to be published as they are, and those of them that are exempt."""
    if method is None:
        return None, None
    exact = method.exact_cells(cube)
    exempt = mask_of(method.exempt_cells(cube.spec), cube.spec)
    return (exact if exact.any() else None), (exempt if exempt.any() else None)


def _zeros_known(cube: Cube, table: Table, method: Method | None, shown: Mask) -> bool:
    """Whether it is known, and true, that empty cells are published as 0."""
    empty = cube.count[shown] == 0
    if (table.published[shown] > 0)[empty].any():
        return False
    claims = None if method is None else method.claims()
    if claims is not None and claims.zeros_kept:
        return True
    if claims is not None and claims.grows_empty_cells:
        return False
    # Where all empty cells are withheld, none is published as 0.
    return bool(empty.any()) or bool((cube.count > 0).all())


def _withheld_below(cube: Cube, table: Table, method: Method | None, bound: int) -> int | None:
    """The value below which cells are withheld, if the method says so."""
    limit = None if table.flags is None or method is None else method.withheld_below(bound)
    if limit is None or table.flags is None:
        return None
    # Withheld values may have been changed by more than those that are shown.
    largest = int(cube.count[table.flags != Mark.NONE].max())
    return max(limit, largest - bound + 1)
