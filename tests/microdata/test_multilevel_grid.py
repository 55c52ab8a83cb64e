"""Groups of squares as a level of a derived store: what is counted, published, told, refused."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

from sdcensus.errors import SdcensusError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.microdata.multilevel_grid import SQUARES_FILE
from sdcensus.model.cube.cube import Cube
from sdcensus.model.spec.headings import table_heading
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.census.maps import mapped_levels, outlines_in
from sdcensus.session.derive import DerivationReport, derive, foreseen
from sdcensus.testing.island import SECRET
from tests.gridland import Gridland, Point, counts, gridland

GRID = "epsg = 3035, cells = [100, 200, 400], extent = [0, 0, 800, 400]"


def village() -> tuple[list[Point], list[int]]:
    """Households in squares of 100 m, row by row: a town in the west, farms in the east."""
    rows = [
        [12, 3, 0, 0, 2, 0, 0, 0],
        [9, 0, 14, 15, 0, 0, 0, 11],
        [4, 0, 30, 0, 0, 3, 12, 12],
        [0, 1, 0, 0, 0, 0, 12, 12],
    ]
    points: list[Point] = []
    for row, line in enumerate(rows):
        for column, number in enumerate(line):
            points += [(100 * column + 50, 100 * row + at) for at in range(number)]
    points += [("", "")] * 3
    random.Random(1).shuffle(points)
    return points, [1 + at % 3 for at in range(len(points))]


@pytest.fixture(scope="module")
def land(tmp_path_factory: pytest.TempPathFactory) -> Gridland:
    points, sizes = village()
    land = gridland(tmp_path_factory.mktemp("land"), points, GRID, sizes=sizes)
    land.load()
    return land


@pytest.fixture(scope="module")
def grouped(land: Gridland) -> tuple[Census, DerivationReport]:
    out = land.folder / "grouped.store"
    said = {"variable": "ed_grid", "at_least": 11}
    report = derive(land.store, out, "multilevel-grid", said, secret=land.secret)
    return open_store(out), report


def square(size: int, row: int, column: int) -> str:
    return f"CRS3035RES{size}mN{row * size}E{column * size}"


def test_groups_hold_enough_households_or_none(grouped: tuple[Census, DerivationReport]) -> None:
    # West, by squares of 200 m: 24, 29, 5, 30. The 5 goes to 24, the smallest that is enough, and
    # these two are not split any more; 29 and 30 are split. East: 2, 11, 3, 48. First 2 with 11,
    # then 3 with 13; 48 is split into its four.
    assert counts(grouped[0], "ed_grid@groups-total", of="household") == {
        f"{square(200, 0, 0)}x2": 29,
        square(100, 1, 2): 14,
        square(100, 1, 3): 15,
        square(100, 2, 2): 30,
        f"{square(200, 0, 2)}x3": 16,
        square(100, 2, 6): 12,
        square(100, 2, 7): 12,
        square(100, 3, 6): 12,
        square(100, 3, 7): 12,
        "unallocated": 3,
    }


def test_sums_by_coarser_squares_are_those_of_the_store(
    land: Gridland, grouped: tuple[Census, DerivationReport]
) -> None:
    for axis in ("ed_grid", "ed_grid@200m", "ed_grid@400m"):
        assert counts(grouped[0], axis) == counts(open_store(land.store), axis)
    assert counts(grouped[0], "ed_grid@groups", engine="duckdb") == counts(
        grouped[0], "ed_grid@groups"
    )


def published(census: Census, axis: str) -> dict[str, int]:
    cube = census.tabulate(axis)
    assert isinstance(cube, Cube)
    table = CellKey(scheme("CP3"), SECRET, lookup="definition").protect(cube).table
    assert table.dense is not None
    codes = [code.code for code in table.spec.axes[0].codes]
    return dict(zip(codes, table.dense.published.tolist(), strict=True))


def test_a_group_that_is_a_square_has_the_number_of_that_square(
    land: Gridland, grouped: tuple[Census, DerivationReport]
) -> None:
    """The same question: by the level of groups, of squares, and in the store without groups."""
    groups = published(grouped[0], "ed_grid@groups-total")
    squares = published(grouped[0], "ed_grid-total")
    before = published(open_store(land.store), "ed_grid-total")
    same = [code for code in groups if code in squares]
    assert len(same) > 8
    for code in same:
        assert groups[code] == squares[code] == before[code]
    true = counts(grouped[0], "ed_grid@groups-total")
    assert any(groups[code] != true.get(code, 0) for code in groups)


def test_the_office_and_readers_are_told(
    land: Gridland, grouped: tuple[Census, DerivationReport]
) -> None:
    census, report = grouped
    assert report.lineage.startswith("multilevel-grid 1 ")
    assert census.origin.lineage == report.lineage
    assert report.changed == {}
    assert any("made from true counts of households, once" in note for note in report.notes)
    assert any("11 plus the largest deviation" in note for note in report.notes)
    (facts,) = report.facts
    assert facts.rows == (("100 m", 7, 0, 5), ("200 m", 0, 2, 0), ("400 m", 0, 0, 0))
    (plan,), _ = foreseen(
        land.store,
        "multilevel-grid",
        {"variable": "ed_grid", "at_least": 11},
        secret=land.secret,
    )
    assert plan.rows == facts.rows


def test_every_square_is_listed_with_its_group(
    grouped: tuple[Census, DerivationReport],
) -> None:
    census, report = grouped
    assert report.public_papers is not None
    text = (report.public_papers / SQUARES_FILE).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    variable = census.schema.variable("ed_grid")
    assert [row["square"] for row in rows] == [code.code for code in variable.codes[:-1]]
    by_square = {row["square"]: row for row in rows}
    assert by_square[square(100, 0, 0)]["group"] == f"{square(200, 0, 0)}x2"
    assert by_square[square(100, 0, 0)]["shared"] == "1"
    assert by_square[square(100, 2, 2)] == {
        "square": square(100, 2, 2),
        "group": square(100, 2, 2),
        "shared": "0",
    }


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "at least 11 households, or empty"), ("fr", "d’au moins 11 ménages, ou vides")],
)
def test_every_value_of_a_group_has_its_rule_in_the_title_of_its_table(
    grouped: tuple[Census, DerivationReport], language: str, words: str
) -> None:
    spec = grouped[0].spec("ed_grid@groups", "sex")
    assert words in table_heading(spec, language)


def groups_with(land: Gridland, tmp_path: Path, **said: object) -> dict[str, int]:
    said = {"variable": "ed_grid", "at_least": 11, **said}
    derive(land.store, tmp_path / "a.store", "multilevel-grid", said, secret=land.secret)
    level = said.get("level", "groups")
    return dict(counts(open_store(tmp_path / "a.store"), f"ed_grid@{level}-total", of="household"))


def test_settings_change_the_groups(land: Gridland, tmp_path: Path) -> None:
    usual = groups_with(land, tmp_path)
    settings: dict[str, dict[str, object]] = {
        "at_least": {"at_least": 13},
        "rule": {"rule": "quadtree"},
        "counted": {"counted": "persons"},
    }
    for name, said in settings.items():
        (tmp_path / name).mkdir()
        assert groups_with(land, tmp_path / name, **said) != usual, name
    (tmp_path / "level").mkdir()
    assert groups_with(land, tmp_path / "level", level="eleven") == usual


def test_a_quadtree_keeps_squares_whole(land: Gridland, tmp_path: Path) -> None:
    # A child of 200 m has 5, another 2: both squares of 400 m stay whole.
    assert groups_with(land, tmp_path, rule="quadtree") == {
        square(400, 0, 0): 88,
        square(400, 0, 1): 64,
        "unallocated": 3,
    }


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"variable": "ed"}, "'ed'.*ed_grid"),
        ({"variable": "grid"}, "'grid'"),
        ({"at_least": 1}, "from 2 to"),
        ({"at_least": 100_000}, "Fewer than 100000 households"),
        ({"counted": "dwellings"}, "dwellings"),
        ({"rule": "best"}, "'best'"),
        ({"level": "1st"}, "'1st' cannot be the name of a level"),
        ({"level": "200m"}, "cannot be the name of a level"),
        ({"level": "ed_grid"}, "has a level 'ed_grid' already"),
    ],
)
def test_what_cannot_be_done_is_refused(
    land: Gridland, tmp_path: Path, said: dict[str, object], words: str
) -> None:
    with pytest.raises(SdcensusError, match=words):
        groups_with(land, tmp_path, **said)
    assert not (tmp_path / "a.store").exists()


def test_groups_are_made_once(land: Gridland, grouped: tuple[Census, DerivationReport]) -> None:
    said = {"variable": "ed_grid", "at_least": 20}
    with pytest.raises(SdcensusError, match="has a level 'groups' already"):
        derive(grouped[1].store, land.folder / "b", "multilevel-grid", said, secret=land.secret)


def test_a_country_of_small_squares_needs_a_larger_size(tmp_path: Path) -> None:
    grid = "epsg = 3035, cell = 100, extent = [0, 0, 900000, 900000], inhabited = true"
    points: list[Point] = [(50, 50), (899_950, 899_950)]
    other = gridland(tmp_path, points, grid)
    other.load()
    with pytest.raises(SdcensusError, match=r"81,000,000 places.*Add a larger size"):
        groups_with(other, tmp_path, at_least=2)


def test_groups_do_not_depend_on_the_order_of_rows(land: Gridland, tmp_path: Path) -> None:
    points, sizes = village()
    other = gridland(tmp_path, points[::-1], GRID, sizes=sizes[::-1])
    other.load()
    (tmp_path / "same").mkdir()
    assert groups_with(other, tmp_path) == groups_with(land, tmp_path / "same")


def test_groups_have_the_outlines_of_their_squares(
    land: Gridland, grouped: tuple[Census, DerivationReport]
) -> None:
    outlines_of = outlines_in(grouped[0])
    assert outlines_of("ed_grid", "100m") is None
    groups = outlines_of("ed_grid", "groups")
    assert groups is not None
    assert groups.epsg == 3035
    # Two squares of 200 m above each other; three around a corner that is not theirs.
    west, east = (
        groups.polygons[f"{square(200, 0, 0)}x2"],
        groups.polygons[f"{square(200, 0, 2)}x3"],
    )
    assert len(groups.polygons) == 2
    corners = [[{tuple(point) for point in ring} for ring in rings] for (rings,) in (west, east)]
    assert corners == [
        [{(0, 0), (200, 0), (200, 400), (0, 400)}],
        [{(400, 0), (800, 0), (800, 200), (600, 200), (600, 400), (400, 400)}],
    ]
    # For the builder each has its squares, and levels say whether there is a map.
    document = grouped[0].map("ed_grid", "groups")
    assert document is not None
    assert [feature["properties"]["squares"] for feature in document["features"]] == [
        [square(200, 0, 0), square(200, 1, 0)],
        [square(200, 0, 2), square(200, 0, 3), square(200, 1, 2)],
    ]
    assert mapped_levels(grouped[0], "ed_grid") == {"groups"}
    assert grouped[0].map("ed_grid", "200m") is None
    assert mapped_levels(open_store(land.store), "ed_grid") == frozenset()
