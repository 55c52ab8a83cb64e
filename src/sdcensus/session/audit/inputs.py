"""Tables to be audited: files of other tools, of tau-ARGUS, and our own published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sdcensus.errors import InputError
from sdcensus.formats.read.argus.batch import ArgusBatch, BatchTable, read_batch
from sdcensus.formats.read.argus.history import HistoryLine, read_history
from sdcensus.formats.read.argus.metadata import ColumnKind, read_metadata
from sdcensus.formats.read.argus.table import read_argus_table
from sdcensus.formats.read.flagged.rows import Columns, FlaggedRows, read_flagged
from sdcensus.formats.read.flagged.statuses import CellState
from sdcensus.formats.read.flagged.tables import FlaggedTable, flagged_tables
from sdcensus.formats.read.flagged.trees import CodeTree, read_tree
from sdcensus.formats.read.raw import about_file, about_inside
from sdcensus.formats.read.tables import READABLE, read_published, scan_published
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import PublishedTable
from sdcensus.model.spec.table_spec import Measure, TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Whose statuses they are in tables that we have published.
OWN = "sdcensus"
#: Published tables with more cells are left out.
MOST_CELLS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditTable(Confidential):
    """A table with what is known of its cells. May hold values of withheld cells.

    Attributes:
        name: The name of the file.
        spec: What it shows.
        group: Tables of one group count the same units and are audited together.
        states: For each cell its ``CellState``.
        values: The values of cells that are shown.
        own, has_own: The values of withheld cells where the file holds them.
        need: How far the interval of each withheld cell has to reach below and above its value.
        decimals: How many digits values have behind the point.
        tool: Whose statuses these are.
        kinds: Whether states tell primary from secondary cells.
    """

    name: str
    spec: TableSpec
    group: str
    states: npt.NDArray[np.uint8]
    values: Int64
    own: Int64
    has_own: Mask
    need: tuple[Int64, Int64] | None = None
    decimals: int = 0
    tool: str = ""
    kinds: bool = True

    def __repr__(self) -> str:
        return f"<AuditTable {self.name}: confidential>"

    def with_decimals(self, decimals: int) -> AuditTable:
        """The same table in units of a later decimal."""
        scale = 10 ** (decimals - self.decimals)
        if scale == 1:
            return self
        return replace(
            self,
            values=self.values * scale,
            own=self.own * scale,
            need=None if self.need is None else (self.need[0] * scale, self.need[1] * scale),
            decimals=decimals,
        )

    @property
    def known(self) -> Mask:
        """The cells whose value everybody can read."""
        return np.asarray((self.states == CellState.SHOWN) | (self.states == CellState.EMPTY))

    @property
    def withheld(self) -> Mask:
        """The cells that somebody withheld on purpose."""
        return np.asarray((self.states == CellState.PRIMARY) | (self.states == CellState.SECONDARY))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgusFiles:
    """What belongs to tables of other tools, besides the tables themselves.

    Attributes:
        metadata: A file of metadata (``.rda``).
        trees: Hierarchy files (``.hrc``) by column.
        history: What was said of cells before (``.hst``).
        separator: What stands between its fields; found out if ``None``.
        totals: The code of the total by column, where it is not "Total".
        leading: The sign of levels in hierarchy files.
        empty: Whether combinations that a file does not list hold nothing; else they are withheld.
    """

    metadata: Path | None = None
    trees: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    history: Path | None = None
    separator: str | None = None
    totals: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    leading: str = "@"
    empty: bool | None = None


def read_tables(
    paths: Sequence[str | Path],
    files: ArgusFiles | None = None,
    columns: Columns | None = None,
    *,
    progress: Progress = no_progress,
) -> tuple[tuple[AuditTable, ...], tuple[str, ...]]:
    """Read tables from files and folders.

    A folder is one of published tables, or of tables of other tools. A file that describes itself
    is read as published, a batch of tau-ARGUS by what it says, and any other by its columns and
    what belongs to it.

    Returns:
        The tables, and sentences about what was left out.
    """
    given, said = files or ArgusFiles(), columns or Columns()
    own: list[PublishedTable] = []
    rows: list[FlaggedRows] = []
    trees = {name: read_tree(path, given.leading) for name, path in given.trees.items()}
    notes: list[str] = []
    for at, named in enumerate(paths):
        progress("reading tables", at / len(paths))
        path = Path(named)
        if path.is_dir():
            listed = _tables_in(path)
            if listed and not any(_describes_itself(file) for file in listed):
                rows += [_of_file(file, given, said, trees) for file in listed]
                continue
            folder = scan_published(path, most_cells=MOST_CELLS, progress=progress)
            own += folder.tables
            notes += [f"{skipped.name}: {skipped.reason}" for skipped in folder.skipped]
        elif not path.exists():
            raise InputError(f"{path} does not exist.")
        elif path.suffix.lower() == ".arb":
            found, told = _of_batch(read_batch(path), trees)
            rows += found
            notes += told
        elif given.metadata is None and _describes_itself(path):
            own.append(read_published(path))
        else:
            rows.append(_of_file(path, given, said, trees))
    _check_belongs(given, trees, rows)
    flagged = flagged_tables(rows, trees, totals=given.totals) if rows else ()
    published, left_out = _published(own)
    tables = (*published, *(_flagged(table) for table in flagged))
    if not tables:
        raise InputError(" ".join(["There is no table to audit.", *left_out, *notes]))
    return tables, (*notes, *left_out)


def _tables_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in READABLE]


def _describes_itself(path: Path) -> bool:
    if path.suffix.lower() == ".parquet":
        return about_inside(path) is not None
    return about_file(path).is_file()


def _check_belongs(
    given: ArgusFiles, trees: Mapping[str, CodeTree], rows: Sequence[FlaggedRows]
) -> None:
    if rows or not (given.metadata or given.history or trees or given.totals):
        return
    raise InputError(
        "Metadata, hierarchies, history files and codes of totals are for tables of other tools;"
        " files that sdcensus wrote describe themselves."
    )


def _of_file(
    path: Path, given: ArgusFiles, columns: Columns, trees: dict[str, CodeTree]
) -> FlaggedRows:
    """A table of another tool; the trees that its metadata name join the others."""
    named = given.metadata or _metadata_beside(path)
    if named is None:
        if path.suffix.lower() == ".tab":
            raise InputError(
                f"{path}: a table of tau-ARGUS needs its metadata, which say what its columns are."
                f" Put {path.stem}.rda beside it, or name the file: --rda FILE."
            )
        if given.history is not None:
            raise InputError(
                f"{given.history} says something about cells by their codes in the order of the"
                " metadata. Name the metadata as well: --rda FILE."
            )
        read = read_flagged(path, columns)
        return _with_absent(read, given.empty)
    metadata = read_metadata(named)
    codes = len(metadata.of_kind(ColumnKind.CODES))
    history = () if given.history is None else read_history(given.history, codes, given.separator)
    read, found = read_argus_table(
        path, metadata, history=history, value=columns.value, trees=trees
    )
    trees.update(found)
    return _with_absent(read, given.empty)


def _metadata_beside(path: Path) -> Path | None:
    """Metadata of the same name, in small or capital letters."""
    for ending in (".rda", ".RDA"):
        if path.with_suffix(ending).is_file():
            return path.with_suffix(ending)
    return None


def _with_absent(rows: FlaggedRows, empty: bool | None) -> FlaggedRows:
    if empty is None:
        return rows
    return replace(rows, absent=CellState.EMPTY if empty else CellState.ABSENT)


def _of_batch(batch: ArgusBatch, trees: dict[str, CodeTree]) -> tuple[list[FlaggedRows], list[str]]:
    """The tables that a batch writes, where they are there; else the one that it begins with."""
    metadata = read_metadata(batch.metadata)
    rows: list[FlaggedRows] = []
    notes = []
    for table in batch.tables:
        written = [file.path for file in table.written if file.path.is_file()]
        if not written and not batch.is_table:
            raise InputError(
                f"{batch.file}, line {table.line}: the table is made from records, and none of the"
                " files that the batch writes is there. Run the batch first."
            )
        history: tuple[HistoryLine, ...] = ()
        if table.history is not None and not written:
            history = read_history(table.history[0], len(table.codes), table.history[1])
        value = None if table.value.startswith("<") else table.value
        read, found = read_argus_table(
            written[0] if written else batch.data,
            metadata,
            history=history,
            value=value,
            trees=trees,
        )
        trees.update(found)
        rows.append(read)
        notes.append(_plan(batch, table))
    return rows, notes


def _plan(batch: ArgusBatch, table: BatchTable) -> str:
    """What a batch does with a table, in words."""
    ways = [
        f"{protection.words} ({protection.way}: {', '.join(protection.settings)})"
        for protection in table.protections
    ]
    by = " by ".join(table.codes)
    rules = f", unsafe by {', '.join(table.rules)}" if table.rules else ""
    done = "; then ".join(ways) or "nothing"
    return f"{batch.file.name}: {table.value} by {by}{rules}; protected by {done}."


def _published(tables: Sequence[PublishedTable]) -> tuple[list[AuditTable], list[str]]:
    chosen: list[AuditTable] = []
    left_out: list[str] = []
    # Counts are whole numbers, and sums have decimals: one audit is of one of them.
    counts = any(published.table.spec.measure is Measure.COUNT for published in tables)
    for published in tables:
        spec = published.table.spec
        if spec.measure.is_sum and counts:
            left_out.append(
                f"{published.name} shows sums and was not audited beside counts: audit tables of"
                " sums by themselves."
            )
        elif spec.measure is Measure.WEIGHTED:
            left_out.append(f"{published.name} shows weighted counts and was not audited.")
        elif spec.cells > MOST_CELLS:
            left_out.append(
                f"{published.name} has {spec.cells:,} cells and was not audited: at most"
                f" {MOST_CELLS:,} are."
            )
        else:
            chosen.append(_own(published))
    return chosen, left_out


def _own(published: PublishedTable) -> AuditTable:
    table = published.table.whole()
    flags = np.zeros(table.shape, dtype=np.uint8) if table.flags is None else table.flags
    states = np.where(flags != 0, CellState.PRIMARY, CellState.SHOWN).astype(np.uint8)
    version = "" if published.provenance is None else published.provenance.data_version
    # Sums of an amount add up with sums of the same, weighted or not, and with nothing else.
    amount = (
        "" if table.spec.amount is None else f"{table.spec.measure.value} {table.spec.amount.name}"
    )
    return AuditTable(
        name=published.name,
        spec=table.spec,
        group=f"{table.spec.of.value}:{amount}:{version}",
        states=states,
        values=np.asarray(table.published),
        own=np.zeros(table.shape, dtype=np.int64),
        has_own=np.zeros(table.shape, dtype=bool),
        decimals=table.spec.decimals,
        tool=OWN,
        kinds=False,
    )


def _flagged(table: FlaggedTable) -> AuditTable:
    return AuditTable(
        name=table.name,
        spec=table.spec,
        group="other tools",
        states=table.states,
        values=table.values,
        own=table.own,
        has_own=table.has_own,
        need=table.need,
        decimals=table.decimals,
        tool=table.tool,
        kinds=bool((table.states == CellState.SECONDARY).any()),
    )
