"""The files of a census and the kinds of units in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sdcensus.documents.schema.sections import EntitySection, FileSection, read_section
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import unknown
from sdcensus.model.schema.id_forms import IdForm
from sdcensus.model.schema.schema import CensusFile
from sdcensus.model.schema.source import FORMAT_OF_ENDING, FileFormat, FileSource, is_cspro_database
from sdcensus.model.schema.variable import Entity, EntitySpec

#: Kinds from the smallest to the largest; a unit lies within a larger one.
_RANK = {entity: rank for rank, entity in enumerate(Entity)}

#: What may be said about files of each format; of the others nothing.
_OPTIONS_OF: Mapping[FileFormat, tuple[str, ...]] = {
    FileFormat.CSV: ("encoding", "delimiter", "decimal"),
    FileFormat.FIXED: ("layout", "encoding", "decimal"),
    FileFormat.CSPRO: ("dictionary", "record", "encoding", "decimal"),
    FileFormat.EXCEL: ("sheet",),
    FileFormat.REDATAM: ("encoding", "delimiter", "decimal"),
}
_OPTIONS = frozenset(option for options in _OPTIONS_OF.values() for option in options)


def read_files(raw: object, mistakes: Mistakes) -> dict[str, CensusFile]:
    """The files of ``[files.NAME]`` that have no mistakes, by name."""
    files: dict[str, CensusFile] = {}
    holder: dict[Entity, str] = {}
    for name, one in tables(raw, "files", mistakes):
        section = read_section(FileSection, one, ("files", name), mistakes)
        if section is None:
            continue
        other = holder.setdefault(section.entity, name)
        if other != name:
            mistakes.add(
                ("files", name, "entity"),
                f"the file {other!r} holds {section.entity.plural} already. Files with the same"
                " columns are one entry with a list of paths.",
            )
        file = _file(name, section, mistakes)
        if file is not None:
            files[name] = file
    return files


def tables(raw: object, name: str, mistakes: Mistakes) -> Iterable[tuple[str, Any]]:
    """The named tables inside a table such as ``[files.…]``."""
    if isinstance(raw, dict):
        return raw.items()
    mistakes.add((name,), f"should be tables with names, such as [{name}.person]")
    return ()


def _file(name: str, section: FileSection, mistakes: Mistakes) -> CensusFile | None:
    where: KeyPath = ("files", name)
    folder = mistakes.document.path.parent
    paths: list[Path] = []
    for text in section.path:
        found = _resolve(folder, text)
        if not found:
            place = folder.resolve()
            mistakes.add((*where, "path"), f"no file matches {text!r} in the folder {place}.")
        paths += found
    form = section.format or _format(paths, where, mistakes)
    if form is None or not paths:
        return None
    needed = {FileFormat.FIXED: "layout", FileFormat.CSPRO: "dictionary"}.get(form)
    complete = form is FileFormat.CSPRO and all(map(is_cspro_database, paths))
    if needed is not None and getattr(section, needed) is None and not complete:
        mistakes.add(where, f"a file of format {form.value!r} needs the setting {needed!r}.")
    for option in sorted(section.model_fields_set & _OPTIONS):
        if option not in _OPTIONS_OF.get(form, ()):
            owners = [
                file_format.value
                for file_format, options in _OPTIONS_OF.items()
                if option in options
            ]
            mistakes.add(
                (*where, option),
                f"{option!r} says nothing about a file of format {form.value!r}. It is for:"
                f" {', '.join(owners)}.",
            )
    if section.delimiter is not None and section.delimiter == section.decimal:
        mistakes.add(
            (*where, "decimal"), "the decimal mark and the delimiter cannot be the same character."
        )
    return CensusFile(
        name,
        section.entity,
        FileSource(
            paths=tuple(paths),
            format=form,
            encoding=section.encoding,
            delimiter=section.delimiter,
            decimal=section.decimal,
            sheet=section.sheet,
            layout=folder / section.layout if section.layout else None,
            dictionary=folder / section.dictionary if section.dictionary else None,
            record=section.record,
        ),
    )


def _resolve(folder: Path, text: str) -> list[Path]:
    """The files that a path or pattern names; a plain path also if there is no such file yet."""
    plain = folder / text
    if not any(mark in text for mark in "*?[") or plain.exists():
        return [plain]
    pattern = Path(text)
    root = Path(pattern.anchor) if pattern.is_absolute() else folder
    inside = text if not pattern.is_absolute() else str(pattern.relative_to(pattern.anchor))
    try:
        return sorted(path for path in root.glob(inside) if path.is_file())
    except (ValueError, OSError, NotImplementedError, IndexError):  # a pattern that is none
        return []


def _format(paths: Iterable[Path], where: KeyPath, mistakes: Mistakes) -> FileFormat | None:
    """What the endings of the names say."""
    found = {path.suffix.lower(): FORMAT_OF_ENDING.get(path.suffix.lower()) for path in paths}
    for ending, form in found.items():
        if form is None:
            known = ", ".join(FileFormat)
            what = f"ending {ending!r}" if ending else "name without an ending"
            mistakes.add(
                (*where, "path"),
                f"the {what} does not tell the format. Add format = one of: {known}.",
            )
    forms = set(found.values())
    if len(forms) > 1 and None not in forms:
        mistakes.add((*where, "path"), "the files have different formats; they must be alike.")
    return next(iter(forms)) if len(forms) == 1 else None


def read_entities(
    raw: object, files: object, variables: object, mistakes: Mistakes
) -> tuple[EntitySpec, ...]:
    """The kinds of units of ``[entity.KIND]``; none if they cannot be linked for mistakes.

    Args:
        raw: The table ``entity``.
        files: The table ``files``: it says which kinds have rows of their own.
        variables: The table ``variable``: it may show from which file a kind is derived.
        mistakes: Where mistakes are noted.
    """
    before = len(mistakes.found)
    sections: dict[Entity, EntitySection] = {}
    declared: set[str] = set()
    for name, one in tables(raw, "entity", mistakes):
        declared.add(name)
        if name not in list(Entity):
            mistakes.add(("entity", name), unknown("kind of unit", name, list(Entity)))
            continue
        section = read_section(EntitySection, one, ("entity", name), mistakes)
        if section is not None:
            sections[Entity(name)] = section
    with_file, all_known = _kinds_with_file(files)
    for entity, file in with_file.items():
        if entity.value not in declared:
            mistakes.add(
                ("files", file, "entity"),
                f"the units need an entry of their own: [entity.{entity}] with the id columns,"
                ' such as id = ["ed", "household_no"].',
            )
    for entity, section in sections.items():
        _check_entity(entity, section, sections, declared, mistakes)
    if len(mistakes.found) > before:
        return ()
    specs = [_spec(entity, sections, with_file, variables) for entity in sections]
    for spec in specs:
        if spec.from_content and spec.derived_from is not None:
            mistakes.add(
                ("entity", spec.entity.value, "from_content"),
                f"{spec.entity.plural} have no file of their own, so they need an 'id'.",
            )
        if spec.entity not in with_file and spec.derived_from is None and all_known:
            mistakes.add(
                ("entity", spec.entity.value),
                f"no file holds {spec.entity.plural}, and none holds units inside them. Add a file"
                f' with entity = "{spec.entity}", or leave this entry out.',
            )
    return tuple(specs)


def _kinds_with_file(files: object) -> tuple[dict[Entity, str], bool]:
    """The name of the file of each kind that has one, and whether every file says its kind."""
    named: dict[Entity, str] = {}
    all_known = True
    for name, one in files.items() if isinstance(files, dict) else ():
        kind = one.get("entity") if isinstance(one, dict) else None
        if isinstance(kind, str) and kind in list(Entity):
            named.setdefault(Entity(kind), name)
        else:
            all_known = False
    return named, all_known


def _spec(
    entity: Entity,
    sections: Mapping[Entity, EntitySection],
    with_file: Mapping[Entity, str],
    variables: object,
) -> EntitySpec:
    section = sections[entity]
    derived = None
    if entity not in with_file:
        derived = _derived_from(entity, sections, with_file, variables)
    parent_id = sections[section.within].id if section.within else []
    return EntitySpec(
        entity=entity,
        id=tuple(section.id),
        within=section.within,
        link=tuple(section.link or parent_id),
        optional=section.optional,
        from_content=section.from_content,
        derived_from=derived,
        form=IdForm(tuple(section.id_width) if any(section.id_width) else (), section.id_any_case),
    )


def _check_entity(
    entity: Entity,
    section: EntitySection,
    sections: Mapping[Entity, EntitySection],
    declared: set[str],
    mistakes: Mistakes,
) -> None:
    where: KeyPath = ("entity", entity.value)
    if not section.id and not section.from_content and not {"id", "from_content"} & section.faulty:
        mistakes.add(
            where,
            "the setting 'id' is missing: name the columns that together identify a record, such as"
            ' id = ["ed", "household_no"]',
        )
    if section.from_content:
        _check_content(entity, section, sections, mistakes)
    for setting in ("id", "link"):
        columns: list[str] = getattr(section, setting)
        for twice in sorted({column for column in columns if columns.count(column) > 1}):
            mistakes.add((*where, setting), f"the column {twice!r} stands twice in {setting!r}.")
    _check_form(section, where, mistakes)
    if section.within is None:
        for setting in ("link", "optional"):
            if getattr(section, setting):
                mistakes.add(
                    (*where, setting),
                    f"{setting!r} needs 'within': say which kind of unit holds a {entity}.",
                )
        return
    if section.within.value not in declared:
        mistakes.add((*where, "within"), unknown("entity", section.within.value, sorted(declared)))
        return
    if _RANK[section.within] <= _RANK[entity]:
        chain = _chain(entity, sections)
        mistakes.add(
            (*where, "within"),
            f"entities lie inside each other in a circle: {' > '.join(chain)}."
            if len(chain) > 1 and chain[-1] == entity.value
            else f"a {entity} cannot lie within a {section.within}.",
        )
    parent = sections.get(section.within)
    if parent is not None and section.link and len(section.link) != len(parent.id) > 0:
        mistakes.add(
            (*where, "link"),
            f"{len(section.link)} columns cannot name a {section.within}, whose id has"
            f" {len(parent.id)} ({', '.join(parent.id)}). List one column for each, in that order.",
        )


def _check_form(section: EntitySection, where: KeyPath, mistakes: Mistakes) -> None:
    """The form of an id has a number of digits for each of its parts."""
    if section.from_content:
        for setting in sorted({"id_width", "id_any_case"} & section.model_fields_set):
            mistakes.add((*where, setting), f"{setting!r} is about an 'id', and there is none.")
    elif section.id and section.id_width and len(section.id_width) != len(section.id):
        parts = len(section.id)
        example = ", ".join([*["0"] * (parts - 1), "10"])
        mistakes.add(
            (*where, "id_width"),
            f"the id has {parts} column{'s' if parts > 1 else ''} ({', '.join(section.id)}), and"
            f" 'id_width' has {len(section.id_width)}. Give a number of digits for each, 0 for one"
            f" that is taken as written: id_width = [{example}].",
        )


def _check_content(
    entity: Entity,
    section: EntitySection,
    sections: Mapping[Entity, EntitySection],
    mistakes: Mistakes,
) -> None:
    """Records that have no id cannot be pointed at."""
    where: KeyPath = ("entity", entity.value, "from_content")
    if section.id:
        mistakes.add(where, "give either 'id' or from_content = true, not both.")
    for child, entity_section in sections.items():
        if entity_section.within is entity:
            mistakes.add(
                where,
                f"{child.plural} lie within a {entity}, so it needs an 'id' that they can name.",
            )


def _chain(entity: Entity, sections: Mapping[Entity, EntitySection]) -> list[str]:
    """What holds a kind, and what holds that, until it ends or repeats."""
    chain = [entity]
    while True:
        section = sections.get(chain[-1])
        if section is None or section.within is None:
            break
        chain.append(section.within)
        if section.within in chain[:-1]:
            break
    return [entity.value for entity in chain]


def _derived_from(
    entity: Entity,
    sections: Mapping[Entity, EntitySection],
    with_file: Mapping[Entity, str],
    variables: object,
) -> Entity | None:
    """The kind whose file shows which units of ``entity`` there are.

    Kinds that lie within it come first, the nearest first; then smaller kinds within the same
    parent (persons for families). Among these, a file with variables of the kind is preferred,
    then one that is known to have its id columns.
    """
    below = [entity]
    for one in below:
        below += [
            child
            for child, section in sections.items()
            if section.within is one and child not in below
        ]
    parent = sections[entity].within
    beside = [
        one
        for one in sorted(sections, key=lambda section: -_RANK[section])
        if _RANK[one] < _RANK[entity] and (parent is None or parent.value in _chain(one, sections))
    ]
    candidates = [entity for entity in dict.fromkeys([*below[1:], *beside]) if entity in with_file]
    described = _described_in(entity, with_file, variables)
    id_columns = set(sections[entity].id)
    return max(
        candidates,
        key=lambda candidate: (
            candidate in described,
            id_columns <= _known_columns(candidate, sections, with_file[candidate], variables),
        ),
        default=None,
    )


def _described_in(
    entity: Entity, with_file: Mapping[Entity, str], variables: object
) -> set[Entity]:
    """The kinds in whose file there are variables of ``entity``."""
    named = {
        variable.get("file")
        for variable in (variables.values() if isinstance(variables, dict) else ())
        if isinstance(variable, dict)
        and variable.get("entity") == entity.value
        and isinstance(variable.get("file"), str | None)
    }
    alone = len(with_file) == 1 and None in named
    return {entity for entity, file in with_file.items() if file in named or alone}


def _known_columns(
    entity: Entity,
    sections: Mapping[Entity, EntitySection],
    file: str,
    variables: object,
) -> set[str]:
    """The columns that the document itself says the file has."""
    columns = {*sections[entity].id, *sections[entity].link}
    for name, one in variables.items() if isinstance(variables, dict) else ():
        if isinstance(one, dict) and one.get("file", file) == file:
            column = one.get("column", name)
            columns.add(column if isinstance(column, str) else name)
    return columns
