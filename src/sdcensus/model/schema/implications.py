"""Which codes follow from others by the declared rules of a schema: a child is never married.

A rule that the office has written down as an impossible combination makes some codes imply
others. What follows from the rest of a cell adds nothing to what the cell means, so it is left
out of its definition. Data never decide: two stores with the same schema have the same rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.universe import Universe, classes_together, universe_of

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Of two classes, the second is impossible.
_SECOND = np.array([False, True])


@dataclass(frozen=True, slots=True, eq=False)
class PairRule:
    """Which leaves of two variables cannot occur together, whatever else a record says.

    Attributes:
        variables: The two variables, by name.
        classes: For each of them, for each leaf, the class in which the rule puts it.
        impossible: For each pair of classes, whether it cannot occur.
    """

    variables: tuple[Variable, Variable]
    classes: tuple[Int64, Int64]
    impossible: Mask

    def turned(self) -> PairRule:
        """The same rule, the second variable first."""
        first, second = self.variables
        return PairRule((second, first), self.classes[::-1], self.impossible.T)


def declared_rules(schema: Schema) -> tuple[PairRule, ...]:
    """The rules of a schema, each as what it says about two variables at a time.

    Rules about the same two variables count together, with what is said about either of them
    alone. Of a rule about more of them, what it says about two whatever the others are is kept.
    """
    by_pair: dict[tuple[str, str], list[PairRule]] = {}
    alone: dict[str, Mask] = {}
    for rule in schema.impossible:
        if rule.relation is not None:  # it takes another record to break it
            continue
        universe = universe_of(rule.when, schema)
        for pair in _pairs(universe):
            by_pair.setdefault((pair.variables[0].name, pair.variables[1].name), []).append(pair)
        for name, mask in _alone(universe):
            alone[name] = alone[name] | mask if name in alone else mask
    for rules in by_pair.values():
        first, second = rules[0].variables
        nothing = np.zeros(len(first.codes), np.int64), np.zeros(len(second.codes), np.int64)
        if first.name in alone:
            classes = alone[first.name].astype(np.int64)
            rules.append(PairRule((first, second), (classes, nothing[1]), _SECOND[:, None]))
        if second.name in alone:
            classes = alone[second.name].astype(np.int64)
            rules.append(PairRule((first, second), (nothing[0], classes), _SECOND[None, :]))
    return tuple(_together(by_pair[names]) for names in sorted(by_pair))


def _alone(universe: Universe) -> Iterable[tuple[str, Mask]]:
    """The leaves of each variable that an impossible universe rules out by themselves."""
    for at, variable in enumerate(universe.variables):
        others = tuple(axis for axis in range(universe.truth.ndim) if axis != at)
        mask = np.asarray(universe.truth.all(axis=others))[universe.classes[at]]
        if mask.any():
            yield variable.name, mask


def _pairs(universe: Universe) -> Iterable[PairRule]:
    """What an impossible universe says about each two of its variables."""
    axes = range(len(universe.variables))
    for first, second in itertools.combinations(axes, 2):  # sorted by name already
        others = tuple(at for at in axes if at not in (first, second))
        impossible = np.asarray(universe.truth.all(axis=others))
        if impossible.any():
            yield PairRule(
                (universe.variables[first], universe.variables[second]),
                (universe.classes[first], universe.classes[second]),
                impossible,
            )


def _together(rules: list[PairRule]) -> PairRule:
    """Several rules about the same two variables as one."""
    if len(rules) == 1:
        return rules[0]
    classes: list[Int64] = []
    leaves: list[Int64] = []
    for side in (0, 1):
        merged = classes_together(np.stack([rule.classes[side] for rule in rules]))
        classes.append(merged)
        leaves.append(np.unique(merged, return_index=True)[1])
    impossible = np.zeros((leaves[0].size, leaves[1].size), dtype=bool)
    for rule in rules:
        rows, columns = rule.classes[0][leaves[0]], rule.classes[1][leaves[1]]
        impossible |= rule.impossible[np.ix_(rows, columns)]
    return PairRule(rules[0].variables, (classes[0], classes[1]), impossible)
