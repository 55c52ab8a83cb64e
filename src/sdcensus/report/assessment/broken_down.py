"""What is broken down, in sentences for the office. Confidential: figures come from true counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.risk.groups.broken_down import FEW_ATTRIBUTES, BrokenDown, KindFigures

#: Kinds of cells that are listed, those with the most small groups first.
MOST_LISTED = 8


def broken_down_lines(found: BrokenDown, limit: float | None = None) -> Iterator[str]:
    """What was counted, a sentence each.

    Args:
        found: The measure.
        limit: The largest share of small visible groups that is accepted, if that is known.
    """
    units, noise = found.of.plural, found.noise
    if found.proven:
        homes = ", and no cell of one private household," if found.of is Entity.PERSON else ""
        yield (
            f"No cell of {found.largest:,} or fewer {units}{homes} is broken down further: 0, by"
            f" the smallest group ({noise.smallest_group:,})."
        )
    elif not found.kinds_in_all:
        yield f"No table of {units} breaks down cells of another."
        return
    else:
        yield _share_line(found, limit)
        yield from _small_lines(found)
    yield from _twin_lines(found)
    if found.sampled and found.kinds:
        yield (
            f"Counted in a sample: {len(found.kinds):,} of {found.kinds_in_all:,} kinds of cells"
            " (combinations of variables and levels), the same each time."
        )


def _share_line(found: BrokenDown, limit: float | None) -> str:
    accepted = "" if limit is None else f"; {share_text(limit)} are accepted"
    return (
        f"Of the visible groups of one, two and three {found.of.plural} in cells that tables break"
        f" down by more than {_number(FEW_ATTRIBUTES)} variables, at most"
        f" {share_text(found.share)} can be"
        f" claimed with those variables ({found.claimed:,.0f} groups{accepted})."
    )


def _small_lines(found: BrokenDown) -> Iterator[str]:
    units = found.of.plural
    yield (
        f"Cells of at most {found.largest:,} {units} that some table breaks down:"
        f" {found.small:,}; cells of one private household: {found.households:,}."
    )
    assembled = found.assembled
    if assembled is not None and assembled.units:
        most = max(number for number, often in enumerate(assembled.alone) if often)
        enough = max(most - 2, 1)
        who = "who" if found.of is Entity.PERSON else "that"
        yield (
            f"{units.capitalize()} {who} stand alone in such a cell: {assembled.units:,}, with"
            f" {assembled.mean:.1f} of {assembled.variables} variables on average;"
            f" {assembled.at_least(enough):,} with {enough} or more."
        )


def _twin_lines(found: BrokenDown) -> Iterator[str]:
    twins = found.twins
    if twins is None:
        if found.noise.definition_keys and found.proven:
            yield (
                "Cells that differ by few units (twins) have noise of their own: their breakdowns"
                " cannot be compared."
            )
        return
    unit = {Entity.PERSON: "person", Entity.HOUSEHOLD: "household"}.get(found.of, "unit")
    yield (
        f"Twins, cells of more than {twins.above:,} that differ by one {unit}: {twins.one:,} pairs;"
        f" by members of one household: {twins.household:,}; nested, by up to {twins.largest:,}: at"
        f" least {twins.nested:,}."
    )
    if twins.one + twins.household and found.noise.definition_keys:
        yield "With definition keys each of them has noise of its own, which hides the difference."
    by_level = [f"{area or 'no area'} {number:,}" for area, number in twins.by_level if number]
    if by_level:
        yield f"Cells with such a twin, by level: {', '.join(by_level)}."


def worst_kinds(found: BrokenDown, most: int = MOST_LISTED) -> Sequence[KindFigures]:
    """The kinds of cells with the most small groups that are broken down."""
    divided = [kind for kind in found.kinds if kind.small or kind.households or kind.twins]
    return sorted(divided, key=lambda title: (-sum(title.groups) * title.finer, title.title))[:most]


def help_line(measures: Sequence[BrokenDown], text: str) -> str:
    """What would help, if anything has to; empty if not.

    Args:
        measures: What was measured.
        text: The setting of the smallest group that would do.
    """
    remedies = []
    if any(not measure.noise.definition_keys and measure.kinds_in_all for measure in measures):
        remedies.append('definition keys (lookup = "definition")')
    if any(not measure.proven and measure.share > 0 for measure in measures):
        remedies.append(f"a smallest group ({text})")
    return f"What would help: {' and '.join(remedies)}." if remedies else ""


def _number(value: int) -> str:
    return {2: "two"}.get(value, str(value))
