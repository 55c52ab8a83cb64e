"""Amounts that belong to owners, with waivers and units of files: from the files to the cube."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import sdcensus as sc
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import DataProblems, InputError, SdcensusError, SpecError
from sdcensus.model.cube.contributions import Contributions
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.schema import Schema
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census

SECRET = Secret(bytes(range(32)))

SCHEMA = """\
[census]
name = "Holdings"
code = "H26"

[files.person]
path = [{files}]
entity = "person"

[entity.person]
id = ["no"]

[variable.no]
role = "record-id"

[variable.area]
role = "geography"
codes = {{ A = "A", B = "B" }}

[variable.consent]
codes = {{ 1 = "yes", 2 = "no" }}

[variable.land]
continuous = true
decimals = 1
unit = "hectare"
{settings}
"""

#: Owner 7 has land in both areas; her three parcels of 60 make her the largest of all.
PARCELS = [
    ("1", "A", "1", "7", "40"),
    ("2", "A", "2", "7", "10"),
    ("3", "A", "1", "8", "45"),
    ("4", "B", "1", "7", "10"),
    ("5", "B", "1", "9", "30"),
    ("6", "B", "2", "", "20"),
]
OWNED = 'owner = "owner"\nowner_empty = "itself"'


def written(
    folder: Path,
    settings: str = OWNED,
    rows: Sequence[tuple[str, ...]] = PARCELS,
    files: dict[str, int] | None = None,
) -> Path:
    """The schema of parcels; ``files`` says how many of the rows each file has."""
    folder.mkdir(parents=True, exist_ok=True)
    start = 0
    for name, size in (files or {"parcels.csv": len(rows)}).items():
        lines = [",".join(row) for row in rows[start : start + size]]
        start += size
        text = "\n".join(["no,area,consent,owner,land", *lines])
        (folder / name).write_text(text + "\n", encoding="utf-8")
    named = ", ".join(f'"{name}"' for name in (files or {"parcels.csv": 0}))
    schema = folder / "schema.toml"
    schema.write_text(SCHEMA.format(files=named, settings=settings), encoding="utf-8")
    return schema


def loaded(folder: Path, *args: object, **options: object) -> Census:
    schema = written(folder, *args, **options)  # type: ignore[arg-type]
    sc.load(schema, folder / "store", secret=SECRET)
    return sc.open_store(folder / "store")


def contributions(census: Census, *by: str, measure: str = "sum(land)") -> Contributions:
    cube = census.tabulate(*by, measure=measure)
    assert isinstance(cube, Cube)
    assert cube.values.contributions is not None
    return cube.values.contributions


def test_parcels_of_one_owner_are_one_contribution(tmp_path: Path) -> None:
    """By hand: in A 50 and 45, in B 30, 20 and 10, together 60, 45, 30 and 20."""
    known = contributions(loaded(tmp_path), "area")
    assert known.contributors.tolist() == [2, 3, 4]
    assert known.amount[:, :4].tolist() == [
        [500, 450, 0, 0],
        [300, 200, 100, 0],
        [600, 450, 300, 200],
    ]
    assert known.highest is not None
    assert known.highest.tolist() == [500, 300, 600]


def test_without_owner_every_record_contributes_by_itself(tmp_path: Path) -> None:
    known = contributions(loaded(tmp_path, ""), "area")
    assert known.contributors.tolist() == [3, 3, 6]
    assert known.amount[2, :3].tolist() == [450, 400, 300]


def test_the_way_in_which_a_number_is_written_does_not_make_two_owners(tmp_path: Path) -> None:
    rows = [
        (*row[:3], spelled, row[4])
        for row, spelled in zip(PARCELS, ["7", "007", "x", "7.0", "X", ""], strict=True)
    ]
    known = contributions(loaded(tmp_path, OWNED, rows), "area")
    assert known.contributors.tolist() == [2, 3, 4]


def test_an_owner_whose_amounts_cancel_out_does_not_contribute(tmp_path: Path) -> None:
    rows = [("1", "A", "1", "7", "5"), ("2", "A", "1", "7", "-5"), ("3", "B", "1", "7", "2")]
    known = contributions(loaded(tmp_path, OWNED, rows), "area")
    assert known.contributors.tolist() == [0, 1, 1]
    assert known.amount[:, 0].tolist() == [0, 20, 20]
    assert known.absolute is not None
    assert known.absolute.tolist() == [0, 20, 20]


def test_one_contributor_and_equal_contributors(tmp_path: Path) -> None:
    rows = [(str(at), "A", "1", owner, "3") for at, owner in enumerate("112233")]
    known = contributions(loaded(tmp_path, OWNED, rows), "area")
    assert known.amount[0].tolist() == [60, 60, 60, 0, 0, 0]
    alone = contributions(loaded(tmp_path / "alone", OWNED, rows[:2]), "area")
    assert alone.contributors.tolist() == [1, 0, 1]
    assert alone.amount[0].tolist() == [60, 0, 0, 0, 0, 0]


def test_an_empty_owner_is_a_problem_unless_the_schema_says_what_it_means(tmp_path: Path) -> None:
    schema = written(tmp_path, 'owner = "owner"')
    with pytest.raises(DataProblems, match="empty owner") as caught:
        sc.load(schema, tmp_path / "store", secret=SECRET)
    assert 'owner_empty = "itself" in [variable.land]' in str(caught.value)
    raw = DuckdbEngine.over_files(read(schema), SECRET)
    with pytest.raises(DataProblems, match="empty owner"):
        raw.tabulate(Tabulate(spec=TableSpec.build(raw.schema, ["area"], measure="sum(land)")))
    sc.load(schema, tmp_path / "store", secret=SECRET, on_problem="missing")
    census = sc.open_store(tmp_path / "store")
    # Nobody's area is "not stated", for which there is a code now.
    assert contributions(census, "area").contributors.tolist() == [2, 3, 0, 4]


def read(schema: Path) -> Schema:
    return sc.census.read_schema(schema)


def test_coarser_cells_are_not_made_from_finer_ones(tmp_path: Path) -> None:
    census = loaded(tmp_path)
    cube = census.tabulate("area", "consent", measure="sum(land)")
    with pytest.raises(SpecError, match="tabulated from the records"):
        cube.rollup("area")
    assert cube.select(area="A").values.contributions is not None
    spec = census.spec("area", measure="sum(land)")
    for sparse in (
        MemoryEngine(census.store, largest_dense=0),
        DuckdbEngine.over_store(census.store, largest_dense=0),
    ):
        with pytest.raises(SpecError, match="too large to make them otherwise"):
            sparse.tabulate(Tabulate(spec=spec))


def test_a_waiver_marks_who_agreed_and_an_owner_agrees_for_all(tmp_path: Path) -> None:
    """Owner 7 agreed for the parcel in B alone; owners 8 and 9 for all that they have."""
    census = loaded(tmp_path, f'{OWNED}\nwaiver = "consent == 1"')
    known = contributions(census, "area")
    assert known.waived is not None
    assert known.waived[:, :4].tolist() == [
        [False, True, False, False],
        [True, False, True, False],
        [False, True, True, False],
    ]
    single = contributions(loaded(tmp_path / "single", 'waiver = "consent == 1"'), "area")
    assert single.waived is not None
    assert single.waived[0].tolist() == [True, True, False, False, False, False]
    assert contributions(loaded(tmp_path / "none"), "area").waived is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('waiver = "nobody == 1"', "nobody"),
        ("waiver = \"consent == 1 and area == 'A'\"", "codes of one variable"),
        ("waiver = \"consent in ('1', '2')\"", "codes of one variable"),
        ('owner_empty = "itself"', "belongs to 'owner'"),
        ('owner = "owner"\nowner_empty = "nobody"', "meaning of an empty owner"),
        ('[variable.area2]\ncodes = { 1 = "a" }\nowner = "owner"', "only amounts have it"),
        ('[variable.w]\nrole = "weight"\nwaiver = "consent == 1"', "only amounts have it"),
        ('file_units = { "parcels.csv" = { unit = "acre" } }', "Say by which number"),
        ('file_units = { "parcels.csv" = { unit = "acre", scale = 0.4 } }', "no exact number"),
        ('file_units = { "parcels.csv" = { unit = "acre", scale = 0 } }', "no exact number"),
        ('file_units = { "parcels.csv" = { unit = "acre", scale = "-1/2" } }', "no exact number"),
        ('file_units = { "parcels.csv" = { unit = "hectare", scale = 2 } }', "leave 'scale' out"),
        ('file_units = { "fields.csv" = { unit = "are", scale = "0.01" } }', "fields.csv"),
        ('file_units = { "parcels.csv" = { scale = 2 } }', "'unit' is missing"),
    ],
)
def test_what_a_schema_cannot_say_of_amounts(tmp_path: Path, settings: str, said: str) -> None:
    with pytest.raises(SdcensusError, match=said):
        read(written(tmp_path, settings))


def test_files_in_different_units_are_brought_to_one(tmp_path: Path) -> None:
    """An acre is 0.40468564224 hectares; ares are hundredths of a hectare."""
    files = {"north.csv": 3, "south.csv": 2, "isle.csv": 1}
    units = (
        'file_units = { "north.csv" = { unit = "hectare" },'
        ' "south.csv" = { unit = "are", scale = "1/100" },'
        ' "isle.csv" = { unit = "acre", scale = "0.40468564224" } }'
    )
    rows = [*PARCELS[:3], (*PARCELS[3][:4], "1005"), (*PARCELS[4][:4], "1015"), PARCELS[5]]
    census = loaded(tmp_path, units, rows, files)
    cube = census.tabulate("area", "consent", measure="sum(land)")
    # 10.05 and 10.15 hectares are rounded half to even to one decimal, 8.09 acres to 8.1.
    assert cube.values.sum_of("land")[1].tolist() == [100 + 102, 81, 283]
    plain = loaded(tmp_path / "plain", "", rows, files)
    assert plain.tabulate("area", measure="sum(land)").values.sum_of("land")[1] == 20400
    raw = DuckdbEngine.over_files(read(tmp_path / "schema.toml"), SECRET)
    with pytest.raises(InputError, match="other units in some files"):
        raw.tabulate(Tabulate(spec=TableSpec.build(raw.schema, ["area"], measure="sum(land)")))


def test_amounts_below_zero_count_with_their_sign_and_rank_without(tmp_path: Path) -> None:
    rows = [("1", "A", "1", "", "-50"), ("2", "A", "1", "", "20"), ("3", "B", "1", "", "1")]
    known = contributions(loaded(tmp_path, "", rows), "area")
    assert known.amount[0, :2].tolist() == [-500, 200]
    assert (known.lowest is not None, known.highest is not None) == (True, True)
    # Where amounts cannot be below 0, classes that begin at 0 refuse them.
    classes = 'levels = { class = "0,10,100+" }'
    with pytest.raises(DataProblems, match="out of range"):
        loaded(tmp_path / "classes", classes, rows)


def test_an_amount_beyond_the_fixed_point_is_a_problem_of_the_file(tmp_path: Path) -> None:
    rows = [("1", "A", "1", "", "1e30"), ("2", "A", "1", "", "20")]
    with pytest.raises(DataProblems, match="out of range"):
        loaded(tmp_path, "", rows)


@pytest.mark.parametrize(
    ("weight", "said"), [("0", "weight of 0"), ("", "empty weight"), ("-2", "weight below 0")]
)
def test_a_weighted_sum_needs_a_weight_above_0(tmp_path: Path, weight: str, said: str) -> None:
    rows = [("1", "A", "1", weight, "5"), ("2", "A", "1", "2", "20")]
    settings = '[variable.weight]\nrole = "weight"\ncolumn = "owner"\n'
    with pytest.raises(DataProblems, match=said):
        loaded(tmp_path, settings, rows)


def test_the_largest_number_of_a_store_does_not_name_the_owner(tmp_path: Path) -> None:
    """Owners are kept as numbers from 0 on, in an order that has nothing to do with their ids."""
    rows = [(str(at), "A", "1", f"7730{at}", "1") for at in range(9)]
    census = loaded(tmp_path, OWNED, rows)
    numbers = census.store.raw(census.schema.entities[0].entity, "land.owner")
    assert sorted(numbers.tolist()) == list(range(9))
    assert not np.array_equal(numbers, np.arange(9))
    for file in (tmp_path / "store").rglob("*"):
        assert not file.is_file() or b"7730" not in file.read_bytes()
