"""Variables that name a second place of the same people: where they work, were born, lived before.

Whoever moves units to other areas calls ``check_second_geographies`` before any work and
``follow_places`` with the new areas afterwards, and adds what it answers to its changes::

    check_second_geographies(store.schema, carry=self.carry, rederive=self.rederive)
    moved = NewValues(rows, areas)  # of the main geography, whatever unit holds it
    followed = follow_places(store, moved, carry=self.carry, rederive=self.rederive)
    Changes(codes={geography.name: moved, **followed.codes}, facts=(*facts, *followed.facts),
            notes=(*notes, *followed.notes), figures={**figures, **followed.figures})

Carried variables are exchanged by the swap itself; here they are only left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence, SpecError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import Changes, FactTable, NewValues
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, Level, Role, Variable
from sdcensus.model.sentences import Value, sentence
from sdcensus.model.spec.headings import entity_words
from sdcensus.store.census_store import CensusStore

Positions = npt.NDArray[np.int64]

#: A position at a level that a code does not name.
NOWHERE = -1
#: Codes with this many signs are no plain numbering: equal ones mean the same.
_TELLING_LENGTH = 3
#: A plain numbering of fewer codes than this is shared by chance.
_FEWEST_NUMBERS = 3

REDERIVE = Parameter(
    "rederive",
    ValueKind.VARIABLES,
    "Second geographies, such as the place of work: a code that named the own area before names the"
    " new area afterwards.",
)


@dataclass(frozen=True, slots=True, eq=False)
class SecondGeography:
    """A variable whose codes name areas of the main geography, or other areas.

    Attributes:
        variable: The variable.
        level: The level of the main geography that its codes name; ``None`` where they name none.
        named: For each of its leaves the position at that level, or ``NOWHERE``.
    """

    variable: Variable
    level: Level | None
    named: Positions

    def leaf_of(self) -> Positions:
        """For each position of the level the first leaf that names it, or ``NOWHERE``."""
        assert self.level is not None
        leaves = np.full(len(self.level.codes), NOWHERE, dtype=np.int64)
        known = np.flatnonzero(self.named != NOWHERE)[::-1]
        leaves[self.named[known]] = known
        return leaves


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FollowedPlaces(Confidential):
    """What becomes of second geographies when units move.

    Attributes:
        codes: New codes of re-derived variables.
        facts: What was done with each variable, with numbers; empty without any.
        notes: A warning for each variable that does not follow.
        figures: Counts by name.
    """

    codes: Mapping[str, NewValues] = field(default_factory=dict)
    facts: tuple[FactTable, ...] = ()
    notes: tuple[Sentence, ...] = ()
    figures: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "<FollowedPlaces: confidential>"


def second_geographies(schema: Schema) -> tuple[SecondGeography, ...]:
    """The variables that name a second place, in the order of the schema.

    A variable is one if the schema says so (role geography, not main), or if its code list shares
    most of its codes or labels with a level of the main geography, in either direction. Equal codes
    with different labels are different things: district 1 is not tenure 1. Codes without labels
    that could be any numbering (1, 2, 3) count only where both lists are the same.
    """
    return schema.kept(_second_geographies)


def _second_geographies(schema: Schema) -> tuple[SecondGeography, ...]:
    main = schema.geography
    if main is None:
        return ()
    others = [other for other in schema.variables if other is not main and other.is_axis]
    compared = [_compared(other, main) for other in others]
    return tuple(
        second
        for second in compared
        if second.level is not None or second.variable.role is Role.GEOGRAPHY
    )


def _compared(variable: Variable, main: Variable) -> SecondGeography:
    """A variable with the level that its codes name best, the finest of several."""
    best = SecondGeography(variable, None, np.full(len(variable.codes), NOWHERE, dtype=np.int64))
    most = 0
    for level in main.plain_levels:
        names = main.kept(("names of areas", level.name), partial(_names, level))
        named = _named(variable, level, names)
        shared = int((named != NOWHERE).sum())
        if shared > most and _means_it(variable, level, named):
            best, most = SecondGeography(variable, level, named), shared
    return best


def _names(level: Level) -> tuple[dict[str, int], dict[str, int]]:
    """The positions of the areas of a level by their codes and by their labels."""
    by_code = {code.code: at for at, code in enumerate(level.codes) if not code.is_missing}
    by_label: dict[str, int] = {}
    for at, code in enumerate(level.codes):
        if not code.is_missing and _label(code):
            by_label.setdefault(_label(code), at)
    return by_code, by_label


def _named(
    variable: Variable, level: Level, names: tuple[dict[str, int], dict[str, int]]
) -> Positions:
    """For each leaf the position of the area at a level that it names."""
    by_code, by_label = names
    named = np.full(len(variable.codes), NOWHERE, dtype=np.int64)
    for leaf, code in enumerate(variable.codes):
        if code.is_missing:
            continue
        at = by_code.get(code.code, NOWHERE)
        if at != NOWHERE and _label(code) and _label(level.codes[at]):
            at = at if _label(code) == _label(level.codes[at]) else NOWHERE
        named[leaf] = at if at != NOWHERE else by_label.get(_label(code), NOWHERE)
    return named


def _means_it(variable: Variable, level: Level, named: Positions) -> bool:
    """Whether so many codes are shared that it cannot be chance."""
    own = sum(not code.is_missing for code in variable.codes)
    areas = sum(not code.is_missing for code in level.codes)
    shared = np.flatnonzero(named != NOWHERE)
    reached = len(set(named[shared].tolist()))
    telling = sum(
        _telling(variable.codes[leaf], level.codes[named[leaf]]) for leaf in shared.tolist()
    )
    if 2 * telling >= shared.size:
        return shared.size > 1 and (2 * shared.size > own or 2 * reached > areas)
    return shared.size == own and reached == areas >= _FEWEST_NUMBERS


def _telling(code: Code, area: Code) -> bool:
    """Whether a code and an area that agree do so by more than a small number."""
    if _label(code) and _label(code) == _label(area):
        return True
    return len(code.code) >= _TELLING_LENGTH or not code.code.isdigit()


def _label(code: Code) -> str:
    return code.label.show().strip().casefold()


def check_second_geographies(
    schema: Schema, *, carry: Sequence[str] = (), rederive: Sequence[str] = ()
) -> None:
    """Refuse what cannot be done with second geographies.

    Raises:
        SpecError: A variable is to be carried and re-derived, or names no area of the census.
    """
    known = {second.variable.name: second for second in second_geographies(schema)}
    main = schema.geography
    for name in rederive:
        variable = schema.variable(name)
        if name in carry:
            raise SpecError(
                f"{name!r} can be carried along or re-derived, not both. Leave it out of --carry or"
                " of --rederive."
            )
        if main is None or variable is main or name not in known:
            listed = ", ".join(known) or "none"
            raise SpecError(
                f"{name!r} is no second geography: its codes are not those of areas. Second"
                f" geographies of this census: {listed}. Leave it out of --rederive."
            )
        if known[name].level is None:
            raise SpecError(
                f"The codes of {name!r} name no areas of {main.name!r}, so it cannot be re-derived"
                " when the area changes. Leave it out of --rederive; if it describes the units that"
                f" move, it can go with the place: --carry {name}."
            )
        if main.entity not in schema.lineage(variable.entity):
            raise SpecError(
                f"{name!r} describes {variable.entity.plural}, which do not lie in"
                f" {main.entity.plural}: it has no own area to be re-derived from. Leave it out of"
                " --rederive."
            )


def follow_places(
    store: CensusStore,
    moved: NewValues | Changes,
    *,
    carry: Sequence[str] = (),
    rederive: Sequence[str] = (),
) -> FollowedPlaces:
    """What becomes of second geographies when units have new areas.

    A re-derived variable names the new area where it named the own one before, at the level of its
    code list: people who work where they live, or never moved, stay so. No other code changes.
    Carried ones go with the place, which is the business of the swap. All others are warned about:
    they tell of moves that nobody made, and tables of origin and destination are not protected.

    Args:
        store: The store as it is.
        moved: New codes of the main geography, or all changes by which units have other areas.
        carry: Variables that the swap exchanges together with the area.
        rederive: Variables to re-derive.
    """
    schema = store.schema
    check_second_geographies(schema, carry=carry, rederive=rederive)
    if schema.geography is None:
        return FollowedPlaces()
    if isinstance(moved, NewValues):
        moved = Changes(codes={schema.geography.name: moved})
    derived = DerivedRecords(store, moved)
    codes: dict[str, NewValues] = {}
    notes: list[Sentence] = []
    lines: list[tuple[str, str, str, int | None, int | None, int | None]] = []
    figures: dict[str, int] = {}
    for second in second_geographies(schema):
        name = second.variable.name
        level = "" if second.level is None else second.level.name
        treated = "carried" if name in carry else "derived" if name in rederive else "left"
        treatment = sentence(f"swap.geographies.{treated}")
        if name in carry:
            lines.append((name, level, treatment, None, None, None))
            continue
        stays = _Stays.of(derived, second)
        if name in rederive:
            codes[name] = stays.new
            figures[f"rederived {name}"] = int(stays.new.rows.size)
            lines.append(
                (name, level, treatment, stays.moved, stays.at_home, int(stays.new.rows.size))
            )
            if stays.unnamed:
                notes.append(sentence("swap.geographies.unnamed", variable=name, n=stays.unnamed))
            continue
        lines.append((name, level, treatment, stays.moved, stays.at_home, 0))
        notes.append(_warning(second, stays))
    return FollowedPlaces(codes=codes, facts=_facts(lines), notes=tuple(notes), figures=figures)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Stays(Confidential):
    """The records that have another area now, and what a second geography says of them.

    Attributes:
        moved: How many have another area, at the level that the variable names if it names one.
        at_home: How many of them named their own area before.
        unnamed: How many of these have a new area that the code list of the variable lacks.
        new: The codes with which the others name their new area.
    """

    moved: int
    at_home: int
    unnamed: int
    new: NewValues

    @classmethod
    def of(cls, derived: DerivedRecords, second: SecondGeography) -> _Stays:
        store, variable, level = derived.store, second.variable, second.level
        main = store.schema.geography
        entity = variable.entity
        nothing = NewValues(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        assert main is not None
        if main.entity not in store.schema.lineage(entity) or not store.has(entity, main.name):
            return cls(0, 0, 0, nothing)
        before, after = store.raw(entity, main.name), derived.column(entity, main.name)
        rows = np.flatnonzero(before != after)
        if level is None:
            return cls(int(rows.size), 0, 0, nothing)
        old, new = level.group_array[before[rows]], level.group_array[after[rows]]
        rows, old, new = rows[old != new], old[old != new], new[old != new]
        at_home = second.named[store.raw(entity, variable.name)[rows]] == old
        leaves = second.leaf_of()[new[at_home]]
        has_code = leaves != NOWHERE
        return cls(
            int(rows.size),
            int(at_home.sum()),
            int((~has_code).sum()),
            NewValues(rows[at_home][has_code], leaves[has_code]),
        )


def _warning(second: SecondGeography, stays: _Stays) -> Sentence:
    values: dict[str, Value] = {
        "variable": second.variable.name,
        "units": entity_words(second.variable.entity),
        "moved": stays.moved,
    }
    if second.level is None:
        return sentence("swap.geographies.other", **values)
    return sentence(
        "swap.geographies.unprotected", **values, level=second.level.name, movers=stays.at_home
    )


def _facts(
    lines: Sequence[tuple[str, str, str, int | None, int | None, int | None]],
) -> tuple[FactTable, ...]:
    if not lines:
        return ()
    headings = ("variable", "level", "treatment", "moved", "at_home", "rederived")
    return (
        FactTable(
            name="second-geographies",
            title=sentence("swap.geographies.title"),
            headings=tuple(sentence(f"swap.geographies.{heading}") for heading in headings),
            rows=tuple(lines),
            note=sentence("swap.geographies.note"),
        ),
    )
