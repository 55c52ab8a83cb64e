"""Changes of code lists and of the groups above codes, in the schema or in files beside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sdcensus.documents.schema.code_table_edits import (
    CodeTableChange,
    edited_code_table,
    new_code_table,
)
from sdcensus.documents.schema.code_tables import read_code_table
from sdcensus.documents.toml.edits import with_table
from sdcensus.documents.workbooks.small_tables import EXCEL_ENDINGS, delimiter_of
from sdcensus.errors import InputError, SdcensusError
from sdcensus.model.schema.variable import CodeKind
from sdcensus.session.schema_editing.settings import (
    Form,
    form_of,
    languages_of,
    section_of,
    spoken,
    with_level_label,
    without_level_label,
)
from sdcensus.session.schema_editing.working_copy import WorkingCopy

#: More codes than this stand in a file of their own.
_INLINE = 12
#: The tree of the code list itself; others are numbered as the hierarchies of the variable are.
OWN_TREE = -1


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A code as the list has it.

    Attributes:
        code: The code.
        labels: Its labels by language.
        parent: The code of its group.
        level: The level at which it stands, where the list says so.
        line: Its line in the file; 0 in the schema itself.
    """

    code: str
    labels: Mapping[str, str]
    parent: str = ""
    level: str = ""
    line: int = 0


@dataclass(frozen=True)
class CodeRows:
    """The rows of a code list, and the file in which they stand; a problem if they cannot be read.

    ``plain`` is a csv file with a row for each code, which can be changed as it is.
    """

    rows: tuple[CodeRow, ...] = ()
    file: Path | None = None
    plain: bool = False
    problem: str = ""

    @cached_property
    def groups(self) -> Mapping[str, int]:
        """Codes that are the parents of others, with how many these are."""
        return Counter(row.parent for row in self.rows if row.parent)


def code_rows(copy: WorkingCopy, name: str, tree: int = OWN_TREE) -> CodeRows:
    """The rows of the code list of a variable, or of one of its other trees."""
    section = section_of(copy, name)
    if section is None or tree >= len(section.hierarchy):
        return CodeRows()
    first = languages_of(copy).first
    codes = section.codes if tree == OWN_TREE else section.hierarchy[tree].codes
    if codes is None:
        return CodeRows()
    if not isinstance(codes, str):
        rows = [
            CodeRow(code, {first: label} if isinstance(label, str) else dict(label))
            for code, label in codes.items()
        ]
        return CodeRows(tuple(rows))
    file = copy.path.parent / codes
    try:
        content = copy.content_of(file)
        table = read_code_table(file, language=first, content=content)
    except SdcensusError as error:
        return CodeRows(file=file, problem=str(error))
    rows = [
        CodeRow(node.code, dict(node.label.by_language), node.parent, node.level, line)
        for node, line in zip(table.nodes, table.lines, strict=True)
    ]
    return CodeRows(tuple(rows), file, _is_plain(file, content))


def _is_plain(file: Path, content: bytes) -> bool:
    """Whether a file is a csv with a column ``code``, and not a workbook or a gazetteer."""
    if file.suffix.lower() in EXCEL_ENDINGS:
        return False
    text = content.decode("utf-8-sig")
    header = next((line for line in text.splitlines() if line.strip()), "")
    names = [field.strip().strip('"').lower() for field in header.split(delimiter_of(text))]
    return "code" in names


def _cells(row: CodeRow, first: str) -> dict[str, str]:
    """A row as it is written into a file of its own."""
    cells = {"code": row.code, "label": row.labels.get(first, "")}
    cells |= {f"label_{key}": text for key, text in row.labels.items() if key != first}
    return {**cells, "parent": row.parent, **({"level": row.level} if row.level else {})}


def _check(copy: WorkingCopy, name: str, tree: int = OWN_TREE) -> None:
    """Refuse what is about codes where there are none, and about a tree that is not there."""
    section = section_of(copy, name)
    if section is None or form_of(section) is not Form.CODES or section.codes is None:
        raise InputError("The variable has no list of codes. Choose categories as its values.")
    if not OWN_TREE <= tree < len(section.hierarchy):
        raise InputError("There is no such grouping any more.")


def _own_file(copy: WorkingCopy, name: str, tree: int) -> tuple[WorkingCopy, CodeRows]:
    """The copy with a code list in a csv file that can be changed row by row."""
    _check(copy, name, tree)
    listed = code_rows(copy, name, tree)
    if listed.problem:
        raise InputError(listed.problem)
    if listed.plain:
        return copy, listed
    first = languages_of(copy).first
    file = _free_file(copy, name)
    copy = copy.with_list(file, new_code_table(_cells(row, first) for row in listed.rows))
    setting = ("codes",) if tree == OWN_TREE else ("hierarchy", tree, "codes")
    relative = file.relative_to(copy.path.parent).as_posix()
    copy = copy.with_setting(("variable", name, *setting), relative)
    return copy, code_rows(copy, name, tree)


def _free_file(copy: WorkingCopy, stem: str) -> Path:
    """A name for a new code list that no file has."""
    folder = copy.path.parent / "codes"
    plain = re.sub(r"\W+", "_", stem)
    names = [plain, *(f"{plain}_{number}" for number in range(2, 1_000))]
    paths = (folder / f"{name}.csv" for name in names)
    return next(path for path in paths if path not in copy.lists and not path.exists())


def _edited(copy: WorkingCopy, listed: CodeRows, change: CodeTableChange) -> WorkingCopy:
    if listed.file is None:
        raise AssertionError("codes in the schema itself have no file")
    content = edited_code_table(copy.content_of(listed.file), change)
    return copy.with_list(listed.file, content)


# ---------------------------------------------------------------- codes and labels


def with_first_codes(copy: WorkingCopy, name: str, values: Sequence[str]) -> WorkingCopy:
    """A new code list with the values of the file, which label themselves."""
    codes = list(values) or ["1"]
    if len(codes) <= _INLINE:
        return copy.with_setting(("variable", name, "codes"), {code: code for code in codes})
    file = _free_file(copy, name)
    copy = copy.with_list(
        file, new_code_table({"code": code, "label": code, "parent": ""} for code in codes)
    )
    relative = file.relative_to(copy.path.parent).as_posix()
    return copy.with_setting(("variable", name, "codes"), relative)


def with_code_label(
    copy: WorkingCopy, name: str, tree: int, code: str, line: int, labels: Mapping[str, str]
) -> WorkingCopy:
    """The labels of a code by language."""
    _check(copy, name, tree)
    listed = code_rows(copy, name, tree)
    languages = languages_of(copy)
    if listed.file is None:
        raw = copy.variables[name]["codes"]
        written = next((key for key in raw if key.strip() == code), code)
        text = spoken(labels, raw.get(written), languages)
        return copy.with_setting(("variable", name, "codes", written), "" if text is None else text)
    copy, listed = _own_file(copy, name, tree)
    row = _row(listed, code, line)
    cells = {
        "label" if language == languages.first else f"label_{language}": " ".join(text.split())
        for language, text in labels.items()
    }
    return _edited(copy, listed, CodeTableChange({row.line: cells}))


def _row(listed: CodeRows, code: str, line: int) -> CodeRow:
    """The row that is meant; a list that was just moved to a file has other lines."""
    same = [row for row in listed.rows if row.code == code]
    if not same:
        raise InputError(f"There is no code {code!r} in the list any more.")
    return next((row for row in same if row.line == line), same[0])


def with_kind(copy: WorkingCopy, name: str, codes: Collection[str], kind: CodeKind) -> WorkingCopy:
    """Codes that are values, or that mean that there is none."""
    section = section_of(copy, name)
    if section is None or form_of(section) is Form.NONE:
        raise InputError("The variable is not stored, so it has no missing codes.")
    for other, old in (
        (CodeKind.NOT_STATED, section.not_stated),
        (CodeKind.NOT_APPLICABLE, section.not_applicable),
    ):
        kept = [code for code in old if code not in codes]
        new = [*kept, *codes] if other is kind else kept
        if new != old:
            copy = copy.with_setting(("variable", name, other.value), new or None)
    return copy


def with_codes(copy: WorkingCopy, name: str, codes: Iterable[str]) -> WorkingCopy:
    """More codes, which label themselves, in the list and in every other tree."""
    _check(copy, name)
    listed = code_rows(copy, name)
    known = {row.code for row in listed.rows}
    new = [code for code in dict.fromkeys(map(str.strip, codes)) if code and code not in known]
    if not new:
        return copy
    section = section_of(copy, name)
    if listed.file is None:
        old = copy.variables[name].get("codes", {})
        codes_now = {**(old if isinstance(old, dict) else {}), **{code: code for code in new}}
        copy = copy.with_setting(("variable", name, "codes"), codes_now)
    else:
        copy, listed = _own_file(copy, name, OWN_TREE)
        rows = [{"code": code, "label": code} for code in new]
        copy = _edited(copy, listed, CodeTableChange(added=rows))
    for tree in range(len(section.hierarchy) if section is not None else 0):
        copy, other = _own_file(copy, name, tree)
        copy = _edited(copy, other, CodeTableChange(added=[{"code": code} for code in new]))
    return copy


def without_codes(copy: WorkingCopy, name: str, codes: Collection[str]) -> WorkingCopy:
    """Fewer codes, in the list and in every other tree; missing codes go with them."""
    _check(copy, name)
    section = section_of(copy, name)
    listed = code_rows(copy, name)
    if listed.file is None:
        old = copy.variables[name].get("codes", {})
        left = {code: label for code, label in old.items() if code.strip() not in codes}
        if not left:
            raise InputError("A list needs at least one code.")
        copy = copy.with_setting(("variable", name, "codes"), left)
    else:
        copy = _without_rows(copy, name, OWN_TREE, codes)
    for tree in range(len(section.hierarchy) if section is not None else 0):
        copy = _without_rows(copy, name, tree, codes)
    return with_kind(copy, name, codes, CodeKind.VALID)


def _without_rows(copy: WorkingCopy, name: str, tree: int, codes: Collection[str]) -> WorkingCopy:
    copy, listed = _own_file(copy, name, tree)
    leaves = [row for row in listed.rows if row.code not in listed.groups]
    gone = {row.line for row in leaves if row.code in codes}
    return _edited(copy, listed, CodeTableChange(removed=gone))


# ---------------------------------------------------------------- groups


def with_grouping(
    copy: WorkingCopy, name: str, grouping: str, label: Mapping[str, str]
) -> WorkingCopy:
    """Another tree over the codes, in which nothing is grouped yet."""
    _check(copy, name)
    listed = code_rows(copy, name)
    if listed.problem:
        raise InputError(listed.problem)
    leaves = [row.code for row in listed.rows if row.code not in listed.groups]
    file = _free_file(copy, f"{name}_{grouping}")
    rows = [{"code": code, "label": "", "parent": ""} for code in leaves]
    copy = copy.with_list(file, new_code_table(rows))
    values = {"name": grouping, "codes": file.relative_to(copy.path.parent).as_posix()}
    copy = replace(copy, text=with_table(copy.text, ("variable", name, "hierarchy"), values))
    return with_level_label(copy, name, grouping, label)


def without_grouping(copy: WorkingCopy, name: str, tree: int) -> WorkingCopy:
    """Without one of the other trees; a file that was saved before stays where it is."""
    section = section_of(copy, name)
    if section is None or not 0 <= tree < len(section.hierarchy):
        raise InputError("There is no such grouping any more.")
    gone = section.hierarchy[tree]
    copy = copy.with_setting(("variable", name, "hierarchy", tree), None)
    for level in {gone.name, *gone.levels}:
        copy = without_level_label(copy, name, level)
    file = copy.path.parent / gone.codes
    lists = {path: content for path, content in copy.lists.items() if path != file or path.exists()}
    return replace(copy, lists=lists)


def with_group(
    copy: WorkingCopy,
    name: str,
    tree: int,
    chosen: Sequence[tuple[str, int]],
    group: str,
    label: Mapping[str, str],
) -> WorkingCopy:
    """Codes in a group, which is made if there is none of this code.

    Args:
        copy: The schema.
        name: The variable.
        tree: Its code list, or one of its other trees.
        chosen: The codes with their lines, since two levels may share a code.
        group: The code of the group; none takes them out of theirs.
        label: The labels of a new group.
    """
    was_plain = code_rows(copy, name, tree).plain
    copy, listed = _own_file(copy, name, tree)
    before = listed.groups
    codes = {code for code, _ in chosen}
    lines = {line for _, line in chosen}
    if group in codes:
        raise InputError(f"The group {group!r} cannot lie in itself.")
    known = [row for row in listed.rows if row.code == group]
    leaves = {row.code for row in code_rows(copy, name).rows} if tree != OWN_TREE else set()
    if group and (group in leaves or (known and group not in before and tree == OWN_TREE)):
        raise InputError(f"{group!r} is a code of the list already. Choose another for the group.")
    added = []
    if group and not known:
        first = languages_of(copy).first
        row = CodeRow(group, {key: text for key, text in label.items() if text.strip()})
        added = [_cells(row, first)]
    cells = {
        row.line: {"parent": group}
        for row in listed.rows
        if row.code in codes and (row.line in lines or not was_plain)
    }
    copy = _edited(copy, listed, CodeTableChange(cells, added=added))
    # A group without codes would be taken for a code.
    listed = code_rows(copy, name, tree)
    left = set(before) - set(listed.groups)
    empty = {row.line for row in listed.rows if row.code in left}
    return _edited(copy, listed, CodeTableChange(removed=empty)) if empty else copy


def with_tree_levels(copy: WorkingCopy, name: str, tree: int, levels: Sequence[str]) -> WorkingCopy:
    """The names of the levels of a tree, from just above the codes upwards."""
    _check(copy, name, tree)
    setting = ("levels",) if tree == OWN_TREE else ("hierarchy", tree, "levels")
    return copy.with_setting(("variable", name, *setting), list(levels) or None)
