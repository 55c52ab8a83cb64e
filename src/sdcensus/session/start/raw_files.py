"""What the files in a folder are: records, dictionaries, lists of areas, or something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.ingest.areas.gazetteers import is_code_list, is_gazetteer
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.opening import describes, is_table
from sdcensus.ingest.dictionaries.survey_solutions import is_about_interviews
from sdcensus.ingest.draft import columns_in
from sdcensus.model.schema.source import FORMAT_OF_ENDING

#: Files that hold labels and no records.
DICTIONARY_ENDINGS = frozenset({".dcf", ".sps", ".do", ".xml", ".json", ".zip"})


@dataclass(frozen=True, slots=True)
class RawFiles:
    """The files of a folder by what they are.

    Attributes:
        records: Census files.
        dictionaries: Files that say what columns and codes mean.
        areas: Files that list areas.
        others: Files that are none of these, and are not read.
    """

    records: tuple[Path, ...]
    dictionaries: tuple[Path, ...] = ()
    areas: tuple[Path, ...] = ()
    others: tuple[Path, ...] = ()


def sort_files(paths: Sequence[Path], dictionaries: Sequence[Path] = ()) -> RawFiles:
    """Tell dictionaries and lists of areas from the files with records.

    Args:
        paths: The files.
        dictionaries: Files that are said to be dictionaries, in the folder or not.
    """
    given = {path.resolve() for path in dictionaries}
    left = [path for path in paths if path.resolve() not in given]
    others = [path for path in left if is_about_interviews(path)]
    areas = [path for path in left if path not in others and is_gazetteer(path)]
    others += [path for path in left if path not in (*others, *areas) and is_code_list(path)]
    left = [path for path in left if path not in (*others, *areas)]
    columns: dict[Path, dict[str, tuple[str, ...]]] = {}
    for path in left:
        if path.suffix.lower() in FORMAT_OF_ENDING:
            try:
                columns[path] = columns_in(path)
            except InputError:
                columns[path] = {}  # the draft says what is wrong with it
    beside = [
        path
        for path in left
        if (is_table(path) or path not in columns) and describes(path, _others(columns, path))
    ]
    export = [path for path in beside if path.suffix.lower() in DICTIONARY_ENDINGS]
    if export and any(map(is_about_interviews, paths)):
        # An export of Survey Solutions is read as a whole: it has missing codes of its own.
        dictionaries = (*dictionaries, export[0].parent)
        beside = [path for path in beside if path not in export]
        left = [path for path in left if path not in export]
    records = [path for path in columns if path not in beside]
    # A text that has no columns is something to read.
    notes = [
        path for path in records if path.suffix.lower() == ".txt" and _width(columns[path]) < 2
    ]
    if len(notes) < len(records):
        others += notes
        records = [path for path in records if path not in notes]
    others += [path for path in left if path not in (*records, *beside, *others)]
    return RawFiles(tuple(records), (*dictionaries, *beside), tuple(areas), tuple(others))


def _others(columns: dict[Path, dict[str, tuple[str, ...]]], own: Path) -> CensusColumns:
    return CensusColumns(
        {
            title: names
            for path, files in columns.items()
            if path != own
            for title, names in files.items()
        }
    )


def _width(files: dict[str, tuple[str, ...]]) -> int:
    return max(map(len, files.values()), default=0)
