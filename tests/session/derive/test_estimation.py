"""From a published table and a published matrix to estimates, as an analyst does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import DocumentError, InputError, OutputError, SpecError, UnknownName
from sdcensus.session.derive import derive
from sdcensus.session.derive.estimation import estimate_table
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from tests.microdata.pram.town import H, P, town

NINE = "from/to,1,2\n1,0.9,0.1\n2,0.1,0.9\n"


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_one_way_and_with_another_variable(tmp_path: Path) -> None:
    matrix = written(tmp_path / "m.csv", NINE)
    one = written(tmp_path / "sex.csv", "sex,value\n1,108\n2,92\n_T,200\n")
    estimates = estimate_table(one, {"sex": matrix})
    assert estimates.lines()[1:] == [["1", "108", "110", "5.303301"], ["2", "92", "90", "5.303301"]]
    lines = ["area,sex,value", "a,1,54", "a,2,46", "b,1,90", "b,2,10", "_T,1,144", "_T,2,56"]
    two = written(tmp_path / "two.csv", "\n".join(lines) + "\n")
    estimates = estimate_table(two, {"sex": matrix})
    assert estimates.variables == ("area", "sex")
    assert estimates.estimate.tolist() == [[55.0, 45.0], [100.0, 0.0], [155.0, 45.0]]
    out = tmp_path / "out.csv"
    estimates.write(out)
    assert out.read_text(encoding="utf-8").splitlines()[1].startswith("a,1,54,55,")
    with pytest.raises(OutputError, match="already exists"):
        estimates.write(out)


def test_variables_that_changed_together_are_estimated_together(tmp_path: Path) -> None:
    store = town(tmp_path / "a.store", 6000, rules=())
    said = {"together": ["married,sex"], "stay": ["0.8"]}
    derive(store.path, tmp_path / "b", "pram", said, secret=SECRET)
    after = CensusStore.open(tmp_path / "b")

    def counts(census: CensusStore) -> Any:
        table = np.zeros((3, 4), dtype=int)
        np.add.at(table, (census.raw(P, "sex"), census.raw(P, "married")), 1)
        return table

    names = [
        [code.code for code in store.schema.variable(name).codes] for name in ("sex", "married")
    ]
    rows = [
        f"{names[0][i]},{names[1][j]},{number}" for (i, j), number in np.ndenumerate(counts(after))
    ]
    table = written(tmp_path / "t.csv", "sex,married,value\n" + "\n".join(rows) + "\n")
    matrix = tmp_path / "b.office" / "pram-matrix-married+sex.csv"
    estimates = estimate_table(table, {"sex+married": matrix})
    truth = counts(store)
    misses = abs(estimates.estimate - truth) / np.maximum(estimates.error, 1e-6)
    assert (misses[estimates.error > 0] < 5).all()
    assert (estimates.estimate == truth)[:, 3].all()  # what is missing did not change
    assert abs(estimates.estimate - truth).sum() < abs(counts(after) - truth).sum()
    assert store.rows(H)


def test_the_effective_matrix_is_better_where_rules_kept_values(tmp_path: Path) -> None:
    store = town(tmp_path / "a.store", 20_000)
    derive(
        store.path,
        tmp_path / "b",
        "pram",
        {"variables": ["married"], "stay": ["0.6"]},
        secret=SECRET,
    )
    after = CensusStore.open(tmp_path / "b")
    truth, now = (np.bincount(census.raw(P, "married"), minlength=4) for census in (store, after))
    codes = [code.code for code in store.schema.variable("married").codes]
    rows = "".join(f"{code},{number}\n" for code, number in zip(codes, now.tolist(), strict=True))
    table = written(tmp_path / "t.csv", "married,value\n" + rows)
    office = tmp_path / "b.office"
    designed, effective = (
        estimate_table(table, {"married": office / name}).estimate
        for name in ("pram-matrix-married.csv", "pram-effective-matrix-married.csv")
    )
    assert abs(effective - truth).max() < 0.2 * abs(designed - truth).max()


def test_cells_without_a_number_leave_only_theirs_out(tmp_path: Path) -> None:
    matrix = written(tmp_path / "m.csv", NINE)
    lines = ["area,sex,value", "a,1,54", "a,2,46", "b,1,90"]
    table = written(tmp_path / "t.csv", "\n".join(lines) + "\n")
    assert [line[-2] for line in estimate_table(table, {"sex": matrix}).lines()[1:]] == [
        *("55", "45"),
        *("", ""),
    ]


@pytest.mark.parametrize(
    ("table", "matrix", "name", "error", "words"),
    [
        ("sex,value\n1,5\n2,5\n", NINE, "age", UnknownName, "variable in the table 'age'"),
        ("sex,value\n1,5\n3,5\n", NINE, "sex", SpecError, "no cells for the codes '2'"),
        ("sex,value\n1,5\n2,5\n3,5\n", NINE, "sex", SpecError, "no row for the codes '3'"),
        ("sex,value\n1,5\n2,5\n", NINE.replace("0.9", "0.5"), "sex", DocumentError, "sums to 0.6"),
        (
            "sex,value\n1,5\n2,5\n",
            NINE.replace("0.9", "0.5").replace("0.1", "0.5"),
            "sex",
            SpecError,
            "singular",
        ),
        ("age,sex,value\n1,1,5\n1,2,5\n", NINE, "age+sex", SpecError, "joined by"),
    ],
)
def test_mistakes(
    tmp_path: Path, table: str, matrix: str, name: str, error: type[Exception], words: str
) -> None:
    files = written(tmp_path / "t.csv", table), written(tmp_path / "m.csv", matrix)
    with pytest.raises(error, match=words):
        estimate_table(files[0], {name: files[1]})


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        estimate_table(tmp_path / "none.csv", {"sex": written(tmp_path / "m.csv", NINE)})
