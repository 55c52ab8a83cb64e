"""The list of formats: what each declares, and that nothing is loaded before it is asked for."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdcensus.errors import SpecError, UnknownName
from sdcensus.formats.write import write_delivered
from sdcensus.model.method.registry import Announced
from sdcensus.model.published import table_format as registry
from sdcensus.model.published.table_format import (
    BUILT_IN,
    FORMAT_NAMES,
    TableFormat,
    all_formats,
    format_of_file,
    meant_format,
    table_format,
)
from sdcensus.model.text import LANGUAGES
from tests.formats.write.delivered_made import GEO, delivered

LISTED = """
import sys
from sdcensus.model.published.table_format import BUILT_IN, FORMAT_NAMES
assert "px" in FORMAT_NAMES
heavy = {"numpy", "numba", "pyarrow", "xlsxwriter", "importlib.metadata"} & set(sys.modules)
heavy |= {name for name in sys.modules if name.startswith("sdcensus.formats")}
print(sorted(heavy))
"""


def test_names_are_known_without_anything_that_writes() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LISTED], capture_output=True, check=True, encoding="utf-8"
    )
    assert ran.stdout.strip() == "[]"


def test_a_format_of_ours_is_found_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def search() -> dict[str, Announced]:
        raise AssertionError("packages were searched")

    monkeypatch.setattr(registry, "_installed", search)
    for name in BUILT_IN:
        assert name in FORMAT_NAMES
        declared = table_format(name)
        assert declared.name == name
        assert format_of_file(Path(f"t{declared.endings[0]}")) is declared


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_format_says_what_menus_and_servers_need(name: str) -> None:
    declared = table_format(name)
    assert declared.label
    assert [language for language, _ in declared.about.by_language] == list(LANGUAGES)
    assert all("/" in one and ";" not in one for one in declared.media_types)
    assert all(ending.startswith(".") and ending.islower() for ending in declared.endings)
    assert declared.seconds_per_cell >= 0


def test_no_two_formats_are_asked_for_alike() -> None:
    ours = [table_format(name) for name in BUILT_IN]
    for one, other in itertools.combinations(ours, 2):
        assert set(one.media_types).isdisjoint(other.media_types)
        assert set(one.endings).isdisjoint(other.endings)
        assert {one.name, *one.aliases}.isdisjoint({other.name, *other.aliases})


def test_other_names_lead_to_the_format() -> None:
    assert {word: meant_format(word) for word in ("Excel", "sdmx", "PC-Axis", "json", "toml")} == {
        "Excel": "xlsx",
        "sdmx": "sdmx-csv",
        "PC-Axis": "px",
        "json": "json-stat",
        "toml": "",
    }
    with pytest.raises(UnknownName, match=r"no format 'parket'\. Did you mean 'parquet'"):
        table_format("parket")
    assert format_of_file(Path("t.doc")) is None


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Announced]]:
    """What other packages announce."""
    announced: dict[str, Announced] = {}
    monkeypatch.setattr(registry, "_installed", lambda: announced)
    yield announced
    registry._declared.cache_clear()


def test_a_package_that_announces_nothing_is_told(installed: dict[str, Announced]) -> None:
    installed["gone"] = Announced("gone", "no_such_module_at_all:FORMAT", "other")
    with pytest.raises(SpecError, match="'gone' of other cannot be loaded: ModuleNotFoundError"):
        table_format("gone")
    installed["odd"] = Announced("odd", "sdcensus.formats.write.px:PX", "other")
    with pytest.raises(SpecError, match="no TableFormat that is called 'odd'"):
        table_format("odd")


def test_a_name_of_ours_is_ours(installed: dict[str, Announced]) -> None:
    installed["csv"] = Announced("csv", "no_such_module_at_all:FORMAT", "other")
    assert table_format("csv").label == "CSV"


def test_a_table_with_more_cells_than_a_format_takes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: dict[str, Announced]
) -> None:
    small = TableFormat(
        name="small",
        label="Small",
        endings=(".small",),
        media_type="text/x-small",
        most_cells=2,
        write=table_format("csv").write,
    )
    monkeypatch.setattr("sdcensus.formats.write.px.SMALL", small, raising=False)
    installed["small"] = Announced("small", "sdcensus.formats.write.px:SMALL", "other")
    assert all_formats()[-1] is small
    with pytest.raises(SpecError, match="the format 'small' takes 2"):
        write_delivered(delivered(GEO), tmp_path, formats=["small"])
    assert list(tmp_path.iterdir()) == []
