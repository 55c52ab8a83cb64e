"""Where a publication is made before anybody can see it, and how it comes into its place.

Files grow in a hidden folder beside the published one, and what only the office may see in a
hidden folder of the office's. Every finished product leaves a note of what it wrote, so a run that
was killed goes on where it stopped. The folders come into their places at the end, by renaming,
and a note says so before: a run that is killed while it renames is finished by the next one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdcensus.errors import OutputError, Refused, StoreError
from sdcensus.model.text import parse_json
from sdcensus.session.publish.lock import sweep, taken
from sdcensus.store.owner_only import (
    keep_writing_to_owner,
    make_owner_only_folder,
    write_owner_only,
)

#: The file of a published folder that lists all others.
MANIFEST = "manifest.json"
#: What the manifest says about itself.
FORMAT_NAME, FORMAT_VERSION = "sdcensus-publication", 1
_RUN, _PLACE, _ENTRIES, _COMMIT = "run.json", "place.json", "finished", "commit.json"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that was written: its name in its folder, its size, its digest."""

    name: str
    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path, *, name: str = "") -> WrittenFile:
        """Look at a file."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(name or path.name, path.stat().st_size, digest)

    def fits(self, folder: Path) -> bool:
        """Whether the file is there as it was written."""
        path = folder / self.name
        try:
            return path.stat().st_size == self.size and WrittenFile.of(path) == self
        except OSError:
            return False

    def to_json(self) -> dict[str, str | int]:
        """The same as plain values."""
        return {"name": self.name, "bytes": self.size, "sha256": self.sha256}

    @classmethod
    def from_json(cls, one: Mapping[str, Any]) -> WrittenFile:
        """Read what ``to_json`` made."""
        return cls(str(one["name"]), int(one["bytes"]), str(one["sha256"]))


@dataclass(frozen=True, slots=True, repr=False)
class Finished:
    """What is known of a product that is finished.

    Attributes:
        name: The product.
        files: What it wrote for the public.
        public: What the manifest says about it, as plain values.
        office: What only the office may see, as plain values.
    """

    name: str
    files: tuple[WrittenFile, ...]
    public: Mapping[str, Any] = field(default_factory=dict)
    office: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Finished {self.name}: {len(self.files)} files>"


class Workplace:
    """The two folders of a publication, and the two in which it is being made.

    Args:
        published: Where everybody can see it.
        office: Where only the office can; several publications may share it.
        publication: Which publication it is.
    """

    __slots__ = ("hidden", "notes", "office", "own", "publication", "published")

    def __init__(self, published: Path, office: Path, publication: str) -> None:
        self.published = published
        self.office = office
        self.publication = publication
        self.own = folder_of(office, publication)
        self.hidden = _hidden(published)
        self.notes = self.own / ".part"

    # ------------------------------------------------------------------------------ beginning

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Keep other runs away; what a run that was killed has taken is nobody's."""
        with taken(self.office):
            sweep(self.office)
            yield

    def begin(
        self,
        identity: Mapping[str, Any],
        *,
        restart: bool = False,
        usable: Callable[[Finished], bool] = lambda _: True,
    ) -> dict[str, Finished]:
        """Go on with a run of the same identity, or begin a new one.

        Args:
            identity: Everything that decides the files, as plain values by name.
            restart: Throw away what an interrupted run has left.
            usable: Whether a finished product can still be taken up.

        Returns:
            The products that are finished.

        Raises:
            Refused: An interrupted run was about something else.
        """
        known = _read_if_whole(self.notes / _RUN)
        if known is not None and not restart and known != dict(identity):
            differ = [name for name in identity if known.get(name) != identity[name]]
            raise Refused(
                f"An interrupted run for {self.published} was about something else:"
                f" {_listed(differ) or 'its version'} changed since. What is published is as"
                " it was. Go on with what it was about, or begin anew: --restart."
            )
        anew = known is None or restart
        if anew:
            self.forget()
        # Where it is made is noted before it is: whoever comes next removes it, from there.
        for folder in (self.own, self.notes, self.notes / _ENTRIES):
            make_owner_only_folder(folder)
        place = {"published": str(self.published.absolute())}
        write_owner_only(self.notes / _PLACE, _bytes(place))
        new = [path for path in (self.hidden, *self.hidden.parents) if not path.exists()]
        try:
            self.hidden.mkdir(parents=True, exist_ok=True)
            for folder in new:
                keep_writing_to_owner(folder)
        except OSError as error:
            if anew:
                self.forget()
            raise OutputError(
                f"{self.published.parent} cannot be written: {error.strerror}. Choose a folder in"
                " which you may write."
            ) from None
        write_owner_only(self.notes / _RUN, _bytes(identity))
        return self._resumed(usable)

    def _resumed(self, usable: Callable[[Finished], bool]) -> dict[str, Finished]:
        """Products whose files are there whole; everything else is removed."""
        usable_products: dict[str, Finished] = {}
        for path in sorted((self.notes / _ENTRIES).iterdir()):
            entry = _finished(_read_if_whole(path))
            if (
                entry is not None
                and all(file.fits(self.hidden) for file in entry.files)
                and usable(entry)
            ):
                usable_products[entry.name] = entry
            else:
                _remove(path)
        kept = {file.name for entry in usable_products.values() for file in entry.files}
        for path in list(self.hidden.iterdir()):
            if path.name not in kept:
                _remove(path)
        return usable_products

    def finish(self, product: Finished) -> None:
        """Note that a product is finished; its files are in the hidden folder."""
        content = {
            "name": product.name,
            "files": [file.to_json() for file in product.files],
            "public": dict(product.public),
            "office": dict(product.office),
        }
        write_owner_only(self.notes / _ENTRIES / _note_of(product.name), _bytes(content))

    def unfinish(self, product: Finished) -> None:
        """Forget that a product is finished, with its files: it is made anew."""
        _remove(self.notes / _ENTRIES / _note_of(product.name))
        for file in product.files:
            _remove(self.hidden / file.name)

    # --------------------------------------------------------------------------------- ending

    def check_published(self, products: Collection[str], *, same_plan: bool = False) -> None:
        """Refuse a folder that holds something else than this publication.

        Args:
            products: What this plan publishes, by name.
            same_plan: Whether what is there was published from the same document, which may have
                been edited since.
        """
        folder = self.published
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} is a file. Name a folder for what is published.")
        if os.path.ismount(folder):  # Path.is_mount knows no Windows before Python 3.12
            raise OutputError(
                f"{folder} is a disk of its own, and the folder is replaced as a whole. Name a"
                f" folder in it, such as {folder / 'published'}."
            )
        if not folder.is_dir() or not any(folder.iterdir()):
            return
        manifest = _read_if_whole(folder / MANIFEST) or {}
        names = _listed_names(manifest)
        if names is None:
            raise OutputError(
                f"{folder} is not empty, and was not made by sdcensus publish. Choose another"
                " folder, or move away what is in it."
            )
        if manifest["publication"] != self.publication:
            raise OutputError(
                f"{folder} holds the publication {manifest['publication']!r}, and this plan makes"
                f" {self.publication!r}. Choose another folder for it."
            )
        files, tables = names
        strange = sorted({path.name for path in folder.iterdir()} - files - {MANIFEST})
        if strange:
            raise OutputError(
                f"{folder} holds {strange[0]!r}, which is not of the publication. Move it away:"
                " the folder is replaced as a whole."
            )
        gone = [table for table in tables if table not in products]
        if gone and not same_plan:
            more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
            raise OutputError(
                f"{folder} was published from another plan of the same name: this one does not make"
                f" {gone[0]!r}{more}. Choose another folder, or move the old one away."
            )

    def commit(self, office_files: Mapping[str, str]) -> None:
        """Bring both folders into their places.

        Args:
            office_files: Names in the folder of notes, and the names that they get in the
                office's folder.
        """
        for path in (self.hidden, *self.hidden.rglob("*")):
            keep_writing_to_owner(path)
        moves = [list(move) for move in office_files.items()]
        content = {"published": str(self.published.absolute()), "office": moves}
        write_owner_only(self.notes / _COMMIT, _bytes(content))
        self.complete()

    @property
    def is_being_completed(self) -> bool:
        """Whether a run was killed while it brought its folders into their places."""
        return (self.notes / _COMMIT).exists()

    def complete(self) -> bool:
        """Finish what a killed run has begun to bring into its place; says if there was any."""
        begun = _read(self.notes / _COMMIT)
        if begun is None:
            return False
        # The run that was killed may have been for another folder than this one.
        published = Path(begun.get("published", self.published))
        hidden = _hidden(published)
        before = published.parent / f".{published.name}.before"
        try:
            if hidden.exists():
                if published.exists():
                    _remove(before)
                    published.replace(before)
                hidden.replace(published)
            for own, name in begun["office"]:
                if (self.notes / own).exists():
                    (self.notes / own).replace(self.office / name)
            _remove(before)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OutputError(
                f"{published} cannot be put into its place: {reason}. Close programs that"
                " have its files open and run the same command again; nothing is lost."
            ) from None
        self.forget()
        return True

    def forget(self) -> None:
        """Remove what a run has left, its mark that it is being completed last."""
        begun = _read_if_whole(self.notes / _PLACE) or {}
        try:
            _remove(self.hidden)
            if "published" in begun:
                _remove(_hidden(Path(begun["published"])))
            for path in sorted(self.notes.glob("*")) if self.notes.is_dir() else ():
                if path.name != _COMMIT:
                    _remove(path)
            _remove(self.notes / _COMMIT)
        except OSError as error:
            raise OutputError(
                f"{error.filename} cannot be removed: {error.strerror}. It is of a run that was"
                " interrupted: remove it yourself."
            ) from None
        with suppress(OSError):
            self.notes.rmdir()
            self.own.rmdir()  # only if nothing was ever kept there


def _hidden(published: Path) -> Path:
    """Where a folder is made before anybody can see it."""
    return published.parent / f".{published.name}.part"


def read_json(path: Path) -> dict[str, Any]:
    """A file of ours as plain values; empty where there is none.

    Raises:
        StoreError: It is there and cannot be read.
    """
    return _read(path) or {}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise StoreError(f"{path} is damaged. Restore it from a backup.") from None
    return content if isinstance(content, dict) else None


def _read_if_whole(path: Path) -> dict[str, Any] | None:
    """What can be made again if it is damaged, or may be somebody else's file."""
    try:
        return _read(path)
    except StoreError:
        return None


def _listed_names(manifest: Mapping[str, Any]) -> tuple[set[str], list[str]] | None:
    """Files and tables of a manifest; None if it is none of ours."""
    try:
        if manifest["format"] != FORMAT_NAME:
            return None
        files = {str(file["name"]) for file in manifest["files"]}
        return files, [str(table["name"]) for table in manifest["tables"]]
    except (LookupError, TypeError):
        return None


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _finished(content: Mapping[str, Any] | None) -> Finished | None:
    try:
        if content is None:
            return None
        return Finished(
            str(content["name"]),
            tuple(WrittenFile.from_json(file) for file in content["files"]),
            content["public"],
            content["office"],
        )
    except (LookupError, TypeError, ValueError):
        return None


def _note_of(product: str) -> str:
    """What the note about a product is called, whose name may be no name of a file."""
    return f"{hashlib.blake2b(product.encode(), digest_size=12).hexdigest()}.json"


def _bytes(content: Mapping[str, Any]) -> bytes:
    # In the order in which it was made: what is read again goes into files byte by byte.
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    elif path.exists() or path.is_symlink():
        with suppress(FileNotFoundError):
            path.unlink()


#: What the office keeps about one publication: what was published, who has approved it.
OFFICE_FILE, APPROVALS = "published.json", "approval.json"
#: Where that says who has accepted that a publication may give people away, and why.
ACCEPTED_RISK = "accepted_risk"


def folder_of(office: Path, publication: str) -> Path:
    """Where the office keeps what belongs to one publication.

    Several plans may have the same office folder, so that what one of them has published is known
    to the others: lock and registry are common to all, everything else lies in a folder of its own.

    Examples:
        >>> folder_of(Path("office"), "DEMO 2021 plan").name
        'DEMO-2021-plan'
        >>> folder_of(Path("office"), "../../etc").name
        'etc'
    """
    return office / (re.sub(r"[^\w.]+", "-", publication).strip(".-") or "publication")
