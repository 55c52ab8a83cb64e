"""A holder's copy of a file: the same records in an order of its own, recorded before it is given.

A copy is made aside, recorded, and put into its place. Who is killed on the way leaves a note: the
next run takes away what was not recorded, and puts what was recorded into its place. So there is no
copy without a record.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError, Refused
from sdcensus.microdata.release.copies import content_digest
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.holding import HandedOut, Holding
from sdcensus.model.release.registered import RegisteredFile
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.session.licence.register import LicenceRegister
from sdcensus.session.licence.rules import registered_file
from sdcensus.session.publish.lock import taken
from sdcensus.session.publish.workplace import MANIFEST, WrittenFile, read_json
from sdcensus.session.release.designed import DesignedRecords, designed
from sdcensus.session.release.extract import extracted
from sdcensus.session.release.make.checking import check_made
from sdcensus.session.release.make.making import file_of, write_manifest
from sdcensus.session.release.make.papers import write_file
from sdcensus.session.release.opened import OpenRelease
from sdcensus.store.owner_only import make_owner_only_folder, write_owner_only

#: Where copies are noted that are being made, in the office folder.
COPIES, NOTE = "copies", "being-made.json"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GivenCopy(Confidential):
    """A copy that may be given to its holder.

    Attributes:
        folder: Where it stands.
        holding: The licence.
        event: What the register says about it.
        settled: Whether it was recorded before, by this command or by one that was killed.
    """

    folder: Path
    holding: Holding
    event: HandedOut
    settled: bool = False

    def __repr__(self) -> str:
        return "<GivenCopy: confidential>"


def hand_out(
    opened: OpenRelease,
    office: Path,
    number: str,
    out: Path,
    *,
    date: str = "",
    progress: Progress = no_progress,
) -> GivenCopy:
    """Make a holder's copy of a registered file, and record it.

    Args:
        opened: The plan, the census and the secret with which the file was made.
        office: The office folder with both registers.
        number: The licence.
        out: A new folder for the copy, which only its owner can read.
        date: The day; today if nothing is said.
        progress: Told how far it is.

    Raises:
        Refused: The licence does not allow it, the file is not registered or needs no licence, or
            plan, census or secret would make another file now.
    """
    register, place = LicenceRegister(office), out.absolute()
    name = opened.plan.name
    register.check_may_hold(number, name, date=date)
    registered = registered_file(office, name)
    _check_unchanged(opened, registered)
    _check_target(office, place)
    with taken(office / COPIES):
        settle(register)
        if place.exists():
            return _settled(register, number, name, place)
        told = records_of_file(opened, registered, progress)
        file = file_of(opened, told, number)
        content = content_digest(file)
        _check_content(opened, registered, content)
        hidden = place.with_name(f".{place.name}.being-made")
        _remove(hidden)
        note = {"hidden": str(hidden), "place": str(place), "licence": number}
        write_owner_only(office / COPIES / NOTE, f"{json.dumps(note)}\n".encode())
        try:
            _write(opened, told, file, hidden, progress)
            holding = register.hand_out(
                number,
                name,
                copy=number,
                place=str(place),
                digests=_digests(hidden),
                content=content,
                date=date,
            )
        except BaseException:
            settle(register)
            raise
        _put(hidden, place)
        (office / COPIES / NOTE).unlink()
    return GivenCopy(folder=out, holding=holding, event=holding.copies[-1])


def records_of_file(
    opened: OpenRelease, registered: RegisteredFile, progress: Progress = no_progress
) -> DesignedRecords:
    """The records of the file that was registered, by the plan as it is now."""
    plan = opened.plan
    names = [design.name for design in plan.designs]
    if registered.design not in names or registered.extract not in (
        "",
        *(extract.name for extract in plan.extracts),
    ):
        raise Refused(_changed(registered, "the release document has no such design any more"))
    design = opened.design(plan.design(registered.design))
    return extracted(designed(opened, design, progress), plan, registered.extract)


def settle(register: LicenceRegister) -> None:
    """Finish or take back what a killed run has left; only while copies are taken."""
    path = register.office / COPIES / NOTE
    if not path.is_file():
        return
    note = read_json(path)
    hidden, place = Path(str(note.get("hidden", ""))), Path(str(note.get("place", "")))
    if hidden.name.startswith(".") and hidden.is_dir():
        holding = register.holdings().get(str(note.get("licence", "")))
        digests = _digests(hidden) if (hidden / MANIFEST).is_file() else ()
        copies = () if holding is None else holding.copies
        recorded = any(
            event.place == str(place) and digests and event.digests == digests for event in copies
        )
        if recorded and not place.exists():
            _put(hidden, place)
        _remove(hidden)
    path.unlink()


def _settled(register: LicenceRegister, number: str, name: str, place: Path) -> GivenCopy:
    """The copy that stands in the folder, if it is the one that is asked for."""
    holding = register.holding(number)
    digests = _digests(place) if place.is_dir() and (place / MANIFEST).is_file() else ()
    for event in holding.copies:
        if event.file == name and event.place == str(place) and event.digests == digests:
            return GivenCopy(folder=place, holding=holding, event=event, settled=True)
    raise OutputError(f"{place} already exists. Choose another folder: --out FOLDER.")


def _check_target(office: Path, place: Path) -> None:
    if place.resolve().is_relative_to(office.resolve()):
        raise OutputError(f"{place} lies in the office folder, which is never given to anybody.")
    if not place.parent.is_dir():
        raise OutputError(f"The folder {place.parent} does not exist.")


def _check_unchanged(opened: OpenRelease, registered: RegisteredFile) -> None:
    """Say what has changed before anything is drawn."""
    store = opened.store
    if registered.secret_id != opened.secret.id:
        raise Refused(_changed(registered, "the secret is another one"))
    # Treatments make records of a version of their own: what stands still is the store itself.
    if registered.store_version not in ("", store.manifest.data_version):
        raise Refused(_changed(registered, "the census was loaded anew since"))
    if opened.plan.licence is not registered.licence:
        raise Refused(_changed(registered, "the release document names another class of users"))


def _check_content(opened: OpenRelease, registered: RegisteredFile, content: str) -> None:
    if content != registered.content:
        kept = f"{opened.plan.office / registered.folder / 'release.toml'}"
        anew = "" if registered.store_version else ", or the census was loaded anew since"
        raise Refused(
            _changed(
                registered, f"the release document says something else than it did ({kept}){anew}"
            )
        )


def _changed(registered: RegisteredFile, why: str) -> str:
    return (
        f"A copy would not be the file {registered.name!r} that was registered on"
        f" {registered.date}: {why}. Use what it was made with, or make and register the file anew."
    )


def _write(
    opened: OpenRelease,
    told: DesignedRecords,
    file: ReleaseFile,
    hidden: Path,
    progress: Progress,
) -> None:
    make_owner_only_folder(hidden)
    making = opened.plan.making
    write_file(file, opened.plan, told.design, hidden, progress)
    write_manifest(hidden, making.layout, file)
    check_made(hidden, file, making.layout, progress)


def _digests(folder: Path) -> tuple[tuple[str, str], ...]:
    """Every file of a copy with its digest."""
    files = (WrittenFile.of(path) for path in sorted(folder.iterdir()) if path.is_file())
    return tuple((file.name, file.sha256) for file in files)


def _put(hidden: Path, place: Path) -> None:
    try:
        hidden.replace(place)
    except OSError as error:
        raise OutputError(f"{place} cannot be written: {error.strerror or error}.") from None


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
