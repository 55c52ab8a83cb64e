"""How the files of a draft hang together: ids, links between files, and their common form.

Columns that name the same unit may have different names in two files, and may write its id in
different ways. Names propose, values decide. A form is proposed only where it brings links together
and makes no two records of a file one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.ingest.draft_columns import DraftFile, Profile, counting_members, identifying
from sdcensus.ingest.draft_roles import (
    concepts,
    has_own_values,
    may_identify_units,
    may_number_members,
)
from sdcensus.ingest.draft_words import Concept, abbreviates, compact, core, unit_in
from sdcensus.ingest.id_parts import MOST_ID_DIGITS, joined, most_digits, plain_texts
from sdcensus.ingest.readers import ColumnKind
from sdcensus.model.schema.id_forms import IdForm
from sdcensus.model.schema.variable import Entity

#: Ways to name a parent that are tried.
_MOST_WAYS = 24
#: How close the names of two columns are: the same, or the same unit in other words.
_SAME, _ALIKE = 3, 2
#: Columns of other names are taken for a link if so many of their values are ids (fewer if the
#: name speaks of the unit), and if there are so many ids that this is no chance, of which so many
#: are named.
_LIKELY, _LIKELY_BY_NAME = 0.95, 0.3
_LEAST_IDS, _LEAST_NAMED = 40, 0.2
_ORDER = list(Entity)
_NO_LINK = frozenset(
    {Concept.CONTACT, Concept.PERSONAL_NAME, Concept.WEIGHT, Concept.AGE, Concept.SEX, Concept.AREA}
)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way in which a file may name the units of another: its columns, and how well they do."""

    columns: tuple[str, ...]
    by_name: int
    share: float

    @property
    def rank(self) -> tuple[float, int]:
        """Better ways have a higher one: first what matches, then what is called alike."""
        return round(self.share, 1), self.by_name


def link_files(files: Sequence[DraftFile]) -> None:
    """Find ids and links of all files, larger units first, and the form in which they compare."""
    linker = _Linker()
    for file in sorted(files, key=lambda file: -_ORDER.index(file.entity)):
        larger = [other for other in files if _is_larger(other, file) and other.id]
        for other in sorted(larger, key=lambda other: _ORDER.index(other.entity)):
            free = not any(each.holder is other for each in files)
            if linker.link(file, other) or (free and linker.link_by_another_id(file, other)):
                break
        file.id = _id_of(file)
    for file in files:
        if file.id:
            linker.declare_form(file, [other for other in files if other.holder is file])


def entity_by_columns(file: DraftFile) -> Entity | None:
    """What the rows of a file are, by its columns: persons have an age, others the smallest id."""
    about = {concept for profile in file.profiles.values() for concept in concepts(profile)}
    if {Concept.SEX, Concept.AGE} & about:
        return Entity.PERSON
    units = {unit_in(name) for name, profile in file.profiles.items() if profile.longest > 0}
    return next((entity for entity in Entity if entity in units), None)


def _is_larger(other: DraftFile, file: DraftFile) -> bool:
    return _ORDER.index(other.entity) > _ORDER.index(file.entity)


def _id_of(file: DraftFile) -> list[str]:
    """The columns that identify a record: if possible, those of what holds it and some more."""
    candidates = [name for name, profile in file.profiles.items() if may_identify_units(profile)]
    if file.link and not file.optional:
        columns = identifying(file.reader, candidates, file.link)
        if len(columns) > len(file.link):
            return columns
        numbers = [name for name, profile in file.profiles.items() if may_number_members(profile)]
        for name in counting_members(file.reader, file.link, numbers):
            columns = identifying(file.reader, [name], file.link)
            if name in columns:
                return columns
    # Names first; else whatever has a value of its own in every row.
    unique = [name for name, profile in file.profiles.items() if has_own_values(profile)]
    return identifying(file.reader, candidates) or identifying(file.reader, unique)


class _Linker:
    """Finds links and forms; remembers the ids that it read."""

    def __init__(self) -> None:
        self._texts: dict[tuple[Path, str], pa.Array] = {}

    # ------------------------------------------------------------ links

    def link(self, file: DraftFile, other: DraftFile) -> bool:
        """Whether a file names the units of another; the columns are noted in it."""
        likely_columns = [_columns_like(file, other, name) for name in other.id]
        ways = [
            self._tried(file, other, columns)
            for columns in islice(product(*likely_columns), _MOST_WAYS)
            if len(set(columns)) == len(columns)
        ]
        parts = len(other.id)
        # Same names are taken at their word, whatever the values: the load says what is wrong.
        same = [way for way in ways if way.by_name == _SAME * parts]
        likely = [
            way
            for way in ways
            if way.share >= (_LIKELY if way.by_name < _ALIKE * parts else _LIKELY_BY_NAME)
        ]
        best = max([*same, *likely], default=None, key=lambda way: way.rank)
        if best is None:
            return False
        file.holder, file.link = other, list(best.columns)
        file.optional = any(file.profiles[name].empty for name in best.columns)
        if best.by_name < _SAME * parts:
            file.link_notes.append("guessed: the link, from names and values of the columns.")
        others = [" + ".join(way.columns) for way in likely if way.columns != best.columns]
        if others:
            file.link_notes.append(f"These columns would link as well: {'; '.join(others)}.")
        if file.optional:
            file.link_notes.append(f"guessed: some {file.entity.plural} name no {other.entity}.")
        return True

    def link_by_another_id(self, file: DraftFile, other: DraftFile) -> bool:
        """Whether a file names the units of another by an id that was not taken for theirs.

        Households may have a number in their dwelling and one of their own: persons name the
        latter, which is the id then.
        """
        taken = other.id
        for name, profile in other.profiles.items():
            may_be_id = Concept.NUMBER in concepts(profile) and may_identify_units(profile)
            is_named = name in file.profiles or unit_in(name) is other.entity
            if not may_be_id or not is_named or not identifying(other.reader, [name]):
                continue
            other.id = [name]
            if self.link(file, other):
                return True
        other.id = taken
        return False

    def _tried(self, file: DraftFile, other: DraftFile, columns: tuple[str, ...]) -> _Way:
        """How well some columns name the units of another file."""
        named = zip(columns, other.id, strict=True)
        by_name = sum(_by_name(mine, theirs, other.entity) for mine, theirs in named)
        widest = IdForm(self._widths([(file, columns), (other, other.id)]))
        forms = (replace(widest, any_case=True), widest, IdForm())
        form = next(form for form in forms if not self._merges(other, form))
        links = self._ids(file, columns, form).drop_null()
        known = self._ids(other, other.id, form)
        hits = links.filter(pc.is_in(links, value_set=known))
        share = len(hits) / max(len(links), 1)
        # Numbers from 1 to 30 are ages as well as ids: many ids, of which many are named, are not.
        named_ids = pc.count_distinct(hits).as_py()
        by_chance = len(known) < _LEAST_IDS or named_ids < _LEAST_NAMED * len(known)
        return _Way(columns, by_name, 0.0 if by_chance and not by_name else share)

    # ------------------------------------------------------------ forms

    def declare_form(self, file: DraftFile, members: Sequence[DraftFile]) -> None:
        """The simplest form in which most links match and no two records of the file are one."""
        owners = [(file, file.id), *((member, member.link) for member in members)]
        widths = self._widths(owners)
        # Where a file stores numbers, their text is not fixed, so that their digits are needed.
        needed = tuple(
            width if any(_is_number(owner, columns[at]) for owner, columns in owners) else 0
            for at, width in enumerate(widths)
        )
        chosen = IdForm()
        as_written = best = fewest = self._lost(file, members, chosen)
        for form in _simplest_first(needed, widths):
            if not any(needed) and not fewest:
                break
            lost = self._lost(file, members, form)
            fewest = min(fewest, lost)
            better = lost < best or (any(needed) and not chosen.declared)
            if better and not self._merges(file, form):
                chosen, best = form, lost
                if not best:
                    break
        file.widths, file.any_case = list(chosen.widths), chosen.any_case
        if chosen.declared and best < as_written:
            file.form_notes.append(
                "guessed: files write this id in different ways, so all compare it in one form:"
                f"{' with zeros in front, in so many digits' * any(chosen.widths)}"
                f"{' and' * (any(chosen.widths) and chosen.any_case)}"
                f"{' without regard to capital letters' * chosen.any_case}."
            )
        elif chosen.declared:
            file.form_notes.append(
                "check 'id_width': how many digits the parts of the id have, with zeros in front."
            )
        if fewest < best:
            file.form_notes.append(
                "Files write this id in different ways, but some records of"
                f" {file.name} differ in nothing else: in one form, two would be one. Correct the"
                " files."
            )

    def _lost(self, file: DraftFile, members: Sequence[DraftFile], form: IdForm) -> int:
        """How many ids in links are none in a form."""
        if not members:
            return 0
        known = self._ids(file, file.id, form)
        links = [self._ids(member, member.link, form).drop_null().unique() for member in members]
        return sum(len(link) - int(pc.sum(pc.is_in(link, known)).as_py() or 0) for link in links)

    def _merges(self, file: DraftFile, form: IdForm) -> bool:
        """Whether two records of a file, all of which differ as written, have one id in a form."""
        compared = self._ids(file, file.id, form)
        return bool(pc.count_distinct(compared).as_py() < len(compared))

    def _widths(self, owners: Sequence[tuple[DraftFile, Sequence[str]]]) -> tuple[int, ...]:
        """For each part of an id, the most digits that any of the files has for it."""
        parts = range(len(owners[0][1]))
        return tuple(
            max(self._digits(file, columns[part]) for file, columns in owners) for part in parts
        )

    def _digits(self, file: DraftFile, name: str) -> int:
        """How many digits the whole numbers of a column have at most."""
        profile = file.profiles[name]
        if profile.whole and not profile.missing_texts:
            return min(profile.longest, MOST_ID_DIGITS)
        return most_digits(self._column(file, name))

    # ------------------------------------------------------------ reading

    def _ids(self, file: DraftFile, columns: Sequence[str], form: IdForm) -> pa.Array:
        """Ids as one text each, in a form; null where a part is empty."""
        return joined([self._column(file, name) for name in columns], form)

    def _column(self, file: DraftFile, name: str) -> pa.Array:
        key = (file.source.paths[0], f"{file.name}\n{name}")
        if key not in self._texts:
            arrays = [plain_texts(batch.column(0)) for batch in file.reader.batches([name])]
            self._texts[key] = pa.concat_arrays([pa.array([], pa.string()), *arrays])
        return self._texts[key]


def _simplest_first(needed: tuple[int, ...], widths: tuple[int, ...]) -> list[IdForm]:
    """The forms that are tried: as few changes as possible come first."""
    forms = [
        IdForm(tried if any(tried) else (), any_case)
        for any_case in (False, True)
        for tried in (needed, widths)
    ]
    return [form for form in dict.fromkeys(forms) if form.declared]


def _is_number(file: DraftFile, name: str) -> bool:
    return file.profiles[name].column.kind is not ColumnKind.TEXT


def _columns_like(file: DraftFile, other: DraftFile, name: str) -> list[str]:
    """The columns of a file that may hold what a column of another does, likely ones first."""
    theirs = other.profiles[name]
    closeness = {
        mine.name: close
        for mine in file.profiles.values()
        if (close := _by_name(mine.name, name, other.entity)) == _SAME
        or _may_name(mine, theirs, close)
    }
    # Values alone decide only where no name does, and only for ids of one column.
    alone = len(other.id) == 1 and not any(closeness.values())
    columns = [
        mine
        for mine, close in closeness.items()
        if close or (alone and _has_many(file.profiles[mine], theirs))
    ]
    return sorted(columns, key=lambda mine: -closeness[mine])


def _by_name(mine: str, theirs: str, entity: Entity) -> int:
    if mine == theirs:
        return _SAME
    if compact(mine) == compact(theirs) or core(mine) == core(theirs) != "":
        return _ALIKE
    unit = unit_in(mine)
    if unit is not None and unit is unit_in(theirs):
        return _ALIKE if unit is entity else 1
    return 1 if abbreviates(mine, theirs) or abbreviates(theirs, mine) else 0


def _has_many(mine: Profile, theirs: Profile) -> bool:
    """Whether a column has enough different values to name a good part of the ids of another."""
    return mine.counts is None or len(mine.counts) >= _LEAST_NAMED * theirs.stated


def _may_name(mine: Profile, theirs: Profile, close: int) -> bool:
    """Whether a column may hold what another does; areas only where it is called alike."""
    about = concepts(mine) - ({Concept.AREA} if close >= _ALIKE else set())
    return (
        mine.filled > 0
        and not about & _NO_LINK
        and not mine.column.value_labels
        and mine.number == theirs.number
        and mine.longest <= MOST_ID_DIGITS
    )
