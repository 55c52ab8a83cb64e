"""Dictionaries among the files of a census: those that describe the columns of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.code_texts import common_name
from sdcensus.ingest.dictionaries.opening import DictionaryOptions, is_table, open_dictionary

#: Endings of files that are dictionaries and nothing else.
DICTIONARY_ENDINGS = frozenset({".dcf", ".sps", ".do", ".xml"})
#: Tables that are larger are taken for census files without a look.
_LARGEST_TABLE = 4 * 1024 * 1024
#: A dictionary describes so many columns of the others, or half of them if there are fewer.
_DESCRIBED = 3


def find_dictionaries(
    paths: Sequence[Path], columns_of: Callable[[Path], Sequence[str]]
) -> list[Path]:
    """Those of the files that describe the others, in their order.

    Args:
        paths: Files of a census, dictionaries among them or not.
        columns_of: The names of the columns of a file.
    """
    dictionaries = [path for path in paths if path.suffix.lower() in DICTIONARY_ENDINGS]
    others = [path for path in paths if path not in dictionaries]
    if len(others) > 1 and any(map(_may_be_one, others)):
        columns = {path: tuple(columns_of(path)) for path in others}
        for path in filter(_may_be_one, others):
            rest = {str(other): names for other, names in columns.items() if other != path}
            if _describes(path, CensusColumns(rest)):
                dictionaries.append(path)
    return [path for path in paths if path in dictionaries]


def _may_be_one(path: Path) -> bool:
    return is_table(path) and path.is_file() and path.stat().st_size <= _LARGEST_TABLE


def _describes(path: Path, files: CensusColumns) -> bool:
    try:
        dictionary = open_dictionary(path, DictionaryOptions(files=files))
    except InputError:
        return False
    names = set(map(common_name, files.names))
    described = {common_name(variable.name) for variable in dictionary.variables} & names
    return len(described) >= min(_DESCRIBED, (len(names) + 1) // 2)
