"""The page of all files for the office's site, with the papers of each beside it.

Records stand there only of files that everybody may take. What is written comes from folders of
files that are registered, and from nothing else.
"""

from __future__ import annotations

import csv
import io
import json
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import InputError, OutputError, Refused
from sdcensus.formats.microdata.beside import VARIABLES
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.registered import FileEvent
from sdcensus.model.release.release_file import ColumnKind
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import Text
from sdcensus.report.release.catalogue import STEM, CatalogueEntry
from sdcensus.report.release.files import catalogue_pages
from sdcensus.session.licence.agreements import manifest_text
from sdcensus.session.publish.workplace import MANIFEST, read_json
from sdcensus.session.release.make.checking import check_folder, read_manifest
from sdcensus.store.registered_files import read_registered

#: What says that a folder is such a site, and what stands in it.
SITE, _FORMAT = "catalogue.json", "sdcensus-catalogue"
_INDEX = "index.html"
_UNTOLD = (ColumnKind.NUMBER_OF_UNIT.value, ColumnKind.WEIGHT.value)


@dataclass(frozen=True, slots=True)
class _Listed:
    """A file of the page: its folder, its manifest, the files that may stand on a site."""

    folder: Path
    manifest: dict[str, Any]
    shared: tuple[str, ...]

    @property
    def name(self) -> str:
        return str(self.manifest["release"])

    @property
    def licence(self) -> LicenceClass:
        return LicenceClass(self.manifest["licence"])


def write_site(
    places: Sequence[Path],
    out: Path,
    *,
    office: Path | None = None,
    languages: Sequence[str] = (),
) -> tuple[str, ...]:
    """Write the page of registered files into a folder; one that this wrote before is replaced.

    Args:
        places: Office folders, whose registered files are all listed, or folders of files.
        out: The folder of the site: all of it, or nothing.
        office: Where folders of files are registered; ``office`` beside each if none is named.
        languages: Of the pages; all that the product speaks if none is named.

    Returns:
        The names of the files on the page.

    Raises:
        Refused: A file is not registered, or is not as it was registered.
    """
    files = [listed for place in places for listed in _files_of(place, office)]
    names = [listed.name for listed in files]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two folders hold the file {name!r}. Name one of them.")
    _check_site(out)
    partial = out.absolute().with_name(f".{out.name}.partial-{secrets.token_hex(4)}")
    try:
        partial.mkdir()
        for listed in files:
            (partial / listed.name).mkdir()
            for name in listed.shared:
                shutil.copyfile(listed.folder / name, partial / listed.name / name)
        producers = {manifest_text(listed.manifest, "producer") for listed in files}
        contacts = {str(listed.manifest.get("contact", "")) for listed in files}
        pages = catalogue_pages(
            lambda language: [_entry(listed, language) for listed in files],
            languages or LANGUAGES,
            producer=producers.pop() if len(producers) == 1 else Text(),
            contact=contacts.pop() if len(contacts) == 1 else "",
        )
        pages[_INDEX] = next(iter(pages.values()))
        for name, content in pages.items():
            (partial / name).write_bytes(content)
        _note(partial)
        _put(partial, out)
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return tuple(names)


# -------------------------------------------------------------------------------- which files


def _files_of(place: Path, office: Path | None) -> Iterator[_Listed]:
    """The file of a folder, or all files of an office."""
    if (place / MANIFEST).is_file():
        shared = office if office is not None else place.absolute().parent / "office"
        yield _checked(place, shared)
        return
    events = read_registered(place)
    if not events:
        read_manifest(place)  # says what is wrong with a folder that holds no file
        raise InputError(f"{place} has no register of files, and no file.")
    last = {event.name: event for event in events}
    for event in last.values():
        if event.event is FileEvent.WITHDRAWN:
            continue
        if not (Path(event.place) / MANIFEST).is_file():
            raise InputError(
                f"{event.name} was registered as {event.place}, which is not there any more. Name"
                " the folders of the files instead of the office folder."
            )
        yield _checked(Path(event.place), place)


def _checked(folder: Path, office: Path) -> _Listed:
    """A file that is as it was registered."""
    manifest = read_manifest(folder)
    name = str(manifest["release"])
    digests = tuple(sorted((str(each["name"]), str(each["sha256"])) for each in manifest["files"]))
    events = [event for event in read_registered(office) if event.name == name]
    if not any(event.files == digests for event in events):
        raise Refused(
            f"{folder} is not registered in {office}. Only files that are out stand on the page:"
            f" sdcensus release register {folder} --name NAME --name NAME"
        )
    check = check_folder(folder)
    if not check.sound:
        raise Refused(f"{folder} is not as it was made. {check.problems[0]}")
    every = [str(each["name"]) for each in manifest["files"]]
    records = {str(each) for table in manifest["tables"] for each in table["files"]}
    public = LicenceClass(manifest["licence"]) is LicenceClass.PUBLIC_USE
    # The manifest tells how many records there are, which papers of licensed files do not.
    shared = (*every, MANIFEST) if public else tuple(each for each in every if each not in records)
    return _Listed(folder, manifest, shared)


# ---------------------------------------------------------------------------------- the page


def _entry(listed: _Listed, language: str) -> CatalogueEntry:
    manifest, name = listed.manifest, listed.name
    public = listed.licence is LicenceClass.PUBLIC_USE
    tables = manifest["tables"]
    records = {str(each) for table in tables for each in table["files"]}
    return CatalogueEntry(
        name=name,
        title=manifest_text(manifest, "title") or Text.of(name),
        licence=listed.licence,
        abstract=manifest_text(manifest, "abstract"),
        census=manifest_text(manifest, "census"),
        country=manifest_text(manifest, "country"),
        producer=manifest_text(manifest, "producer"),
        citation=manifest_text(manifest, "citation"),
        years=str(manifest.get("reference_date", ""))[:4],
        variables=tuple(_variables(listed)),
        records=tuple((Entity(table["unit"]), int(table["records"])) for table in tables)
        if public
        else (),
        contact=str(manifest.get("contact", "")),
        terms=_paper(listed, "terms", ".html", language),
        codebook=_paper(listed, "codebook", ".html", language),
        ddi=_paper(listed, f"{name}.ddi", ".xml", language),
        removed=_paper(listed, "removed-and-recoded", ".html", language),
        files=tuple((each, f"{name}/{each}") for each in sorted(records)) if public else (),
        version=str(manifest.get("file_version", "")),
    )


def _paper(listed: _Listed, stem: str, ending: str, language: str) -> str:
    """Where a paper stands: in the language of the page, or in the first one that there is."""
    languages = [str(each) for each in listed.manifest.get("languages", ())]
    wanted = [f"{stem}.{language}{ending}", f"{stem}{ending}"]
    if languages[:1] == [language]:
        wanted.reverse()
    wanted += [f"{stem}.{each}{ending}" for each in languages]
    return next((f"{listed.name}/{each}" for each in wanted if each in listed.shared), "")


def _variables(listed: _Listed) -> Iterator[tuple[str, Text, Entity]]:
    """Every variable with its labels, from the file that stands beside the records."""
    path = listed.folder / f"{listed.name}-{VARIABLES}.csv"
    if not path.is_file():
        return
    units = {
        str(file).partition(".")[0]: Entity(table["unit"])
        for table in listed.manifest["tables"]
        for file in table["files"]
    }
    for line in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")):
        if line["kind"] in _UNTOLD:
            continue
        labels = [
            (name.removeprefix("label_"), text)
            for name, text in line.items()
            if name.startswith("label_") and text
        ]
        yield line["variable"], Text(tuple(labels)), units.get(line["file"], Entity.PERSON)


# -------------------------------------------------------------------------------- the folder


def _check_site(out: Path) -> None:
    """Refuse a folder that holds anything which this did not write."""
    if not out.absolute().parent.is_dir():
        raise OutputError(f"The folder {out.parent} does not exist.")
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file. Name a folder for the site: --out FOLDER.")
    if not out.is_dir() or not any(out.iterdir()):
        return
    note = read_json(out / SITE) if (out / SITE).is_file() else {}
    if note.get("format") != _FORMAT:
        raise OutputError(
            f"{out} is not empty, and was not made by sdcensus release catalogue. Choose another"
            " folder."
        )
    strange = sorted(set(_names(out)) - {*map(str, note.get("files", ())), SITE})
    if strange:
        raise OutputError(
            f"{out} holds {strange[0]}, which sdcensus release catalogue did not write. Move it"
            " away, or choose another folder."
        )


def _names(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in files)


def _note(folder: Path) -> None:
    content = {"format": _FORMAT, "page": f"{STEM}.html", "files": _names(folder)}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (folder / SITE).write_text(f"{text}\n", encoding="utf-8", newline="\n")


def _put(partial: Path, out: Path) -> None:
    """Put a site into its place; the one before goes when the new one stands."""
    if not out.exists():
        partial.replace(out)
        return
    before = out.absolute().with_name(f".{out.name}.before-{secrets.token_hex(4)}")
    out.replace(before)
    try:
        partial.replace(out)
    except OSError:
        before.replace(out)
        raise
    shutil.rmtree(before, ignore_errors=True)
