"""Settings of the rules about contributions to sums."""

from __future__ import annotations

from fractions import Fraction

from sdcensus.model.cube.primary_rules import PrimaryRule, PrimaryRules
from sdcensus.model.method.parameter import Parameter, ValueKind

CONTRIBUTION_PARAMETERS = (
    Parameter(
        "dominance",
        ValueKind.TEXT,
        "Of sums: a number and a percentage, such as 2, 85. Sums of which so many of the largest"
        " contributions are more are not shown.",
    ),
    Parameter(
        "percent_rule",
        ValueKind.NUMBER,
        "Of sums: the p of the p % rule. Sums are not shown whose contributions behind the two"
        " largest are less than that percentage of the largest.",
        least=0,
        most=100,
    ),
    Parameter(
        "pq_rule",
        ValueKind.TEXT,
        "Of sums: the p and q of the pq rule, such as 10, 80. The same by p / q: contributions are"
        " known to within q % beforehand.",
    ),
)

#: What the office calls a rule, in reasons and remarks.
CALLED = {
    PrimaryRule.DOMINANCE: "dominance",
    PrimaryRule.PERCENT: "p % rule",
    PrimaryRule.PQ: "pq rule",
}


def contribution_rules(
    dominance: object, percent: float | Fraction | None, pq: object
) -> PrimaryRules | None:
    """The rules that ask who contributes how much; ``None`` where there are none."""
    if dominance is None and percent is None and pq is None:
        return None
    return PrimaryRules.written(dominance=dominance, percent=percent, pq=pq)


def described(rules: PrimaryRules | None) -> dict[str, object]:
    """The rules as plain values; nothing where there are none, as before there were any."""
    if rules is None:
        return {}
    plain: dict[str, object] = {
        name.value: [share.numerator, share.denominator] for name, share in rules.shares.items()
    }
    plain["largest"] = None if rules.dominance is None else rules.dominance[0]
    return {"contributions": plain}
