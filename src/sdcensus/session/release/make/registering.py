"""Registering files: from then on they count for every further file of the census."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sdcensus.errors import InputError, Refused
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.registered import FileEvent, RegisteredFile, files_of, files_out
from sdcensus.session.licence.register import day_or_today
from sdcensus.session.office.people import check_second_person, shown_name
from sdcensus.session.publish.lock import taken
from sdcensus.session.publish.workplace import folder_of, read_json
from sdcensus.session.release.make.checking import check_folder, read_manifest
from sdcensus.store.registered_files import read_registered, write_registered

#: What the office notes about each file that it makes, for its register.
_ENTRIES = "entry-*.json"


def office_folder(office: Path, name: str) -> Path:
    """Where the office keeps what belongs to a file."""
    return folder_of(office, f"file-{name}")


def register_file(
    folder: str | Path,
    office: str | Path,
    *,
    names: tuple[str, ...],
    date: str = "",
) -> tuple[RegisteredFile, ...]:
    """Register a file that goes out; two people decide.

    Args:
        folder: The folder that ``release make`` has made.
        office: The office folder.
        names: Who decides; two different people.
        date: The day; today if nothing is said.

    Returns:
        Every file that is out now.

    Raises:
        Refused: The file fails its check, is not the one that was made, others were registered
            since, or one name is missing.
    """
    root, shared = Path(folder), Path(office)
    who = tuple(shown_name(name) for name in names if shown_name(name))
    if len(who) < 2:
        raise Refused("Two people decide that a file goes out: --name NAME --name NAME.")
    check_second_person(who[1], who[:1])
    day = day_or_today(date)
    check = check_folder(root)
    if not check.sound:
        raise Refused(f"{root} is not as it was made. {check.problems[0]}")
    manifest = read_manifest(root)
    own = office_folder(shared, str(manifest["release"]))
    files = tuple(sorted((str(file["name"]), str(file["sha256"])) for file in manifest["files"]))
    if not (own.is_dir() and any(own.glob(_ENTRIES))):
        raise InputError(
            f"{shared} knows nothing of the file {manifest['release']!r}. Name the office folder of"
            f" the release document, --office FOLDER, or make the file again: {_again(root)}"
        )
    path = own / entry_name(files)
    entry = read_json(path)
    if not entry:
        raise Refused(
            f"{root} is not a file {manifest['release']!r} that was made with {shared}. Name its"
            f" own office folder, --office FOLDER, or make it again: {_again(root)}"
        )
    try:
        event, beside = _event(entry, root, own, files, who, day)
    except (LookupError, TypeError, ValueError):
        raise InputError(
            f"{path} is damaged or of another sdcensus. Make the file again: {_again(root)}"
        ) from None
    with taken(shared):
        events = read_registered(shared)
        if any(each.shown == event.shown and each.files == event.files for each in events):
            raise Refused(f"{event.name} is registered already, as it is.")
        _check_since(events, event, beside, root)
        write_registered(shared, (*events, event))
    return files_out((*events, event))


def _again(root: Path) -> str:
    return f"sdcensus release make DOCUMENT --out {root} --replace."


def _event(
    entry: Mapping[str, Any],
    root: Path,
    own: Path,
    files: tuple[tuple[str, str], ...],
    names: tuple[str, ...],
    date: str,
) -> tuple[RegisteredFile, tuple[str, ...]]:
    """What the register says about a file, and beside which others it was measured.

    Raises:
        LookupError, TypeError, ValueError: What the office has noted is not whole.
    """
    event = RegisteredFile(
        event=FileEvent.REGISTERED,
        name=str(entry["name"]),
        title=str(entry["title"]),
        design=str(entry["design"]),
        licence=LicenceClass(entry["licence"]),
        date=date,
        names=names,
        census=str(entry["census"]),
        reference_date=str(entry["reference_date"]),
        data_version=str(entry["data_version"]),
        lineage=str(entry["lineage"]),
        secret_id=str(entry["secret_id"]),
        records=int(entry["records"]),
        folder=own.name,
        shown=str(entry["shown"]),
        files=files,
        reason=str(entry.get("reason", "")),
        extract=str(entry["extract"]),
        content=str(entry["content"]),
        place=str(root.absolute()),
        store_version=str(entry.get("store_version", "")),
    )
    return event, tuple(map(str, entry["beside"]))


def _check_since(
    events: tuple[RegisteredFile, ...],
    event: RegisteredFile,
    beside: tuple[str, ...],
    root: Path,
) -> None:
    """Refuse a file if others went out since it was made: it was never held against them."""
    known = {*beside, event.shown}
    since = [
        each.name
        for each in files_of(events, event.census, event.reference_date)
        if each.shown not in known
    ]
    extract = f" --extract {event.extract}" if event.extract else ""
    if since:
        raise Refused(
            f"{', '.join(since)}: registered since {event.name} was made, so nobody knows what they"
            f" give away together. Make {event.name} again, then register it: sdcensus release make"
            f" DOCUMENT --design {event.design}{extract} --out {root} --replace. What is out then"
            " is measured, and it is refused if they give away too much."
        )


def entry_name(files: Iterable[tuple[str, str]]) -> str:
    """The name under which the office keeps its entry of a file, by the digests of its parts."""
    text = json.dumps(sorted(files), ensure_ascii=False)
    return f"entry-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}.json"


def entry_text(entry: dict[str, object]) -> bytes:
    """What the office notes about a file, as its register reads it."""
    return f"{json.dumps(entry, indent=1, ensure_ascii=False)}\n".encode()
