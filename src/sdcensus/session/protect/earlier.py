"""An earlier release, as a method that closes cells keeps to it: what was open, what was closed."""

from __future__ import annotations

from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.formats.read.tables import read_published, scan_published
from sdcensus.model.linked.elsewhere import CellsElsewhere
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.session.guard.run import REGISTRY_FOLDER
from sdcensus.store.registry import Registry
from sdcensus.store.registry_files import ABOUT_FILE


def read_earlier(path: str | Path) -> CellsElsewhere:
    """The cells of an earlier release, shown and closed ones. Public: definitions of cells only.

    Cells are known by their codes: the release may be of another year, and its tables spelled
    otherwise.

    Args:
        path: A published file (``.csv`` or ``.parquet``), the folder of a publication, the folder
            of a registry, or that of an office that has one.

    Raises:
        InputError: There is nothing, or nothing that closes cells.
    """
    return CellsElsewhere.of(earlier_products(Path(path)))


def earlier_products(path: Path) -> list[ProductTable]:
    """The tables of an earlier release."""
    folder = next(
        (each for each in (path, path / REGISTRY_FOLDER) if (each / ABOUT_FILE).is_file()), None
    )
    if folder is not None:
        registry = Registry.open(folder)
        closing = [entry for entry in registry.latest() if entry.closes and entry.has_values]
        if not closing:
            raise InputError(
                f"{path}: no table of this registry closes cells. Name the published files of the"
                " earlier release, or leave 'earlier_release' out."
            )
        return registry.products(closing)
    if path.is_dir():
        tables = scan_published(path, skip_unreadable=True).tables
    elif path.is_file():
        tables = (read_published(path),)
    else:
        raise InputError(
            f"{path}: there is no such earlier release. Name a published file, the folder of a"
            " publication, or that of a registry."
        )
    if not tables:
        raise InputError(f"{path} has no published table that can be read (.csv or .parquet).")
    return [ProductTable.of(table.name, table.table, closing=Closing.SUMS) for table in tables]
