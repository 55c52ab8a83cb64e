"""Tables of other tools: columns, statuses, decimals, trees; and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import InputError
from sdcensus.formats.read.flagged.rows import Columns, read_flagged
from sdcensus.formats.read.flagged.statuses import CellState, meaning_of, told_by_user
from sdcensus.formats.read.flagged.tables import FlaggedTable, flagged_tables
from sdcensus.formats.read.flagged.trees import CodeTree


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def table_of(file: Path, columns: Columns | None = None, **trees: CodeTree) -> FlaggedTable:
    (table,) = flagged_tables([read_flagged(file, columns)], trees)
    return table


PLAIN = "sex,area,value,status\nM,1,5,s\nM,2,3,u\nF,1,4,s\nF,2,2,x\nM,Total,8,s\nF,Total,6,s\n"


def test_codes_value_and_status_are_found_by_their_names(tmp_path: Path) -> None:
    table = table_of(written(tmp_path, PLAIN))
    assert [axis.variable.name for axis in table.spec.axes] == ["sex", "area"]
    assert table.spec.shape == (2, 3)
    assert table.states.tolist() == [[0, 2, 0], [0, 3, 0]]
    assert table.values.tolist() == [[5, 0, 8], [4, 0, 6]]
    assert table.own.tolist() == [[0, 3, 0], [0, 2, 0]]
    assert table.tool == "letters of tau-ARGUS and sdcTable"


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["TRUE", "FALSE"], [2, 0]),
        (["1", "0"], [2, 0]),
        (["3", "1"], [2, 0]),
        (["11", "2"], [3, 0]),
        (["14", "1"], [1, 0]),
        (["A", "V"], [2, 0]),
        (["D", "V"], [3, 0]),
        (["suppressed", "published"], [2, 0]),
        (["secondary", ""], [3, 0]),
        (["c", ""], [2, 0]),
        (["1", "1"], [0, 0]),
    ],
)
def test_statuses_of_many_tools_are_known(
    tmp_path: Path, statuses: list[str], expected: list[int]
) -> None:
    file = written(tmp_path, f"a,value,status\nx,3,{statuses[0]}\ny,4,{statuses[1]}\n")
    assert table_of(file).states.tolist() == expected


def test_statuses_that_are_not_known_can_be_told(tmp_path: Path) -> None:
    file = written(tmp_path, "a,value,status\nx,3,open\ny,4,shut\n")
    with pytest.raises(InputError, match=r"t.csv, line 2.*--shown.*--withheld"):
        table_of(file)
    words = told_by_user(["Open"], ["shut"])
    assert table_of(file, Columns(words=words)).states.tolist() == [0, 2]
    assert meaning_of({"half"}, words) is None
    assert told_by_user([], []) is None


def test_signs_stand_in_the_place_of_values(tmp_path: Path) -> None:
    table = table_of(written(tmp_path, "a;count\nx;3\ny;c\nz;-\nw;..\n"))
    states = dict(zip([code.code for code in table.spec.axes[0].codes], table.states, strict=True))
    assert states == {
        "x": CellState.SHOWN,
        "y": CellState.PRIMARY,
        "z": CellState.EMPTY,
        "w": CellState.PRIMARY,
    }


def test_columns_can_be_named(tmp_path: Path) -> None:
    text = "region,year,turnover,n,mark\n1,2020,5.5,3,s\n2,2020,6.25,4,u\n"
    named = Columns(codes=("Region",), value="Turnover", status="mark")
    table = table_of(written(tmp_path, text), named)
    assert [axis.variable.name for axis in table.spec.axes] == ["region"]
    assert table.decimals == 2
    assert table.values.tolist() == [550, 0]
    assert table.own.tolist() == [0, 625]


def test_values_are_units_of_the_last_decimal_in_all_files(tmp_path: Path) -> None:
    first = read_flagged(written(tmp_path, "a;value\nx;1,5\ny;2\n", "1.csv"))
    second = read_flagged(written(tmp_path, "a;value\nx;0,25\ny;c\n", "2.csv"))
    one, other = flagged_tables([first, second])
    assert (one.decimals, other.decimals) == (2, 2)
    assert one.values.tolist() == [150, 200]
    assert other.values.tolist() == [25, 0]


def test_columns_of_one_name_with_codes_in_common_have_one_list(tmp_path: Path) -> None:
    first = read_flagged(written(tmp_path, "a,value\nx,1\ny,2\n", "1.csv"))
    second = read_flagged(written(tmp_path, "a,value\ny,1\nz,2\n", "2.csv"))
    third = read_flagged(written(tmp_path, "a,value\nv,1\nw,2\n", "3.csv"))
    tables = flagged_tables([first, second, third])
    names = [table.spec.axes[0].variable.name for table in tables]
    assert names == ["a", "a", "a_2"]
    assert tables[0].states.tolist() == [0, 0, CellState.ABSENT]


def test_a_tree_gives_levels(tmp_path: Path) -> None:
    tree = CodeTree(("N", "n1", "n2", "S"), (1, 2, 2, 1))
    text = "a,value,status\nn1,1,s\nn2,2,u\nN,3,s\nS,4,s\nAll,7,s\n"
    rows = read_flagged(written(tmp_path, text))
    (table,) = flagged_tables([rows], {"A": tree}, totals={"a": "all"})
    (axis,) = table.spec.axes
    found = [(code.code, int(value)) for code, value in zip(axis.codes, table.values, strict=True)]
    assert found == [("n1", 1), ("n2", 0), ("S", 4), ("N", 3), ("S", 4), ("_T", 7)]
    with pytest.raises(InputError, match=r"line 6: the code 'All'.*--total a=All"):
        flagged_tables([rows], {"a": tree})
    with pytest.raises(InputError, match="No file has a column of codes 'b'"):
        flagged_tables([rows], {"b": tree})


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ("a,value\n", None, "has no rows"),
        ("a,b\nx,y\n", None, "no column of numbers.*--value"),
        ("a,value\n,3\n", None, r"line 2: the column 'a' has no code"),
        ("a,value\nx,3\nx,4\n", None, r"line 3: this combination of a stands in the file twice"),
        ("a,value\nx,three\n", None, r"line 2: 'three' is neither a number nor a sign"),
        ("a,value,status\nx,c,s\n", None, r"line 2: the cell is said to be shown"),
        ("a,value\nx,1e5\n", None, r"line 2: '1e5' is no number"),
        ("a,value\nx,123456789012345\n", None, r"line 2: .*more digits"),
        ("a,value\n_T,3\nTotal,4\n", None, r"several codes of a total.*--total a=_T"),
        ("a,value\nx,3\n", Columns(codes=("b",)), r"no column 'b' of codes. It has: a, value"),
        ("a,value\nx,3\n", Columns(value="v"), r"no column 'v' of values"),
        ("value\n3\n4\n", None, r"line 3: a table without columns of codes has one row"),
    ],
)
def test_what_cannot_be_read_is_told(
    tmp_path: Path, text: str, columns: Columns | None, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        table_of(written(tmp_path, text), columns)


def test_one_cell_is_a_table(tmp_path: Path) -> None:
    table = table_of(written(tmp_path, "value\n3\n"))
    assert table.spec.shape == ()
    assert np.asarray(table.values).tolist() == 3
    assert table.known.all()


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_flagged(tmp_path / "absent.csv")
