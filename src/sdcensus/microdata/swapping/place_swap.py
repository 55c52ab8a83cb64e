"""What swapping methods share from end to end: parameters, pairs that are kept, notes, changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sdcensus.errors import Sentence, SpecError
from sdcensus.microdata.method import Changes, FactTable
from sdcensus.microdata.swapping.earlier import SwapPairs, joined, pairs_file, read_pairs
from sdcensus.microdata.swapping.exchange import (
    exchanged,
    exchanged_places,
    moving_variables,
    staying_grids,
)
from sdcensus.microdata.swapping.facts import failure_counts, outcome_facts
from sdcensus.microdata.swapping.reach import region_name
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome, qualifying
from sdcensus.microdata.swapping.second_geographies import follow_places
from sdcensus.microdata.swapping.units import UnitTable
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.headings import entity_words

#: Above this rate handbooks warn.
_MUCH = 0.10

OF = Parameter(
    "of",
    ValueKind.UNITS,
    "The units that exchange places, whole: households, or what holds them. Households live in the"
    " dwelling of their partner then, where dwellings or buildings have the areas.",
)
LEVELS = Parameter(
    "levels",
    ValueKind.VARIABLES,
    "The levels of the geography at which units may be at risk, from coarse to fine; else all.",
)
REACH = Parameter(
    "reach",
    ValueKind.LISTS,
    "Where partners lie, by the level at risk: district:parish or parish:anywhere. Else within the"
    " next larger area; of the coarsest level, anywhere.",
    excludes=("within",),
)
WITHIN = Parameter("within", ValueKind.TEXT, "The level inside whose areas all partners lie.")
FARTHER = Parameter(
    "farther",
    ValueKind.YES,
    "Who finds no partner in its region looks in the next larger one.",
)
CARRY = Parameter(
    "carry",
    ValueKind.VARIABLES,
    "Variables that go with the place, and are exchanged as well.",
)
EARLIER = Parameter(
    "earlier",
    ValueKind.FILE,
    "The pairs.csv of an earlier derivation: its pairs are kept where both still qualify.",
    continues=True,
)
MISSING_MATCH = Parameter(
    "missing_match",
    ValueKind.YES,
    "Units without a value in a profile match others without one.",
)
LEAVE_OUT_IMPUTED = Parameter(
    "leave_out_imputed", ValueKind.YES, "Units with an imputed value stay as they are."
)


def kept_pairs(design: SwapDesign, earlier: str | Path) -> tuple[SwapPairs, int]:
    """Pairs of an earlier derivation that could be found again, and how many there were."""
    if not earlier:
        return joined([]), 0
    pairs, before = read_pairs(Path(earlier), design.units)
    return qualifying(design, pairs), before


def limit(design: SwapDesign) -> str:
    """The region that nobody leaves, by name; empty if there is none."""
    regions = [each[-1] for each in design.reach.regions]
    return "" if None in regions else region_name(regions[-1])


def check_outcome(
    design: SwapDesign, outcome: SwapOutcome, rate: float, again: Callable[[int], SwapOutcome]
) -> None:
    """Refuse an empty result, and a rate that cannot be reached, with the largest that can.

    Args:
        design: Who may exchange something with whom.
        outcome: What was done.
        rate: What was asked for.
        again: Does it once more for another number of pairs.

    Raises:
        SpecError: Nobody has a partner, or too few.
    """
    kind = design.units.entity.plural
    if not len(outcome.pairs):
        reasons = failure_counts(design, outcome)
        why = "; ".join(
            f"{sentence(f'swap.reasons.{reason}')}: {count:,}"
            for reason, count in reasons.most_common()
        )
        raise SpecError(
            f"No {kind} would be exchanged{f' ({why})' if why else ''}. Let partners be alike in"
            " less, or live in larger regions (--farther), or name a higher rate."
        )
    if not outcome.short:
        return
    reached = outcome
    for _ in range(20):  # fewer pairs are spread otherwise: what is promised has been tried
        reached = again(len(reached.pairs))
        if not reached.short:
            break
    largest = 2 * reached.wanted / design.units.settled
    shown = int(largest * 10**6) / 10**6
    raise SpecError(
        f"A rate of {rate:g} cannot be reached: too few {kind} have a partner. The largest possible"
        f" rate is {shown:g}. Name that or less, let partners be alike in less, or live in larger"
        " regions (--farther)."
    )


def outcome_notes(
    design: SwapDesign,
    outcome: SwapOutcome,
    rate: float,
    *,
    earlier: int,
    within: str,
    undone: int = 0,
) -> list[Sentence]:
    """What else the office should know about any swap.

    Args:
        design: Who may exchange something with whom.
        outcome: What was done.
        rate: What was asked for.
        earlier: How many pairs an earlier derivation had.
        within: The region that nobody leaves, if there is one.
        undone: How many pairs were undone because they would have broken an edit rule.
    """
    units = design.units
    notes = []
    touched = 2 * len(outcome.pairs) / max(units.settled, 1)
    if max(rate, touched) > _MUCH:
        notes.append(sentence("swap.notes.high"))
    failed = sum(each.size for each in outcome.failed)
    if failed:
        words = entity_words(units.entity)
        notes.append(sentence("swap.notes.failed", n=failed, units=words))
    if undone:
        notes.append(sentence("swap.attribute.undone", n=undone))
    if within:
        notes.append(sentence("swap.notes.within", level=within))
    if earlier > outcome.kept:
        notes.append(sentence("swap.notes.dropped", n=earlier - outcome.kept, all=earlier))
        if not outcome.kept:
            notes.append(sentence("swap.notes.dropped_all"))
    return notes


#: Lines about the rate that protects everybody at risk, for methods that draw instead.
WITHOUT_MINIMUM = ("swap.sizes.minimum", "swap.sizes.minimum_apart")


def own_words(kind: str, chosen: str) -> dict[str, str]:
    """What a method says in words of its own, by the keys of those that they replace.

    Args:
        kind: The part of the catalogue that holds its words.
        chosen: What it calls those who are at risk elsewhere.
    """
    named = ("by-level", "donors", "failures", "without-partner")
    return {
        "swap.sizes.at_risk": f"swap.{kind}.{chosen}",
        "swap.headings.at_risk": f"swap.{kind}.{chosen}",
        "swap.headings.level": f"swap.{kind}.level",
        **{f"swap.titles.{name}": f"swap.{kind}.{name}" for name in named},
        "swap.notes.failed": f"swap.{kind}.failed",
    }


def reworded(text: Sentence, words: Mapping[str, str]) -> Sentence:
    """A sentence of swapping as a method says it, for those that say it in words of their own."""
    key = words.get(text.words)
    return text if key is None else sentence(key, **text.values)  # type: ignore[arg-type]


def reworded_facts(
    tables: Sequence[FactTable], words: Mapping[str, str], left_out: Collection[str] = ()
) -> tuple[FactTable, ...]:
    """Facts of a swap in words of a method.

    Args:
        tables: The facts.
        words: Its words, by the keys of those that they replace.
        left_out: Keys of lines that make no sense for it.
    """
    return tuple(
        replace(
            table,
            title=reworded(table.title, words),
            headings=tuple(reworded(heading, words) for heading in table.headings),
            rows=tuple(
                tuple(reworded(fact, words) if isinstance(fact, Sentence) else fact for fact in row)
                for row in table.rows
                if not (isinstance(row[0], Sentence) and row[0].words in left_out)
            ),
        )
        for table in tables
    )


def places_exchanged(units: UnitTable, pairs: SwapPairs, carry: Sequence[str]) -> Changes:
    """Pairs exchange their places and what goes with a place, and nothing is told about it."""
    first, second = pairs.initiators, pairs.partners
    codes, amounts = exchanged(units, moving_variables(units, carry), first, second)
    return Changes(codes=codes, amounts=amounts, links=exchanged_places(units, first, second))


def place_changes(
    design: SwapDesign,
    outcome: SwapOutcome,
    *,
    carry: Sequence[str],
    rederive: Sequence[str],
    figures: Mapping[str, int],
    notes: Sequence[Sentence] = (),
    facts: Sequence[FactTable] | None = None,
) -> Changes:
    """Pairs exchange their places and what goes with a place; second geographies follow."""
    units, pairs = design.units, outcome.pairs
    moving = moving_variables(units, carry)
    moved = places_exchanged(units, pairs, carry)
    followed = follow_places(
        units.store,
        moved,
        carry=[variable.name for variable in moving],
        rederive=rederive,
    )
    remarks = [*notes]
    changed = _changes_persons(units, pairs)
    if changed:
        remarks.append(sentence("swap.notes.size"))
        remarks += [
            sentence("swap.notes.counted", variable=variable.name, n=2 * changed)
            for variable in _counting_holders(units)
        ]
    weight = units.store.schema.weight(units.entity)
    if weight is not None and weight not in moving:
        remarks.append(sentence("swap.geographies.weights", variable=weight.name))
    elif weight is None and _members_weigh(units):
        remarks.append(sentence("swap.geographies.weights_held"))
    words = entity_words(units.entity)
    remarks += [
        sentence("swap.notes.grid", variable=variable.name, units=words)
        for variable in staying_grids(units)
    ]
    tables = outcome_facts(design, outcome) if facts is None else facts
    return Changes(
        codes={**moved.codes, **followed.codes},
        amounts=moved.amounts,
        links=moved.links,
        figures={
            f"{units.entity.plural} exchanged": 2 * len(pairs),
            **figures,
            **followed.figures,
        },
        facts=(*tables, *followed.facts),
        files=(pairs_file(units, pairs),),
        notes=(*remarks, *followed.notes),
    )


def _members_weigh(units: UnitTable) -> bool:
    """Whether what units hold has weights, and they themselves have none."""
    return any(
        variable.role is Role.WEIGHT and units.store.schema.path(variable.entity, units.entity)
        for variable in units.store.schema.variables
    )


def _changes_persons(units: UnitTable, pairs: SwapPairs) -> int:
    """How many pairs hold different numbers of persons."""
    if Entity.PERSON not in units.store.manifest.rows or units.entity is Entity.PERSON:
        return 0
    if units.store.schema.path(Entity.PERSON, units.entity) is None:
        return 0
    sizes = units.sizes(Entity.PERSON)
    return int((sizes[pairs.initiators] != sizes[pairs.partners]).sum())


def _counting_holders(units: UnitTable) -> list[Variable]:
    """Variables of what holds the units that say how many persons it holds, and stay.

    Whoever compares them with the persons that are counted there sees who was exchanged.
    """
    above = units.store.schema.lineage(units.entity)[1:]
    return [
        variable
        for variable in units.store.schema.variables
        if variable.counts is Entity.PERSON and variable.entity in above
    ]
