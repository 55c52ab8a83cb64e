"""Writing a demo country: the same bytes always, and never over somebody's data."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdcensus.demo import DemoFiles, census as census_module, make_country, write_country
from sdcensus.demo.files import CsvWriter, Field
from sdcensus.errors import OutputError, SpecError, UnknownName
from tests.demo.reading import read_csv

#: BLAKE2b (16 bytes) of the files of the country below. They may change only when the content of
#: the demo country is changed on purpose; then the changelog says so.
GOLDEN = {
    "buildings.csv": "3299f65f0fc80d868412e287521a0dbf",
    "dwellings.csv": "e56582162a9ba939ac884978b7d02fee",
    "households.csv": "84a3def7a22cc19135beaf7812bb39ce",
    "persons.csv": "66641091e4ac138409d23f8472f285dd",
    "schema.toml": "2cc781a6309e70f557f570c1b4ec1d0b",
    "areas.csv": "49c1ac2be14f5df30738a625ed1e5f68",
    "areas.geojson": "4a3c0eacc34260c9dd4bc4c32d6907d0",
    "birthplace_study.csv": "76ba2590dbb651699355f310c64eeba2",
}


def _make(folder: Path, seed: int = 1, file_format: str = "csv") -> DemoFiles:
    country = make_country(2_000, parishes=5, districts=3, regions=2)
    return write_country(folder, country=country, seed=seed, file_format=file_format)


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> DemoFiles:
    return _make(tmp_path_factory.mktemp("golden"))


def test_the_same_number_gives_the_same_bytes_on_every_machine(made: DemoFiles) -> None:
    found = _digests(made.folder)
    assert {name: found[name] for name in GOLDEN} == GOLDEN


def test_the_same_number_gives_the_same_bytes_twice(made: DemoFiles, tmp_path: Path) -> None:
    assert _digests(_make(tmp_path).folder) == _digests(made.folder)


def test_another_number_gives_another_country(made: DemoFiles, tmp_path: Path) -> None:
    other = _digests(_make(tmp_path, seed=2).folder)
    same = {name for name, digest in _digests(made.folder).items() if other[name] == digest}
    assert not same & {"persons.csv", "households.csv", "dwellings.csv", "buildings.csv"}
    assert "areas.geojson" not in same


def test_the_size_of_the_pieces_does_not_matter(
    made: DemoFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census_module, "PERSONS_AT_ONCE", 300)
    assert _digests(_make(tmp_path).folder) == _digests(made.folder)


def test_parquet_holds_the_same_text_and_null_for_empty(made: DemoFiles, tmp_path: Path) -> None:
    other = _make(tmp_path, file_format="parquet")
    assert other.records == made.records
    for name, path in other.files.items():
        table = pq.read_table(path)
        expected = read_csv(made.files[name])
        assert table.column_names == list(expected)
        for column, values in expected.items():
            found = table[column].to_pylist()
            assert [value or "" for value in found] == values.tolist()
            assert "" not in found
    assert 'path = "persons.parquet"' in other.schema.read_text(encoding="utf-8")


def test_text_is_utf_8_with_plain_line_ends(made: DemoFiles) -> None:
    for path in made.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"\r" not in content
            assert content.endswith(b"\n")
            assert content.decode("utf-8")
    assert any(ord(letter) > 127 for letter in made.files["person"].read_text(encoding="utf-8"))


def test_progress_goes_forward_and_ends(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    country = make_country(2_000)
    write_country(tmp_path, country=country, progress=lambda what, part: told.append((what, part)))
    people = [part for what, part in told if what == told[-1][0]]
    assert told[0] == ("Drawing the island", 0.0)
    assert people == sorted(people)
    assert people[-1] == 1.0


def test_a_demo_country_is_written_over_and_leaves_no_file_of_the_last(tmp_path: Path) -> None:
    _make(tmp_path, file_format="parquet")
    second = _make(tmp_path, seed=3)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "schema.toml", "codes", "eu-mapping.toml",
        "buildings.csv", "dwellings.csv", "households.csv", "persons.csv",
    }  # fmt: skip
    assert second.schema.is_file()


def test_a_folder_with_anything_else_is_refused_and_untouched(tmp_path: Path) -> None:
    data = tmp_path / "persons.csv"
    data.write_text("the only copy\n", encoding="utf-8")
    (tmp_path / "schema.toml").write_text("[census]\n", encoding="utf-8")
    with pytest.raises(OutputError, match="not empty"):
        _make(tmp_path)
    assert data.read_text(encoding="utf-8") == "the only copy\n"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be used"):
        _make(tmp_path / "taken")


def test_a_run_that_fails_leaves_no_records_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class DiskFullError(Exception):
        pass

    def fail(what: str, part: float) -> None:
        if part > 0:
            raise DiskFullError

    country = make_country(2_000, parishes=5, districts=3, regions=2)
    with pytest.raises(DiskFullError):
        write_country(tmp_path, country=country, seed=1, progress=fail)
    assert {path.name for path in tmp_path.iterdir()} == {"schema.toml", "codes"}
    assert _make(tmp_path).records["person"] == 2_000


def test_unknown_formats_and_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="parquet"):
        _make(tmp_path, file_format="parket")
    with pytest.raises(SpecError, match="whole number"):
        _make(tmp_path, seed=-1)
    assert not list(tmp_path.iterdir())


def test_a_text_that_would_need_quotes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="quotes"):
        CsvWriter(tmp_path / "x.csv", [Field.of("x", ["a,b"])])


def test_rows_are_joined_from_the_parts_of_each_column(tmp_path: Path) -> None:
    writer = CsvWriter(
        tmp_path / "x.csv", [Field.of("km", ["7", "12"], ["000", "250"]), Field.of("é", ["", "ñ"])]
    )
    columns = [np.array(part, dtype=np.int32) for part in ([0, 1, 1], [1, 0, 1], [1, 0, 1])]
    writer.write(writer.prepare(columns))
    assert not (tmp_path / "x.csv").exists()
    writer.finish()
    text = (tmp_path / "x.csv").read_text(encoding="utf-8")
    assert text == "km,é\n7250,ñ\n12000,\n12250,ñ\n"
