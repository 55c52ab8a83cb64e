"""Groups of codes as people write them down."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.errors import DocumentError, InputError
from sdcensus.session.protect.own_groups import read_groups


def written(folder: Path, text: str) -> Path:
    path = folder / "groups.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_groups_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = ["Variable;Group;Code;remark", "ed;coast;P07;", "ed;coast;P01;x", "", "age;old;85+;"]
    text = "\r\n".join([*lines, "ed;hills;P02;", ""])
    assert read_groups(written(tmp_path, "\ufeff" + text)) == {
        "ed": {"coast": ["P07", "P01"], "hills": ["P02"]},
        "age": {"old": ["85+"]},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("variable,group\ned,coast\n", "line 1: .*code is missing"),
        ("", "variable, group, code are missing"),
        ("variable,group,code\n", "line 2: There is no group"),
        (
            "variable,group,code\ned,,P01\ned,coast\n",
            "2 mistakes(.|\n)*line 2: .*group(.|\n)*line 3: .*code",
        ),
    ],
)
def test_mistakes_are_named_with_their_lines(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((DocumentError, InputError), match=message):
        read_groups(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"groups\.csv"):
        read_groups(tmp_path / "groups.csv")
