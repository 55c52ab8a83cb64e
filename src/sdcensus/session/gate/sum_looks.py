"""Looks at sums: how many cells of a plan hold the same contribution, and what noise is left."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.policy import Policy
from sdcensus.model.policy.rules import NOISE_LEFT
from sdcensus.model.quantities import number_text, share_text
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.looks.sums import SumBudget
from sdcensus.session.gate.amount_ties import AmountFacts


@dataclass(frozen=True, slots=True, repr=False)
class PlanSumLooks(Confidential):
    """The noise of the sums of one amount against the cells of a plan that show it.

    Attributes:
        amount: The amount.
        cells: How many cells hold the same contribution.
        budget: What is left of the noise; ``None`` where it has no least size.
        both_signs: Whether amounts are above and below 0, so that sums near 0 have hardly any.
    """

    amount: str
    cells: int
    budget: SumBudget | None
    both_signs: bool = False

    def __repr__(self) -> str:
        return f"<PlanSumLooks of {self.amount!r}: confidential>"

    @property
    def short(self) -> bool:
        """Whether too little noise is left."""
        return self.budget is not None and not self.budget.met

    @property
    def sentence(self) -> str:
        """The figure in words."""
        cells = in_every_language(partial(number_text, self.cells))
        if self.both_signs:
            return sentence("recommend.plan_sums.both_signs", amount=self.amount, cells=cells)
        if self.budget is None:
            return sentence("recommend.plan_sums.unknown", amount=self.amount, cells=cells)
        return sentence(
            f"recommend.plan_sums.{'short' if self.short else 'left'}",
            amount=self.amount,
            cells=cells,
            left=in_every_language(partial(share_text, self.budget.left)),
            limit=in_every_language(partial(share_text, self.budget.limit)),
        )


def looks_at_sums(
    specs: Sequence[TableSpec], method: Method, policy: Policy | None, facts: AmountFacts
) -> Iterator[PlanSumLooks]:
    """The looks at the sums of every amount; amounts that tell each other are looked at together.

    Args:
        specs: Tables of sums of one kind of unit, all of them protected by the same method.
        method: How.
        policy: What may be asked, where there is one: it says how much noise must be left.
        facts: What the records say about the amounts.
    """
    first = method.first
    deviation = first.least_deviation if isinstance(first, CellKeySums) else None
    planned = dict.fromkeys(spec.amount.name for spec in specs if spec.amount is not None)
    for group in dict.fromkeys(facts.group(name) for name in planned):
        names = [name for name in planned if name in group]
        amount, both_signs = ", ".join(names), not facts.both_signs.isdisjoint(names)
        cells = len({(spec.amount.name, *kind) for spec in specs if spec.amount is not None
                     and spec.amount.name in names for kind in _kinds(spec)})  # fmt: skip
        rules = [None if policy is None else policy.amount_rule(name) for name in names]
        budget = None
        if deviation is not None and not both_signs:
            budget = SumBudget(
                amount=amount,
                tables=cells,
                deviation=deviation,
                limit=max(NOISE_LEFT if rule is None else rule.noise_left for rule in rules),
            )
        yield PlanSumLooks(amount, cells, budget, both_signs)


def _kinds(spec: TableSpec) -> Iterator[tuple[object, ...]]:
    """Which cells of a table hold the same person: one for each choice of levels."""
    choices = [
        [
            None if axis.codes[block.start].is_total else (axis.variable.name, block.level)
            for block in axis.blocks
        ]
        for axis in spec.axes
    ]
    universe = json.dumps(spec.universe.canonical(), default=str)
    for chosen in itertools.product(*choices):
        levels = tuple(sorted(level for level in chosen if level is not None))
        yield (spec.measure.is_weighted, universe, levels)
