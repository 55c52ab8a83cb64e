"""Histograms add up to the records, and rare texts are never among what is shown."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, strategies as st

from sdcensus.ingest import draft_columns
from sdcensus.ingest.distributions import BARS, distribution, histogram
from sdcensus.ingest.draft_columns import Profile, profiles_of
from sdcensus.ingest.readers import open_reader
from sdcensus.model.schema.source import FileFormat, FileSource


def column(folder: Path, values: list[str]) -> tuple[FileSource, Profile]:
    path = folder / "values.csv"
    path.write_text("\n".join(["x,y", *(f"{value},1" for value in values)]), encoding="utf-8")
    source = FileSource(paths=(path,), format=FileFormat.CSV, encoding="utf-8")
    return source, profiles_of(open_reader(source))["x"]


NUMBERS = st.one_of(
    st.lists(st.integers(-(10**9), 10**9).map(str), min_size=1, max_size=30),
    st.lists(st.decimals(-1000, 1000, places=2).map(str), min_size=1, max_size=30),
)


@given(values=NUMBERS)
def test_every_number_is_in_the_bar_of_its_bounds(
    values: list[str], tmp_path_factory: object
) -> None:
    folder = tmp_path_factory.mktemp("bars")  # type: ignore[attr-defined]
    source, profile = column(folder, values)
    bars = histogram(open_reader(source), profile)
    assert len(bars) <= BARS + 2
    assert sum(bar.count for bar in bars) == len(values)
    for bar in bars[:-1]:
        inside = sum(bar.lower <= float(value) < bar.upper for value in values)
        assert bar.count == inside


def test_columns_with_very_many_values_are_read_again(tmp_path: Path) -> None:
    values = [str(number) for number in range(draft_columns.MOST_VALUES + 5)]
    source, profile = column(tmp_path, [*values, "999999999", ""])
    assert profile.counts is None
    bars = histogram(open_reader(source), profile, without=("999999999",))
    assert sum(bar.count for bar in bars) == len(values)
    assert bars[-1].upper < 30_000


def test_rare_texts_are_counted_and_not_shown(tmp_path: Path) -> None:
    texts = ["Ana Quispe", "Juan Flores", *(["often"] * 3), "ab"]
    shown = distribution(column(tmp_path, texts)[1])
    assert dict(shown.values) == {"often": 3, "ab": 1}
    assert (shown.hidden, shown.hidden_rows, shown.distinct) == (2, 2, 4)
    assert "Ana" not in repr(shown)
