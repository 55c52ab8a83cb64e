"""An intruder who solves for withheld cells: in one table, in several, and where there is noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.attack import Assumptions, AttackResult, run_attacks
from sdcensus.attack.withheld import MOST_PROGRAMS
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.published.table import Mark, PublishedTable, Table
from sdcensus.model.spec.table_spec import TableSpec
from tests.methods.nearly_additive import spec_of, variable

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

VARIABLES = [variable("a", 3), variable("b", 3)]
INNER = np.array([[5, 0, 3], [7, 2, 9], [1, 4, 6]])


def published(name: str, spec: TableSpec, counts: Int64, hidden: Mask) -> PublishedTable:
    flags = np.where(hidden, Mark.WITHHELD, Mark.NONE).astype(np.uint8)
    return PublishedTable(name, Table(spec, np.where(hidden, 0, counts), flags))


def attacked(*tables: PublishedTable, withheld_below: int | None = None) -> AttackResult:
    known = Assumptions(withheld_below=withheld_below)
    return run_attacks(tables, known, attacks=["withheld"]).results[0]


def hidden_at(spec: TableSpec, *places: tuple[int, ...]) -> Mask:
    mask = np.zeros(spec.shape, dtype=bool)
    for place in places:
        mask[place] = True
    return mask


def test_a_cell_that_is_withheld_alone_is_claimed() -> None:
    spec = spec_of(VARIABLES, ["a", "b"])
    counts = with_totals(spec, INNER)
    result = attacked(published("t", spec, counts, hidden_at(spec, (2, 0))))
    (claim,) = result.claims
    assert claim.cells.tolist() == [np.ravel_multi_index((2, 0), spec.shape)]
    assert (claim.lower.tolist(), claim.upper.tolist()) == ([1], [1])
    assert "settles 1 of 1 withheld cells exactly" in result.sentences[0]


def test_a_square_holds_alone_and_falls_with_a_second_table() -> None:
    """A second table shows the margin of what the first withholds."""
    spec = spec_of(VARIABLES, ["a", "b"])
    counts = with_totals(spec, INNER)
    square = hidden_at(spec, (0, 0), (0, 2), (2, 0), (2, 2), (0, 3), (2, 3))
    first = published("first", spec, counts, square)
    assert not attacked(first).claims
    margin = spec_of(VARIABLES, ["a"])
    second = published("second", margin, counts[:, 3], np.zeros(4, dtype=bool))
    both = attacked(first, second)
    assert {claim.table for claim in both.claims} == {"first"}
    assert both.exact == 2
    assert "2 of them are published in another table" in both.sentences[0]


def test_what_is_known_of_small_values_narrows() -> None:
    """Two cells below 3 that add up to 4 are both 2."""
    spec = spec_of(VARIABLES, ["a", "b"])
    counts = with_totals(spec, np.full((3, 3), 2))
    square = hidden_at(spec, (0, 0), (0, 1), (2, 0), (2, 1))
    table = published("t", spec, counts, square)
    assert not attacked(table).exact
    assert attacked(table, withheld_below=3).exact == 4


def test_who_sees_the_empty_cells_knows_that_closed_ones_hold_somebody() -> None:
    """Three closed cells with a total of 3 are three ones, if nobody closes empty cells."""
    spec = spec_of(VARIABLES, ["a", "b"])
    rows = hidden_at(spec, *((a, b) for a in (0, 1) for b in range(3)))
    zeros = with_totals(spec, np.array([[1, 1, 1], [8, 9, 7], [0, 4, 6]]))
    assert attacked(published("t", spec, zeros, rows)).exact == 6
    none = with_totals(spec, np.array([[1, 1, 1], [8, 9, 7], [5, 4, 6]]))
    assert attacked(published("t", spec, none, rows)).exact == 0
    # Where an empty cell is closed as well, the guess fits nothing and is dropped.
    closed = with_totals(spec, np.array([[2, 0, 0], [8, 9, 7], [0, 4, 6]]))
    result = attacked(published("t", spec, closed, rows))
    assert not result.exact
    assert "settles 0 of 6" in result.sentences[0]


def test_noise_leaves_nothing_to_solve() -> None:
    spec = spec_of(VARIABLES, ["a", "b"])
    counts = with_totals(spec, INNER).copy()
    counts[0, 3] += 1
    result = attacked(published("t", spec, counts, hidden_at(spec, (1, 1))))
    assert not result.claims
    assert "do not add up" in result.sentences[0]
    whole = attacked(published("t", spec, counts, np.zeros(spec.shape, dtype=bool)))
    assert "no cell is withheld" in whole.sentences[0]


def test_tables_with_noise_beside_exact_ones_do_not_stop_the_intruder() -> None:
    spec = spec_of(VARIABLES, ["a", "b"])
    counts = with_totals(spec, INNER)
    legal = published("legal", spec, counts, hidden_at(spec, (2, 0)))
    margin = spec_of(VARIABLES, ["a"])
    noise = published(
        "noise", margin, counts[:, 3] + np.array([1, 0, 2, 1]), np.zeros(4, dtype=bool)
    )
    result = attacked(legal, noise)
    assert result.exact == 1
    assert "noise do not add up with withheld cells, and are left out" in result.sentences[0]


def test_many_withheld_cells_are_solved_by_single_sums() -> None:
    size = MOST_PROGRAMS + 1
    variables = [variable("a", size), variable("b", 2)]
    spec = spec_of(variables, ["a", "b"])
    counts = with_totals(spec, np.ones((size, 2), dtype=np.int64))
    hidden = np.zeros(spec.shape, dtype=bool)
    hidden[:size, 0] = True
    result = attacked(published("t", spec, counts, hidden))
    assert result.exact == size
    assert "one by one" in result.sentences[0]
