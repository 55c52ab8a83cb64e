"""What swaps share from end to end: parameters, pairs that are kept, and the changes of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Changes, FactTable
from sdcensus.microdata.swapping.earlier import SwapPairs, joined, pairs_file, read_pairs
from sdcensus.microdata.swapping.exchange import exchanged, moving_variables
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome, qualifying
from sdcensus.microdata.swapping.second_geographies import follow_places
from sdcensus.model.method.parameter import Parameter, ValueKind

RATE_MOST = 1.0

FARTHER = Parameter(
    "farther",
    ValueKind.YES,
    "Look in the next larger region where there is no partner.",
)
CARRY = Parameter(
    "carry",
    ValueKind.VARIABLES,
    "Variables that go with the place and are exchanged together with the area.",
)
EARLIER = Parameter(
    "earlier",
    ValueKind.FILE,
    "The pairs.csv of an earlier derivation: its pairs are kept where both units still qualify.",
)
MISSING_MATCH = Parameter(
    "missing_match",
    ValueKind.YES,
    "Units without a value match others without a value.",
)
LEAVE_OUT_IMPUTED = Parameter(
    "leave_out_imputed",
    ValueKind.YES,
    "Leave out units in which a value was imputed.",
)


def kept_pairs(design: SwapDesign, earlier: Path | None) -> tuple[SwapPairs, int]:
    """Pairs of an earlier derivation that could be found again, and how many there were."""
    if earlier is None:
        return joined([]), 0
    pairs, count = read_pairs(Path(earlier), design.units)
    return qualifying(design, pairs), count


def place_changes(
    design: SwapDesign,
    outcome: SwapOutcome,
    *,
    carry: Sequence[str],
    rederive: Sequence[str],
    facts: Sequence[FactTable] = (),
    figures: Mapping[str, int] | None = None,
    notes: Sequence[Sentence] = (),
) -> Changes:
    """Pairs exchange their places, and what goes with a place; second geographies follow."""
    units, pairs = design.units, outcome.pairs
    moving = moving_variables(units, carry)
    codes, amounts = exchanged(units, moving, pairs.initiators, pairs.partners)
    followed = follow_places(
        units.store,
        codes[design.levels.geography.name],
        carry=[variable.name for variable in moving],
        rederive=rederive,
    )
    return Changes(
        codes={**codes, **followed.codes},
        amounts=amounts,
        figures={"pairs": len(pairs), **(figures or {}), **followed.figures},
        facts=(*facts, *followed.facts),
        files=(pairs_file(units, pairs),),
        notes=(*notes, *followed.notes),
    )
