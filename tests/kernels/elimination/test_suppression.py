from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.elimination import candidates, suppression
from sdcensus.kernels.elimination.merging import same_columns
from sdcensus.kernels.elimination.suppression import Singles, Status, suppressed
from tests.kernels.elimination.exact import (
    Fractions,
    Matrix,
    Question,
    columns_of,
    matrices,
    questions,
)


def asked(question: Question, weights: Matrix | None = None) -> npt.NDArray[np.int8]:
    return suppressed(
        columns_of(question.matrix),
        len(question.matrix),
        question.targets,
        question.order,
        forced=question.forced,
        known=question.known,
        singles=question.singles,
        weights=weights,
    )


@settings(max_examples=40)
@given(questions())
def test_a_column_is_closed_if_and_only_if_it_would_give_a_target_away(question: Question) -> None:
    assert asked(question).tolist() == question.answer().tolist()


@given(questions())
def test_no_target_is_a_combination_of_open_columns(question: Question) -> None:
    status = asked(question)
    span = Fractions(question.matrix, np.flatnonzero(status == Status.OPEN).tolist())
    for target in np.flatnonzero(status == Status.TARGET).tolist():
        assert not span.holds(target)


@given(questions(), st.randoms(use_true_random=False))
def test_rows_and_numbers_of_columns_do_not_matter(question: Question, random: object) -> None:
    """Only the order of candidates does: not where rows and columns stand, nor their weights."""
    status = asked(question)
    height, width = question.matrix.shape
    draws = np.random.default_rng(random.randrange(1 << 30))  # type: ignore[attr-defined]
    rows, columns = draws.permutation(height), draws.permutation(width)
    place = np.argsort(columns)
    turned = Question(
        question.matrix[rows][:, columns],
        question.targets[columns].tolist(),
        place[question.order].tolist(),
        question.forced[columns].tolist(),
        question.known[columns].tolist(),
        question.singles,
    )
    weights = np.asarray(draws.integers(0, 5, size=height))
    assert asked(turned, weights=weights).tolist() == status[columns].tolist()


@given(matrices(), st.data())
def test_building_the_basis_anew_changes_nothing(matrix: Matrix, data: st.DataObject) -> None:
    """A basis is built anew after much work only: here after every column."""
    width = matrix.shape[1]
    targets = np.array(data.draw(st.lists(st.booleans(), min_size=width, max_size=width)))
    order = np.array(data.draw(st.permutations(range(width))))
    columns = columns_of(matrix)
    expected = suppressed(columns, len(matrix), targets, order)
    merged = suppression._Merged(*same_columns(columns))
    nothing = np.zeros(width, dtype=bool)
    groups = merged.order(order[~targets[order]], merged.any_of(targets), merged.any_of(nothing))
    task, numbers, known = suppression._task(
        columns, len(matrix), merged, groups, (targets, nothing), Singles.IGNORED, None
    )
    run = suppression._new_run(task, numbers, known)
    candidates.file_all(task, run)
    while (end := candidates.go_on(task, run, 0)) != candidates.DONE:
        assert end == candidates.PAUSED
        assert candidates._build_anew(task, run) == candidates.DONE
    shown = (run.status == Status.OPEN)[merged.group]
    shown = (shown & ~merged.any_of(targets)[merged.group]) | ~matrix.any(axis=0)
    assert (shown[~targets] == (expected[~targets] == Status.OPEN)).all()


def table(rows: list[list[int]]) -> tuple[Matrix, Matrix]:
    """Cells of a table with both totals by its inner cells, and the values of all cells."""
    inner = np.array(rows)
    height, width = inner.shape
    matrix = np.zeros((inner.size, height + 1, width + 1), dtype=np.int64)
    for at in range(inner.size):
        for row in (at // width, height):
            for column in (at % width, width):
                matrix[at, row, column] = 1
    matrix = matrix.reshape(inner.size, -1)
    return matrix, inner.reshape(-1) @ matrix


ROWS = [[1, 1, 1, 5, 5], [9, 9, 9, 9, 9], [0, 0, 0, 7, 7]]


def closed_cells(order: Matrix, singles: Singles) -> set[tuple[int, str]]:
    """The secondary cells of the table of methods.md 6.2, empty cells being rows as well."""
    matrix, values = table(ROWS)
    targets = (values > 0) & (values < 5)
    status = suppressed(
        columns_of(matrix), len(matrix), targets, order, known=values == 1, singles=singles
    )
    closed = np.flatnonzero(status == Status.CLOSED).tolist()
    return {(at // 6 + 1, "ABCDE_"[at % 6]) for at in closed}


def orders() -> dict[str, Matrix]:
    _, values = table(ROWS)
    margins = np.flatnonzero([at // 6 == 3 or at % 6 == 5 for at in range(24)])
    inner = np.flatnonzero([at // 6 < 3 and at % 6 < 5 for at in range(24)])
    zeros_first = inner[np.argsort(values[inner] > 0, kind="stable")]
    return {
        "natural": np.concatenate([margins, inner]),
        "zeros first": np.concatenate([margins, zeros_first]),
    }


def test_the_three_vectors_of_the_literature() -> None:
    """methods.md 6.2, made by the R package GaussSuppression."""
    natural, zeros_first = orders()["natural"], orders()["zeros first"]
    assert closed_cells(natural, Singles.IGNORED) == {(3, "A"), (3, "B"), (3, "C")}
    nines = {(2, "A"), (2, "B"), (2, "C")}
    assert closed_cells(zeros_first, Singles.IGNORED) == nines
    assert closed_cells(zeros_first, Singles.ANY_SUM) == {*nines, (1, "E"), (2, "E")}


def test_who_is_alone_in_a_cell_cannot_compute_another() -> None:
    """Two cells of a line, 1 and 2: their sum must not be known to the one person."""
    matrix, values = table([[1, 2, 9], [5, 6, 7], [4, 8, 9]])
    targets = (values > 0) & (values < 3)
    order = np.argsort(-values, kind="stable")
    plain = suppressed(columns_of(matrix), 9, targets, order)
    alone = suppressed(
        columns_of(matrix), 9, targets, order, known=values == 1, singles=Singles.ALONE
    )
    person = int(np.flatnonzero(values == 1)[0])
    other = int(np.flatnonzero(values == 2)[0])
    for status, computes in ((plain, True), (alone, False)):
        opened = np.flatnonzero(status == Status.OPEN).tolist()
        assert Fractions(matrix, [*opened, person]).holds(other) is computes


def test_primes_that_disagree_give_way_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo 3 these columns are not what they are: the kernel notices, and takes other primes."""
    matrix = np.array([[1, 1, 0, 1], [1, -2, 1, 0], [0, 0, 1, 1]])
    targets = np.array([False, False, True, False])
    order = np.array([0, 1, 3])
    right = suppressed(columns_of(matrix), 3, targets, order)
    used: list[tuple[int, int]] = []
    run = suppression._run

    def watched(task: candidates.Task, *others: object) -> object:
        used.append(task.primes)
        return run(task, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(suppression, "_run", watched)
    monkeypatch.setattr(suppression, "PAIRS", ((3, 2147483647), (2147483629, 2147483587)))
    assert suppressed(columns_of(matrix), 3, targets, order).tolist() == right.tolist()
    assert len(used) == 2
    monkeypatch.setattr(suppression, "PAIRS", ((3, 2147483647),))
    with pytest.raises(ArithmeticError):
        suppressed(columns_of(matrix), 3, targets, order)


def test_nothing_to_do() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = columns_of(np.zeros((0, 0), dtype=np.int64))
    assert suppressed(empty, 0, nothing.astype(bool), nothing).size == 0
    one = columns_of(np.ones((1, 1), dtype=np.int64))
    assert suppressed(one, 1, np.array([True]), nothing).tolist() == [Status.TARGET]
    assert suppressed(one, 1, np.array([False]), np.array([0])).tolist() == [Status.OPEN]


def test_progress_is_told() -> None:
    matrix, values = table(ROWS)
    shares: list[float] = []
    order = np.argsort(-values, kind="stable")
    suppressed(columns_of(matrix), 15, values == 1, order, progress=shares.append)
    assert shares[-1] == 1
