"""The list of formats: names, files, and that a table is written whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sdcensus.errors import MissingExtra, OutputError, SpecError, UnknownName
from sdcensus.formats.write import check_formats, files_of, parquet, write_delivered
from sdcensus.model.published.delivery import DeliveredTable
from tests.formats.write.delivered_made import FOR_ANY_TABLE, GEO, axis, delivered


@pytest.mark.parametrize("languages", [(), ("en",), ("en", "es")])
@pytest.mark.parametrize("name", FOR_ANY_TABLE)
def test_every_format_writes_the_files_that_it_announces(
    tmp_path: Path, name: str, languages: tuple[str, ...]
) -> None:
    one = delivered(GEO, axis("SEX", ("T", "M", "F"), total=0))
    found = write_delivered(one, tmp_path, formats=[name], languages=languages)
    assert [path.name for path in found] == list(files_of("t", name, languages))
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in found}


def test_unknown_formats_get_the_nearest_names() -> None:
    with pytest.raises(UnknownName, match=r"no format 'jsonstat'\. Did you mean 'json-stat'"):
        check_formats(["csv", "jsonstat"])
    assert check_formats([]) == ()


def test_an_optional_part_that_is_missing_is_told_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtra, match="as xlsx"):
        check_formats(["csv", "xlsx"])
    assert check_formats(["csv"]) == ("csv",)


@pytest.mark.parametrize(
    "name", ["", "../t", "a/b", "a\\b", ".hidden", "CON", "nul.x", "com¹", "a:b", "x\n"]
)
def test_names_that_are_no_names_of_files_are_refused(name: str) -> None:
    with pytest.raises(OutputError, match="No file can be called"):
        files_of(name, "csv")


def test_nothing_is_written_over_and_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"earlier")
    with pytest.raises(OutputError, match="already exists"):
        write_delivered(delivered(GEO), tmp_path, formats=["csv", "parquet"])
    assert [one.name for one in tmp_path.iterdir()] == ["t.parquet"]
    assert (tmp_path / "t.parquet").read_bytes() == b"earlier"
    with pytest.raises(OutputError, match="does not exist"):
        write_delivered(delivered(GEO), tmp_path / "nowhere", formats=["csv"])


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_when_one_format_fails_the_files_of_the_others_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    def full(*_: object) -> DeliveredTable:
        raise fault

    monkeypatch.setattr(parquet, "_pieces", full)
    expected = OutputError if isinstance(fault, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_delivered(delivered(GEO), tmp_path, formats=["csv", "parquet", "xlsx"])
    assert not list(tmp_path.iterdir())


def test_a_layout_that_the_table_cannot_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="3 of 1 axes"):
        write_delivered(delivered(GEO, rows=3), tmp_path, formats=["csv", "xlsx"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", FOR_ANY_TABLE)
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    resource = pytest.importorskip("resource")
    one = delivered(axis("A", [f"a{at}" for at in range(300)]), axis("B", "abcdefgh"))
    for row in ("warm", "full"):  # modules and kernels are loaded before there is no space
        folder = tmp_path / row
        folder.mkdir()
        if row == "warm":
            write_delivered(one, folder, formats=[name])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        with pytest.raises(OutputError, match="cannot be written: File too large"):
            write_delivered(one, folder, formats=[name])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(folder.iterdir())
