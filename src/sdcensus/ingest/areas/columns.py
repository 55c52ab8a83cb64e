"""Which columns of census files hold areas: the main geography, its levels, and other places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.ingest.areas.trees import AreaTree, tree_of_rows, with_labels
from sdcensus.ingest.draft_columns import Profile
from sdcensus.ingest.draft_missing import missing_by_label
from sdcensus.ingest.draft_roles import concepts, may_be_geography
from sdcensus.ingest.draft_words import Concept, kind_of_missing_text
from sdcensus.ingest.readers import Reader
from sdcensus.model.schema.variable import CodeKind

#: A file and a column of it.
Place = tuple[str, str]
#: Of a place where units are counted, so many of them have one.
_MOST_UNITS = 0.9
#: Codes of another column are those of areas if so many of them are.
_ALIKE = 0.9
#: Finer areas than this are not looked at together with those above them.
_MOST_AREAS = 20_000


@dataclass(frozen=True, slots=True)
class AreaColumns:
    """The columns that hold areas.

    Attributes:
        main: Where units are counted.
        tree: The areas of the country.
        places: All columns that are geographies, with the level of their codes.
        levels: Columns that repeat a level of the main geography, with its name.
    """

    main: Place
    tree: AreaTree
    places: Mapping[Place, str]
    levels: Mapping[Place, str] = field(default_factory=dict)


def area_codes(profile: Profile) -> set[str]:
    """The codes of a column that are no missing codes."""
    labels = dict(profile.column.value_labels)
    missing = {*missing_by_label(labels, set()), *profile.missing_texts, *profile.column.missing}
    return {
        value
        for value in profile.values
        if value not in missing and kind_of_missing_text(value) is CodeKind.VALID
    }


def share_with_area(profile: Profile) -> float:
    """How many of the records have an area."""
    counts = profile.counts or {}
    return sum(counts[code] for code in area_codes(profile)) / max(profile.rows, 1)


def is_everywhere(profile: Profile) -> bool:
    """Whether nearly all records have an area: then units may be counted by it."""
    return share_with_area(profile) >= _MOST_UNITS


def level_name(column: str) -> str:
    """The name of a level by that of its column."""
    return re.sub(r"\W+", "_", column.lower()).strip("_") or "level"


def find_areas(
    files: Mapping[str, Mapping[str, Profile]],
    readers: Mapping[str, Reader],
    main: Place,
    *,
    leaf: str,
    language: str,
    gazetteer: AreaTree | None = None,
) -> AreaColumns:
    """The levels of the main geography, and other columns that share its codes.

    Args:
        files: What the columns of each file hold.
        readers: The files.
        main: Where units are counted.
        leaf: What the main geography is called.
        language: The language of labels.
        gazetteer: The areas as an office lists them.
    """
    profiles = files[main[0]]
    likely = [
        profile
        for name, profile in profiles.items()
        if name != main[1] and may_be_geography(profile)
    ]
    tree, levels = _nested(readers[main[0]], profiles[main[1]], likely, leaf, language)
    known = None if gazetteer is None else _known_areas(gazetteer, profiles[main[1]])
    if known is not None:
        same = _same_levels(known, tree)
        levels = {name: same[level] for name, level in levels.items() if level in same}
        tree = known
    others = {
        (file, name): level
        for file, columns in files.items()
        for name, profile in columns.items()
        if (file, name) != main and not (file == main[0] and name in levels)
        if (level := _level_of(profile, tree)) is not None
    }
    left_out = {(main[0], name): level for name, level in levels.items()}
    return AreaColumns(main, tree, {main: tree.levels[0], **others}, left_out)


def _nested(
    reader: Reader, finest: Profile, likely: Sequence[Profile], leaf: str, language: str
) -> tuple[AreaTree, dict[str, str]]:
    """The tree of the columns that hold each other, and the name of the level of each."""
    codes = area_codes(finest)
    above = [profile for profile in likely if 0 < len(area_codes(profile)) < len(codes)]
    above.sort(key=lambda profile: -len(area_codes(profile)))
    chain: list[Profile] = [finest]
    rows: set[tuple[str, ...]] = {(code,) for code in codes}
    if len(codes) <= _MOST_AREAS:
        for profile in above:
            columns = [*chain, profile]
            known = [area_codes(each) for each in columns]
            inside = {
                row
                for row in _combinations(reader, [each.name for each in columns])
                if all(code in each for code, each in zip(row, known, strict=True))
            }
            levels = [str(number) for number in range(len(chain) + 1)]
            if {row[0] for row in inside} == codes and tree_of_rows(levels, inside) is not None:
                chain.append(profile)
                rows = inside
    names = [leaf, *(level_name(profile.name) for profile in chain[1:])]
    tree = tree_of_rows(names, rows)
    assert tree is not None
    labels = {name: _labels(profile) for name, profile in zip(names, chain, strict=True)}
    levels_of = {profile.name: name for profile, name in zip(chain[1:], names[1:], strict=True)}
    return with_labels(tree, labels, language), levels_of


def _labels(profile: Profile) -> dict[str, str]:
    """The labels of the areas of a column; those of missing codes aside."""
    labels = {code.strip(): label.strip() for code, label in profile.column.value_labels}
    missing = {*missing_by_label(labels, set()), *profile.column.missing}
    named = {code: label for code, label in labels.items() if code and code not in missing}
    return {**{code: code for code in area_codes(profile)}, **named}


def _combinations(reader: Reader, names: Sequence[str]) -> set[tuple[str, ...]]:
    """The combinations of values of some columns that occur."""
    rows: set[tuple[str, ...]] = set()
    for batch in reader.batches(list(names)):
        columns = [_texts(batch.column(name)) for name in names]
        table = pa.table(columns, names=[str(at) for at in range(len(names))])
        distinct = table.group_by(table.column_names).aggregate([])
        rows |= set(
            zip(*(distinct.column(at).to_pylist() for at in range(len(names))), strict=True)
        )
    return rows


def _texts(array: pa.Array) -> pa.Array:
    text = array if pa.types.is_string(array.type) else array.cast(pa.string())
    text = pc.utf8_trim_whitespace(pc.fill_null(text, ""))
    return pc.replace_substring_regex(text, r"^(-?[0-9]{1,15})[.]0$", r"\1")


def _known_areas(gazetteer: AreaTree, profile: Profile) -> AreaTree | None:
    """The part of a gazetteer whose finest areas are those of a column."""
    codes = area_codes(profile)
    for level in gazetteer.levels:
        tree = gazetteer.above(level).written_as(codes)
        if codes <= tree.codes(level).keys():
            return tree
    return None


def _same_levels(known: AreaTree, tree: AreaTree) -> dict[str, str]:
    """Levels of areas in census files that a gazetteer has as well, with its names for them."""
    same: dict[str, str] = {}
    by_gazetteer, by_files = known.ancestors(), tree.ancestors()
    pairs = [(by_gazetteer.get(code, {}), above) for code, above in by_files.items() if above]
    for level in tree.levels[1:]:
        for name in known.levels[1:]:
            if all(listed.get(name) == above.get(level) for listed, above in pairs):
                same[level] = name
    return same


def _level_of(profile: Profile, tree: AreaTree) -> str | None:
    """The level whose codes a column has, if it speaks of areas; the finest that fits."""
    codes = area_codes(profile)
    about = concepts(profile)
    if Concept.AREA not in about or len(codes) < 2 or profile.counts is None:
        return None
    labels = dict(profile.column.value_labels)
    for level in tree.levels:
        known = tree.codes(level)
        shared = [code for code in codes if code in known]
        called = [
            labels[code].strip().lower() == known[code].show().strip().lower()
            for code in shared
            if code in labels
        ]
        alike = len(shared) >= _ALIKE * len(codes)
        if alike and len(shared) >= 2 and sum(called) >= _ALIKE * len(called):
            return level
    return None
