"""Ages of the members of large households, moved by a few years.

A household of eleven is known in its village by the ages of its members. Where the office does not
draw such households again, each member gets an age within some years of the own one. Members keep
their order by age; children stay children and adults adults; and nobody crosses an age that the
edit rules or universes of the schema name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Draws, FactTable
from sdcensus.microdata.release.records import NO_HOLDER, FileRecords
from sdcensus.microdata.release.sample import household_sizes, release_counter
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.plan import LargeHouseholds, ReleasePlan
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.roles import IndicatorRole, variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.universe import bounds, universe_of

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: Draws for ages, beside those of samples.
_AGES = 3
#: Whoever is younger stays younger, whatever the schema says.
ADULT = 15


def ages_moved(records: FileRecords, plan: ReleasePlan, draws: Draws) -> FileRecords:
    """The records with other ages in large households, where the plan asks for it.

    Comes right after the records were read, before keys are blanked.

    Args:
        records: What the file tells.
        plan: From which size on, and by how many years.
        draws: Random numbers for samples.

    Raises:
        SpecError: Nothing tells which variable is the age, or the number of years is below 1.
    """
    asked = plan.large is LargeHouseholds.PERTURB_AGES and plan.large_above is not None
    if not asked or (Entity.PERSON, Entity.HOUSEHOLD) not in records.holders:
        return records
    if plan.age_shift < 1:
        raise SpecError("Ages in large households are moved by at least 1 year: age_shift = 2.")
    age = _age(records.store.schema)
    told = [each for each in records.design.of(Entity.PERSON) if each.source.name == age.name]
    if not told:
        return records.told(notes=(sentence("release_sample.ages.none"),))
    holder = records.holders[Entity.PERSON, Entity.HOUSEHOLD]
    households = records.sample.rows[Entity.HOUSEHOLD]
    large = household_sizes(records.store)[households] > plan.large_above
    members = np.flatnonzero((holder != NO_HOLDER) & np.append(large, False)[holder])
    rows = records.sample.rows[Entity.PERSON][members]
    digests = records.store.digests(Entity.PERSON)[rows]
    words = draws.words(digests, release_counter(plan.name), _AGES)
    ties = (digests, holder[members])
    codes: dict[str, Integers] = {}
    amounts: dict[str, Int64] = {}
    moved = np.zeros(members.size, dtype=bool)
    for variable in told:
        if variable.amounts:
            own = records.amounts[variable.name].copy()
            unit = 10**variable.source.decimals
            values = _moved_amounts(own[members], words, ties, plan.age_shift, unit)
            moved |= values != own[members]
            own[members] = values
            amounts[variable.name] = own
        else:
            column = records.codes[variable.name].copy()
            new = _moved_codes(records, variable, rows, words, ties, plan.age_shift)
            moved |= new != column[members]
            column[members] = new
            codes[variable.name] = column
    figures = (int(large.sum()), int(members.size), int(moved.sum()))
    return records.told(codes=codes, amounts=amounts, facts=(_facts(figures),))


def _facts(figures: tuple[int, ...]) -> FactTable:
    headings = ("households", "persons", "moved")
    return FactTable(
        name="ages-of-large-households",
        title=sentence("release_sample.ages.title"),
        headings=tuple(sentence(f"release_sample.ages.{heading}") for heading in headings),
        rows=(figures,),
    )


def _age(schema: Schema) -> Variable:
    try:
        return variable_for(IndicatorRole.AGE, schema)
    except SpecError as error:
        raise SpecError(f"Ages in large households are to be moved: {error}") from None


def _moved_codes(
    records: FileRecords,
    variable: FileVariable,
    rows: Int64,
    words: UInt64,
    ties: tuple[UInt64, Int64],
    shift: int,
) -> Integers:
    source = variable.source
    leaves = np.asarray(records.store.column(Entity.PERSON, source)[rows], dtype=np.int64)
    years = np.array([_year(source, leaf) for leaf in range(len(source.codes))], dtype=np.int64)
    classes = _classes(records.store.schema, source, years)
    choices = [
        np.flatnonzero((classes == classes[leaf]) & (np.abs(years - years[leaf]) <= shift))
        for leaf in range(years.size)
    ]
    width = max((each.size for each in choices), default=1)
    table = np.array([np.resize(each, width) for each in choices], dtype=np.int64)
    sizes = np.array([each.size for each in choices], dtype=np.uint64)
    drawn = table[leaves, (words % sizes[leaves]).astype(np.int64)]
    kept = _in_order(years[leaves], years[drawn], classes[leaves], drawn, ties)
    groups: Integers = variable.level.group_array.astype(records.codes[variable.name].dtype)
    return groups[kept]


def _year(variable: Variable, leaf: int) -> int:
    """The age that a code stands for, where it begins; below 0 for one without number."""
    code = variable.codes[leaf]
    lower, _ = bounds(code)
    return -1 if code.is_missing or lower is None else lower


def _classes(schema: Schema, age: Variable, years: Int64) -> Int64:
    """For each leaf the class of leaves among which it may move."""
    leaves = np.arange(years.size)
    # Codes without a number, and the open one at the end, stay as they are.
    fixed = np.array(
        [
            code.is_missing or bounds(code)[0] is None or bounds(code)[1] is None
            for code in age.codes
        ],
        dtype=bool,
    )
    columns: list[Integers] = [np.where(fixed, leaves, -1), years < ADULT]
    conditions = [rule.when for rule in schema.impossible if rule.relation is None]
    conditions += [universe.condition for universe in schema.universes]
    for condition in conditions:
        universe = universe_of(condition, schema)
        pairs = zip(universe.variables, universe.classes, strict=True)
        columns += [classes for variable, classes in pairs if variable.name == age.name]
    stacked = np.stack([np.asarray(column, dtype=np.int64) for column in columns])
    return np.unique(stacked, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _in_order(
    old: Int64, new: Int64, classes: Int64, values: Int64, ties: tuple[UInt64, Int64]
) -> Int64:
    """New values, given within each household and class in the order of the old ones.

    Sorted numbers are as near to each other as the pairs were that they come from.
    """
    digests, households = ties
    before = np.lexsort((digests, old, classes, households))
    after = np.lexsort((digests, new, classes, households))
    result = np.empty_like(values)
    result[before] = values[after]
    return result


def _moved_amounts(
    values: Int64, words: UInt64, ties: tuple[UInt64, Int64], shift: int, unit: int
) -> Int64:
    known = values != NO_VALUE
    steps = (words % np.uint64(2 * shift + 1)).astype(np.int64) - shift
    child = values < ADULT * unit
    low = np.where(child, 0, ADULT * unit)
    high = np.where(child, ADULT * unit - 1, np.iinfo(np.int64).max)
    safe = np.where(known, values, 0)
    new = np.where(known, np.clip(safe + steps * unit, low, high), values)
    classes = np.where(known, child.astype(np.int64), 2)
    return _in_order(values, new, classes, new, ties)
