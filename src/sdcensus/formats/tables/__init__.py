"""Writing published tables to files: csv, Parquet, Excel. Nothing but published tables.

The same table gives the same bytes, whenever and wherever it is written: there is no clock in any
of these files.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from sdcensus.errors import OutputError, SpecError
from sdcensus.formats.shared.files import check_new, new_file
from sdcensus.formats.tables.about import about, about_text, all_notes
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable
from sdcensus.model.text import Text

__all__ = ["TABLE_ENDINGS", "about_file", "check_table_target", "write_table"]

#: How the names of files with tables end.
TABLE_ENDINGS = (".csv", ".parquet", ".xlsx")


def write_table(
    table: AnyTable,
    path: str | Path,
    *,
    provenance: Provenance,
    language: str | None = None,
    notes: Sequence[Text] = (),
) -> Path:
    """Write a published table to a new file.

    Args:
        table: The table; of a sparse one the cells that it holds are written, and the file says
            that all others are published as 0.
        path: A ``.csv`` file (notes and provenance then stand beside it in ``NAME.about.json``),
            a ``.parquet`` file (typed; notes and provenance are in its metadata), or an ``.xlsx``
            file (to be read by people: laid out in rows and columns, with a sheet of notes).
        provenance: How the table was made.
        language: The language of labels, and of the notes in an ``.xlsx`` file.
        notes: Notes besides those of the table.
    """
    given: object = table
    if not isinstance(given, AnyTable):
        raise SpecError(
            f"A {type(given).__name__} is no published table, and only those can be written for"
            " the public. Protect it first, and write the table of what comes out."
        )
    target = check_table_target(path)
    said = all_notes(table, notes)
    content = about(table, provenance, said, language)
    match target.suffix.lower():
        case ".csv":
            _write_text(table, target, about_text(content), language)
        case ".parquet":
            _write_parquet(table, target, about_text(content), language)
        case _:
            from sdcensus.formats.tables.workbook import write_workbook

            write_workbook(table, target, provenance, said, language)
    return target


def check_table_target(path: str | Path) -> Path:
    """Refuse early what could not be written in the end."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in TABLE_ENDINGS:
        raise OutputError(f"{target}: write a table as {', '.join(TABLE_ENDINGS[:-1])} or .xlsx.")
    check_new(target)
    if ending == ".csv":
        check_new(about_file(target))
    if ending == ".xlsx":
        from sdcensus.formats.shared.sheets import library

        library()
    return target


def about_file(path: Path) -> Path:
    """Where the notes and the provenance of a csv file stand.

    Examples:
        >>> about_file(Path("parishes.csv")).name
        'parishes.about.json'
    """
    return path.with_name(f"{path.stem}.about.json")


def _write_text(table: AnyTable, target: Path, about_it: str, language: str | None) -> None:
    # Here and not above: what others of this package need can be had without pyarrow.
    from sdcensus.formats.tables.columns import published_columns
    from sdcensus.formats.tables.text import write_csv

    beside = about_file(target)
    with new_file(beside) as file:
        file.write(about_it.encode())
    try:
        with new_file(target) as file:
            write_csv(published_columns(table, language), file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _write_parquet(table: AnyTable, target: Path, about_it: str, language: str | None) -> None:
    import pyarrow.parquet as pq

    from sdcensus.formats.read.raw import METADATA
    from sdcensus.formats.tables.columns import published_columns

    pieces = published_columns(table, language)
    first = next(pieces)
    schema = first.schema.with_metadata({METADATA: about_it})
    with new_file(target) as file, pq.ParquetWriter(file, schema) as writer:
        for piece in itertools.chain([first], pieces):
            writer.write_table(piece.replace_schema_metadata(schema.metadata))
