"""Files with mistakes: each is told with its line and what to do, and all of them at once."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import DocumentError, InputError, SdcensusError, SpecError, UnknownName
from sdcensus.formats.perturbation import (
    ExchangeFormat,
    check_perturbation,
    read_perturbation,
    write_perturbation,
)
from sdcensus.model.perturbation.table import Tail
from tests.formats.perturbation.tables import CP1, DIAGRAM_1A, FILES, WITHOUT_SMALL

ARGUS = """\
i;j;p;v;p_int_ub
0;0;1;0;1
1;0;0.25;-1;0.25
1;1;0.5;0;0.75
1;2;0.25;1;1
"""
SAS = """\
i;j;p;v;p_int_lb;p_int_ub
0;0;1;0;0;1
1;0;0.25;-1;0;0.25
1;1;0.5;0;0.25;0.75
1;2;0.25;1;0.75;1
"""
PLAIN = """\
count,deviation,probability
1,-1,0.25
1,0,0.5
1,1,0.25
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def mistakes_of(file: Path, text: str, **options: object) -> list[str]:
    file.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(DocumentError) as raised:
        read_perturbation(file, **options)  # type: ignore[arg-type]
    assert str(file) in str(raised.value)
    report = check_perturbation(file, options.get("format"))  # type: ignore[arg-type]
    if not options.keys() - {"format"}:
        assert [(error.line, error.text) for error in report.errors] == [
            (mistake.line, mistake.text) for mistake in raised.value.mistakes
        ]
    return [str(mistake) for mistake in raised.value.mistakes]


def keyed(rows: dict[int, dict[int, int]], header: str = "cell_value,cell_key,perturbation") -> str:
    lines = [f"{c},{k},{v}" for c, of_count in rows.items() for k, v in of_count.items()]
    return "\n".join([header, *lines]) + "\n"


GOOD_KEYS = {key: -1 if key < 64 else 1 if key >= 192 else 0 for key in range(256)}


# ---------------------------------------------------------------- intervals


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1;1;0.5;0;0.75", "1;1;0.5;0;0.70", "line 4: Count 1, deviation 0: p is 0.5, but"),
        ("1;2;0.25;1;1", "1;2;0.24;1;0.99", "line 5: The last bound of the count 1 is 0.99"),
        ("1;2;0.25;1;1", "1;2;0.249;1;0.999", "line 5: The probabilities of the count 1 sum to"),
        ("1;1;0.5;0;0.75", "1;1;0.5;1;0.75", "line 4: The target j = 1 and the count i = 1"),
        ("1;0;0.25;-1;0.25", "1;-1;0.25;-2;0.25", "line 3: The target j = -1 is negative"),
        ("1;0;0.25;-1;0.25", "1;0;0.25;-1;-0.25", "line 3: Column p_int_ub: -0.25 is not between"),
        ("1;0;0.25;-1;0.25", "1;0;1.25;-1;0.25", "line 3: Column p: 1.25 is not between 0 and 1"),
        ("1;0;0.25;-1;0.25", "1;0.5;0.25;-0.5;0.25", "line 3: Column v: '-0.5' is not a whole"),
        ("1;0;0.25;-1;0.25", "1;0;NaN;-1;0.25", "line 3: Column p: 'NaN' is not a number"),
        ("1;0;0.25;-1;0.25", "1;0;0.25;-1;Inf", "line 3: Column p_int_ub: 'Inf' is not a number"),
        ("1;0;0.25;-1;0.25", "1;0;0.25;-1;", "line 3: Column p_int_ub: the field is empty"),
        ("1;0;0.25;-1;0.25", "1;0;1e99;-1;0.25", "line 3: Column p: '1e99' is too large"),
        ("1;0;0.25;-1;0.25", "1;0;0.25;-1;1e-500", "Column p_int_ub: '1e-500' is too large or too"),
        ("1;0;0.25;-1;0.25", "9999999999;0;0.25;-1;0.25", "Column i: '9999999999' is too large"),
        ("1;0;0.25;-1;0.25", "-1;0;0.25;-1;0.25", "line 3: Column i: the count -1 is negative"),
        ("1;0;0.25;-1;0.25", "one;0;0.25;-1;0.25", "line 3: Column i: 'one' is not a number"),
        ("1;0;0.25;-1;0.25", "1;0;0.25;-1", "line 3: There are 4 fields instead of 5"),
        ("1;0;0.25;-1;0.25", "1,0,0.25,-1,0.25", "seems to be delimited by commas, and the header"),
        ("1;0;0.25;-1;0.25", '1;0;"0.25;-1;0.25', "line 3: This line cannot be read as csv"),
        ("1;1;0.5;0;0.75", "1;1;0.5;0;0.75\n1;1;0.5;0;0.75", "line 5: This line repeats line 4"),
        ("p_int_ub", "ub", "line 1: The column 'p_int_ub' is missing"),
        ("i;j;p;v;", "i;j;p;p;", "line 1: The column 'p' is there twice"),
        ("1;2;0.25;1;1", "", "line 4: The last bound of the count 1 is 0.75 instead of 1"),
        ("0;0;1;0;1", "0;0;0.9;0;0.9\n0;1;0.1;1;1", "line 2: Row 0 changes empty cells"),
        ("1;2;0.25;1;1", "1;2;0.25;1;1\n3;3;1;0;1", "line 6: There is no row for the count 2"),
        (
            "1;0;0.25;-1;0.25\n1;1;0.5;0;0.75",
            "1;1;0.5;0;0.75\n1;0;0.25;-1;0.25",
            "line 4: Count 1, deviation -1: the bound 0.25 is smaller than the one before, 0.75",
        ),
        (
            "1;0;0.25;-1;0.25",
            "1;0;0.20;-1;0.20",
            "p is 0.5, but its interval from 0.2 to 0.75 has 0.55",
        ),
    ],
)
def test_mistakes_in_intervals_are_told(file: Path, old: str, new: str, expected: str) -> None:
    assert old in ARGUS
    found = mistakes_of(file, ARGUS.replace(old, new, 1))
    assert any(expected in one for one in found), found


def test_gaps_and_overlaps_are_told_where_intervals_have_two_bounds(file: Path) -> None:
    gap = mistakes_of(file, SAS.replace("0;0.25;0.75", "0;0.3;0.75").replace("0.5;0;", "0.45;0;"))
    assert (
        "line 4: Count 1, deviation 0: the interval begins at 0.3, but the one before ends at"
        in (gap[0])
    )
    assert "a gap" in gap[0]
    overlap = mistakes_of(file, SAS.replace("0;0.25;0.75", "0;0.2;0.75"))
    assert "an overlap" in overlap[0]


def test_a_gap_between_bounds_is_told_by_the_probability(file: Path) -> None:
    """Counts whose intervals lie apart: the bounds leave keys to the wrong deviation."""
    found = mistakes_of(file, ARGUS.replace("1;1;0.5;0;0.75", "1;1;0.5;0;0.80"))
    assert len(found) == 2
    assert "There is a gap or an overlap" in found[0]


def test_biased_rows_are_refused_unless_allowed(file: Path) -> None:
    text = ARGUS.replace("1;1;0.5;0;0.75\n1;2;0.25;1;1", "1;1;0.45;0;0.7\n1;2;0.3;1;1")
    found = mistakes_of(file, text)
    assert found == [
        "line 3: Row 1 is biased: it adds 0.05 on average instead of 0, so that sums of published"
        " counts drift. Correct the probabilities, or allow it if it is meant (allow_bias=True)."
    ]
    table = read_perturbation(file, allow_bias=True)
    assert table.biased == {1}
    requantised = read_perturbation(file, allow_bias=True, modulus=2**32)
    assert requantised.bias(1) == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("digits", [5, 6, 7, 8])
def test_a_bias_of_one_millionth_comes_from_rounding_and_a_larger_one_does_not(
    file: Path, digits: int
) -> None:
    tiny = f"0.{'0' * (digits - 1)}1"
    upper = Decimal("0.75") + Decimal(tiny)
    text = ARGUS.replace("1;1;0.5;0;0.75", f"1;1;{Decimal('0.5') + Decimal(tiny)};0;{upper}")
    text = text.replace("1;2;0.25", f"1;2;{1 - upper}")
    file.write_text(text, encoding="utf-8", newline="")
    if digits > 5:
        assert read_perturbation(file).biased == {1}
    else:
        with pytest.raises(DocumentError, match="Row 1 is biased"):
            read_perturbation(file)


@pytest.mark.parametrize("kind", ["even", "odd"])
def test_tables_for_continuous_variables_are_refused(file: Path, kind: str) -> None:
    header, *lines = ARGUS.splitlines()
    text = "\n".join([f"{header};type", *(f"{line};{kind}" for line in lines)])
    found = mistakes_of(file, text)
    assert "line 2: The type is" in found[0]
    assert "Only tables for counts (type 'all') can be read" in found[0]
    file.write_text(text.replace(f";{kind}", ";all"), encoding="utf-8", newline="")
    assert read_perturbation(file).stay(1) == 0.5


def test_decimal_commas_are_refused_where_commas_delimit(file: Path) -> None:
    text = ARGUS.replace(";", ",").replace("0.25", "0,25").replace("0.5", "0,5")
    found = mistakes_of(file, text)
    assert "line 3: There are 7 fields instead of 5. Decimal commas are understood only" in found[0]
    quoted = ARGUS.replace(";", ",").replace("0.25", '"0,25"')
    assert "has a decimal comma" in mistakes_of(file, quoted)[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(".", ","),
        lambda text: text.replace(";", ","),
        lambda text: text.replace(";", "\t"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", ";\n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace("\n", "\n;;;;\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.upper(),
        lambda text: text.replace("p_int_ub", '"p_int_ub"'),
        lambda text: text.replace(";", " ; "),
        lambda text: text.replace("0;0;1;0;1\n", ""),
        lambda text: text.replace("0.25", "2.5e-01").replace("0.5", ".5"),
        lambda text: text.replace("1;0;0.25;-1;0.25", "1.0;0.0;0.250000000000;-1.0;+0.25"),
        lambda text: text.replace("1;2;0.25;1;1", "1;2;0.25;1;0.9999999999999999"),
        lambda text: text.replace("1;1;0.5;0;0.75", "1;3;0;2;0.25\n1;1;0.5;0;0.75"),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("i;", "note;i;").replace("\n", "\nx;").removesuffix("x;"),
    ],
)
def test_habits_of_other_programs_are_understood(file: Path, change: object) -> None:
    file.write_text(change(ARGUS), encoding="utf-8", newline="")  # type: ignore[operator]
    table = read_perturbation(file)
    assert table.rows == CP1.table(10**8).rows
    assert check_perturbation(file).ok


def test_all_mistakes_are_listed_at_once_and_many_of_a_kind_are_counted(file: Path) -> None:
    wrong = "".join(f"{count};{count};1;1;1\n" for count in range(2, 50))
    found = mistakes_of(file, ARGUS.replace("0.25;-1;0.25", "x;-1;0.25") + wrong)
    assert "Column p: 'x' is not a number" in found[0]
    assert sum("The target j" in one for one in found) == 21
    assert found[-1].endswith("There are 27 more mistakes like this.")


# ---------------------------------------------------------------- one line for each key


def test_keys_that_are_missing_or_there_twice_are_told(file: Path) -> None:
    rows = {1: {**GOOD_KEYS}, 2: {**GOOD_KEYS}}
    del rows[2][7], rows[2][8], rows[2][255]
    found = mistakes_of(file, keyed(rows))
    assert len(found) == 1
    assert "The count 2 has no line for: keys 7 to 8, key 255." in found[0]
    found = mistakes_of(file, keyed({1: GOOD_KEYS}) + "1,3,0\n")
    assert found == ["line 258: The count 1 has the key 3 already in line 5. Remove one."]
    found = mistakes_of(file, keyed({1: {**GOOD_KEYS, 256: 0}}))
    assert "line 258: The key 256 of the count 1 is too large: keys go from 0 to 255." in found[0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1,x,0", "Column cell_key: 'x' is not a number"),
        ("1,-3,0", "Column cell_key: the key -3 is negative"),
        ("1,9-3,0", "Column cell_key: '9-3' is not a range of keys"),
        ("1,0-9999999,0", "is not a range of keys"),
        ("1,3,0.5", "Column perturbation: '0.5' is not a whole number"),
        ("1,3,", "Column perturbation: the field is empty"),
        ("-1,3,0", "The count -1 is negative"),
        ("1,3", "There are 2 fields instead of 3"),
        ("1,3,-2", "The deviation -2 makes the count 1 negative"),
    ],
)
def test_mistakes_in_lines_of_keys_are_told(file: Path, line: str, expected: str) -> None:
    text = keyed({1: GOOD_KEYS})
    assert "1,3,-1" in text
    found = mistakes_of(file, text.replace("1,3,-1", line))
    assert any(one.startswith("line 5: ") and expected in one for one in found), found


def test_biased_rows_of_keys_are_refused(file: Path) -> None:
    found = mistakes_of(file, keyed({1: {**GOOD_KEYS, 100: 1}}))
    assert "line 2: Row 1 is biased: it adds 0.00390625 on average" in found[0]


def test_a_file_of_the_ons_has_750_counts(file: Path) -> None:
    text = keyed({1: GOOD_KEYS, 2: GOOD_KEYS}, "pcv,ckey,pvalue")
    found = mistakes_of(file, text)
    assert "The file ends at the count 2. A file of the ONS has 750 counts" in found[0]
    assert "tail=Tail(2)" in found[0]
    assert read_perturbation(file, tail=Tail(2)).tail == Tail(2)
    assert read_perturbation(file, "cantabular").tail == Tail(2)


def test_a_count_0_is_read_where_the_file_has_it(file: Path) -> None:
    zeros = dict.fromkeys(range(256), 0)
    file.write_text(keyed({0: zeros, 1: GOOD_KEYS}), encoding="utf-8", newline="")
    table = read_perturbation(file)
    assert (table.tail, table.stay(0)) == (Tail(1), 1.0)
    found = mistakes_of(file, keyed({0: {**zeros, 9: 3}, 1: GOOD_KEYS}))
    assert "Row 0 changes empty cells" in found[0]


def test_a_missing_row_of_the_ons_is_told(file: Path) -> None:
    path = write_perturbation(CP1, file.with_name("whole.csv"), "ons")
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    found = mistakes_of(file, "".join(line for line in lines if not line.startswith("700,")))
    assert len(found) == 1
    assert "There is no row for the count 700" in found[0]


# ---------------------------------------------------------------- the matrix


@pytest.fixture
def matrix() -> list[list[str]]:
    text = (FILES / "abs_twelve_columns.pert").read_text(encoding="ascii")
    return [line.split(",") for line in text.splitlines()]


def joined(matrix: list[list[str]]) -> str:
    return "".join(",".join(line) + "\n" for line in matrix)


def test_mistakes_in_a_matrix_are_told(file: Path, matrix: list[list[str]]) -> None:
    assert (
        "There are 255 lines with deviations instead of 256"
        in (mistakes_of(file, joined(matrix[:-1]))[0])
    )
    assert (
        "line 3: There are 11 fields instead of 12"
        in (mistakes_of(file, joined([*matrix[:2], matrix[2][:-1], *matrix[3:]]))[0])
    )
    assert (
        "The matrix has 9 columns; 10 are needed"
        in (mistakes_of(file, joined([line[:9] for line in matrix]))[0])
    )
    matrix[4][2] = "0.5"
    assert "line 5: Field 3: '0.5' is not a whole number" in mistakes_of(file, joined(matrix))[0]
    matrix[4][2], matrix[4][0] = "0", "-9"
    assert any("gives a negative count" in one for one in mistakes_of(file, joined(matrix)))
    matrix[0][0] = "x"
    found = mistakes_of(file, joined(matrix), format="abs")
    assert any("line 1: Field 1: 'x' is not a number" in one for one in found)


@pytest.mark.parametrize(
    "header",
    [
        ",".join(f"V{at}" for at in range(1, 13)),
        ",".join(str(at) for at in range(1, 13)),
        '"' + '","'.join(f"V{at}" for at in range(1, 13)) + '"',
    ],
)
def test_a_matrix_may_have_a_header(file: Path, matrix: list[list[str]], header: str) -> None:
    file.write_text(f"{header}\n{joined(matrix)}", encoding="utf-8", newline="")
    assert read_perturbation(file) == read_perturbation(FILES / "abs_twelve_columns.pert")


def test_a_matrix_may_have_keys_in_its_first_column(file: Path, matrix: list[list[str]]) -> None:
    head = ["key", *(f"V{at}" for at in range(1, 13))]
    numbered = [[str(at), *line] for at, line in enumerate(matrix)]
    file.write_text(joined([head, *numbered]), encoding="utf-8", newline="")
    assert read_perturbation(file) == read_perturbation(FILES / "abs_twelve_columns.pert")
    numbered[3], numbered[4] = numbered[4], numbered[3]
    assert "line 5: The keys in the first column" in mistakes_of(file, joined([head, *numbered]))[0]


def test_a_matrix_may_begin_with_the_count_0(file: Path, matrix: list[list[str]]) -> None:
    head = [str(at) for at in range(13)]
    file.write_text(
        joined([head, *(["0", *line] for line in matrix)]), encoding="utf-8", newline=""
    )
    assert read_perturbation(file) == read_perturbation(FILES / "abs_twelve_columns.pert")


# ---------------------------------------------------------------- plain files


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1,1,0.25", "1,1,0.249", "line 2: The probabilities of the count 1 sum to 0.999 instead"),
        ("1,1,0.25", "1,0,0.25", "line 4: The count 1 has the deviation 0 already in line 3"),
        ("1,-1,0.25", "1,-2,0.25", "line 2: The deviation -2 makes the count 1 negative"),
        ("1,-1,0.25", "1,-1,-0.25", "line 2: Column probability: -0.25 is not between 0 and 1"),
        ("1,-1,0.25", "1,-1,1/0", "line 2: Column probability: '1/0' is not a number"),
        ("1,-1,0.25", "1,-1.5,0.25", "line 2: Column deviation: '-1.5' is not a whole number"),
        ("1,-1,0.25", ",-1,0.25", "line 2: Column count: the field is empty"),
        ("1,1,0.25", "3,1,0.25", "There is no row for the count 2"),
        ("1,0,0.5\n1,1,0.25", "1,0,0.4\n1,1,0.35", "line 2: Row 1 is biased: it adds 0.1"),
    ],
)
def test_mistakes_in_plain_files_are_told(file: Path, old: str, new: str, expected: str) -> None:
    assert old in PLAIN
    found = mistakes_of(file, PLAIN.replace(old, new, 1))
    assert any(expected in one for one in found), found


def test_targets_and_deviations_must_agree(file: Path) -> None:
    text = "count,deviation,target,probability\n1,0,1,0.5\n1,-1,0,0.25\n1,1,3,0.25\n"
    assert (
        "line 4: Column target: 3 is not the count 1 with the deviation 1"
        in (mistakes_of(file, text)[0])
    )


# ---------------------------------------------------------------- no file of this kind


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "The file is empty"),
        (b"\n \n\r\n", "The file is empty"),
        (b"\xef\xbb\xbf", "The file is empty"),
        (ARGUS.encode("utf-16"), "The file is UTF-16. Save it as csv UTF-8"),
        (b"PK\x03\x04\x00\x00 a workbook", "There is a NUL byte"),
        ("größe;j;p\n".encode("latin-1"), "not UTF-8"),
        (ARGUS.replace(";", "|").encode(), "it seems to be delimited by vertical bars"),
        (ARGUS.replace(";", " ").encode(), "it seems to be delimited by spaces"),
        (b"i\n1\n", "is not delimited by semicolons, commas or tabs"),
        (b"age;sex\n1;2\n", "belongs to no format of perturbation tables"),
        (b"i;j;p;v;p_int_ub\n", "The file has a header and no rows"),
        (b"pcv,ckey,pvalue\n", "The file has a header and no rows"),
        (b"pcv,ckey,pvalue\n1,0,0\n", "The only key is 0"),
        (b"count,deviation,probability\n", "The file has a header and no rows"),
    ],
)
def test_what_is_no_perturbation_file_is_told(file: Path, content: bytes, expected: str) -> None:
    file.write_bytes(content)
    with pytest.raises(DocumentError) as raised:
        read_perturbation(file)
    assert expected in str(raised.value)
    report = check_perturbation(file)
    assert not report.ok
    assert report.table is None


def test_missing_files_and_folders_are_told(tmp_path: Path) -> None:
    for check in (read_perturbation, check_perturbation):
        with pytest.raises(InputError, match="does not exist"):
            check(tmp_path / "none.csv")
        with pytest.raises(InputError, match="is a folder"):
            check(tmp_path)


def test_options_that_make_no_sense_are_refused(file: Path) -> None:
    file.write_text(ARGUS, encoding="utf-8", newline="")
    with pytest.raises(UnknownName, match="There is no exchange format 'tau'"):
        read_perturbation(file, "tau")
    with pytest.raises(SpecError, match="between 2 and 4294967296"):
        read_perturbation(file, modulus=2**33)
    with pytest.raises(DocumentError, match="the tail that was given needs rows up to 750"):
        read_perturbation(file, tail=Tail(501, 250))
    with pytest.raises(DocumentError, match="The column 'pcv' is missing"):
        read_perturbation(file, "ons")


# ---------------------------------------------------------------- anything


@given(content=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_end_in_an_error_with_a_message(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("any") / "table.csv"
    file.write_bytes(content)
    for kind in (None, *ExchangeFormat):
        with pytest.raises(SdcensusError):
            read_perturbation(file, kind)
        assert not check_perturbation(file, kind).ok


GOOD = ["argus", "ptable", "sas", "plain", "cantabular"]


@given(data=st.data())
def test_a_changed_file_is_refused_or_is_still_a_table(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Change, drop or repeat single fields and lines of a good file."""
    folder = tmp_path_factory.mktemp("changed")
    kind = data.draw(st.sampled_from(GOOD))
    scheme = data.draw(st.sampled_from([CP1, DIAGRAM_1A, WITHOUT_SMALL]))
    text = write_perturbation(scheme, folder / "good.csv", kind).read_text(encoding="ascii")
    lines = text.splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["field", "drop", "twice", "swap"])):
            case "field":
                delimiter = ";" if ";" in text else ","
                fields = lines[at].split(delimiter)
                place = data.draw(st.integers(0, len(fields) - 1))
                fields[place] = data.draw(
                    st.sampled_from(
                        ["", "0", "1", "-1", "7", "0.3", "1e-7", "nan", "x", "1e12", '"']
                    )
                )
                lines[at] = delimiter.join(fields)
            case "drop":
                del lines[at]
                lines = lines or [""]
            case "twice":
                lines.insert(at, lines[at])
            case "swap":
                lines[0], lines[at] = lines[at], lines[0]
    file = folder / "changed.csv"
    file.write_text("\n".join(lines), encoding="utf-8", newline="")
    report = check_perturbation(file)
    if report.ok:
        assert read_perturbation(file) == report.table
    else:
        with pytest.raises(DocumentError):
            read_perturbation(file)
