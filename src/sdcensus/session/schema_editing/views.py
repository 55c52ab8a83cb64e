"""What a page shows of a schema that is being edited. Confidential: with true counts of records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sdcensus.documents.schema.document import schema_from_document
from sdcensus.documents.schema.sections import VariableSection
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.errors import DocumentError
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import (
    CodeKind,
    Role,
)
from sdcensus.session.schema_editing.code_lists import OWN_TREE, CodeRows, code_rows
from sdcensus.session.schema_editing.distributions import (
    counts_by_value,
    distribution_view,
    labels_of,
    levels_view,
    shown_distribution,
)
from sdcensus.session.schema_editing.settings import (
    Form,
    form_of,
    is_guess,
    languages_of,
    rest_of,
    section_of,
)
from sdcensus.session.schema_editing.sources import SourceFile
from sdcensus.session.schema_editing.working_copy import WorkingCopy

View = dict[str, Any]


class Checked:
    """A schema as its reader sees it: what is wrong with each variable, and with the rest."""

    def __init__(self, copy: WorkingCopy) -> None:
        self.schema: Schema | None = None
        self.of_variables: dict[str, list[str]] = {}
        self.others: list[str] = []
        try:
            self.schema = schema_from_document(copy.document)
        except DocumentError as error:
            self._sort(error, copy.variables)

    @property
    def count(self) -> int:
        """How many mistakes there are."""
        return len(self.others) + sum(map(len, self.of_variables.values()))

    def _sort(self, error: DocumentError, names: Collection[str]) -> None:
        starts = {f"variable.{name}: ": name for name in names}
        for mistake in error.mistakes:
            start = next((start for start in starts if mistake.text.startswith(start)), None)
            if start is None:
                line = f"line {mistake.line}: " if mistake.line else ""
                self.others.append(f"{line}{mistake.text}")
            else:
                text = mistake.text[len(start) :]
                self.of_variables.setdefault(starts[start], []).append(text)


def overview(copy: WorkingCopy, sources: Mapping[str, SourceFile], checked: Checked) -> View:
    """The census, its files and units, and one line for each variable."""
    data = copy.document.data
    census = data.get("census", {})
    census = census if isinstance(census, dict) else {}
    units = data.get("entity", {})
    units = units if isinstance(units, dict) else {}
    listed = [_line(copy, name, checked) for name in copy.variables]
    return {
        "census": {
            "name": _text(census.get("name")),
            "country": _text(census.get("country")),
            "code": _texts(census.get("code")),
            "reference_date": str(census.get("reference_date", "")),
            "languages": list(languages_of(copy).declared),
        },
        "languages": list(languages_of(copy).declared) or [languages_of(copy).first],
        "files": [
            {
                "name": source.name,
                "entity": source.file.entity.value if source.file is not None else "",
                "paths": [path.name for path in source.file.source.paths] if source.file else [],
                "rows": source.rows,
                "columns": list(source.profiles),
                "problem": source.problem,
            }
            for source in sources.values()
        ],
        "units": [_unit(kind, raw) for kind, raw in units.items() if isinstance(raw, dict)],
        "notes": [
            {"where": ".".join(map(str, path)), **note}
            for path in rest_of(copy)
            for note in _notes(copy, path)
            if note["guess"]
        ],
        "variables": listed,
        "looked_at": sum(line["looked_at"] for line in listed),
        "mistakes": checked.others,
        "mistakes_count": checked.count,
    }


def _unit(kind: str, raw: Mapping[str, Any]) -> View:
    return {
        "entity": kind,
        "id": _texts(raw.get("id")),
        "within": _text(raw.get("within")),
        "link": _texts(raw.get("link")),
        "optional": raw.get("optional") is True,
    }


def _line(copy: WorkingCopy, name: str, checked: Checked) -> View:
    section = section_of(copy, name)
    first = languages_of(copy).first
    label = "" if section is None else labels_of(section.label, first).get(first, "")
    files = copy.document.data.get("files", {})
    only = next(iter(files), "") if isinstance(files, dict) and len(files) == 1 else ""
    return {
        "name": name,
        "label": label,
        "file": only if section is None else section.file or only,
        "role": section.role.value if section is not None and section.role else "",
        "form": Form.NONE.value if section is None else form_of(section).value,
        "guessed": any(note["guess"] for note in _notes(copy, ("variable", name))),
        "looked_at": name in copy.looked_at,
        "mistakes": len(checked.of_variables.get(name, ())),
    }


def _notes(copy: WorkingCopy, path: KeyPath) -> list[View]:
    return [
        {"text": comment.text.lstrip("# "), "guess": is_guess(comment.text)}
        for comment in copy.comments.get(path, ())
    ]


def variable_view(
    copy: WorkingCopy, name: str, sources: Mapping[str, SourceFile], checked: Checked
) -> View:
    """A variable with its distribution. Values of identifiers are not in it."""
    section = section_of(copy, name)
    line = _line(copy, name, checked)
    view: View = {
        **line,
        "notes": _notes(copy, ("variable", name)),
        "mistakes": checked.of_variables.get(name, []),
    }
    if section is None:
        return {**view, "broken": True}
    source = sources.get(line["file"])
    column = section.column or name
    profile = None if source is None else source.profiles.get(column)
    first = languages_of(copy).first
    view |= {
        "column": column,
        "entity": section.entity.value if section.entity is not None else "",
        "labels": labels_of(section.label, first),
        "descriptions": labels_of(section.description, first),
        "topics": labels_of(section.topic, first),
        "role": section.role.value if section.role else "",
        "empty": section.empty.value,
        "width": section.width,
        "decimals": section.decimals,
        "unit": next(iter(labels_of(section.unit, first).values()), ""),
        "range": list(section.range) if section.range is not None else None,
        "not_stated": section.not_stated,
        "not_applicable": section.not_applicable,
        "problem": "" if source is None else source.problem,
        "in_file": profile is not None,
    }
    listed = code_rows(copy, name)
    trees = [code_rows(copy, name, tree) for tree in range(len(section.hierarchy))]
    shown = None if profile is None else shown_distribution(section, profile, listed)
    counts = {} if shown is None else counts_by_value(section, shown, listed)
    view["codes"] = _codes_view(section, listed, trees, counts)
    view["trees"] = _trees_view(copy, section, listed, trees)
    view["levels"] = levels_view(section, first, shown)
    view["distribution"] = distribution_view(section, profile, shown, counts, source)
    return view


def _codes_view(
    section: VariableSection,
    listed: CodeRows,
    trees: Sequence[CodeRows],
    counts: Mapping[str, tuple[str | None, int]],
) -> View:
    """The code list: labels, kinds, records, and the group of each code in each tree."""
    records: dict[str, int] = {}
    for code, count in counts.values():
        if code is not None:
            records[code] = records.get(code, 0) + count
    parents = [{row.code: row.parent for row in tree.rows} for tree in trees]
    lines = [{row.code: row.line for row in tree.rows} for tree in trees]
    missing = {
        **dict.fromkeys(section.not_applicable, CodeKind.NOT_APPLICABLE.value),
        **dict.fromkeys(section.not_stated, CodeKind.NOT_STATED.value),
    }
    rows = [
        {
            "code": row.code,
            "line": row.line,
            "labels": dict(row.labels),
            "kind": missing.get(row.code, CodeKind.VALID.value),
            "group": row.code in listed.groups,
            "parents": [row.parent, *(parent.get(row.code, "") for parent in parents)],
            "lines": [line.get(row.code, 0) for line in lines],
            "count": None if row.code in listed.groups else records.get(row.code, 0),
        }
        for row in listed.rows
    ]
    unlisted = [code for code in missing if code not in {row.code for row in listed.rows}]
    if form_of(section) is Form.CODES:
        rows += [
            {
                "code": code,
                "line": -1,
                "labels": {},
                "kind": missing[code],
                "group": False,
                "parents": ["", *("" for _ in trees)],
                "count": records.get(code, 0),
            }
            for code in unlisted
        ]
    file = listed.file.name if listed.file is not None else ""
    return {"rows": rows, "file": file, "plain": listed.plain, "problem": listed.problem}


def _trees_view(
    copy: WorkingCopy, section: VariableSection, listed: CodeRows, trees: Sequence[CodeRows]
) -> list[View]:
    """The trees over the codes, with their groups."""
    names = section.levels if isinstance(section.levels, list) else []
    views = [_tree_view(OWN_TREE, "", names, listed, section, copy)]
    for at, (hierarchy, tree) in enumerate(zip(section.hierarchy, trees, strict=True)):
        views.append(_tree_view(at, hierarchy.name, hierarchy.levels, tree, section, copy))
    return views


def _tree_view(
    tree: int,
    name: str,
    levels: Sequence[str],
    listed: CodeRows,
    section: VariableSection,
    copy: WorkingCopy,
) -> View:
    first = languages_of(copy).first
    return {
        "tree": tree,
        "name": name,
        "levels": list(levels),
        "label": labels_of(section.level_labels.get(name, ""), first),
        "groups": [
            {
                "code": row.code,
                "line": row.line,
                "labels": dict(row.labels),
                "parent": row.parent,
                "count": listed.groups[row.code],
            }
            for row in listed.rows
            if row.code in listed.groups
        ],
        "problem": listed.problem,
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [str(text) for text in values]


#: Roles in the order in which a page offers them; an ordinary variable has none.
ROLES = ("", *(role.value for role in Role if role is not Role.CONTINUOUS))
