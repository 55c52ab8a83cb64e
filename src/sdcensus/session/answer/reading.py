"""What readers are told about the figures, written from policy and methods in force. Public.

It says what claims and rules say, and no parameter of the noise: neither how large changes are nor
how they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdcensus.methods.method import Method
from sdcensus.model.policy.rules import OnlineRules, WhenSparse
from sdcensus.model.published.figures import FigureLimits
from sdcensus.model.published.record_changes import notes_of_lineage
from sdcensus.model.published.table import Mark
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingFacts:
    """What is true of all figures of a table builder.

    Attributes:
        unbiased: Whether changes come to nothing on average.
        records: What was done to records before they were counted; nothing where nothing was.
        zeros: What a 0 can mean.
        exact: Whether the office publishes some totals as they are.
        planned: Whether tables that the office publishes have the same numbers.
        measure: What figures say: how many records, or how many they stand for.
        smallest_group: Smaller groups are not broken down; 0 for no rule.
        brackets: Counts below this stand in brackets; ``None`` where none do.
        low_below: Computed figures stand in brackets that rest on counts below this.
        sparse: What happens to areas with too few for each cell; ``None`` for nothing.
        areas: Whether whole areas can be withheld.
        filters: Whether a condition can decide about what is withheld.
        signs: The marks that a table or a figure can have.
    """

    unbiased: bool
    records: tuple[Text, ...]
    zeros: Text
    exact: bool
    planned: bool
    measure: Measure
    smallest_group: int
    brackets: int | None
    low_below: int
    sparse: WhenSparse | None
    areas: bool
    filters: bool
    signs: tuple[Mark, ...]


def reading_facts(
    methods: Sequence[Method],
    rules: OnlineRules,
    *,
    measure: Measure,
    smallest_group: int,
    planned: bool,
    lineage: str,
) -> ReadingFacts:
    """What readers of a table builder are told.

    Args:
        methods: How its tables are protected; what is said holds for all of them.
        rules: What the policy says for the public.
        measure: What figures say.
        smallest_group: The smallest group in force; 0 for no rule.
        planned: Whether a plan of the office publishes with the same numbers.
        lineage: How the records were derived, as published files name it.
    """
    claims = [method.claims() for method in methods]
    zeros = "zeros"
    if any(each.grows_empty_cells for each in claims):
        zeros = "zeros_grow"
    elif all(each.zeros_are_true for each in claims):
        zeros = "true_zeros"
    sparse = None if rules.mean_cell_size is None else rules.when_sparse
    areas = sparse is WhenSparse.WITHHOLD_AREA or rules.minimum_population is not None
    occurring = {
        Mark.LOW_RELIABILITY: True,
        Mark.REFUSED: areas,
        Mark.WITHHELD: sparse is WhenSparse.C,
        Mark.NOT_AVAILABLE: True,
        Mark.NOT_BROKEN_DOWN: smallest_group > 0,
    }
    return ReadingFacts(
        unbiased=all(each.unbiased for each in claims),
        records=notes_of_lineage(lineage),
        zeros=Text.named(f"notes.{zeros}"),
        exact=any(method.exempt_tables for method in methods),
        planned=planned,
        measure=measure,
        smallest_group=smallest_group,
        brackets=rules.brackets,
        low_below=FigureLimits.of_brackets(rules.brackets).low_below,
        sparse=sparse,
        areas=areas,
        filters=rules.minimum_population is not None,
        signs=tuple(mark for mark, occurs in occurring.items() if occurs),
    )
