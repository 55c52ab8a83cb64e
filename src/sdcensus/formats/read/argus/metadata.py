"""Metadata of tau-ARGUS (``.rda``): the columns of a table, or of a file of records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.formats.read.argus.lines import ArgusLine, beside, lines_of
from sdcensus.formats.read.flagged.trees import CodeTree, read_tree


class ColumnKind(StrEnum):
    """What a column holds."""

    CODES = "codes"
    VALUE = "value"
    FREQUENCY = "frequency"
    STATUS = "status"
    LOWER_LEVEL = "lower protection level"
    UPPER_LEVEL = "upper protection level"
    SHADOW = "shadow"
    COST = "cost"
    LARGEST = "largest contribution"
    WEIGHT = "weight"
    HOLDING = "holding"
    REQUEST = "request"
    RECORD_KEY = "record key"
    UNSTATED = "not stated"


#: Keywords that say what a column holds.
_KINDS = {
    "<RECODEABLE>": ColumnKind.CODES,
    "<RECODABLE>": ColumnKind.CODES,
    "<NUMERIC>": ColumnKind.VALUE,
    "<FREQUENCY>": ColumnKind.FREQUENCY,
    "<STATUS>": ColumnKind.STATUS,
    "<MAXSCORE>": ColumnKind.LARGEST,
    "<WEIGHT>": ColumnKind.WEIGHT,
    "<HOLDING>": ColumnKind.HOLDING,
    "<REQUEST>": ColumnKind.REQUEST,
    "<RECORDKEY>": ColumnKind.RECORD_KEY,
    "<SHADOW>": ColumnKind.SHADOW,
    "<COST>": ColumnKind.COST,
    "<COSTVAR>": ColumnKind.COST,
    "<LOWERPL>": ColumnKind.LOWER_LEVEL,
    "<UPPERPL>": ColumnKind.UPPER_LEVEL,
}
#: Keywords that say more about a column, and those that say something about the whole file.
_PROPERTIES = frozenset(
    {
        *("<TOTCODE>", "<CODELIST>", "<HIERARCHICAL>", "<HIERCODELIST>", "<HIERLEADSTRING>"),
        *("<HIERLEVELS>", "<DECIMALS>"),
    }
)
_PASSED_OVER = frozenset(
    {
        *("<DISTANCE>", "<TRUNCABLE>", "<TRUNCATABLE>", "<CKM>", "<PFILE>", "<PFILE_FREQ>"),
        *("<PFILE_CONT>", "<PFILE_SEP>", "<INCLUDEZEROS>", "<PARITY>", "<SEPARATION>"),
        *("<SCALING>", "<SPSS>", "<MISSING>"),
    }
)
_ABOUT_FILE = frozenset({"<SEPARATOR>", "<SAFE>", "<UNSAFE>", "<PROTECT>"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgusColumn:
    """One column of a file.

    Attributes:
        name: What it is called.
        line: The line of the metadata that begins with it.
        start, width: Where it stands in a file of fixed columns; 0 in others.
        missing: Codes that say that there is no value.
        kind: What it holds.
        total: The code of its total.
        tree_file: A hierarchy file; empty if there is none.
        leading: The sign that stands before a code once for each level.
        digits: How many digits each level of a code has; empty if there are no such levels.
        decimals: How many digits a value has behind the point.
    """

    name: str
    line: int
    start: int = 0
    width: int = 0
    missing: tuple[str, ...] = ()
    kind: ColumnKind = ColumnKind.UNSTATED
    total: str = "Total"
    tree_file: str = ""
    leading: str = "@"
    digits: tuple[int, ...] = ()
    decimals: int = 0
    code_list: str = ""


@dataclass(frozen=True, slots=True)
class ArgusMetadata:
    """What a file of metadata says.

    Attributes:
        file: The file itself.
        columns: The columns in their order.
        separator: What stands between them; a semicolon if nothing is said.
        safe, unsafe, protect: The statuses of cells.
    """

    file: Path
    columns: tuple[ArgusColumn, ...]
    separator: str = ";"
    safe: str = "S"
    unsafe: str = "U"
    protect: str = "P"

    @property
    def fixed(self) -> bool:
        """Whether columns stand at fixed places of each line: a file of records."""
        return any(column.width for column in self.columns)

    def of_kind(self, kind: ColumnKind) -> tuple[ArgusColumn, ...]:
        """The columns that hold something."""
        return tuple(column for column in self.columns if column.kind is kind)

    def tree(self, column: ArgusColumn) -> CodeTree | None:
        """The tree of codes of a column; ``None`` where it has no hierarchy file."""
        if not column.tree_file:
            return None
        file = beside(column.tree_file, self.file)
        if not file.is_file():
            raise InputError(
                f"{self.file}, line {column.line}: the hierarchy file {column.tree_file!r} of"
                f" {column.name!r} is not there ({file}). Put it beside the metadata, or name it"
                f" with --hrc {column.name}=FILE."
            )
        return read_tree(file, column.leading, column.total)


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    columns: list[ArgusColumn] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)


def read_metadata(path: str | Path) -> ArgusMetadata:
    """Read a file of metadata.

    Raises:
        InputError: A keyword is not known, stands in a wrong place, or lacks its value.
    """
    file, read = Path(path), _Reading()
    for line in lines_of(file):
        words = line.words()
        if not words:
            continue
        if not words[0].startswith("<"):
            read.columns.append(_column(line, words))
            continue
        for keyword, values in _keywords(words):
            _take(read, line, keyword, values)
    if not read.columns:
        raise InputError(
            f"{file} names no column. Each stands in a line of its own, its keywords below."
        )
    for at, column in enumerate(read.columns):
        if column.name.lower() in {other.name.lower() for other in read.columns[:at]}:
            raise InputError(f"{file}, line {column.line}: two columns are called {column.name!r}.")
    about = read.about
    return ArgusMetadata(
        file,
        tuple(read.columns),
        separator=about.get("<SEPARATOR>", ";"),
        safe=about.get("<SAFE>", "S"),
        unsafe=about.get("<UNSAFE>", "U"),
        protect=about.get("<PROTECT>", "P"),
    )


def _column(line: ArgusLine, words: list[str]) -> ArgusColumn:
    """The first line of a column: its name, and where it stands, or which codes are missing."""
    name, rest = words[0], words[1:]
    fixed = len(rest) >= 2 and rest[0].isdigit() and rest[1].isdigit() and '"' not in line.text
    if not fixed:
        return ArgusColumn(name=name, line=line.number, missing=tuple(filter(None, rest[:2])))
    start, width = int(rest[0]), int(rest[1])
    if start < 1 or width < 1:
        raise line.mistake(
            f"{name!r} begins at place {start} and has {width} signs: both count from 1."
        )
    return ArgusColumn(
        name=name, line=line.number, start=start, width=width, missing=tuple(rest[2:4])
    )


def _keywords(words: list[str]) -> list[tuple[str, list[str]]]:
    """Keywords of a line, each with the words behind it."""
    found: list[tuple[str, list[str]]] = []
    for word in words:
        if word.startswith("<") and word.endswith(">"):
            found.append((word, []))
        elif found:
            found[-1][1].append(word)
    return found


def _take(read: _Reading, line: ArgusLine, keyword: str, values: list[str]) -> None:
    if keyword in _ABOUT_FILE:
        read.about[keyword] = _value(line, keyword, values)
        return
    known = keyword in _KINDS or keyword in _PROPERTIES or keyword in _PASSED_OVER
    if not known:
        raise line.mistake(
            f"{keyword} is no keyword of tau-ARGUS that is known here. Correct it, or take the"
            " line out if the table does not need it."
        )
    if keyword in _PASSED_OVER:
        return
    if not read.columns:
        raise line.mistake(f"{keyword} stands before the first column. Name the column first.")
    column = read.columns[-1]
    read.columns[-1] = _with(line, column, keyword, values)


def _with(line: ArgusLine, column: ArgusColumn, keyword: str, values: list[str]) -> ArgusColumn:
    """A column with one more property."""
    match keyword:
        case "<TOTCODE>":
            return replace(column, total=_value(line, keyword, values))
        case "<CODELIST>":
            return replace(column, code_list=values[0] if values else "")
        case "<HIERARCHICAL>":
            return column
        case "<HIERCODELIST>":
            return replace(column, tree_file=_value(line, keyword, values))
        case "<HIERLEADSTRING>":
            return replace(column, leading=_value(line, keyword, values))
        case "<HIERLEVELS>":
            return replace(column, digits=_numbers(line, keyword, values))
        case "<DECIMALS>":
            return replace(column, decimals=_numbers(line, keyword, values)[0])
        case _:
            return replace(column, kind=_KINDS[keyword])


def _value(line: ArgusLine, keyword: str, values: list[str]) -> str:
    if not values or not values[0]:
        raise line.mistake(f'{keyword} needs a value behind it, such as {keyword} "Total".')
    return values[0]


def _numbers(line: ArgusLine, keyword: str, values: list[str]) -> tuple[int, ...]:
    if not values or not all(value.isdigit() for value in values):
        raise line.mistake(f"{keyword} needs whole numbers behind it, such as {keyword} 2 1 1.")
    return tuple(map(int, values))
