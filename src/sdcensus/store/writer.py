"""Writing a store: under a temporary name, the manifest last, then one rename.

A load that is killed leaves a folder whose name and content cannot be taken for a store. The next
one to the same place removes it; two at once cannot be, since the place is taken while one works.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import re
import secrets
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus._version import __version__
from sdcensus.errors import OutputError
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.listed_tables import TableList
from sdcensus.model.text import parse_json
from sdcensus.store.manifest import (
    FORMAT_NAME,
    MANIFEST_FILE,
    SCHEMA_FILE,
    UNFINISHED_FILE,
    ColumnInfo,
    Manifest,
    column_file,
    map_file,
)
from sdcensus.store.owner_only import make_owner_only_folder, taken_for_now
from sdcensus.store.schema_json import schema_digest, schema_to_json

#: How folders in the making are told apart: by chance, or by the work that goes on in them.
_MARKS = "[0-9a-f]{8}|[0-9a-f]{16}"
_RESUMABLE = re.compile(r"\.partial-[0-9a-f]{16}$")
#: For how many seconds to wait for another program at the same place.
_PATIENCE = 0.2


class FolderInTheMaking:
    """A folder of its own beside where it will stand, which only its owner can enter.

    Its manifest is written last, under another name: what a killed program leaves behind cannot
    be taken for the finished folder. It is removed by the next program that makes one there.

    Args:
        out: Where it will stand.
        replace: Put it in the place of an older one of the same kind.
        what: What such a folder is, for messages: ``a census store``.
        format_name: What the manifest of such a folder calls its format.
        resumed: Names work that goes on where a killed program of the same name stopped; empty for
            work that begins anew.
    """

    def __init__(
        self, out: Path, *, replace: bool, what: str, format_name: str, resumed: str = ""
    ) -> None:
        self.out = out
        self.replace = replace
        self.resumed = resumed
        self.folder = out.with_name(f"{out.name}.partial-{resumed or secrets.token_hex(4)}")
        #: What killed programs had left, which was removed.
        self.removed: tuple[Path, ...] = ()
        #: What others had left that can be gone on with: by the same call, which is not this one.
        self.left: tuple[Path, ...] = ()
        self._taken = contextlib.ExitStack()
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            self._taken.enter_context(_taken_place(out))
            _put_back(out)
            others = [path for path in _left(out) if path != self.folder]
            if resumed:
                self.left = tuple(path for path in others if _RESUMABLE.search(path.name))
            self.removed = _gone(path for path in others if path not in self.left)
            _check_place(out, replace=replace, what=what, format_name=format_name)
            make_owner_only_folder(self.folder)
        except BaseException as error:
            self._taken.close()
            self.note_removed(error)
            if isinstance(error, OSError):
                raise self.not_written(error) from None
            raise

    def note_removed(self, error: BaseException) -> None:
        """Let an error say as well what was removed before it."""
        if self.removed:
            error.add_note(removed_sentence(self.removed))

    def not_written(self, error: OSError) -> OutputError:
        """What to say when the disk refuses."""
        reason = error.strerror or type(error).__name__
        return OutputError(f"{self.out} cannot be written: {reason}.")

    def write_manifest(self, text: str) -> None:
        """Write the manifest; from here on the writer itself can open the folder."""
        try:
            with (self.folder / UNFINISHED_FILE).open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self.not_written(error) from None

    def publish(self) -> None:
        """Let the manifest count, and give the folder its real name."""
        old: Path | None = None
        try:
            (self.folder / UNFINISHED_FILE).replace(self.folder / MANIFEST_FILE)
            if self.replace and self.out.exists():
                old = self.folder.with_name(f"{self.folder.name}.old")
                self.out.replace(old)
            self.folder.replace(self.out)
        except OSError as error:
            if old is not None and old.exists() and not self.out.exists():
                old.replace(self.out)
            raise self.not_written(error) from None
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)

    def abandon(self) -> None:
        """Remove what was written, and let others work at the place."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._taken.close()


def note_report(folder: Path, report: Path) -> None:
    """Note in a store in the making where its report will stand before its name is given."""
    (folder / _REPORT).write_text(str(report.absolute()), encoding="utf-8", newline="\n")


def is_noted_report(out: Path, report: Path) -> bool:
    """Whether a load that was killed has written this report on a store that never stood here."""
    for folder in _left(out):
        with contextlib.suppress(OSError, ValueError):
            if (folder / _REPORT).read_text(encoding="utf-8") == str(report.absolute()):
                return True
    return False


def removed_sentence(paths: Sequence[Path]) -> str:
    """What is said about what killed programs had left."""
    return sentence("start.load.removed", paths=", ".join(map(str, paths)))


def _taken_place(out: Path) -> contextlib.AbstractContextManager[None]:
    """Keep others away from a place while something is made for it."""
    return taken_for_now(
        out.with_name(f".{out.name}.partial-lock"),
        busy=f"Another program is making {out} at this moment. Wait until it is done, or choose"
        " another name; nothing was changed.",
        otherwise=f"Make {out.name} in a folder in which you may write.",
        patience=_PATIENCE,
    )


def _left(out: Path) -> list[Path]:
    """What killed programs have left at a place; only while it is taken: all of them ended."""
    marks = re.compile(rf"{re.escape(out.name)}\.partial-({_MARKS})(\.old)?")
    beside = sorted(out.parent.glob(f"{glob.escape(out.name)}.partial-*"))
    return [path for path in beside if marks.fullmatch(path.name) and path.is_dir()]


def _put_back(out: Path) -> None:
    """Put an older folder back that a program had moved away when it was killed.

    As long as the new one stands beside it; afterwards the older one is only in the way.
    """
    for path in _left(out):
        new = path.with_name(path.name.removesuffix(".old"))
        if new != path and new.exists() and not out.exists():
            path.replace(out)


def _gone(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Remove folders; which of them are gone."""
    folders = tuple(paths)
    for path in folders:
        shutil.rmtree(path, ignore_errors=True)
    return tuple(path for path in folders if not path.exists())


def _check_place(out: Path, *, replace: bool, what: str, format_name: str) -> None:
    """Refuse a place at which something else stands, or an older one that nobody replaces."""
    if not replace and (out.exists() or out.is_symlink()):
        raise OutputError(
            f"{out} already exists. Choose another name, or add --replace to make it anew."
        )
    if replace and out.exists() and not _is_of(out, format_name):
        raise OutputError(f"{out} is not {what}, so it is not replaced.")


def _is_of(folder: Path, format_name: str) -> bool:
    """Whether the manifest of a folder names this format, or is too damaged to name any."""
    try:
        content = parse_json((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
    except OSError:
        return False
    except ValueError:
        return True
    return isinstance(content, dict) and content.get("format", format_name) == format_name


Integers = npt.NDArray[Any]

_A_STORE = "a census store"
#: The columns that are whole, while a store is written whose work can be taken up.
_WRITTEN = ".written"
#: The file outside of the store in which a report on it is written before it has its name.
_REPORT = ".report"


class StoreWriter(FolderInTheMaking):
    """A store in the making."""

    def __init__(self, out: Path, *, replace: bool = False, resumed: str = "") -> None:
        super().__init__(
            out,
            replace=replace,
            what=_A_STORE,
            format_name=FORMAT_NAME,
            resumed=resumed,
        )
        self._columns: dict[Entity, dict[str, ColumnInfo]] = {}
        self._rows: dict[Entity, int] = {}
        self._maps: dict[str, str] = {}
        self._noting = threading.Lock()
        self._earlier = self._noted_before() if resumed else {}

    @staticmethod
    def check_place(out: Path, *, replace: bool) -> None:
        """Refuse a place before any work at which a store could not be put after it."""
        if out.parent.is_dir():
            with _taken_place(out):
                _put_back(out)
                _check_place(out, replace=replace, what=_A_STORE, format_name=FORMAT_NAME)

    def add_entity(self, entity: Entity, rows: int) -> None:
        """Declare a kind of unit and how many records it has."""
        (self.folder / entity.value).mkdir(exist_ok=True)
        self._rows[entity] = rows
        self._columns[entity] = {}

    def write(self, entity: Entity, name: str, pieces: Iterable[Integers]) -> None:
        """Write a column from consecutive pieces of one type."""
        path = column_file(self.folder, entity, name)
        growing = path.with_suffix(".part")
        digest = hashlib.blake2b(digest_size=16)
        rows, dtype = 0, np.dtype(np.uint8)
        try:
            with growing.open("wb") as file:
                for piece in pieces:
                    dtype = piece.dtype.newbyteorder("<")
                    content = np.ascontiguousarray(piece, dtype=dtype)
                    digest.update(content.data)
                    file.write(content.data)
                    rows += piece.size
            if rows != self._rows[entity]:
                raise ValueError(f"column {name} has another length than its entity")
            self._note(entity, name, ColumnInfo(dtype.name, digest.hexdigest()))
            growing.replace(path)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}.") from None

    def copy(self, entity: Entity, name: str, store: Path, known: ColumnInfo) -> None:
        """Write a column that is that of another store, with the digest that it has there."""
        path = column_file(self.folder, entity, name)
        growing = path.with_suffix(".part")
        try:
            shutil.copyfile(column_file(store, entity, name), growing)
            self._note(entity, name, known)
            growing.replace(path)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}.") from None

    def _note(self, entity: Entity, name: str, column: ColumnInfo) -> None:
        """Remember a column that is whole; for work that may be taken up, in a file as well.

        Before the column has its name: what has it is known.
        """
        self._columns[entity][name] = column
        if not self.resumed:
            return
        line = json.dumps([entity.value, name, column.digest]) + "\n"
        path = self.folder / _WRITTEN
        with self._noting, path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(line)

    def has_written(self, entity: Entity, name: str, dtype: np.dtype[Any]) -> bool:
        """Whether a killed program has left a column whole; it is then taken up as it is.

        Its digest must be the one that was noted when it was written: of a column that did not
        reach the disk before the machine stopped, its size could be right and its content not.
        """
        path = column_file(self.folder, entity, name)
        noted = self._earlier.get((entity.value, name))
        if noted is None or not path.exists():
            return False
        if path.stat().st_size != self._rows[entity] * dtype.itemsize:
            return False
        with path.open("rb") as file:
            whole = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        if whole == noted:
            self._columns[entity][name] = ColumnInfo(dtype.name, whole)
        return whole == noted

    def _noted_before(self) -> dict[tuple[str, str], str]:
        """The digests of columns that a killed program has written whole."""
        noted = {}
        path = self.folder / _WRITTEN
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        for line in text.splitlines():
            try:
                entity, name, digest = parse_json(line)
            except (ValueError, TypeError):  # the last line of a program that was killed
                continue
            noted[str(entity), str(name)] = str(digest)
        return noted

    def publish(self) -> None:
        """Let the manifest count, and give the folder its real name."""
        (self.folder / _WRITTEN).unlink(missing_ok=True)
        super().publish()
        (self.out / _REPORT).unlink(missing_ok=True)

    def write_map(self, variable: str, content: bytes) -> None:
        """Keep the map of a geography."""
        path = map_file(self.folder, variable)
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}.") from None
        self._maps[variable] = hashlib.blake2b(content, digest_size=16).hexdigest()

    def describe(
        self,
        schema: Schema,
        *,
        secret_id: str,
        on_problem: str,
        lineage: tuple[Derivation, ...] = (),
        listed: TableList | None = None,
    ) -> Manifest:
        """Write schema and manifest; from here on the writer can open the folder."""
        manifest = Manifest(
            made_by=f"sdcensus {__version__}",
            schema_digest=schema_digest(schema),
            key_space=schema.keys.space,
            key_version=1,
            secret_id=secret_id,
            on_problem=on_problem,
            rows=self._rows,
            columns=self._columns,
            maps=self._maps,
            lineage=lineage,
            listed=listed,
        )
        text = json.dumps(schema_to_json(schema), ensure_ascii=False, separators=(",", ":"))
        try:
            (self.folder / SCHEMA_FILE).write_text(text + "\n", encoding="utf-8", newline="\n")
        except OSError as error:
            raise self.not_written(error) from None
        self.write_manifest(manifest.to_json())
        return manifest


@contextlib.contextmanager
def writing(out: Path, *, replace: bool = False, resumed: str = "") -> Iterator[StoreWriter]:
    """A writer whose folder disappears again unless the block ends well; then it is published.

    Only a program that is killed leaves its folder behind. Work with a name (``resumed``) finds it
    there when it begins again.
    """
    writer = StoreWriter(out, replace=replace, resumed=resumed)
    try:
        yield writer
        writer.publish()
    except BaseException as error:
        writer.note_removed(error)
        raise
    finally:
        writer.abandon()
