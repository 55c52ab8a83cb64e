"""Matrices from a probability to stay, and from which codes are alike."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.documents.matrices.transitions import read_transitions
from sdcensus.errors import SpecError
from sdcensus.microdata.pram.settings import Similar, Similarity, TargetSettings
from sdcensus.microdata.pram.targets import Target
from sdcensus.model.perturbation.transition_matrix import TransitionMatrix

Int64 = npt.NDArray[np.int64]

#: Codes that are further apart than this are no neighbours: they would get less than 2**-32.
_FURTHEST = 32


def matrix_for(
    said: TargetSettings,
    totals: Int64,
    *,
    change_missing: bool,
    invariant: bool,
    alpha: Fraction,
) -> TransitionMatrix:
    """The matrix of a target.

    Args:
        said: What is said about it.
        totals: How many records each of its codes has.
        change_missing: Whether missing codes take part.
        invariant: Whether expected totals stay as they are.
        alpha: How much of the invariant matrix is taken, the rest being no change.
    """
    target = said.target
    if said.matrix is not None:
        lacking = [
            code
            for code, missing, total in zip(target.codes, target.missing, totals, strict=True)
            if missing or (target.is_compound and not total)
        ]
        written = read_transitions(
            said.matrix, target.codes, may_lack=lacking, what=repr(target.name)
        )
        matrix = TransitionMatrix.from_rows(target.codes, written.rows)
    else:
        matrix = _designed(said, totals, change_missing=change_missing)
    return matrix.invariant(totals, alpha) if invariant else matrix


def depends_on_counts(said: TargetSettings, *, invariant: bool) -> bool:
    """Whether a matrix is computed from true counts, so that publishing it tells them.

    Combinations lead only to combinations that occur: that is known from the records as well.
    """
    designed = said.matrix is None
    by_counts = said.similar.kind is Similar.FREQUENCY or said.target.is_compound
    return invariant or (designed and by_counts)


def _designed(said: TargetSettings, totals: Int64, *, change_missing: bool) -> TransitionMatrix:
    target, stay = said.target, said.stay
    assert stay is not None
    size = len(target.codes)
    part = np.array([change_missing or not missing for missing in target.missing])
    if target.is_compound:
        part &= totals > 0
    above, below = stay.as_integer_ratio()
    rows: list[list[int]] = []
    for code in range(size):
        weights = _weights(said.similar, target, code, totals) if part[code] else [0] * size
        row = [
            weight if part[other] and other != code else 0 for other, weight in enumerate(weights)
        ]
        total = sum(row)
        row = [(below - above) * weight for weight in row]
        row[code] = above * total if total else 1
        rows.append(row)
    changes = (any(row[:code] + row[code + 1 :]) for code, row in enumerate(rows))
    if above < below and not any(changes):
        raise _nothing_changes(said, change_missing=change_missing)
    return TransitionMatrix.from_parts(target.codes, rows)


def _nothing_changes(said: TargetSettings, *, change_missing: bool) -> SpecError:
    """What to do where a matrix leaves everything as it is, of what would help."""
    target, remedies = said.target, ["leave it out"]
    several = target.missing.count(False) > 1 and not target.is_compound
    if several and said.similar.kind is not Similar.EQUAL:
        remedies.append(f"say --similar {target.name}=equal")
    if not change_missing and len(target.codes) > 1 and not target.is_compound:
        remedies.append(
            f"let missing values change: --change-missing --similar {target.name}=equal"
        )
    return SpecError(
        f"No value of {target.name!r} can become another: there are no two codes that could be"
        f" exchanged for each other. What helps: {'; or '.join(remedies)}."
    )


def _weights(similar: Similarity, target: Target, code: int, totals: Int64) -> Sequence[int]:
    size = len(target.codes)
    match similar.kind:
        case Similar.FREQUENCY:
            whole: list[int] = totals.tolist()
            return whole
        case Similar.EQUAL:
            return [1] * size
        case Similar.NEIGHBOURS:
            if target.missing[code]:
                return [0] * size
            return [
                1 << (_FURTHEST - abs(other - code))
                if abs(other - code) <= _FURTHEST and not target.missing[other]
                else 0
                for other in range(size)
            ]
        case Similar.LEVEL:
            assert similar.level is not None
            own = [variable.name for variable in target.variables].index(similar.variable)
            parts = np.unravel_index(np.arange(size), target.sizes)[own]
            group = similar.level.group_array[parts]
            same: list[int] = (group == group[code]).astype(int).tolist()
            return same
