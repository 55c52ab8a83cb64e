"""Rules that hold for every record and that the schema does not declare: proposed, never taken.

A code that implies another ("children are never married") leaves nothing to ask about the second,
so by definition keys the two questions are one, if the schema says so. Data never decide: the
office reads what is proposed here, and declares what is a rule and no coincidence.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.implications import PairRule, declared_rules
from sdcensus.model.schema.variable import Entity, Level, Role, Variable
from sdcensus.session.census.census import Census

Int64 = npt.NDArray[np.int64]

#: A rule is proposed if so many exceptions were to be expected by chance, and there is none.
EXPECTED_EXCEPTIONS = 25.0
#: Longer code lists together are not looked at: few of their combinations have enough records.
MOST_COMBINATIONS = 50_000
#: So many proposals, the clearest ones, are made.
MOST_PROPOSED = 40


@dataclass(frozen=True, slots=True)
class ProposedRule:
    """A combination that does not occur, as the schema would declare it.

    Attributes:
        strength: How clear it is: larger for more exceptions that chance would have made.
            Confidential, and shown nowhere.
        when: The condition of the combination.
    """

    strength: float
    when: str

    def __repr__(self) -> str:
        return f"<ProposedRule {self.when}>"

    def toml(self) -> str:
        """The lines for the schema document."""
        quoted = self.when.replace("\\", "\\\\").replace('"', '\\"')
        return f'[[impossible]]\nwhen = "{quoted}"'


def proposed_rules(census: Census, *, progress: Progress = no_progress) -> tuple[ProposedRule, ...]:
    """The clearest rules that hold without exception and are not declared.

    Args:
        census: The census. It is counted by two variables at a time.
        progress: Told how far it is.
    """
    rules = {
        (rule.variables[0].name, rule.variables[1].name): rule
        for rule in declared_rules(census.schema)
    }
    universes = {universe.name: universe.condition for universe in census.schema.universes}
    pairs = list(_pairs(census))
    proposed_rules: list[ProposedRule] = []
    for at, (of, first, second) in enumerate(pairs):
        progress("looking for rules that are not declared", at / len(pairs))
        counted = census.tabulate(f"{first.name}-total", f"{second.name}-total", of=of).dense
        if counted is None:
            continue
        rule = rules.get((first.name, second.name))
        turned = None if rule is None else rule.turned()
        for source, target, count, known in (
            (first, second, counted.count, rule),
            (second, first, counted.count.T, turned),
        ):
            proposed_rules += _implications(source, target, count, known, universes)
    return tuple(
        sorted(proposed_rules, key=lambda rule: (-rule.strength, rule.when))[:MOST_PROPOSED]
    )


def _pairs(census: Census) -> Iterator[tuple[Entity, Variable, Variable]]:
    """Two variables each that describe the same kind of unit."""
    schema = census.schema
    for spec in schema.entities:
        own = [
            variable
            for variable in sorted(schema.usable(spec.entity), key=lambda variable: variable.name)
            if variable.entity is spec.entity
            and variable.role is not Role.GEOGRAPHY
            and not variable.continuous
        ]
        for first, second in itertools.combinations(own, 2):
            if len(first.codes) * len(second.codes) <= MOST_COMBINATIONS:
                yield spec.entity, first, second


def _implications(
    source: Variable,
    target: Variable,
    count: Int64,
    rule: PairRule | None,
    universes: Mapping[str, str],
) -> Iterator[ProposedRule]:
    """Codes of one variable that occur with one code of the other only, as rules.

    Args:
        source, target: The variables.
        count: Records by the leaves of both.
        rule: What is declared about them.
        universes: The conditions of declared universes, which are levels of one variable: a rule of
            the schema is written without them.
    """
    share = count.sum(axis=0) / max(int(count.sum()), 1)
    possible = np.ones(count.shape)
    if rule is not None:
        possible -= rule.impossible[np.ix_(rule.classes[0], rule.classes[1])]
    best: dict[tuple[str, int], tuple[int, float, Level, list[int]]] = {}
    for level in source.levels():
        members = _one_hot(level)
        own = members.T @ count.astype(np.float64)  # exact, and much faster than whole numbers
        declared = members.T @ possible
        taken = np.zeros(len(level.codes), dtype=bool)
        # The smallest declared code that holds all records: finer levels come first.
        for to in sorted(target.levels(), key=lambda level: -len(level.codes)):
            within = _one_hot(to)
            met = (own @ within) > 0
            single = (met.sum(axis=1) == 1) & ~taken
            taken |= single
            at = met.argmax(axis=1)
            left = 1 - share @ within
            clear = own.sum(axis=1) * left[at] >= EXPECTED_EXCEPTIONS
            new = declared.sum(axis=1) > np.take_along_axis(declared @ within, at[:, None], 1)[:, 0]
            for code in np.unique(at[single & clear & new]).tolist():
                implied = np.flatnonzero(single & clear & new & (at == code))
                size = int(members[:, implied].sum())
                if (to.name, code) not in best or best[to.name, code][0] < size:
                    strength = float(own[implied].sum() * left[code])
                    best[to.name, code] = size, strength, level, implied.tolist()
    for (name, code), (_, strength, level, codes) in best.items():
        to = target.level(name)
        outside = (
            _universe(universes[name], inside=to.codes[code].code != name)
            if to.universe
            else f"{_named(target, to)} != '{to.codes[code].code}'"
        )
        inside = (
            _universe(universes[level.name], inside=level.codes[codes[0]].code == level.name)
            if level.universe
            else _condition(source, level, codes)
        )
        yield ProposedRule(strength, f"{inside} and {outside}")


def _one_hot(level: Level) -> npt.NDArray[np.float64]:
    """For each leaf and each code of a level, whether the code holds it."""
    membership = np.zeros((level.group_array.size, len(level.codes)))
    membership[np.arange(level.group_array.size), level.group_array] = 1
    return membership


def _universe(condition: str, *, inside: bool) -> str:
    """The records of a universe, or all others, as a part of a condition."""
    if not inside:
        return f"not ({condition})"
    return f"({condition})" if " or " in condition else condition


def _named(variable: Variable, level: Level) -> str:
    return variable.name if level.name == variable.leaf_level else f"{variable.name}@{level.name}"


def _condition(variable: Variable, level: Level, codes: Sequence[int]) -> str:
    """Some codes of a level as a condition; numbers as a range where they are one."""
    chosen = [level.codes[code] for code in codes]
    valid = [code for code in level.codes if not code.is_missing]
    if all(code.lower is not None for code in valid) and len(chosen) > 1:
        ordered = sorted(valid, key=lambda code: code.lower or 0)
        if [code for code in ordered if code in chosen] == ordered[: len(chosen)] != ordered:
            return f"{variable.name} < {ordered[len(chosen)].lower}"
    name = _named(variable, level)
    listed = [f"'{code.code}'" for code in chosen]
    return f"{name} == {listed[0]}" if len(listed) == 1 else f"{name} in ({', '.join(listed)})"
