"""Which column of a sheet holds what: by its heading, by what stands in it, or as it was named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from sdcensus.ingest.dictionaries.code_texts import (
    as_range,
    code_with_label,
    common_name,
    listed_codes,
)
from sdcensus.ingest.dictionaries.headings import (
    SPOKEN,
    ColumnRole,
    Heading,
    language_of,
    likely_language,
    read_heading,
)
from sdcensus.ingest.dictionaries.named_columns import NamedColumn, column_letter
from sdcensus.ingest.dictionaries.sheets import Row, Sheet

_ROWS_TO_TRY, _ROWS_TO_LOOK_AT = 40, 1500
_FEW_CANDIDATES = 6
#: A role needs so much evidence.
_ENOUGH = 4.0
_CODE = re.compile(r"[+-]?[0-9]{1,12}(?:[.,][0-9]+)?|\.[a-zA-Z]?|[A-Za-z]{1,3}[0-9]{0,6}")
_NAME = re.compile(r"[^\W\d][\w.$#@-]{0,63}")
_MAIN = (ColumnRole.VARIABLE, ColumnRole.LABEL, ColumnRole.VALUE, ColumnRole.VALUE_LABEL)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a sheet by their roles, and the rows below the headings.

    ``labels`` and ``value_labels`` are pairs of a language (empty: that of the dictionary) and a
    column. ``recognised`` is for messages: each role with its heading.
    """

    body: tuple[Row, ...]
    headings: tuple[str, ...]
    places: Mapping[ColumnRole, int]
    labels: tuple[tuple[str, int], ...] = ()
    value_labels: tuple[tuple[str, int], ...] = ()
    spoken: str = ""
    header_row: Row | None = None
    #: Whether a heading or the names of columns say which column has the variables.
    sure: bool = True

    def place(self, role: ColumnRole) -> int | None:
        """The column of a role."""
        return self.places.get(role)

    @property
    def recognised(self) -> str:
        """Each role with its heading, for messages."""
        return ", ".join(f"{role} = {self.title(place)!r}" for role, place in self.places.items())

    def title(self, place: int) -> str:
        """The heading of a column, or its letter."""
        heading = self.headings[place] if place < len(self.headings) else ""
        return heading or f"column {column_letter(place)}"

    @property
    def says_something(self) -> bool:
        """Whether there is a variable with a label, or a code with one."""
        roles = set(self.places)
        if not self.sure:
            return False
        named = bool(roles & {ColumnRole.VARIABLE, ColumnRole.LIST})
        return (
            ColumnRole.VARIABLE in roles
            and bool(roles & {ColumnRole.LABEL, ColumnRole.VALUE_LABEL, ColumnRole.VALUE})
        ) or ({ColumnRole.VALUE, ColumnRole.VALUE_LABEL} <= roles and named)


def recognise(
    sheet: Sheet, names: Iterable[str] = (), named: Sequence[NamedColumn] = ()
) -> Columns:
    """Find the headings of a sheet and the role of each column.

    Args:
        sheet: The cells.
        names: Columns of census files, which are the surest sign of the column with variables.
        named: Columns that the office named.
    """
    exact = frozenset(names)
    known = frozenset(map(common_name, exact))
    at, cells = _header(sheet, known, named)
    body = sheet.rows[at:]
    headings = [read_heading(cell) for cell in cells]
    headings += [read_heading("")] * (sheet.width - len(headings))
    fixed = _fixed(headings, named)
    looks = _Looks(body[:_ROWS_TO_LOOK_AT], headings, exact)
    places = _assigned(looks, {role: place for role, place, _ in fixed})
    spoken = {role: _spoken(role, looks, places, fixed) for role in SPOKEN}
    tongues = [name for place in places.values() for name in headings[place].spoken]
    most = max(map(tongues.count, tongues), default=0)
    tongue = likely_language(name for name in tongues if tongues.count(name) == most)
    return Columns(
        body,
        tuple(heading.text for heading in headings),
        places,
        spoken[ColumnRole.LABEL],
        spoken[ColumnRole.VALUE_LABEL],
        tongue,
        sheet.rows[at - 1] if at else None,
        bool(fixed) or not known or any(map(_says_role, headings)) or looks.names_columns(places),
    )


# ---------------------------------------------------------------- headings


def _header(
    sheet: Sheet, known: frozenset[str], named: Sequence[NamedColumn]
) -> tuple[int, tuple[str, ...]]:
    """Where the rows below the headings begin, and the headings."""
    rows = sheet.rows[:_ROWS_TO_TRY]
    if named:
        wanted = {common_name(column.heading) for column in named}
        times = [len(wanted & set(map(common_name, filter(None, row.cells)))) for row in rows]
        if max(times) > 0:
            at = times.index(max(times))
            return at + 1, rows[at].cells
    best, best_at = 0.0, -1
    for at, row in enumerate(rows):
        score = _heading_score(row, known)
        if score > best * 1.25:
            best, best_at = score, at
    if best_at >= 0:
        return _second_row(rows, best_at, known)
    # No word is known. The first row of several cells has the headings, unless it names a column.
    for at, row in enumerate(rows):
        filled = [cell for cell in row.cells if cell]
        if len(filled) > 1:
            is_entry = any(common_name(cell) in known for cell in filled)
            return (at, ()) if is_entry else (at + 1, row.cells)
    return 0, ()


def _heading_score(row: Row, known: frozenset[str]) -> float:
    """How much a row looks like headings; 0 if fewer than two cells do."""
    scores = []
    for cell in row.cells:
        if cell and len(cell) <= 60 and common_name(cell) not in known:
            scores.append(max(read_heading(cell).scores.values(), default=0.0))
    good = [score for score in scores if score >= _ENOUGH]
    filled = sum(bool(cell) for cell in row.cells)
    return sum(good) * (len(good) / max(filled, 1)) ** 0.5 if len(good) > 1 else 0.0


def _second_row(rows: Sequence[Row], at: int, known: frozenset[str]) -> tuple[int, tuple[str, ...]]:
    """The headings, joined with those of a second row where the first has merged cells."""
    first = rows[at]
    if at + 1 < len(rows):
        second = rows[at + 1]
        width = max(len(first.cells), len(second.cells))
        under = [place for place in range(width) if second.cell(place)]
        above = [first.cell(place) for place in under]
        if _heading_score(second, known) >= 2 * _ENOUGH and not all(above):
            joined, last = [], ""
            for place in range(width):
                last = first.cell(place) or (last if second.cell(place) else "")
                joined.append(f"{last} {second.cell(place)}".strip())
            return at + 2, tuple(joined)
    return at + 1, first.cells


def _fixed(
    headings: Sequence[Heading], named: Sequence[NamedColumn]
) -> list[tuple[ColumnRole, int, str]]:
    """The columns that were named, by heading or by letter, as far as the sheet has them."""
    titles = [common_name(heading.text) if heading.text else "" for heading in headings]
    letters = [column_letter(place) for place in range(len(headings))]
    places = []
    for column in named:
        wanted = common_name(column.heading)
        if wanted in titles:
            places.append((column.role, titles.index(wanted), column.language))
        elif column.heading.strip().upper() in letters:
            place = letters.index(column.heading.strip().upper())
            places.append((column.role, place, column.language))
    return places


# ---------------------------------------------------------------- contents


class _Looks:
    """How well each column fits each role, by its heading and by what stands in it."""

    def __init__(
        self, body: Sequence[Row], headings: Sequence[Heading], names: frozenset[str]
    ) -> None:
        self.body = body
        self.headings = headings
        self._names = names
        self._known = frozenset(map(common_name, names))
        self._columns = [[row.cell(place) for row in body] for place in range(len(headings))]
        self._blocks: dict[int, list[int]] = {}
        # The same pairs of columns are weighed in many choices.
        self.own = cache(self._own)
        self.label_fits = cache(self._label_fits)
        self.value_fits = cache(self._value_fits)
        self.value_label_fits = cache(self._value_label_fits)
        self.lists_codes = cache(self._lists_codes)

    def _own(self, role: ColumnRole, place: int) -> float:
        """The heading and the cells of a column alone."""
        filled = [cell for cell in self._columns[place] if cell]
        if not filled:
            return -99.0
        score = self.headings[place].score(role)
        if role is ColumnRole.VARIABLE:
            distinct = set(filled)
            matches = sum(common_name(cell) in self._known for cell in distinct)
            # A label is often the name in other letters: "Sexo" of SEXO.
            exact = sum(cell in self._names for cell in distinct)
            score += 9 * min(1.0, 1.5 * matches / len(distinct)) if self._known else 0
            score += 3 * min(1.0, 1.5 * exact / len(distinct))
            score += 4 * _share(filled, lambda cell: bool(_NAME.fullmatch(cell))) - 2
            if self._known and not matches:
                score -= 6
        elif role is ColumnRole.VALUE:
            score += 8 * _share(filled, _is_code) - 4
        else:
            worded = _share(filled, lambda cell: any(sign.isalpha() for sign in cell))
            score += 6 * worded - 3
            # A column of names is no column of labels.
            score -= 6 * _share(filled, lambda cell: cell in self._names)
        return score

    def block(self, place: int) -> list[int]:
        """For each row the number of the block that a column begins wherever it changes."""
        if place not in self._blocks:
            numbers, number, last = [], 0, ""
            for cell in self._columns[place]:
                if cell and cell != last:
                    number, last = number + 1, cell
                numbers.append(number)
            self._blocks[place] = numbers
        return self._blocks[place]

    def _label_fits(self, variable: int, label: int) -> float:
        """A label belongs to a variable: it is the same in all of its rows, or stands once."""
        seen: dict[int, set[str]] = {}
        for block, cell in zip(self.block(variable), self._columns[label], strict=True):
            if cell:
                seen.setdefault(block, set()).add(cell)
        if not seen:
            return -9.0
        single = sum(len(cells) == 1 for cells in seen.values()) / len(seen)
        return 8 * single - 4 + 2 * min(1.0, len(seen) / max(1, self.block(variable)[-1]))

    def is_constant(self, variable: int, label: int) -> bool:
        """Whether a column says the same in all rows of each variable."""
        seen: dict[int, set[str]] = {}
        for block, cell in zip(self.block(variable), self._columns[label], strict=True):
            seen.setdefault(block, set()).update([cell] if cell else [])
        return all(len(cells) < 2 for cells in seen.values())

    def _value_fits(self, variable: int | None, value: int) -> float:
        """Codes differ within a variable."""
        if variable is None:
            return 0.0
        seen: dict[int, list[str]] = {}
        for block, cell in zip(self.block(variable), self._columns[value], strict=True):
            if cell:
                seen.setdefault(block, []).append(cell)
        several = [cells for cells in seen.values() if len(cells) > 1]
        if not several:
            return 0.0
        return 6 * sum(len(set(cells)) == len(cells) for cells in several) / len(several) - 3

    def _value_label_fits(self, value: int, label: int) -> float:
        """The label of a code stands where the code does."""
        both = either = 0
        for code, cell in zip(self._columns[value], self._columns[label], strict=True):
            both += bool(code) and bool(cell)
            either += bool(code)
        return 8 * both / either - 4 if either else -9.0

    def tongue(self, place: int) -> str:
        """The language of a column: as its heading names it, by its words, by those above them."""
        heading = self.headings[place]
        words = language_of(self._columns[place])
        return heading.language or words or likely_language(heading.spoken)

    def names_columns(self, places: Mapping[ColumnRole, int]) -> bool:
        """Whether a good part of the variables are columns of census files, and more than one."""
        place = places.get(ColumnRole.VARIABLE)
        distinct = set(filter(None, self._columns[place])) if place is not None else set()
        matches = sum(common_name(cell) in self._known for cell in distinct)
        return matches > 1 and 4 * matches >= len(distinct)

    def _lists_codes(self, place: int) -> bool:
        """Whether the cells are lists of codes with labels."""
        filled = [cell for cell in self._columns[place] if cell]
        lists = sum(bool(listed_codes(cell) or code_with_label(cell)) for cell in filled)
        return bool(filled) and lists * 4 > len(filled)


def _share(cells: Sequence[str], test: Callable[[str], bool]) -> float:
    return sum(test(cell) for cell in cells) / len(cells)


def _is_code(cell: str) -> bool:
    return bool(_CODE.fullmatch(cell)) or as_range(cell) is not None


# ---------------------------------------------------------------- roles


def _assigned(looks: _Looks, fixed: Mapping[ColumnRole, int]) -> dict[ColumnRole, int]:
    """The column of each role: the best choice for the main ones, then the others by words."""
    places = dict(fixed)
    free = [place for place in range(len(looks.headings)) if place not in fixed.values()]
    for role in ColumnRole:
        if role in _MAIN or role in places:
            continue
        best = max(free, key=lambda place: looks.headings[place].score(role), default=None)
        if best is None or not looks.headings[best].text:
            continue
        score = looks.headings[best].score(role)
        others = [looks.headings[best].score(main) for main in _MAIN]
        if score >= 2 * _ENOUGH and score > max(others):
            places[role] = best
            free.remove(best)
    candidates = [_candidates(role, looks, free, places) for role in _MAIN]
    best_score = float("-inf")
    best_choice: tuple[int | None, ...] = (None,) * len(_MAIN)
    for choice in product(*candidates):
        taken = [place for place in choice if place is not None]
        if len(set(taken)) < len(taken):
            continue
        score = _together(looks, *choice)
        if score > best_score:
            best_score, best_choice = score, choice
    for role, place in zip(_MAIN, best_choice, strict=True):
        if place is not None:
            places[role] = place
    variable, label = places.get(ColumnRole.VARIABLE), places.get(ColumnRole.LABEL)
    alone = ColumnRole.VALUE in places and ColumnRole.VALUE_LABEL not in places
    free_label = alone and ColumnRole.LABEL not in fixed
    if free_label and not (variable is None or label is None or looks.is_constant(variable, label)):
        # The only texts are those of the codes.
        places[ColumnRole.VALUE_LABEL] = places.pop(ColumnRole.LABEL)
    return places


def _candidates(
    role: ColumnRole, looks: _Looks, free: Sequence[int], fixed: Mapping[ColumnRole, int]
) -> list[int | None]:
    if role in fixed:
        return [fixed[role]]
    ranked = sorted(free, key=lambda place: -looks.own(role, place))
    return [None, *(place for place in ranked if looks.own(role, place) > 0)][: _FEW_CANDIDATES + 1]


def _together(
    looks: _Looks, variable: int | None, label: int | None, value: int | None, text: int | None
) -> float:
    """How well four columns fit together; a role must bring enough to be given."""
    score = 0.0
    if variable is not None:
        score += looks.own(ColumnRole.VARIABLE, variable) + 2
    if label is not None and variable is not None:
        own = looks.own(ColumnRole.LABEL, label)
        score += own + looks.label_fits(variable, label) - _ENOUGH
    elif label is not None:
        score -= 99
    if value is not None:
        own = looks.own(ColumnRole.VALUE, value)
        score += own + looks.value_fits(variable, value) - _ENOUGH
    if text is not None and value is not None:
        own = looks.own(ColumnRole.VALUE_LABEL, text)
        score += own + looks.value_label_fits(value, text) - _ENOUGH
        score += looks.value_fits(variable, text) / 2
    elif text is not None:
        lists = looks.lists_codes(text)
        score += looks.own(ColumnRole.VALUE_LABEL, text) if lists else -99
    return score


def _spoken(
    role: ColumnRole,
    looks: _Looks,
    places: Mapping[ColumnRole, int],
    fixed: Sequence[tuple[ColumnRole, int, str]],
) -> tuple[tuple[str, int], ...]:
    """The columns of a role in its languages, from left to right."""
    named = [(language, place) for fixed_role, place, language in fixed if fixed_role is role]
    if len(named) > 1:
        return tuple(named)
    main = places.get(role)
    if main is None:
        return ()
    first = named[0][0] if named else looks.headings[main].language
    columns: dict[str, int] = {}
    for place, heading in enumerate(looks.headings):
        if place in places.values() or place == main:
            continue
        rivals = [heading.score(rival) for rival in SPOKEN if rival is not role]
        clear = heading.score(role) >= 2 * _ENOUGH and heading.score(role) > max(rivals)
        if _same_words(looks.headings[main], heading):
            columns.setdefault(heading.language, place)
        elif clear and not heading.spoken & looks.headings[main].spoken:
            columns.setdefault(looks.tongue(place), place)
    if columns and not first:
        first = looks.tongue(main)
    columns[first] = main
    return tuple(sorted(columns.items(), key=lambda column: column[1]))


def _says_role(heading: Heading) -> bool:
    return heading.score(ColumnRole.VARIABLE) >= _ENOUGH or heading.score(ColumnRole.VALUE) > 0


def _same_words(first: Heading, second: Heading) -> bool:
    """Whether two headings differ in nothing but the language that they name."""
    return bool(second.language) and bool(first.scores) and first.scores == second.scores
