"""Matrices that offices write: read exactly, and every mistake told with its line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sdcensus.documents.matrices.transitions import read_transitions
from sdcensus.errors import DocumentError, InputError

GOOD = ",1,2,9\n1,0.9,0.1,0\n2,1/3,2/3,0\n9,0,0,1\n"


def written(folder: Path, text: str, name: str = "m.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_entries_are_read_exactly_in_the_order_that_is_asked(tmp_path: Path) -> None:
    matrix = read_transitions(written(tmp_path, GOOD), ["2", "1", "9"])
    assert matrix.codes == ("2", "1", "9")
    third = Fraction(1, 3)
    assert matrix.rows[0] == (2 * third, third, Fraction(0))
    assert matrix.rows[1] == (Fraction(1, 10), Fraction(9, 10), Fraction(0))
    assert "0.9" not in f"{matrix}{matrix!r}"
    semicolons = GOOD.replace(",", ";").replace("0.", "0,")
    other = read_transitions(written(tmp_path, semicolons, "n.csv"), ["2", "1", "9"])
    assert other.rows == matrix.rows


def test_codes_that_may_lack_stay_as_they_are(tmp_path: Path) -> None:
    text = "from/to,1,2\n1,0.9,0.1\n2,0.2,0.8\n"
    matrix = read_transitions(written(tmp_path, text), ["1", "2", "9"], may_lack=["9"])
    assert [int(share) for share in matrix.rows[2]] == [0, 0, 1]
    assert matrix.rows[0] == (Fraction("0.9"), Fraction("0.1"), Fraction(0))


def test_sums_may_miss_one_by_what_rounding_leaves(tmp_path: Path) -> None:
    text = ",1,2,3\n1,.3333333,.3333333,.3333333\n2,0,1,0\n3,0,0,1\n"
    assert read_transitions(written(tmp_path, text)).rows[0][0] == Fraction(3333333, 10**7)
    with pytest.raises(DocumentError, match=r"line 2: The row of '1' sums to 0.9999, not to 1"):
        read_transitions(written(tmp_path, text.replace("3333333", "3333")))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("0.1,", "0.2,"), "line 2: The row of '1' sums to 1.1, not to 1"),
        (GOOD.replace("0.9,0.1", "1.1,-0.1"), "line 2: From '1' to '2': -0.1 is negative"),
        (GOOD.replace("0.9", "most"), "line 2: From '1' to '1': 'most' is not a number"),
        (GOOD.replace("0.9", ""), "line 2: From '1' to '1': the field is empty"),
        (GOOD.replace("0.9,0.1,0", "0.9,0.1"), "The row of '1' has 2 numbers, .* 3 columns"),
        (GOOD.replace(",1,2,9", ",1,2,8"), "line 1: There is no code of 'sex' '8'"),
        (GOOD.replace("\n9,", "\n8,"), "line 4: There is no code of 'sex' '8'"),
        (GOOD.replace(",1,2,9", ",1,2,2"), "line 1: The code '2' has more than one column"),
        (GOOD.replace("\n9,0,0,1", "\n2,0,0,1"), "line 4: The code '2' has more than one row"),
        (GOOD.replace("9,0,0,1\n", ""), "There is no row for the code of 'sex' '9'"),
        (GOOD.replace("\n9,", "\n,"), "A row has no code"),
        (",1\n", "A matrix has a line of codes"),
        ("", "A matrix has a line of codes"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        read_transitions(written(tmp_path, text), ["1", "2", "9"], what="'sex'")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv does not exist"):
        read_transitions(tmp_path / "none.csv")


def test_what_looks_like_a_formula_comes_back(tmp_path: Path) -> None:
    text = "from/to,'=1,'-x\n'=1,1,0\n'-x,0,1\n"
    assert read_transitions(written(tmp_path, text)).codes == ("=1", "-x")
