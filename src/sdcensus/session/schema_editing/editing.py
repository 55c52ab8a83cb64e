"""Editing a schema from beginning to end: changes one after the other, undo, check, save."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdcensus.errors import InputError, OutputError, SdcensusError, unknown
from sdcensus.ingest.draft import SCHEMA_FILE
from sdcensus.ingest.draft_columns import Profile
from sdcensus.model.progress import Progress, no_progress
from sdcensus.session.schema_editing.changes import change
from sdcensus.session.schema_editing.saving import ChangedOnDisk, write_all
from sdcensus.session.schema_editing.sources import SourceFile, source_files
from sdcensus.session.schema_editing.views import Checked, View, overview, variable_view
from sdcensus.session.schema_editing.working_copy import (
    WorkingCopy,
    digest,
    draft_path,
    forget,
    keep,
    kept_copy,
)

#: So many changes can be undone.
_MOST_STEPS = 500


class StaleView(SdcensusError):
    """A change was made to something that is not what stands there now."""


class SchemaEditing:
    """A schema in the hands of one person. Its methods may be called from several threads.

    Args:
        path: The schema, or the folder in which it lies.
        progress: Told how far the look at the files is.
    """

    def __init__(self, path: Path, *, progress: Progress = no_progress) -> None:
        self.path = _schema_path(path)
        saved = WorkingCopy.read(self.path)
        self._lock = threading.RLock()
        self._mark = self.path.read_bytes().startswith(b"\xef\xbb\xbf")
        self._bases = {self.path: digest(self.path)}
        self._saved = saved
        self._copy = saved
        self._undo: list[WorkingCopy] = []
        self._redo: list[WorkingCopy] = []
        self.version = 1
        #: What the office should know about an earlier session.
        self.note, self.aside = "", ""
        self._resume()
        self._sources: dict[str, SourceFile] = source_files(saved.document, progress)
        self._checked = Checked(self._copy)

    def __repr__(self) -> str:
        return f"<SchemaEditing {self.path.name!r}: confidential>"

    def _resume(self) -> None:
        """Go on where an earlier session was, if the schema is still what it was then."""
        kept = kept_copy(self.path)
        if kept is None:
            return
        if any(digest(path) != known for path, known in kept.bases.items()):
            if kept.unsaved:
                self.note, self.aside = "aside", _put_aside(draft_path(self.path)).name
            known_names = kept.copy.looked_at & set(self._copy.variables)
            self._copy = replace(self._copy, looked_at=known_names)
            return
        self._bases.update(kept.bases)
        self._copy = kept.copy
        self.note = "resumed" if kept.unsaved else ""

    # ------------------------------------------------------------ what is shown

    @property
    def dirty(self) -> bool:
        """Whether there are changes that are not saved."""
        return self._copy.text != self._saved.text or bool(self._copy.lists)

    def state(self) -> View:
        """The census and a line for each variable."""
        with self._lock:
            return {
                "version": self.version,
                "path": self.path.name,
                "dirty": self.dirty,
                "undo": len(self._undo),
                "redo": len(self._redo),
                "note": self.note,
                "aside": self.aside,
                **overview(self._copy, self._sources, self._checked),
            }

    def variable(self, name: str) -> View:
        """A variable with its distribution."""
        with self._lock:
            if name not in self._copy.variables:
                raise InputError(unknown("variable", name, self._copy.variables))
            return variable_view(self._copy, name, self._sources, self._checked)

    # ------------------------------------------------------------ changes

    def change(self, request: Mapping[str, Any]) -> None:
        """Make a change that a page asks for: what is done, to which variable, with what."""
        with self._lock:
            self._fresh(request)
            self._put(change(self._copy, request, self._profile))

    def undo(self, request: Mapping[str, Any]) -> None:
        """Take the last change back."""
        self._step(request, self._undo, self._redo)

    def redo(self, request: Mapping[str, Any]) -> None:
        """Make a change again that was taken back."""
        self._step(request, self._redo, self._undo)

    def _step(
        self, request: Mapping[str, Any], steps: list[WorkingCopy], others: list[WorkingCopy]
    ) -> None:
        with self._lock:
            self._fresh(request)
            if steps:
                others.append(self._copy)
                self._use(steps.pop())

    def _fresh(self, request: Mapping[str, Any]) -> None:
        if request.get("version") != self.version:
            raise StaleView("The schema was changed in another window. It is shown anew.")

    def _put(self, copy: WorkingCopy) -> None:
        if copy == self._copy:
            return
        self._undo.append(self._copy)
        del self._undo[:-_MOST_STEPS]
        self._redo.clear()
        self._use(copy)

    def _use(self, copy: WorkingCopy) -> None:
        checked = Checked(copy)
        for path in copy.lists:
            self._bases.setdefault(path, digest(path))
        self._copy, self._checked = copy, checked
        self.version += 1
        keep(copy, self._bases, unsaved=self.dirty)

    def _profile(self, name: str) -> Profile | None:
        raw = self._copy.variables.get(name, {})
        file = raw.get("file") if isinstance(raw, dict) else None
        sources = self._sources
        source = sources.get(file) if isinstance(file, str) else None
        if source is None and len(sources) == 1:
            source = next(iter(sources.values()))
        column = raw.get("column", name) if isinstance(raw, dict) else name
        known = source is not None and isinstance(column, str)
        return source.profiles.get(column) if known and source is not None else None

    # ------------------------------------------------------------ saving

    def save(self, request: Mapping[str, Any]) -> list[Path]:
        """Write the schema and its code lists; what stood there before is kept beside.

        Raises:
            InputError: The schema has mistakes, and is not written.
            ChangedOnDisk: Somebody else has changed a file meanwhile; nothing is written.
        """
        with self._lock:
            self._fresh(request)
            if self._checked.count:
                raise InputError("The schema has mistakes. Correct them first; nothing was saved.")
            changed = [path for path, known in self._bases.items() if digest(path) != known]
            if changed:
                names = ", ".join(path.name for path in changed)
                raise ChangedOnDisk(
                    f"{names} was changed on disk since this page was opened. Nothing was written."
                    " Your changes are kept: close, look at the file, and open it again."
                )
            contents = dict(self._copy.lists)
            if self._copy.text != self._saved.text:
                contents[self.path] = self._copy.content(self._mark)
            written = write_all(contents)
            self._copy = replace(self._copy, lists={})
            self._saved = self._copy
            self._bases = {self.path: digest(self.path)}
            self._undo.clear()
            self._redo.clear()
            self.version += 1
            self.note = ""
            if self._copy.looked_at >= set(self._copy.variables):
                forget(self.path)
            else:
                keep(self._copy, self._bases, unsaved=False)
            return written


def _schema_path(path: Path) -> Path:
    if path.is_dir():
        if not (path / SCHEMA_FILE).is_file():
            raise InputError(
                f"{path} has no {SCHEMA_FILE}. Make one first with:"
                f" sdcensus schema draft FILE --out {path}"
            )
        path = path / SCHEMA_FILE
    return path


def _put_aside(path: Path) -> Path:
    """Give a file a name that is free."""
    for number in range(1, 1_000):
        aside = path.with_name(f"{path.name}.{number}")
        if not aside.exists():
            try:
                return path.replace(aside)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise OutputError(f"{path} cannot be renamed: {reason}.") from None
    raise OutputError(f"There are too many files {path.name}.N. Remove some of them.")
