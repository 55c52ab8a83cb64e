"""Making a demo country: ordinary files in a folder, as a census office would have them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sdcensus.demo.census import DemoCensus
from sdcensus.demo.country import Country, study_axes
from sdcensus.demo.documents.eu_documents import MAPPING_FILE, eu_documents
from sdcensus.demo.documents.layout import ColumnLayout
from sdcensus.demo.documents.questionnaire import FILES
from sdcensus.demo.documents.schema_text import MARK, code_files, schema_text
from sdcensus.demo.files import CsvWriter, LinkedFiles, ParquetWriter, RecordWriter
from sdcensus.demo.land.maps import extent_of_grid, write_map
from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.model.progress import Progress
from sdcensus.model.vocabulary import DemoFormat

THREADS = 2
#: Pieces that may be made before the one that is written; more would only take memory.
AHEAD = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoFiles:
    """What was made: where it is, and how many records of each kind there are."""

    folder: Path
    schema: Path
    files: dict[str, Path]
    country: Country
    seed: int
    records: dict[str, int]
    study_axes: tuple[str, ...]
    eu_mapping: Path


@dataclass(frozen=True, slots=True)
class _Piece:
    """The records of a piece, ready to be written, and how many there are."""

    prepared: dict[str, object]
    records: dict[str, int]


def write_country(
    folder: Path,
    *,
    country: Country,
    seed: int = 2021,
    file_format: str = DemoFormat.CSV,
    progress: Progress | None = None,
) -> DemoFiles:
    """Make a country and write it into ``folder``: schema, code lists, map and four files.

    A mapping to the European census programme is written as well.

    The same country and number give the same bytes (of parquet: the same rows). The folder is
    made if it is not there; one that holds anything but an earlier demo country is refused.

    Args:
        folder: Where to write.
        country: What to make, for instance ``make_country("small-island")``.
        seed: Any whole number from 0 to 2**64 - 1; another one gives another country.
        file_format: ``csv`` or ``parquet``.
        progress: Is told what is being done and which part of it is done, from 0 to 1.
    """
    if file_format not in tuple(DemoFormat):
        raise UnknownName("format of a demo country", file_format, known=tuple(DemoFormat))
    if not 0 <= seed < 1 << 64:
        raise SpecError("The number of a demo country is a whole number from 0 to 2**64 - 1.")
    tell = progress or (lambda what, part: None)
    _clear(folder)
    try:
        return _write(folder, country, seed, DemoFormat(file_format), tell)
    except OSError as error:
        raise OutputError(
            f"The demo country cannot be written to {folder}: {error.strerror or error}."
            " Choose another folder, or make room."
        ) from error


def _clear(folder: Path) -> None:
    """Make the folder, or make sure that what it holds is a demo country of ours."""
    schema = folder / "schema.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.iterdir()):
            return
        ours = schema.is_file() and schema.read_text(encoding="utf-8").startswith(MARK)
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{folder} cannot be used as a folder for a demo country.") from error
    if not ours:
        raise OutputError(
            f"{folder} is not empty and holds no demo country. Choose an empty folder or a new"
            " one: nothing but a demo country is ever written over."
        )
    for file in FILES:
        for ending in DemoFormat:
            (folder / f"{file}s.{ending}").unlink(missing_ok=True)


def _write(
    folder: Path, country: Country, seed: int, file_format: DemoFormat, tell: Progress
) -> DemoFiles:
    tell("Drawing the island", 0.0)
    census = DemoCensus(country, seed)
    schema = folder / "schema.toml"
    # The mark comes first: a run that is stopped leaves a folder that may be written over.
    _write_text(schema, f"{MARK}\n")
    (folder / "codes").mkdir(exist_ok=True)
    for name, text in code_files(census).items():
        _write_text(folder / "codes" / name, text)
    tell("Drawing the map", 0.0)
    map_file = folder / "codes" / "areas.geojson"
    with map_file.open("w", encoding="utf-8", newline="\n") as file:
        write_map(file, census)

    layout = ColumnLayout(census)
    paths = {file: folder / f"{file}s.{file_format}" for file in FILES}
    make = CsvWriter if file_format is DemoFormat.CSV else ParquetWriter
    records = dict.fromkeys((*FILES, "family"), 0)
    with LinkedFiles() as together:
        writers: dict[str, RecordWriter] = {}
        for name, path in paths.items():
            writers[name] = make(path, layout.fields(name))
            together.writers.append(writers[name])
        for piece in _pieces(census, layout, writers):
            for name, writer in writers.items():
                writer.write(piece.prepared[name])
            for name, count in piece.records.items():
                records[name] += count
            tell("Counting the people", records["person"] / country.persons)
    for name, text in eu_documents(census).items():
        _write_text(folder / name, text)
    # The schema is complete when everything that it names is there.
    _write_text(schema, schema_text(census, str(file_format), extent_of_grid(census)))
    return DemoFiles(
        folder=folder,
        schema=schema,
        files=paths,
        country=country,
        seed=seed,
        records=records,
        study_axes=study_axes(country),
        eu_mapping=folder / MAPPING_FILE,
    )


def _pieces(
    census: DemoCensus, layout: ColumnLayout, writers: dict[str, RecordWriter]
) -> Iterator[_Piece]:
    """Make the pieces on two threads and hand them out in order."""

    def make(eds: range) -> _Piece:
        records = census.records(eds)
        prepared = {
            name: writer.prepare(layout.positions(name, records))
            for name, writer in writers.items()
        }
        counts = {
            "building": len(records.homes.buildings),
            "dwelling": len(records.homes.dwellings),
            "household": len(records.households),
            "person": len(records.people.units),
            "family": records.families.count,
        }
        return _Piece(prepared, counts)

    with ThreadPoolExecutor(THREADS) as pool:
        waiting: deque[Future[_Piece]] = deque()
        try:
            for eds in census.pieces():
                waiting.append(pool.submit(make, eds))
                if len(waiting) >= AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _write_text(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8", newline="\n")
    os.replace(partial, path)  # noqa: PTH105
