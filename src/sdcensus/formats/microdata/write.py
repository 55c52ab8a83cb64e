"""Writing the records of a microdata file in all formats: all files, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from sdcensus.errors import OutputError, SdcensusError, SpecError
from sdcensus.formats.microdata.beside import CODES, VARIABLES, write_codes, write_variables
from sdcensus.formats.microdata.columnar import write_columnar
from sdcensus.formats.microdata.delimited import write_delimited
from sdcensus.formats.microdata.labelled import LABELLED, format_problems, labelled
from sdcensus.formats.microdata.layout import FilePart, parts_of
from sdcensus.formats.microdata.spss import write_spss
from sdcensus.formats.microdata.stata import write_stata
from sdcensus.formats.write import check_new, files_of, new_file
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import Layout, MicrodataFormat
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.sentences import sentence

#: What writes one file, telling how much is done.
_Write = Callable[[BinaryIO], Iterator[float]]


def write_microdata(
    file: ReleaseFile,
    folder: Path,
    formats: Sequence[MicrodataFormat],
    layout: Layout = Layout.LINKED,
    *,
    languages: Sequence[str] | None = None,
    progress: Progress = no_progress,
) -> tuple[Path, ...]:
    """Write records to new files in a folder, and what variables and codes mean beside them.

    SPSS and Stata files hold labels in one language: the first one has files without a suffix, the
    others are called ``NAME-persons.es.sav``.

    Args:
        file: The records.
        folder: Where to; it exists.
        formats: In which formats.
        layout: A file for each kind of unit, or one flat file.
        languages: Languages of labels; those of the file if none are named.
        progress: Told how far it is.

    Raises:
        OutputError: A file exists, or cannot be written; then none of them is left.
        SpecError: The records cannot stand in a format or layout.
    """
    given: object = file
    if not isinstance(given, ReleaseFile):
        raise SpecError(sentence("release_formats.not_public", kind=type(given).__name__))
    chosen = tuple(dict.fromkeys(formats))
    spoken = tuple(dict.fromkeys(languages or file.languages)) or ("en",)
    format_problems(file, chosen, layout, spoken)
    targets = _targets(file, Path(folder), chosen, layout, spoken)
    for target in targets:
        check_new(target)
    written: list[Path] = []
    try:
        for number, (target, write) in enumerate(targets.items()):
            with new_file(target) as opened:
                for done in write(opened):
                    progress("writing files", (number + done) / len(targets))
            written.append(target)
    except BaseException as error:
        for target in written:
            target.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, SdcensusError):
            reason = error.strerror or type(error).__name__
            raise OutputError(f"{folder} cannot be written to: {reason}.") from error
        raise
    return tuple(written)


def _targets(
    file: ReleaseFile,
    folder: Path,
    formats: Sequence[MicrodataFormat],
    layout: Layout,
    languages: tuple[str, ...],
) -> dict[Path, _Write]:
    """Every file, with what writes it."""
    parts = parts_of(file, layout)
    targets: dict[Path, _Write] = {}
    for format in formats:
        for part in parts:
            for language in languages if format in LABELLED else languages[:1]:
                ending = "" if language == languages[0] else f".{language}"
                path = folder / f"{part.stem}{ending}.{format.value}"
                targets[path] = _writer(file, part, format, language, languages)
    # Names that some systems do not allow are refused as for tables.
    for part in parts:
        files_of(part.stem, "csv")
    targets[folder / f"{file.name}-{VARIABLES}.csv"] = _at_once(
        lambda opened: write_variables(parts, languages, opened)
    )
    targets[folder / f"{file.name}-{CODES}.csv"] = _at_once(
        lambda opened: write_codes(parts, languages, opened)
    )
    return targets


def _at_once(write: Callable[[BinaryIO], None]) -> _Write:
    def writing(opened: BinaryIO) -> Iterator[float]:
        write(opened)
        yield 1.0

    return writing


def _writer(
    file: ReleaseFile,
    part: FilePart,
    format: MicrodataFormat,
    language: str,
    languages: tuple[str, ...],
) -> _Write:
    def writing(opened: BinaryIO) -> Iterator[float]:
        if format is MicrodataFormat.CSV:
            yield from write_delimited(part.table, opened)
        elif format is MicrodataFormat.PARQUET:
            yield from write_columnar(file, part.table, languages, opened)
        elif format is MicrodataFormat.SAV:
            yield from write_spss(labelled(file, part, format, language), opened)
        else:
            yield from write_stata(labelled(file, part, format, language), opened)

    return writing
