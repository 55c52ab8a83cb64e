"""``groupings.csv``: groups of small categories, proposed by the program, edited by the office."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sdcensus.documents.workbooks.small_tables import Row, small_table
from sdcensus.errors import DocumentError, Mistake, SpecError, UnknownName, unknown
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.grouping import DROP, NOT_STATED, Grouping, GroupingRow
from sdcensus.model.release.recode import CodeGroup, GroupKind
from sdcensus.model.release.recoding import OTHER_LABEL, with_groups
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import Text, plain_cell, text_of_cell

_COLUMNS = ("design", "variable", "code", "label", "into")
_GROUP_LABEL = "group_label"
#: Only in the office's own copy.
_SIZE = "size"
#: The code of a group that is not stated, where a variable has no such code.
_BLANK = "not_stated"


def groupings_text(
    rows: Iterable[GroupingRow],
    languages: Sequence[str],
    sizes: Mapping[tuple[str, str, str], int] | None = None,
) -> str:
    """The rows of a proposal as csv.

    Args:
        rows: The rows.
        languages: Languages in which groups are called.
        sizes: Units by design, variable and code, for a copy that stays in the office.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    spoken = list(languages) or ["en"]
    labels = [f"{_GROUP_LABEL}_{language}" for language in spoken]
    writer.writerow([*_COLUMNS, *labels, *([] if sizes is None else [_SIZE])])
    for row in rows:
        size = [] if sizes is None else [sizes[row.design, row.variable, row.code]]
        cells = [row.design, row.variable, row.code, row.label.show(spoken[0]), row.into]
        called = [_label(row.group).show(language) for language in spoken]
        writer.writerow([*map(plain_cell, [*cells, *called]), *size])
    return out.getvalue()


def _label(group: CodeGroup | None) -> Text:
    if group is None:
        return Text()
    return group.label or (OTHER_LABEL if group.kind is GroupKind.OTHER else Text())


def read_groupings(path: Path, designs: Sequence[FileDesign]) -> tuple[Grouping, ...]:
    """The groups that an office has edited.

    Args:
        path: The file, csv or a workbook.
        designs: The designs that it is about, before any grouping.

    Raises:
        InputError: It cannot be opened.
        DocumentError: It has mistakes; all of them are listed with their rows.
    """
    reader = _Reader(path, {design.design.name: design for design in designs})
    groupings = tuple(reader.read(small_table(path, what="file of groupings")))
    if reader.mistakes:
        raise DocumentError(str(path), reader.mistakes)
    return groupings


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row of the file."""

    line: int
    code: str
    into: str
    label: Text


@dataclass(slots=True)
class _Reader:
    path: Path
    designs: Mapping[str, FileDesign]
    mistakes: list[Mistake] = field(default_factory=list)

    def add(self, line: int, text: str) -> None:
        self.mistakes.append(Mistake(line, text))

    def read(self, rows: Sequence[Row]) -> Iterator[Grouping]:
        filled = [(line, fields) for line, fields in rows if any(fields)]
        if not filled:
            self.add(1, f"The file is empty. Its first row names columns: {', '.join(_COLUMNS)}.")
            return
        header = [name.strip().lower() for name in filled[0][1]]
        if not self._check_header(header, filled[0][0]):
            return
        entries: dict[tuple[str, str], list[_Entry]] = {}
        for line, fields in filled[1:]:
            cells = dict(zip(header, map(text_of_cell, fields), strict=False))
            for design in self._designs_of(cells.get("design", ""), line):
                key = (design, cells.get("variable", ""))
                entries.setdefault(key, []).append(_entry(line, cells))
        for (design, name), listed in entries.items():
            try:
                variable = _by_name(self.designs[design], name)
            except UnknownName as error:
                self.add(listed[0].line, f"Design {design!r}: {error}")
                continue
            grouping = self._grouping(design, variable, listed)
            if grouping is not None:
                yield grouping

    def _check_header(self, header: Sequence[str], line: int) -> bool:
        before = len(self.mistakes)
        for name in ("variable", "code", "into"):
            if header.count(name) != 1:
                self.add(
                    line,
                    f"The column {name!r} is missing or stands twice. The first row names"
                    f" columns: {', '.join(_COLUMNS)}.",
                )
        for name in header:
            known = name in (*_COLUMNS, _SIZE, _GROUP_LABEL, "")
            if not known and not name.startswith(f"{_GROUP_LABEL}_"):
                self.add(line, unknown("column", name, [*_COLUMNS, _GROUP_LABEL, _SIZE]))
        return len(self.mistakes) == before

    def _designs_of(self, name: str, line: int) -> list[str]:
        """The designs of a row; all of them where it names none."""
        if not name:
            return list(self.designs)
        if name not in self.designs:
            self.add(line, unknown("design", name, list(self.designs)))
            return []
        return [name]

    def _grouping(
        self, design: str, variable: FileVariable, entries: Sequence[_Entry]
    ) -> Grouping | None:
        before = len(self.mistakes)
        called = f"{variable.name!r} of design {design!r}"
        entries = [entry for entry in entries if self._is_known(variable, entry, called)]
        seen: dict[str, int] = {}
        for entry in entries:
            if entry.code in seen:
                self.add(
                    entry.line,
                    f"The code {entry.code!r} of {called} stands in row {seen[entry.code]} already."
                    " Leave one of the two.",
                )
            seen[entry.code] = entry.line
        dropped = [entry for entry in entries if entry.into == DROP]
        if dropped and len(dropped) < len(entries):
            other = next(entry for entry in entries if entry.into != DROP)
            self.add(
                other.line,
                f"Row {dropped[0].line} leaves {called} out, and this one does not. Write"
                f" {DROP!r} in each of its rows, or in none.",
            )
        if dropped:
            return Grouping(variable=variable.name, drop=True, designs=(design,))
        groups = tuple(self._groups(variable, entries))
        if len(self.mistakes) > before or not groups:
            return None
        try:
            with_groups(variable.source, variable.level, groups)
        except SpecError as error:
            self.add(entries[0].line, f"{called}: {error}")
            return None
        return Grouping(variable=variable.name, groups=groups, designs=(design,))

    def _is_known(self, variable: FileVariable, entry: _Entry, called: str) -> bool:
        codes = [code.code for code in variable.level.codes]
        if entry.code in codes:
            return True
        self.add(entry.line, f"{called}: {unknown('code', entry.code, codes)}")
        return False

    def _groups(self, variable: FileVariable, entries: Sequence[_Entry]) -> Iterator[CodeGroup]:
        listed: dict[str, list[_Entry]] = {}
        for entry in entries:
            if entry.into:
                listed.setdefault(entry.into, []).append(entry)
        for into, members in listed.items():
            labels = dict.fromkeys(entry.label for entry in members if entry.label)
            if len(labels) > 1:
                self.add(
                    members[0].line,
                    f"The group {into!r} of {variable.name!r} has several labels. Write the same"
                    " one in each of its rows.",
                )
            kind = GroupKind.CODE
            name = into
            if into == NOT_STATED:
                kind, name = GroupKind.NOT_STATED, _blank(variable)
            elif into.rstrip("_") == "other":
                kind = GroupKind.OTHER
            yield CodeGroup(
                code=name,
                members=tuple(entry.code for entry in members),
                label=next(iter(labels), Text()),
                kind=kind,
            )


def _blank(variable: FileVariable) -> str:
    codes = variable.level.codes
    return next((code.code for code in codes if code.kind is CodeKind.NOT_STATED), _BLANK)


def _by_name(design: FileDesign, name: str) -> FileVariable:
    for variable in design.variables:
        if variable.name == name:
            return variable
    known = [variable.name for variable in design.variables]
    raise UnknownName("variable of the file", name, known=known)


def _entry(line: int, cells: Mapping[str, str]) -> _Entry:
    label = {
        name.removeprefix(f"{_GROUP_LABEL}_"): text
        for name, text in cells.items()
        if name.startswith(f"{_GROUP_LABEL}_") and text
    }
    if cells.get(_GROUP_LABEL):
        label.setdefault("en", cells[_GROUP_LABEL])
    return _Entry(line, cells.get("code", ""), cells.get("into", ""), Text.of(label))
