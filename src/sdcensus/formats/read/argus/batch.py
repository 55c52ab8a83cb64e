"""Batch files of tau-ARGUS (``.arb``): which table is protected how, as a plan of steps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.formats.read.argus.lines import ArgusLine, beside, lines_of

_QUOTED = re.compile(r'"([^"]*)"')
_CALL = re.compile(r"\s*([A-Za-z]+)\s*\((.*)\)\s*")
_WRITTEN = re.compile(r'\s*\(?\s*(\d+)\s*,\s*(\d+)\s*,\s*([^,"]*)\s*,?\s*"([^"]*)"\s*\)?\s*')

#: Ways to protect a table, by the word that a batch has for them.
WAYS = {
    "GH": "suppression by hypercubes",
    "MOD": "suppression down the hierarchy (modular)",
    "OPT": "optimal suppression",
    "NET": "suppression by network flows",
    "UWE": "suppression of unweighted cells",
    "RND": "controlled rounding",
    "CTA": "controlled tabular adjustment",
    "CKM": "cell keys",
}
#: Keywords that change nothing about what is protected.
_PASSED_OVER = frozenset(
    {
        *("<GOINTERACTIVE>", "<LOGBOOK>", "<SOLVER>", "<READMICRODATA>", "<READTABLE>"),
        *("<CLEAR>", "<VERSIONINFO>", "<COVER>", "<ANCO>", "<SILENT>"),
    }
)


@dataclass(frozen=True, slots=True)
class Protection:
    """How a table is protected: the way, and what stands in the brackets behind it."""

    way: str
    settings: tuple[str, ...]

    @property
    def words(self) -> str:
        """The way in words."""
        return WAYS[self.way]


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A file that is written: its form (1 csv, 2 pivot, 3 code-value, 4 SBS, 5 intermediate)."""

    path: Path
    form: int
    options: str


@dataclass(frozen=True, slots=True)
class BatchTable:
    """One table of a batch.

    Attributes:
        line: Where it is specified.
        codes: Its columns of codes.
        value: Its column of values; ``<freq>`` for counts.
        rules: When a cell is unsafe, as the batch says it.
        history: A file with what is said of cells before.
        protections: How it is protected.
        written: The files that are written.
    """

    line: int
    codes: tuple[str, ...]
    value: str
    rules: tuple[str, ...] = ()
    history: tuple[Path, str] | None = None
    protections: tuple[Protection, ...] = ()
    written: tuple[WrittenTable, ...] = ()


@dataclass(frozen=True, slots=True)
class ArgusBatch:
    """What a batch does.

    Attributes:
        file: The batch.
        data: The table or the records that it opens.
        is_table: Whether that is a table.
        metadata: What describes it.
        tables: What it makes.
    """

    file: Path
    data: Path
    is_table: bool
    metadata: Path
    tables: tuple[BatchTable, ...]


@dataclass(slots=True)
class _Table:
    """A table while its batch is read."""

    line: int
    codes: tuple[str, ...]
    value: str
    rules: tuple[str, ...] = ()
    history: tuple[Path, str] | None = None
    protections: list[Protection] = field(default_factory=list)
    written: list[WrittenTable] = field(default_factory=list)

    def closed(self) -> BatchTable:
        """The table when all is read."""
        return BatchTable(
            self.line,
            self.codes,
            self.value,
            self.rules,
            self.history,
            tuple(self.protections),
            tuple(self.written),
        )


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    file: Path
    data: tuple[Path, bool] | None = None
    metadata: Path | None = None
    tables: list[_Table] = field(default_factory=list)

    def table(self, line: ArgusLine, number: str) -> _Table:
        """The table of a number, from 1."""
        if not number.strip().isdigit():
            raise line.mistake(f"{number!r} is no number of a table.")
        at = int(number)
        if at > len(self.tables) or not self.tables:
            raise line.mistake(
                f"there is no table {at}: {len(self.tables)} are specified above (<SPECIFYTABLE>)."
            )
        return self.tables[at - 1]


def read_batch(path: str | Path) -> ArgusBatch:
    """Read a batch.

    Raises:
        InputError: A keyword is not known, or a line lacks what it needs.
    """
    read = _Reading(Path(path))
    for line in lines_of(path):
        keyword, _, rest = line.text.strip().partition(">")
        if not keyword.startswith("<"):
            raise line.mistake("a line of a batch begins with a keyword such as <SUPPRESS>.")
        _take(read, line, f"{keyword.strip().upper()}>", rest.strip())
    if read.data is None or read.metadata is None:
        raise InputError(
            f"{read.file} opens no data: <OPENTABLEDATA> or <OPENMICRODATA>, and <OPENMETADATA>,"
            " have to stand in it."
        )
    if not read.tables:
        raise InputError(f"{read.file} specifies no table (<SPECIFYTABLE>).")
    tables = tuple(table.closed() for table in read.tables)
    return ArgusBatch(read.file, read.data[0], read.data[1], read.metadata, tables)


def _take(read: _Reading, line: ArgusLine, keyword: str, rest: str) -> None:
    match keyword:
        case "<OPENTABLEDATA>" | "<OPENMICRODATA>":
            read.data = (_file(line, rest), keyword == "<OPENTABLEDATA>")
        case "<OPENMETADATA>":
            read.metadata = _file(line, rest)
        case "<SPECIFYTABLE>":
            read.tables.append(_specified(line, rest))
        case "<SAFETYRULE>":
            rules = (part.strip() for part in rest.split("|"))
            _last(read, line).rules = tuple(filter(None, rules))
        case "<APRIORY>" | "<APRIORI>":
            _take_history(read, line, rest)
        case "<SUPPRESS>":
            way, settings = _call(line, rest)
            for table in _meant(read, line, settings):
                table.protections.append(Protection(way, settings[1:]))
        case "<WRITETABLE>":
            _take_written(read, line, rest)
        case "<RECODE>":
            raise line.mistake(
                "a table whose codes are recoded on the way cannot be followed. Write the table"
                " with tau-ARGUS, and audit the file that it writes."
            )
        case _ if keyword not in _PASSED_OVER:
            raise line.mistake(f"{keyword} is no keyword of a batch that is known here.")


def _file(line: ArgusLine, rest: str) -> Path:
    named = _QUOTED.findall(rest) or rest.split()[:1]
    if not named or not named[0].strip():
        raise line.mistake("a file has to be named, in quotes.")
    return beside(named[0].strip(), line.file)


def _last(read: _Reading, line: ArgusLine) -> _Table:
    if not read.tables:
        raise line.mistake("no table is specified above (<SPECIFYTABLE>).")
    return read.tables[-1]


def _specified(line: ArgusLine, rest: str) -> _Table:
    parts = [_QUOTED.findall(part) for part in rest.split("|")]
    if len(parts) < 2 or not parts[0]:
        raise line.mistake(
            'a table is specified by its codes and its value: <SPECIFYTABLE> "A""B"|"value"||.'
        )
    value = parts[1][0] if parts[1] else "<freq>"
    return _Table(line.number, tuple(parts[0]), value)


def _take_history(read: _Reading, line: ArgusLine, rest: str) -> None:
    file = _file(line, rest)
    behind = rest.split('"', 2)[2] if rest.count('"') >= 2 else ""
    fields = [field.strip() for field in re.split(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', behind)]
    fields = [field for field in fields if field]
    if not fields:
        raise line.mistake('the table has to be named: <APRIORY> "file.hst",1,";",0,0.')
    separator = fields[1].strip('"') if len(fields) > 1 else ";"
    read.table(line, fields[0]).history = (file, separator)


def _call(line: ArgusLine, rest: str) -> tuple[str, tuple[str, ...]]:
    match = _CALL.fullmatch(rest)
    if match is None or match[1].upper() not in WAYS:
        raise line.mistake(
            f"{rest!r} is no way to protect a table. There are: {', '.join(WAYS)}, each with its"
            " settings in brackets, such as MOD(1,5,1,1,1)."
        )
    settings = tuple(part.strip() for part in match[2].split(","))
    return match[1].upper(), settings


def _meant(read: _Reading, line: ArgusLine, settings: tuple[str, ...]) -> list[_Table]:
    if settings and settings[0] == "0":  # all tables, linked
        return read.tables
    return [read.table(line, settings[0] if settings else "")]


def _take_written(read: _Reading, line: ArgusLine, rest: str) -> None:
    match = _WRITTEN.fullmatch(rest)
    if match is None:
        raise line.mistake(
            'a file is written by its table, its form and its options: <WRITETABLE> (1,2,AS+,"out'
            '.csv").'
        )
    table = read.table(line, match[1])
    written = WrittenTable(beside(match[4], line.file), int(match[2]), match[3].strip())
    table.written.append(written)
