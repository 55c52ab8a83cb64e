"""Files of tau-ARGUS: what they say, and what is wrong with those that cannot be read."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import InputError
from sdcensus.formats.read.argus.batch import read_batch
from sdcensus.formats.read.argus.history import HistoryLine, Said, read_history
from sdcensus.formats.read.argus.metadata import ColumnKind, read_metadata
from sdcensus.formats.read.argus.table import read_argus_table
from sdcensus.formats.read.flagged.statuses import CellState
from sdcensus.formats.read.flagged.tables import FlaggedTable, flagged_tables
from sdcensus.formats.read.flagged.trees import CodeTree, read_tree, tree_of_digits
from tests.formats.read.argus.written import METADATA, WITHHELD, cells, write


def table_of(file: Path, *history: str) -> FlaggedTable:
    said: tuple[HistoryLine, ...] = ()
    if history:
        before = file.with_name("before.hst")
        before.write_text("\n".join(history), encoding="utf-8")
        said = read_history(before, 2)
    rows, trees = read_argus_table(file, read_metadata(file.with_name("regions.rda")), history=said)
    (table,) = flagged_tables([rows], trees)
    return table


def test_metadata_of_a_table_names_its_columns(tmp_path: Path) -> None:
    write(tmp_path)
    metadata = read_metadata(tmp_path / "regions.rda")
    assert [column.name for column in metadata.of_kind(ColumnKind.CODES)] == ["Size", "Region"]
    assert [column.kind for column in metadata.columns[2:]] == [
        ColumnKind.VALUE,
        ColumnKind.FREQUENCY,
        ColumnKind.COST,
        ColumnKind.STATUS,
        ColumnKind.LOWER_LEVEL,
        ColumnKind.UPPER_LEVEL,
    ]
    assert metadata.columns[0].missing == ("99",)
    assert (metadata.separator, metadata.safe, metadata.unsafe) == (";", "S", "U")
    assert not metadata.fixed


def test_metadata_of_records_has_places(tmp_path: Path) -> None:
    file = tmp_path / "records.rda"
    file.write_text(
        "NACE 1  6 999999\n  <RECODEABLE>\n  <HIERARCHICAL>\n  <HIERLEVELS>  3 1 1 1 0 0\n"
        "Weight 8 4\n  <WEIGHT>\n  <DECIMALS> 2\n",
        encoding="utf-8",
    )
    metadata = read_metadata(file)
    assert metadata.fixed
    nace = metadata.columns[0]
    assert (nace.start, nace.width, nace.missing, nace.digits) == (
        *(1, 6),
        ("999999",),
        (3, 1, 1, 1, 0, 0),
    )


def test_a_table_has_values_states_levels_and_trees(tmp_path: Path) -> None:
    table = table_of(write(tmp_path))
    size, region = table.spec.axes
    assert [code.code for code in size.codes] == ["small", "large", "_T"]
    assert [level.name for level in region.levels] == ["Region", "level1"]
    for (own_size, own_region), value in cells().items():
        at = size.position("_T" if own_size == "Total" else own_size)
        places = [
            place
            for place, code in enumerate(region.codes)
            if code.code == ("_T" if own_region == "Total" else own_region)
        ]
        assert places
        for place in places:
            state = WITHHELD.get((own_size, own_region))
            expected = {"U": CellState.PRIMARY, "M": CellState.SECONDARY, None: CellState.SHOWN}
            assert table.states[at, place] == expected[state]
            known = table.values if state is None else table.own
            assert known[at, place] == 10 * value
    assert table.decimals == 1
    assert table.need is not None
    primary = table.states == CellState.PRIMARY
    assert table.need[0][primary].tolist() == [25]
    assert table.has_own[table.withheld].all()


def test_a_cell_that_the_table_does_not_list_is_empty(tmp_path: Path) -> None:
    file = write(tmp_path)
    lines = [line for line in file.read_text().splitlines() if '"small";"N2"' not in line]
    file.write_text("\n".join(lines))
    table = table_of(file)
    at = table.spec.axes[0].position("small"), table.spec.axes[1].position("N2")
    assert table.states[at] == CellState.EMPTY
    assert table.values[at] == 0


def test_what_is_said_before_goes_before_statuses(tmp_path: Path) -> None:
    table = table_of(
        write(tmp_path),
        "Small;N2;u",
        "small;N1;S",
        "Total;Total;ml",
        "small;N2;pl;3,5;4",
        "small;S2;c;17",
    )
    size, region = table.spec.axes
    state = {
        (code, part): table.states[size.position(code), region.position(part)]
        for code in ("small", "_T")
        for part in ("N1", "N2", "_T")
    }
    assert state["small", "N2"] == CellState.PRIMARY
    assert state["small", "N1"] == CellState.SHOWN
    assert state["_T", "_T"] == CellState.SECONDARY
    assert table.need is not None
    at = size.position("small"), region.position("N2")
    assert (table.need[0][at], table.need[1][at]) == (35, 40)


def test_history_lines_have_words_and_numbers(tmp_path: Path) -> None:
    file = tmp_path / "a.hst"
    file.write_text('"1","A",PL,0.75,1\n"2","B",m\n"2","C",w,5,\n', encoding="utf-8")
    first, second, third = read_history(file, 2)
    assert (first.codes, first.said, first.numbers) == (
        *(("1", "A"), Said.LEVELS),
        (Decimal("0.75"), Decimal(1)),
    )
    assert second.said is Said.SECONDARY
    assert third.numbers == (Decimal(5),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1;A\n", r"line 1: 2 fields.*2 codes"),
        ("1;A;s\n2;B;q\n", r"line 2: 'q' says nothing that is known"),
        ("1;A;pl;3\n", r"line 1: 'pl' needs 2 numbers"),
        ("1;A;c;x\n", r"line 1: 'x' is no number"),
        ("\n", "it is empty"),
    ],
)
def test_history_that_cannot_be_read_is_told(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "a.hst"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_history(file, 2)


def test_a_file_that_tau_argus_wrote_begins_with_names(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "out.csv"
    lines = ["Size,Region,Turnover,Status"]
    numbers = {"S": 1, "U": 3, "M": 11}
    for (size, part), value in cells().items():
        state = WITHHELD.get((size, part), "S")
        shown = f"{value}.0" if state == "S" else "x"
        lines.append(f'"{size}","{part}",{shown},{numbers[state]}')
    file.write_text("\n".join(lines), encoding="utf-8")
    table = table_of(file)
    assert int(table.withheld.sum()) == len(WITHHELD)
    assert not table.has_own.any()


def test_a_file_for_business_statistics_has_no_names(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "out.tab"
    letters = {"S": "V", "U": "A", "M": "D"}
    lines = [
        f"{size},{part},{value},3,{letters[WITHHELD.get((size, part), 'S')]},50"
        for (size, part), value in cells().items()
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    table = table_of(file)
    assert int(table.withheld.sum()) == len(WITHHELD)
    assert table.tool == "SBS"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<STATUS>", "<STATE>", r"line 22: <STATE> is no keyword"),
        ('<TOTCODE> "Total"', "<TOTCODE>", r"line 7: <TOTCODE> needs a value"),
        ("<DECIMALS> 1", "<DECIMALS> few", r"line 16: <DECIMALS> needs whole numbers"),
        ('Size "99"', "<RECODEABLE>", r"line 5: <RECODEABLE> stands before the first column"),
        ("Cost", "Number", r"line 19: two columns are called 'Number'"),
        ('"region.hrc"', '"regions.hrc"', r"line 8: the hierarchy file 'regions.hrc'.*--hrc"),
        ("    <RECODEABLE>\n", "", r"no column of codes"),
        ("<NUMERIC>\n    <DECIMALS> 1", "<MAXSCORE>", None),
        ('<SEPARATOR> ";"', '<SEPARATOR> ";;"', r"is not one sign"),
        ('<SEPARATOR> ";"', '<SEPARATOR> "|"', r"line 1: 1 fields.*separator"),
    ],
)
def test_metadata_that_cannot_be_read_is_told(
    tmp_path: Path, old: str, new: str, said: str | None
) -> None:
    file = write(tmp_path, metadata=METADATA.replace(old, new))
    if said is None:  # another column of values takes its place
        assert table_of(file).decimals == 0
        return
    with pytest.raises(InputError, match=said):
        table_of(file)


def test_metadata_without_columns_is_told(tmp_path: Path) -> None:
    file = tmp_path / "empty.rda"
    file.write_text('<SEPARATOR> ";"\n', encoding="utf-8")
    with pytest.raises(InputError, match="names no column"):
        read_metadata(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_metadata(tmp_path / "absent.rda")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('"small";"N9";5,0;1;5;S;0;0', r"regions.tab, line 25: the code 'N9' of 'Region'"),
        ('"small";"N1";5,0;1;5;S;0;0', r"line 25: this combination of Size, Region.*twice"),
        ('"tiny";"N1";x;1;5;S;0;0', r"line 25: the cell is said to be shown, and its value 'x'"),
        ('"tiny";"N1";5,0;1;5;Q;0;0', r"line 25: what the statuses in 'State' mean"),
        ('"tiny";"N1";5,0;1', r"line 25: 4 fields, where regions.rda names 8"),
        ('"tiny";"N1";5,25;1;5;S;0;0', r"line 25: '5,25' has more than the 1 decimals"),
    ],
)
def test_tables_that_cannot_be_read_are_told(tmp_path: Path, row: str, said: str) -> None:
    file = write(tmp_path)
    file.write_text(file.read_text() + row + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        table_of(file)


def test_trees_end_at_different_depths(tmp_path: Path) -> None:
    file = tmp_path / "t.hrc"
    file.write_text("All\n@A\n@@A1\n@@@A11\n@@@A12\n@@A2\n@B\n", encoding="utf-8")
    tree = read_tree(file, "@", "all")
    assert tree.codes == ("A", "A1", "A11", "A12", "A2", "B")
    variable = tree.variable("x")
    assert [code.code for code in variable.codes] == ["A11", "A12", "A2", "B"]
    levels = {level.name: [code.code for code in level.codes] for level in variable.levels()}
    assert levels == {
        "x": ["A11", "A12", "A2", "B"],
        "level2": ["A1", "A2", "B"],
        "level1": ["A", "B"],
    }


def test_levels_of_digits_are_the_first_digits_of_codes() -> None:
    tree = tree_of_digits(["0111", "0112", "012", "02"], (2, 1, 1, 0), "here")
    assert tree.codes == ("01", "011", "0111", "0112", "012", "02")
    assert tree.depths == (1, 2, 3, 3, 2, 1)
    with pytest.raises(InputError, match="'01112' has 5 signs"):
        tree_of_digits(["01112"], (2, 1, 1), "here")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A\n@@B\n", r"line 2: 'B' stands 2 levels deep, and the line before it 0"),
        ("@A\n", r"line 1: 'A' stands 1 levels deep"),
        ("A\n@\n", r"line 2: there is no code behind '@'"),
        ("A\n@B\nC\n@B\n", r"line 4: the code 'B' stands in line 2 already"),
        ("\n", "holds no codes"),
    ],
)
def test_hierarchies_that_cannot_be_read_are_told(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "t.hrc"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_tree(file)


def test_a_batch_is_a_plan_of_tables(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "run.arb"
    file.write_text(
        "// a batch\n"
        '<OPENTABLEDATA> "C:\\data\\regions.tab"\n'
        '<OPENMETADATA> "REGIONS.RDA"\n'
        '<SPECIFYTABLE> "Size""Region"|"Turnover"||\n'
        "<SAFETYRULE> FREQ(3,10)|MAN(10)\n"
        "<READTABLE> 1\n"
        '<APRIORY> "before.hst",1,";",0,0\n'
        "<SUPPRESS> MOD(1,5,1,1,1)\n"
        '<WRITETABLE> (1,2,AS+,"out.csv")\n'
        "<GOINTERACTIVE>\n",
        encoding="utf-8",
    )
    batch = read_batch(file)
    assert batch.is_table
    assert batch.data.samefile(tmp_path / "regions.tab")
    assert batch.metadata.samefile(tmp_path / "regions.rda")
    (table,) = batch.tables
    assert (table.codes, table.value) == (("Size", "Region"), "Turnover")
    assert table.rules == ("FREQ(3,10)", "MAN(10)")
    assert table.history is not None
    assert table.history[1] == ";"
    assert (table.protections[0].way, table.protections[0].settings) == (
        "MOD",
        ("5", "1", "1", "1"),
    )
    assert "modular" in table.protections[0].words
    assert (table.written[0].path.name, table.written[0].form) == ("out.csv", 2)


_OPENED = '<OPENTABLEDATA> "a.tab"\n<OPENMETADATA> "a.rda"\n'
_TABLE = '<SPECIFYTABLE> "A"|"v"||\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_OPENED, "specifies no table"),
        (_TABLE, "opens no data"),
        (_OPENED + _TABLE + "<SUPPRESS> XYZ(1)\n", "line 4: 'XYZ\\(1\\)' is no way"),
        (_OPENED + _TABLE + "<SUPPRESS> MOD(2)\n", "line 4: there is no table 2"),
        (_OPENED + _TABLE + "<SUPPRESS> MOD(a)\n", "line 4: 'a' is no number of a table"),
        (_OPENED + "<SPECIFYTABLE> A\n", "line 3: a table is specified"),
        (_OPENED + "<SAFETYRULE> NK(1,75)\n", "line 3: no table is specified above"),
        (_OPENED + _TABLE + "<RECODE> 1, Size, 2\n", "line 4: .*recoded"),
        (_OPENED + _TABLE + '<WRITETABLE> "out.csv"\n', "line 4: a file is written by"),
        (_OPENED + _TABLE + '<APRIORY> "a.hst"\n', "line 4: the table has to be named"),
        (_OPENED + _TABLE + "<HELLO>\n", "line 4: <HELLO> is no keyword"),
        ("hello\n", "line 1: .*begins with a keyword"),
        ("<OPENMETADATA>\n", "line 1: a file has to be named"),
    ],
)
def test_batches_that_cannot_be_read_are_told(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "run.arb"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_batch(file)


def test_a_code_with_one_part_is_the_same_cell(tmp_path: Path) -> None:
    """A parent with one child: both rows are about the same records."""
    tree = CodeTree(("A", "A1", "B"), (1, 2, 1))
    variable = tree.variable("x")
    fine, coarse = variable.levels()
    assert [code.code for code in fine.codes] == ["A1", "B"]
    assert [code.code for code in coarse.codes] == ["A", "B"]
    assert np.array_equal(fine.group_array, coarse.group_array)
