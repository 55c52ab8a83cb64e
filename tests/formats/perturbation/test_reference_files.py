"""Files that were written by hand from the documented layouts, and files of the ONS package."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cell_key_perturbation.create_perturbed_table import create_perturbed_table
from cell_key_perturbation.utils.generate_test_ptable import generate_ptable_10_5_rule

from sdcensus.errors import DocumentError
from sdcensus.formats.perturbation import ExchangeFormat, read_perturbation, write_perturbation
from sdcensus.model.perturbation.table import KeyRule, PerturbationTable, Tail
from sdcensus.model.secret import Secret
from tests.formats.perturbation.tables import DIAGRAM_1A, FILES, WITHOUT_SMALL, published


def read_file(name: str, **options: object) -> PerturbationTable:
    return read_perturbation(FILES / name, **options)  # type: ignore[arg-type]


def test_diagram_1a_of_e20_is_read_with_every_printed_digit() -> None:
    table = read_file("diagram_1a.txt")
    assert table.modulus == 10**8
    assert table.tail == Tail(3)
    assert [row.uppers for row in table.rows] == [
        (100000000,),
        (37967089, 75934178, 89594302, 96504432, 100000000),
        (12310637, 31578056, 71578056, 87867174, 96666077, 100000000),
        (2367714, 11053810, 30000000, 70000000, 88946190, 97632286, 100000000),
    ]
    assert table.rows[2].deviations == (-2, -1, 0, 1, 2, 3)
    assert table.biased == {1}, "its printed digits are off by one unit of the last place"
    assert table.bias(1) == Fraction(-1, 10**8)


def test_diagram_1a_keeps_its_bounds_when_it_is_written_and_read_again(tmp_path: Path) -> None:
    table = read_file("diagram_1a.txt")
    again = read_perturbation(write_perturbation(table, tmp_path / "again.txt", "argus"))
    assert (tmp_path / "again.txt").read_text(encoding="utf-8") == (
        FILES / "diagram_1a.txt"
    ).read_text(encoding="utf-8")
    assert again == table


def test_a_design_is_written_as_the_table_that_it_is_in_decimal_keys(tmp_path: Path) -> None:
    read = read_perturbation(write_perturbation(DIAGRAM_1A, tmp_path / "a.txt", "argus"))
    assert read.rows == DIAGRAM_1A.table(10**8).rows


@pytest.mark.parametrize("digits", [4, 7, 8, 9])
def test_decimal_keys_of_any_length_get_what_a_comparison_with_the_bounds_gives(
    digits: int,
) -> None:
    modulus = 10**digits
    table = read_file("diagram_1a.txt", modulus=modulus)
    bounds = [
        line.split(";") for line in (FILES / "diagram_1a.txt").read_text("utf-8").splitlines()[1:]
    ]
    near = {
        int(Fraction(line[4]) * modulus) + step
        for line in bounds
        for step in (-1, 0, 1)
        if 0 <= int(Fraction(line[4]) * modulus) + step < modulus
    }
    for count in (1, 2, 3, 4, 1000):
        row = [(int(v), Fraction(upper)) for i, _, _, v, upper in bounds if int(i) == min(count, 3)]
        keys = sorted(near)
        expected = [
            count + next(v for v, upper in row if Fraction(key, modulus) < upper) for key in keys
        ]
        assert published(table, [count] * len(keys), keys).tolist() == expected


def test_an_interval_does_not_hold_its_upper_bound(tmp_path: Path) -> None:
    """The fictional table of the handbook of the SDC tools: keys .9, .3 and .6 make .8."""
    path = tmp_path / "handbook.txt"
    path.write_text(
        "i;j;p;v;p_int_ub\n1;1;1;0;1\n2;2;1;0;1\n3;2;.3;-1;.3\n3;3;.4;0;.7\n3;4;.3;1;1\n",
        encoding="utf-8",
        newline="\n",
    )
    table = read_perturbation(path)
    key = (9 + 3 + 6) % 10 * 10**7
    assert published(table, [3, 3, 3], [key, 3 * 10**7, 3 * 10**7 - 1]).tolist() == [4, 3, 2]


def test_other_key_spaces_keep_the_probabilities_without_bias() -> None:
    table = read_file("diagram_1a.txt", modulus=2**32)
    assert table.modulus == 2**32
    assert table.biased == frozenset()
    decimal = read_file("diagram_1a.txt")
    for count in (1, 2, 3):
        assert table.deviations(count).tolist() == decimal.deviations(count).tolist()
        assert table.probabilities(count) == pytest.approx(decimal.probabilities(count), abs=2e-8)
        assert table.bias(count) == 0


def test_the_csv_of_the_r_package_is_read_with_quotes_and_row_names() -> None:
    """The table of its unit test: D = 2, V = 1.05, js = 1."""
    table = read_file("ptable_with_row_names.csv")
    assert table.blocked == 1
    assert table.targets(1).tolist() == [0, 2, 3]
    assert table.targets(3).tolist() == [2, 3, 4, 5]
    assert table.probabilities(2) == pytest.approx([0.16155827, 0.55565037, 0.24246618, 0.04032518])
    assert table.variance(7) == pytest.approx(1.05, abs=1e-6)


def test_the_sas_file_may_have_a_byte_order_mark_decimal_commas_and_windows_line_ends() -> None:
    table = read_file("sas_with_commas.csv")
    assert table.rows[1].widths == (25_000_000, 50_000_000, 25_000_000)
    assert table.biased == frozenset()


def test_ranges_of_keys_in_a_file_of_cantabular_are_their_single_keys() -> None:
    table = read_file("cantabular_with_ranges.csv")
    assert (table.modulus, table.tail, table.key_rule) == (256, Tail(2), KeyRule.PLAIN)
    assert table.rows[1].deviations == (-1, 0, 1)
    assert table.rows[1].widths == (64, 128, 64)
    assert table.rows[2].widths == (128, 128)


def test_a_plain_file_has_targets_in_any_order_and_fractions() -> None:
    table = read_file("plain_targets.csv")
    assert table.modulus == 2**32
    assert table.blocked == 1
    assert table.targets(1).tolist() == [0, 3]
    assert table.targets(2).tolist() == [0, 3]
    assert table.targets(9).tolist() == [8, 9, 10]
    assert table.probabilities(1) == pytest.approx([2 / 3, 1 / 3], abs=1e-9)
    assert abs(float(table.bias(1))) < 3 / 2**32, "two deviations cannot do better in 2**32 keys"


def matrix_entry(key: int, column: int) -> int:
    """What stands in a column of the matrix, which was written by this rule."""
    place = (key - 16 * column) % 256
    return -1 if place < 64 else 1 if 128 <= place < 192 else 0


def test_the_matrix_of_the_abs_uses_its_last_columns_by_the_remainder_of_the_count() -> None:
    """SuperSTAR, PTableSize 12 and SmallN 10: above 2, column 3 and the remainder by 10."""
    table = read_file("abs_twelve_columns.pert")
    assert (table.modulus, table.key_rule) == (256, KeyRule.FOLD_BYTES)
    keys = np.arange(0, 256, 7, dtype=np.uint32)
    for count in (1, 2, 3, 9, 10, 19, 25, 30, 1234567):
        column = count if count <= 2 else 3 + count % 10
        expected = [count + matrix_entry(int(key), column) for key in keys]
        assert published(table, [count] * keys.size, keys).tolist() == expected


def test_the_matrix_of_the_abs_folds_the_bytes_of_a_key() -> None:
    table = read_file("abs_twelve_columns.pert")
    key = 0x12345678
    folded = 0x12 ^ 0x34 ^ 0x56 ^ 0x78
    assert published(table, [1], [key]).tolist() == [1 + matrix_entry(folded, 1)]


def test_the_matrix_of_the_abs_may_reuse_fewer_columns() -> None:
    table = read_file("abs_twelve_columns.pert", tail=Tail(10, 3, 0))
    keys = np.arange(256, dtype=np.uint32)
    assert published(table, [22] * 256, keys).tolist() == [
        22 + matrix_entry(key, 10 + 22 % 3) for key in range(256)
    ]


# ---------------------------------------------------------------- the package of the ONS


def microdata(keys: int, seed: int) -> pd.DataFrame:
    draws = np.random.default_rng(seed)
    sizes = [1, 2, 3, 7, 12, 40, 300, 500, 501, 749, 750, 751, 1000, 1001, 1300]
    cells = np.repeat(np.arange(len(sizes)), sizes)
    return pd.DataFrame(
        {"area": "x", "cell": cells, "record_key": draws.integers(0, keys, cells.size)}
    )


def counts_of_the_package(data: pd.DataFrame, ptable: pd.DataFrame) -> pd.DataFrame:
    return create_perturbed_table(
        data=data,
        ptable=ptable,
        geog=["area"],
        tab_vars=["cell"],
        record_key="record_key",
        threshold=0,
    )


@pytest.mark.parametrize(
    ("keys", "secret"),
    [
        (256, None),
        (256, Secret(bytes(range(32)))),
        pytest.param(4096, Secret(bytes(range(32))), marks=pytest.mark.soak),
    ],
    ids=["256 ascending", "256 shuffled", "4096 shuffled"],
)
def test_the_package_of_the_ons_publishes_our_numbers_from_our_file(
    tmp_path: Path, keys: int, secret: Secret | None
) -> None:
    path = write_perturbation(
        WITHOUT_SMALL, tmp_path / "ptable.csv", "ons", modulus=keys, secret=secret
    )
    table = read_perturbation(path)
    assert (table.modulus, table.tail) == (keys, Tail(501, 250))
    data = microdata(keys, seed=5)
    theirs = counts_of_the_package(data, pd.read_csv(path))
    ours = published(table, theirs["pre_sdc_count"], theirs["ckey"])
    assert ours.tolist() == theirs["count"].tolist()
    assert (ours != theirs["pre_sdc_count"]).any()


def test_the_file_of_the_ons_package_gives_us_its_numbers(tmp_path: Path) -> None:
    """Its example rounds to multiples of 5 and makes counts below 10 disappear: biased."""
    path = tmp_path / "ptable_10_5_rule.csv"
    ptable = generate_ptable_10_5_rule()
    ptable.to_csv(path, index=False)
    with pytest.raises(DocumentError, match=r"Row 1 is biased: it adds -1 on average"):
        read_perturbation(path)
    table = read_perturbation(path, allow_bias=True)
    assert table.blocked == 9
    data = microdata(256, seed=6)
    theirs = counts_of_the_package(data, ptable)
    ours = published(table, theirs["pre_sdc_count"], theirs["ckey"])
    assert ours.tolist() == theirs["count"].tolist()


def test_formats_are_told_by_their_headers(tmp_path: Path) -> None:
    for kind in ExchangeFormat:
        path = write_perturbation(WITHOUT_SMALL, tmp_path / f"{kind}.txt", kind)
        assert read_perturbation(path) == read_perturbation(path, kind)
