"""What ``serve`` says about what it opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output
from sdcensus.model.quantities import share_text

if TYPE_CHECKING:
    from sdcensus.session.answer import TableService


def say_offer(output: Output, service: TableService) -> None:
    """What is offered, by what is counted."""
    from sdcensus.model.policy.policy import UserRole

    catalogue = service.catalogue
    rules = service.policy.role(UserRole.PUBLIC)
    census = catalogue.census
    named = service.policy.name.startswith(census.name)  # as recommend calls it
    name = service.policy.name if named else f"{census.name}: {service.policy.name}"
    output.say(name, style="bold")
    for population in catalogue.populations:
        levels = [len(variable.levels) for variable in population.variables]
        tables = tables_offered(levels, rules.dimensions)
        up_to = "" if rules.dimensions is None else f" of up to {rules.dimensions} variables"
        output.say(
            f"  {population.of.plural}: {len(levels):,} variables, at most {tables:,} tables{up_to}"
        )


_BOTH_SIGNS = (
    " That does not hold where contributions above and below 0 cancel out: a sum near 0 has next to"
    " no noise."
)


def say_budget(output: Output, service: TableService) -> None:
    """The look budget of the kind of unit for which it is tightest, in one line."""
    if not service.budgets:
        return
    from sdcensus.session.looks.budget import NOT_COVERED

    worst = max(service.budgets, key=lambda budget: budget.chance)
    looks = worst.budget.asked.looks
    output.say(
        f"Look budget: all tables together are worth {looks:,.1f} looks at a count of"
        f" {worst.of.plural}; they find it with a chance of {share_text(worst.chance, digits=0)}"
        " (allowed are"
        f" {share_text(worst.limit, digits=0)}). {NOT_COVERED}"
    )


def say_sums(output: Output, service: TableService) -> None:
    """The look budget of every amount, a line each."""
    for budget in service.sum_budgets:
        output.say(
            f"Sums of {budget.told}: the same contribution is in {budget.tables:,} tables; all"
            f" together leave a standard deviation of {share_text(budget.left)} of it (asked are"
            f" {share_text(budget.limit)})." + (_BOTH_SIGNS if budget.both_signs else "")
        )


def tables_offered(levels: list[int], most: int | None) -> int:
    """In how many ways at most some variables, each at one of its levels, make a table.

    Examples:
        >>> tables_offered([1, 2], 2), tables_offered([1, 2], 1), tables_offered([3], None)
        (6, 4, 4)
    """
    ways = [1]
    for level in levels:
        longer = [*ways, 0]
        for at in range(len(ways)):
            longer[at + 1] += ways[at] * level
        ways = longer if most is None else longer[: most + 1]
    return sum(ways)
