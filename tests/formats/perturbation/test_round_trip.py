"""What is written comes back: every format, every scheme, any table."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.formats.perturbation import ExchangeFormat, read_perturbation, write_perturbation
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import PerturbationTable, Tail
from sdcensus.model.secret import Purpose, Secret
from sdcensus.store.owner_only import is_owner_only
from tests.formats.perturbation.tables import (
    CP1,
    DIAGRAM_1A,
    SCHEMES,
    WITHOUT_SMALL,
    design,
    published,
    rounding,
    tables,
)

INTERVALS = ["argus", "ptable", "sas"]
KEYED = ["abs", "ons", "cantabular"]
SECRET = Secret(bytes(range(32)))


def round_trip(
    perturbation: PerturbationDesign | PerturbationTable,
    kind: str,
    *,
    reading: dict[str, object] | None = None,
    **options: object,
) -> PerturbationTable:
    with tempfile.TemporaryDirectory() as folder:
        path = write_perturbation(perturbation, Path(folder) / "table.csv", kind, **options)  # type: ignore[arg-type]
        return read_perturbation(path, allow_bias=True, **(reading or {}))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("kind", list(ExchangeFormat))
def test_every_scheme_survives_every_format(kind: ExchangeFormat, name: str) -> None:
    scheme = SCHEMES[name]
    read = round_trip(scheme, kind)
    assert read.blocked == scheme.blocked
    # The repair of the mean moves a probability by less than (D(D+1)+1) keys.
    largest = scheme.max_deviation
    within = (largest * (largest + 1) + 1) / read.modulus + 3e-8
    for count in (0, 1, 2, 3, 4, 5, 6, 17, 18, 500, 501, 751, 10**6):
        expected = dict(zip(scheme.deviations(count), scheme.probabilities(count), strict=True))
        found = dict(zip(read.deviations(count), read.probabilities(count), strict=True))
        for value in expected.keys() | found.keys():
            assert abs(expected.get(value, 0) - found.get(value, 0)) <= within
        if not scheme.biased:
            assert abs(float(read.bias(count))) < 3 / read.modulus


@pytest.mark.parametrize("kind", INTERVALS)
@given(table=tables(10**8))
def test_any_table_of_decimal_keys_comes_back_as_it_was(
    kind: str, table: PerturbationTable
) -> None:
    read = round_trip(table, kind)
    assert (read.modulus, read.rows, read.tail) == (table.modulus, table.rows, table.tail)
    assert read.biased == table.biased


@given(table=tables(10**5))
def test_keys_with_fewer_decimals_come_back_in_their_own_space(table: PerturbationTable) -> None:
    assert round_trip(table, "sas", reading={"modulus": 10**5}).rows == table.rows


def assert_publishes_the_same(kind: str, table: PerturbationTable) -> None:
    read = round_trip(table, kind)
    counts = np.repeat([*range(25), 499, 500, 501, 749, 750, 751, 1000, 1001, 123_456], 256)
    keys = np.tile(np.arange(256), counts.size // 256)
    assert (published(read, counts, keys) == published(table, counts, keys)).all()


@given(table=tables(256, periods=(1, 2, 5, 10)))
def test_any_table_of_256_keys_publishes_the_same_from_a_matrix(table: PerturbationTable) -> None:
    assert_publishes_the_same("abs", table)


@given(table=tables(256))
def test_any_table_of_256_keys_publishes_the_same_from_cantabular(
    table: PerturbationTable,
) -> None:
    assert_publishes_the_same("cantabular", table)


@given(table=tables(256, periods=(1, 2, 5, 10)))
@settings(deadline=None, max_examples=4)
def test_any_table_of_256_keys_publishes_the_same_from_the_file_of_the_ons(
    table: PerturbationTable,
) -> None:
    assert_publishes_the_same("ons", table)


@given(table=tables(2**32))
def test_a_plain_file_keeps_every_probability_exactly(table: PerturbationTable) -> None:
    read = round_trip(table, "plain")
    for row in range(table.tail.rows):
        assert read.distribution(row) == table.distribution(row)


@pytest.mark.parametrize("kind", INTERVALS)
@given(table=tables(2**32))
def test_another_key_space_keeps_order_and_probabilities(
    kind: str, table: PerturbationTable
) -> None:
    read = round_trip(table, kind)
    assert read.modulus == 10**8
    for row in range(table.tail.rows):
        before, after = dict(table.distribution(row)), dict(read.distribution(row))
        for value in before.keys() | after.keys():
            assert abs(float(before.get(value, 0)) - float(after.get(value, 0))) <= 21e-8
        kept = [value for value in table.rows[row].deviations if value in after]
        assert list(read.rows[row].deviations) == kept


# ---------------------------------------------------------------- which row serves large counts


def test_rounding_to_five_fits_the_ons_and_the_matrix() -> None:
    for kind in ("ons", "abs"):
        read = round_trip(rounding(5), kind)
        assert read.blocked == 4
        for count in range(1, 1300, 13):
            assert set(read.targets(count)) <= {count - count % 5, count - count % 5 + 5}


@pytest.mark.parametrize("kind", ["argus", "ptable", "sas", "ons", "abs", "cantabular", "plain"])
def test_rounding_to_three_is_refused_where_rows_do_not_repeat_by_three(kind: str) -> None:
    with pytest.raises(SpecError, match="3 rows serve larger counts in turn"):
        round_trip(rounding(3), kind)


@pytest.mark.parametrize(
    ("kind", "tail"),
    [
        ("abs", Tail(1, 9, 0)),
        ("cantabular", Tail(1, 3)),
        ("plain", Tail(0, 3)),
        ("ons", Tail(4, 6)),
    ],
)
def test_rounding_to_three_is_written_with_a_tail_that_fits(kind: str, tail: Tail) -> None:
    read = round_trip(rounding(3), kind, tail=tail, reading={"tail": tail})
    for count in range(1, 40):
        assert set(read.targets(count)) <= {count - count % 3, count - count % 3 + 3}


def test_a_table_with_equal_rows_for_large_counts_becomes_shorter() -> None:
    ons = round_trip(WITHOUT_SMALL, "ons", secret=SECRET)
    assert len(ons.rows) == 751
    argus = round_trip(ons, "argus")
    assert argus.tail == Tail(5)
    for count in range(6):
        assert argus.deviations(count).tolist() == ons.deviations(count).tolist()
        assert argus.probabilities(count) == pytest.approx(ons.probabilities(count), abs=1 / 256)


def test_rows_of_their_own_must_find_a_place() -> None:
    long = design(*[{-1: 0.25, 0: 0.5, 1: 0.25}] * 600, {-2: 0.2, 0: 0.6, 2: 0.2})
    with pytest.raises(SpecError, match="rows of their own up to the count 601"):
        round_trip(long, "ons")
    with pytest.raises(SpecError, match=r"the last row serves all larger counts: take Tail\(3\)"):
        round_trip(CP1, "argus", tail=Tail(3, 2))
    with pytest.raises(SpecError, match="begins with the count 1"):
        round_trip(CP1, "cantabular", tail=Tail(0, 2))
    with pytest.raises(SpecError, match="by the remainder of the count"):
        round_trip(CP1, "abs", tail=Tail(4, 3))


# ---------------------------------------------------------------- shuffling


@pytest.mark.parametrize("kind", ["abs", "cantabular"])
def test_a_secret_shuffles_which_key_gets_what_and_keeps_how_many(kind: str) -> None:
    plain, shuffled = round_trip(DIAGRAM_1A, kind), round_trip(DIAGRAM_1A, kind, secret=SECRET)
    assert plain.ascending
    assert not shuffled.ascending
    for row in range(plain.tail.rows):
        assert plain.distribution(row) == shuffled.distribution(row)
    again = round_trip(DIAGRAM_1A, kind, secret=SECRET)
    assert again == shuffled
    assert round_trip(DIAGRAM_1A, kind, secret=SECRET, key_version=2) != shuffled
    assert round_trip(DIAGRAM_1A, kind, secret=Secret(bytes(32))) != shuffled
    sub = SECRET.sub_secret(Purpose.ORDER, 1)
    assert round_trip(DIAGRAM_1A, kind, secret=sub) == shuffled


def test_counts_that_share_a_row_are_shuffled_independently() -> None:
    read = round_trip(CP1, "abs", secret=SECRET)
    columns = [row.deviations for row in read.rows[1:]]
    assert len(set(columns)) == len(columns)


def test_keys_and_deviations_of_a_shuffled_file_are_unrelated() -> None:
    read = round_trip(CP1, "ons", secret=SECRET)
    keys = np.tile(np.arange(256), 750)
    counts = np.repeat(np.arange(1, 751), 256)
    moved = published(read, counts, keys) - counts
    # 750 independent orders: the mean of each key has a standard deviation of (.5 / 750) ** .5.
    means = np.array([moved[keys == key].mean() for key in range(256)])
    assert abs(means).max() < 5 * (0.5 / 750) ** 0.5
    assert means.std() == pytest.approx((0.5 / 750) ** 0.5, rel=0.2)


# ---------------------------------------------------------------- the file itself


def test_the_file_is_for_its_owner_only_and_is_not_overwritten(tmp_path: Path) -> None:
    path = write_perturbation(CP1, tmp_path / "table.csv", "argus")
    assert is_owner_only(path)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        write_perturbation(DIAGRAM_1A, path, "argus")
    assert path.read_bytes() == before
    with pytest.raises(OutputError, match="does not exist"):
        write_perturbation(CP1, tmp_path / "nowhere" / "table.csv", "argus")


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SpecError):
        write_perturbation(rounding(3), tmp_path / "table.csv", "argus")
    assert list(tmp_path.iterdir()) == []


def test_ascii_lines_in_the_documented_layouts(tmp_path: Path) -> None:
    def first(kind: str) -> list[str]:
        path = write_perturbation(CP1, tmp_path / kind, kind)
        return path.read_bytes().decode("ascii").split("\n")[:4]

    assert first("argus") == [
        "i;j;p;v;p_int_ub",
        "0;0;1.00000000;0;1.00000000",
        "1;0;0.25000000;-1;0.25000000",
        "1;1;0.50000000;0;0.75000000",
    ]
    assert first("sas")[:3] == [
        "i;j;p;v;p_int_lb;p_int_ub",
        "0;0;1.00000000;0;0.00000000;1.00000000",
        "1;0;0.25000000;-1;0.00000000;0.25000000",
    ]
    assert first("ptable")[2] == "1,0,0.25000000,-1,0.00000000,0.25000000,all"
    assert first("ons") == ["pcv,ckey,pvalue", "1,0,-1", "1,1,-1", "1,2,-1"]
    assert first("cantabular")[:2] == ["cell_value,cell_key,perturbation", "1,0,-1"]
    assert first("plain")[:3] == ["count,deviation,probability", "0,0,1.0", "1,-1,0.25"]
    assert first("abs")[0] == ",".join(["-1"] * 10)


def test_a_matrix_has_256_lines_and_the_file_of_the_ons_750_times_256(tmp_path: Path) -> None:
    matrix = write_perturbation(DIAGRAM_1A, tmp_path / "abs", "abs").read_text(encoding="ascii")
    assert [len(line.split(",")) for line in matrix.splitlines()] == [12] * 256
    ons = write_perturbation(DIAGRAM_1A, tmp_path / "ons", "ons").read_text(encoding="ascii")
    assert len(ons.splitlines()) == 1 + 750 * 256


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("argos", {}, "Did you mean 'argus'"),
        ("argus", {"modulus": 2**32}, "a power of ten"),
        ("argus", {"modulus": 0}, "between 2 and 4294967296"),
        ("ons", {"modulus": 1}, "between 2 and 4294967296"),
        ("argus", {"modulus": 10**10}, "between 2 and 4294967296"),
        ("argus", {"secret": SECRET}, "takes no secret"),
        ("abs", {"modulus": 4096}, "have 256 keys"),
        ("cantabular", {"modulus": 4096}, "have 256 keys"),
        ("ons", {"modulus": 10**6}, "at most 4096 keys"),
        ("plain", {"modulus": 256}, "holds probabilities"),
    ],
)
def test_what_a_format_cannot_do_is_refused(
    kind: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises((SpecError, UnknownName), match=message):
        round_trip(CP1, kind, reading=None, **options)


@pytest.mark.parametrize("kind", KEYED)
def test_formats_without_empty_cells_refuse_tables_that_change_them(kind: str) -> None:
    moving = CP1.with_perturbed_zeros({1: 0.001})
    with pytest.raises(SpecError, match="no row for empty cells"):
        round_trip(moving, kind)
    assert round_trip(moving, "argus").stay(0) == pytest.approx(0.999)


def test_a_row_that_few_keys_cannot_balance_is_balanced_in_more_keys() -> None:
    """Two thirds of 256 keys are 171 with a mean of -1/256; of 2**32 keys the mean is tiny."""
    coarse = round_trip(WITHOUT_SMALL, "cantabular")
    assert coarse.rows[1].widths == (171, 85)
    fine = round_trip(WITHOUT_SMALL, "cantabular", reading={"modulus": 2**32})
    assert abs(float(fine.bias(1))) < 3 / 2**32
    assert fine.rows[1].widths[0] / 2**32 == pytest.approx(2 / 3, abs=1 / 128)
