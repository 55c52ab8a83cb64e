"""Areas that hold the areas of the geography, where a file has a column for each level.

Offices write region, province and commune beside each other. A column is a level if every area
below lies in one of its areas, in all rows; so levels follow from the values, and words only say
which columns are about areas at all.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.ingest.draft_columns import WRITTEN_AS_DECIMAL, Profile
from sdcensus.ingest.draft_roles import may_be_geography
from sdcensus.ingest.readers import Reader
from sdcensus.model.letters import plain_letters

#: Beginnings of labels of what areas are like, which is no area.
_KINDS_OF_AREA = ("urban", "rural", "urbain", "stedelijk", "landelijk")

#: Codes that a note lists.
_LISTED = 5

Labels = Mapping[str, "str | dict[str, str]"]


@dataclass(frozen=True, slots=True)
class AreaLevel:
    """A level of the geography: the column that has it, and in what each of its areas lies."""

    column: str
    parents: Mapping[str, str]


def levels_of(
    reader: Reader,
    profiles: Mapping[str, Profile],
    leaf: str,
    codes: Collection[str],
    missing: Collection[str],
) -> list[AreaLevel]:
    """The levels of a geography, from its own column upwards; empty if there is nothing above.

    Args:
        reader: The file.
        profiles: Its columns.
        leaf: The column of the finest areas.
        codes: Its codes, also those that never occur: what these lie in is told by their digits,
            where it is for all others.
        missing: Those of them that are no areas.
    """
    own = len(profiles[leaf].counts or ())
    above = sorted(
        (
            (len(profile.counts or ()), name)
            for name, profile in profiles.items()
            if name != leaf and _is_level(profile) and len(profile.counts or ()) < own
        ),
        reverse=True,
    )
    levels: list[AreaLevel] = []
    column, left_out = leaf, set(missing)
    for _, name in above:
        parents = _parents(reader, column, name, left_out)
        if parents:
            if column == leaf:
                parents |= _parents_by_digits(parents, set(codes) - left_out)
            levels.append(AreaLevel(column, parents))
            column, left_out = name, set()
    return [*levels, AreaLevel(column, {})] if levels else []


def _is_level(profile: Profile) -> bool:
    labels = [plain_letters(label) for _, label in profile.column.value_labels]
    return may_be_geography(profile) and not any(
        label.startswith(_KINDS_OF_AREA) for label in labels
    )


def _parents(reader: Reader, below: str, above: str, left_out: set[str]) -> dict[str, str]:
    """In which area of one column each area of another lies; empty if one lies in several."""
    parents: dict[str, str] = {}
    for batch in reader.batches([below, above]):
        rows = pa.table(
            {"below": _texts(batch.column(below)), "above": _texts(batch.column(above))}
        )
        for row in rows.group_by(["below", "above"]).aggregate([]).to_pylist():
            area, holder = row["below"], row["above"]
            if not area or area in left_out:
                continue
            if not holder or parents.setdefault(area, holder) != holder:
                return {}
    return parents


def _parents_by_digits(known: Mapping[str, str], codes: Collection[str]) -> dict[str, str]:
    """In what further areas lie, if each known one has the code of its holder in front.

    Examples:
        >>> _parents_by_digits({"1101": "11", "11101": "111"}, ["1102", "9901"])
        {'1102': '11'}
    """
    digits = {len(area) - len(holder) for area, holder in known.items()}
    if len(digits) != 1 or not all(area.startswith(holder) for area, holder in known.items()):
        return {}
    (own,) = digits
    holders = set(known.values())
    further = {area: area[: len(area) - own] for area in codes if area not in known}
    return {area: holder for area, holder in further.items() if holder in holders}


def _texts(column: pa.Array) -> pa.Array:
    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    return pc.replace_substring_regex(text, WRITTEN_AS_DECIMAL, r"\1")


def area_notes(
    levels: Sequence[AreaLevel], codes: Collection[str], missing: Collection[str]
) -> list[str]:
    """What the office should check about the areas of a geography."""
    if not levels:
        return ["guessed: the geography. Add a column 'parent' for the levels above."]
    above = " and ".join(level.column for level in levels[1:])
    notes = [f"guessed: the geography. The columns {above} are its levels above."]
    if lost := sorted(set(codes) - {*levels[0].parents, *missing}):
        listed = ", ".join(lost[:_LISTED]) + (" …" if len(lost) > _LISTED else "")
        notes.append(
            f"left out, since they never occur and nothing says in what they lie: {listed}"
        )
    return notes


def area_list(
    levels: Sequence[AreaLevel],
    names: Sequence[str],
    labels: Sequence[Labels],
    languages: Sequence[str],
    missing: Collection[str],
) -> str:
    """The code list of a geography with all its levels, the coarsest first.

    Left out are areas that hold none of the areas below, which would be leaves that the file
    cannot hold, and areas of which nobody knows what they lie in.

    Args:
        levels: The levels, the finest first.
        names: What each is called.
        labels: What the codes of each mean.
        languages: The languages of labels, the main one first.
        missing: Codes of the finest level that are no areas.
    """
    stream = io.StringIO(newline="")
    table = csv.writer(stream, lineterminator="\n")
    others = [f"label_{language}" for language in languages[1:]]
    table.writerow(["code", "label", *others, "parent", "level"])
    for place in reversed(range(len(levels))):
        is_top = place + 1 == len(levels)
        held = set(levels[place - 1].parents.values()) if place else {*levels[0].parents, *missing}
        for code, label in labels[place].items():
            if code not in held:
                continue
            spoken = {languages[0]: label} if isinstance(label, str) else label
            texts = [spoken.get(language, "") for language in languages]
            if place == 0 and code in missing:
                table.writerow([code, *texts, "", ""])
                continue
            # Without its level: the reader looks for it at the next level that has it.
            parent = "" if is_top else levels[place].parents[code]
            table.writerow([code, *texts, parent, names[place]])
    return stream.getvalue()
