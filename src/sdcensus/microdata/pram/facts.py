"""What the office is told about PRAM: before, what is expected; afterwards, what was drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable, OfficeFile
from sdcensus.microdata.pram.drawing import Drawn
from sdcensus.microdata.pram.expectation_ratios import expectation_ratios
from sdcensus.microdata.pram.papers import matrix_file
from sdcensus.microdata.pram.targets import Target
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.transition_matrix import TransitionMatrix
from sdcensus.model.published.transitions import HEAD, probability_text
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.headings import entity_words
from sdcensus.model.text import plain_cell

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Matrices of more codes are shown in their file only.
_MOST_SHOWN = 12


def foreseen(
    target: Target, matrix: TransitionMatrix, totals: Int64, limit: float
) -> tuple[FactTable, ...]:
    """What a matrix is expected to do, code by code, and the matrix itself where it is small."""
    expected, spread = matrix.expected(totals), matrix.spread(totals)
    leaving = totals * (1 - matrix.stay)
    ratios = expectation_ratios(matrix.probabilities, totals)
    shown = [at for at in range(len(matrix.codes)) if totals[at] or matrix.stay[at] < 1]
    rows: list[tuple[Fact, ...]] = [
        (
            *(matrix.codes[at], int(totals[at]), round(float(matrix.stay[at]), 9)),
            *(round(float(number), 1) for number in (leaving[at], expected[at], spread[at])),
            _ratio(ratios[at]),
        )
        for at in shown
    ]
    above = sum(1 for at in shown if totals[at] and ratios[at] > limit)
    headings = ("code", "records", "stay", "leaving", "expected", "spread", "ratio")
    tables = [
        FactTable(
            name=f"pram-expected-{target.name}",
            title=sentence(
                "pram.facts.expected_title",
                name=target.name,
                units=entity_words(target.entity),
                records=int(totals.sum()),
                leaving=round(float(leaving.sum()), 1),
            ),
            headings=_headings(headings),
            rows=tuple(rows),
            note=sentence("pram.facts.ratio_note", limit=float(limit), above=above),
        )
    ]
    if len(shown) <= _MOST_SHOWN:
        tables.append(_matrix_table(target, matrix, shown))
    return tuple(tables)


def _matrix_table(target: Target, matrix: TransitionMatrix, shown: Sequence[int]) -> FactTable:
    probabilities = matrix.probabilities
    codes = [sentence("pram.facts.to_code", code=matrix.codes[at]) for at in shown]
    return FactTable(
        name=f"pram-matrix-{target.name}",
        title=sentence("pram.facts.matrix_title", name=target.name),
        headings=(sentence("pram.facts.code"), *codes),
        rows=tuple(
            (matrix.codes[at], *(round(float(probabilities[at, to]), 9) for to in shown))
            for at in shown
        ),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outcome(Confidential):
    """What became of a target: what was drawn, and what of it edit rules let pass.

    Attributes:
        asked: What was drawn.
        changed: How many records have really changed.
        drawn, applied: Records by their code before and afterwards, as drawn and as it is.
    """

    asked: Drawn
    changed: int
    drawn: Int64
    applied: Int64

    def __repr__(self) -> str:
        return "<Outcome: confidential>"


def outcome_of(asked: Drawn, done: Drawn) -> Outcome:
    """What became of a target."""
    drawn = asked.transitions()
    applied = drawn if done is asked else done.transitions()
    return Outcome(asked, int(done.rows.size), drawn, applied)


def happened(outcome: Outcome) -> FactTable:
    """What was expected and what was drawn, code by code."""
    asked = outcome.asked
    matrix, totals = asked.matrix, asked.totals
    expected, spread, after = (
        matrix.expected(totals),
        matrix.spread(totals),
        outcome.applied.sum(axis=0),
    )
    size = totals.size
    left = totals - np.diagonal(outcome.applied)
    kept = np.diagonal(outcome.applied) - np.diagonal(outcome.drawn)
    rows: list[tuple[Fact, ...]] = [
        (
            *(matrix.codes[at], int(totals[at])),
            *(round(float(number), 1) for number in (expected[at], spread[at])),
            *(int(number[at]) for number in (after, left, kept)),
        )
        for at in range(size)
        if totals[at] or after[at]
    ]
    any_kept = bool(kept.any())
    headings = ("code", "records", "expected", "spread", "after", "left", "kept")
    return FactTable(
        name=f"pram-drawn-{asked.target.name}",
        title=sentence(
            "pram.facts.drawn_title",
            name=asked.target.name,
            units=entity_words(asked.target.entity),
            changed=outcome.changed,
            records=int(totals.sum()),
        ),
        headings=_headings(headings),
        rows=tuple(rows),
        note=sentence("pram.facts.kept_note", n=int(kept.sum())) if any_kept else None,
    )


def office_files(outcome: Outcome) -> tuple[OfficeFile, ...]:
    """The matrix, as ``--matrix`` reads it, what was drawn, and the matrix to estimate with."""
    target, matrix = outcome.asked.target, outcome.asked.matrix
    names = [variable.name for variable in target.variables]
    files = [
        _matrix_file(matrix_file(names), matrix.codes, matrix.probabilities),
        _transition_file(target, matrix, outcome.drawn, outcome.applied),
    ]
    if outcome.asked.rows.size != outcome.changed:
        effective = effective_matrix(matrix, outcome.drawn, outcome.applied)
        name = matrix_file(names).replace("pram-matrix-", "pram-effective-matrix-")
        files.append(_matrix_file(name, matrix.codes, effective))
    return tuple(files)


def effective_matrix(matrix: TransitionMatrix, drawn: Int64, applied: Int64) -> Float64:
    """The matrix with the share of each change that edit rules let pass; the rest stays."""
    passed = np.divide(applied, drawn, out=np.ones(drawn.shape), where=drawn > 0)
    np.fill_diagonal(passed, 0.0)
    effective = matrix.probabilities * passed
    np.fill_diagonal(effective, 1 - effective.sum(axis=1))
    return effective


def _matrix_file(name: str, codes: Sequence[str], probabilities: Float64) -> OfficeFile:
    texts = np.vectorize(probability_text, otypes=[object])(probabilities)
    columns = {HEAD: np.array([plain_cell(code) for code in codes], dtype=object)}
    return OfficeFile(
        name=name,
        columns=columns | {plain_cell(code): texts[:, at] for at, code in enumerate(codes)},
    )


def _transition_file(
    target: Target, matrix: TransitionMatrix, drawn: Int64, applied: Int64
) -> OfficeFile:
    start, end = np.nonzero((matrix.weights > 0) | (drawn > 0))
    codes = np.array(matrix.codes, dtype=object)
    texts = [probability_text(share) for share in matrix.probabilities[start, end].tolist()]
    return OfficeFile(
        name=f"pram-transitions-{target.name}.csv",
        columns={
            "from": codes[start],
            "to": codes[end],
            "probability": np.array(texts, dtype=object),
            "drawn": drawn[start, end],
            "done": applied[start, end],
        },
    )


def _headings(names: Sequence[str]) -> tuple[Sentence, ...]:
    return tuple(sentence(f"pram.facts.{name}") for name in names)


def _ratio(ratio: float) -> Fact:
    if math.isnan(ratio):
        return None
    return round(float(ratio), 2) if math.isfinite(ratio) else "∞"
