"""The smallest targeted swapping that is enough: rules from mild to strong, and a search in them.

A rule says which variables make a household rare, at which levels of areas, and below which number.
Whom a rule touches is found without counting any table; what it leaves of the claims is foreseen by
the claims of the attack on the records as they are; what looks enough is attacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sdcensus.attack import AttackResult
from sdcensus.errors import SpecError
from sdcensus.microdata.swapping.levels import main_levels
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.axis import Axis
from sdcensus.session.attack.swapped import (
    SwapLaboratory,
    SwappedAttacks,
    SwapTrial,
    check_limit,
)

#: A household is at risk in groups with fewer than these.
BELOW = (2, 3, 4)
#: Rates of exchanges of anybody, to be compared with rules.
UNTARGETED = (0.05, 0.1, 0.2, 0.4)
#: Claims are about many variables; those that most of them name make households rare.
_VARIABLES = 4
#: Rules that look enough, or nearly, and are attacked one after the other.
_MOST_ATTACKS = 5
#: Rules whose effect on the claims is foreseen.
_MOST_OUTLOOKS = 40


@dataclass(frozen=True, slots=True, repr=False)
class SwapRule(Confidential):
    """Whom a targeted swap is after.

    Attributes:
        variables: What makes a household rare, at a level if named.
        levels: In areas of which levels, from coarse to fine.
        below: At risk are groups with fewer.
    """

    variables: tuple[str, ...]
    levels: tuple[str, ...]
    below: int

    def __repr__(self) -> str:
        return "<SwapRule: confidential>"

    @property
    def step(self) -> str:
        """The swap in one line: those at risk exchange their places, and nobody else begins."""
        return (
            f"targeted-swap k={self.below} risk_variables={','.join(self.variables)}"
            f" levels={','.join(self.levels)} farther=yes rate=0"
        )

    def covers(self, other: SwapRule) -> bool:
        """Whether everybody who is at risk by another rule is so by this one."""
        return (
            set(other.variables) <= set(self.variables)
            and set(other.levels) <= set(self.levels)
            and other.below <= self.below
        )


def smallest_swap(
    laboratory: SwapLaboratory, limit: float, progress: Progress = no_progress
) -> SwappedAttacks:
    """Find the swap that touches fewest households and leaves claims no better than a limit.

    Args:
        laboratory: The tables, attacked with the records as they are.
        limit: Claims about groups of one to three are to be no better at any level of areas.
        progress: Told how far it is.

    Raises:
        SpecError: There are no areas between which places could be exchanged.
    """
    check_limit(limit)
    base = laboratory.base
    levels = swap_levels(laboratory.original.schema, base)
    if base.enough(limit):
        return SwappedAttacks(limit, (base,))
    variables = claimed_variables(laboratory.report.results, laboratory.original.schema)
    if not variables:
        raise SpecError(
            "The claims name no variable by which a household could be rare. Name a change of"
            ' records: --step "targeted-swap ...".'
        )
    outlook = list(_untargeted(laboratory, levels, progress))
    outlook += _outlooks(laboratory, _rules(variables, levels), limit, progress)
    outlook.sort(key=lambda trial: trial.touched or 0)
    attacked: dict[str, SwapTrial] = {}
    while len(attacked) < _MOST_ATTACKS:
        following = _next_attack(outlook, attacked, limit)
        if following is None:
            break
        progress(f"attacking {following.step}", len(attacked) / _MOST_ATTACKS)
        attacked[following.step] = laboratory.attack(following.step, progress)
    trials = (base, *(attacked.get(trial.step, trial) for trial in outlook))
    search = SwappedAttacks(limit, trials)
    milder = None
    if search.smallest is not None:
        failed = [
            trial
            for trial in attacked.values()
            if (trial.touched or 0) < (search.smallest.touched or 0)
        ]
        milder = max(failed, key=lambda trial: trial.touched or 0, default=None)
    return SwappedAttacks(limit, trials, milder, _contrast(laboratory, variables, levels, progress))


def _next_attack(
    outlook: Sequence[SwapTrial], attacked: dict[str, SwapTrial], limit: float
) -> SwapTrial | None:
    """What to attack next: the mildest that looks enough, then what is milder than the smallest.

    Of the milder ones the one with the best outlook is tried, until that is not enough.
    """
    enough = [trial for trial in attacked.values() if trial.enough(limit)]
    fewest = min((trial.touched or 0 for trial in enough), default=None)
    if fewest is None:
        hopeful = [trial for trial in outlook if trial.enough(limit) and trial.step not in attacked]
        if hopeful:
            return hopeful[0]
        rest = [trial for trial in outlook if trial.step not in attacked]
        return min(rest, key=lambda trial: trial.worst_below_country, default=None)
    milder = [trial for trial in outlook if (trial.touched or 0) < fewest]
    best = min(milder, key=lambda trial: trial.worst_below_country, default=None)
    return None if best is None or best.step in attacked else best


def swap_levels(schema: Schema, base: SwapTrial) -> tuple[str, ...]:
    """The levels of areas that claims are about, from coarse to fine.

    Raises:
        SpecError: There are no areas between which places could be exchanged.
    """
    geography = schema.geography
    if geography is None or len(geography.codes) < 2:
        raise SpecError(
            "The census has no areas between which places could be exchanged. Exchange answers:"
            ' --step "attribute-swap ...".'
        )
    claimed = {line.level for line in base.residents}
    names = [level.name for level in main_levels(geography) if len(set(level.group_array)) > 1]
    return tuple(name for name in names if name in claimed) or tuple(names[-1:])


def claimed_variables(results: Sequence[AttackResult], schema: Schema) -> tuple[str, ...]:
    """The variables that most claims name, at the level at which most of them do."""
    geographies = {variable.name for variable in schema.geographies}
    tally: dict[str, dict[str, int]] = {}
    for result in results:
        for claims in result.groups:
            places = np.unravel_index(claims.cells, claims.spec.shape) if claims.spec.axes else ()
            for axis, at in zip(claims.spec.axes, places, strict=True):
                if axis.variable.name in geographies:
                    continue
                numbers = np.bincount(at, minlength=len(axis.codes))
                for code, number in zip(axis.codes, numbers.tolist(), strict=True):
                    if number and not code.is_total:
                        own = tally.setdefault(axis.variable.name, {})
                        own[code.level] = own.get(code.level, 0) + number
    order = sorted(tally, key=lambda name: (-sum(tally[name].values()), name))
    sizes = _sizes_of_levels(results)
    return tuple(
        _at_level(schema, name, sizes[name, max(tally[name], key=lambda lv: tally[name][lv])])
        for name in order[:_VARIABLES]
    )


def _sizes_of_levels(results: Sequence[AttackResult]) -> dict[tuple[str, str], int]:
    """How many codes each level of each variable of the claims has."""
    axes: set[Axis] = {
        axis for result in results for claims in result.groups for axis in claims.spec.axes
    }
    return {(axis.variable.name, block.level): block.size for axis in axes for block in axis.blocks}


def _at_level(schema: Schema, name: str, codes: int) -> str:
    """A variable at the level of the census that has about so many codes.

    Programmes have levels of their own, which no record knows.
    """
    variable = schema.variable(name)
    level = min(variable.plain_levels, key=lambda own: (abs(len(own.codes) - codes), own.name))
    return name if level.name == variable.level().name else f"{name}@{level.name}"


def _rules(variables: Sequence[str], levels: Sequence[str]) -> list[SwapRule]:
    return [
        SwapRule(chosen, tuple(levels[:depth]), below)
        for number in range(1, len(variables) + 1)
        for chosen in combinations(variables, number)
        for depth in range(1, len(levels) + 1)
        for below in BELOW
    ]


def _outlooks(
    laboratory: SwapLaboratory, rules: Sequence[SwapRule], limit: float, progress: Progress
) -> Iterator[SwapTrial]:
    """What rules would leave of the claims, as far as it has to be known.

    A rule that is covered by one that is not enough is not enough either. Of the others the one in
    the middle, by whom they touch, is looked at: if it is enough, only those that touch fewer are
    left.
    """
    touched: dict[SwapRule, int] = {}
    for at, rule in enumerate(rules):
        progress("whom rules touch", at / len(rules))
        try:
            touched[rule] = laboratory.touched(rule.step)
        except SpecError:  # nobody is at risk by it, or nobody has a partner
            continue
    # The strongest rule of each set of variables first: if that is not enough, none of the set is.
    strongest: dict[tuple[str, ...], SwapRule] = {}
    for rule in touched:
        known = strongest.get(rule.variables)
        if known is None or rule.covers(known):
            strongest[rule.variables] = rule
    waiting = sorted(strongest.values(), key=lambda rule: -len(rule.variables))
    left = set(touched)
    for number in range(_MOST_OUTLOOKS):
        progress("what rules leave of the claims", number / _MOST_OUTLOOKS)
        waiting = [rule for rule in waiting if rule in left]
        if not left:
            return
        order = sorted(left, key=lambda rule: (touched[rule], rule.step))
        rule = waiting.pop(0) if waiting else order[len(order) // 2]
        trial = laboratory.foresee(rule.step)
        yield trial
        left.discard(rule)
        if not trial.enough(limit):
            left = {other for other in left if not rule.covers(other)}
        elif not waiting:
            left = {other for other in left if touched[other] < touched[rule]}


def _untargeted(
    laboratory: SwapLaboratory, levels: Sequence[str], progress: Progress
) -> Iterator[SwapTrial]:
    """Exchanges of anybody with anybody of another area of the coarsest level."""
    for at, rate in enumerate(UNTARGETED):
        progress("exchanging anybody", at / len(UNTARGETED))
        try:
            yield laboratory.foresee(f"targeted-swap k=1 levels={levels[0]} rate={rate:g}")
        except SpecError:  # more than have partners
            return


def _contrast(
    laboratory: SwapLaboratory,
    variables: Sequence[str],
    levels: Sequence[str],
    progress: Progress,
) -> SwapTrial | None:
    """A change of answers, which helps where no exchange of places does."""
    names = [text.partition("@")[0] for text in variables]
    rare = ",".join(variables)
    # What fewest claims name is exchanged between those who are alike in what most of them do.
    steps = [
        f"attribute-swap attributes={name} classes={','.join(others[:2])} risk_variables={rare}"
        f" k=4 levels={levels[0]} missing_match=yes rate=0 farther=yes"
        for at, name in reversed(list(enumerate(names)))
        if (others := [*variables[:at], *variables[at + 1 :]])
    ]
    for step in (*steps, f"pram variables={names[-1]} stay=0.7"):
        try:
            laboratory.touched(step)
            progress(f"attacking {step}", 0.0)
            return laboratory.attack(step, progress)
        except SpecError:  # the variable is not one of persons, or edit rules forbid it
            continue
    return None
