"""The one door: a dictionary file of any kind, read by its ending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.code_texts import common_name
from sdcensus.ingest.dictionaries.cspro import read_cspro
from sdcensus.ingest.dictionaries.ddi import read_ddi
from sdcensus.ingest.dictionaries.entries import Dictionary
from sdcensus.ingest.dictionaries.named_columns import NamedColumn, named_columns
from sdcensus.ingest.dictionaries.sheets import is_workbook
from sdcensus.ingest.dictionaries.statistics_files import read_statistics_file
from sdcensus.ingest.dictionaries.survey_solutions import read_export, read_questionnaire
from sdcensus.ingest.dictionaries.syntax import read_syntax
from sdcensus.ingest.dictionaries.tables import TableReading, read_table
from sdcensus.ingest.readers.files import check_file
from sdcensus.model.schema.source import FileFormat

_STATISTICS = {
    ".sav": FileFormat.SPSS,
    ".zsav": FileFormat.SPSS,
    ".dta": FileFormat.STATA,
    ".sas7bdat": FileFormat.SAS,
}
_TABLES = frozenset({".csv", ".txt", ".tsv", ".tab"})
#: No dictionary that is a table is larger; a file that is, is one of records.
_LARGEST_TABLE = 16 * 1024 * 1024
#: So many variables of a dictionary are columns, or so many columns are in the dictionary.
_MOSTLY = 0.3
_REDATAM = frozenset({".dic", ".dicx", ".rxdb", ".rbf", ".ptr", ".wxp"})
KINDS = (
    "csv, xlsx, xls and ods tables, CSPro (.dcf, .csdb), SPSS, Stata and SAS files (.sav, .dta,"
    " .sas7bdat), their syntax (.sps, .do), DDI (.xml), and exports of Survey Solutions (.zip, a"
    " folder, document.json)"
)


@dataclass(frozen=True, slots=True)
class DictionaryOptions:
    """How to read dictionaries, as far as it cannot be seen from them."""

    columns: tuple[NamedColumn, ...] = ()
    language: str | None = None
    encoding: str | None = None
    files: CensusColumns = field(default_factory=CensusColumns)
    #: Whether this is the only dictionary that is a table.
    alone: bool = True


def is_table(path: Path) -> bool:
    """Whether a dictionary is a table, by its ending."""
    return path.suffix.lower() in _TABLES or is_workbook(path)


def columns_named(texts: Sequence[str]) -> tuple[NamedColumn, ...]:
    """The columns of a dictionary as an office named them.

    Raises:
        InputError: A part is not understood.
    """
    try:
        return tuple(named_columns(texts))
    except ValueError as error:
        raise InputError(
            f"The columns of a dictionary are named as variable=HEADING, and {str(error)!r} is not."
            " The roles are variable, label, value, value_label, table, min, max, range, missing"
            " and list; a label may name its language, as in label:es=Etiqueta."
        ) from None


def open_dictionary(path: Path, options: DictionaryOptions) -> Dictionary:
    """Read a dictionary.

    Raises:
        InputError: There is no such file, its kind is not known, or it cannot be understood.
    """
    files, language, encoding = options.files, options.language, options.encoding
    ending = path.suffix.lower()
    if path.is_dir() or ending == ".zip":
        if not path.is_dir():
            check_file(path)
        return read_export(
            path, files, lambda member: open_dictionary(member, options), language=language
        )
    check_file(path)
    if ending in (".dcf", ".csdb"):
        return read_cspro(path, files, language=language, encoding=encoding)
    if ending in _STATISTICS:
        return read_statistics_file(path, _STATISTICS[ending], files, language=language)
    if ending in (".sps", ".do"):
        return read_syntax(path, files, language=language, encoding=encoding)
    if ending == ".xml":
        return read_ddi(path, files, language=language)
    if ending == ".json":
        return read_questionnaire(path.read_bytes(), path.name, files, language=language)
    if ending in _REDATAM:
        raise InputError(
            f"{path.name}: dictionaries of REDATAM are not read, since there is no maintained"
            " reader of them for Python. Export the data from REDATAM as csv, write its variables"
            " and codes into a csv or xlsx file with the columns variable, label, value and"
            " value_label, and give that file as the dictionary."
        )
    if is_table(path):
        reading = TableReading(files, options.columns, language, encoding, options.alone)
        return read_table(path, reading)
    raise InputError(
        f"{path.name}: the ending does not tell what kind of dictionary this is."
        f" There are: {KINDS}."
    )


def describes(path: Path, files: CensusColumns) -> bool:
    """Whether a file is a dictionary of census files: its variables are columns of theirs."""
    try:
        if is_table(path) and path.stat().st_size > _LARGEST_TABLE:
            return False
        dictionary = open_dictionary(path, DictionaryOptions(files=files))
    except (OSError, InputError):
        return False
    variables = {common_name(variable.name) for variable in dictionary.variables}
    columns = set(map(common_name, files.names))
    shared = len(variables & columns)
    return shared >= 2 and shared >= _MOSTLY * min(len(variables), len(columns))
