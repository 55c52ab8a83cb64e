"""The rule on identities between units: what ties persons to households is shown of one of them.

It reads the schema, the policy and the plan only. Nothing is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sdcensus.errors import Refused, SpecError
from sdcensus.model.policy.policy import Policy, menu_of
from sdcensus.model.schema.identities import (
    OpenTie,
    open_in_menus,
    open_in_tables,
    remedy_sentence,
    tie_sentence,
    ties_of,
)
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import TableSpec

#: Tables that a sentence names.
_MOST_NAMED = 6


def ties_in_policy(policy: Policy) -> tuple[OpenTie, ...]:
    """The identities between units that everything a policy offers would show."""
    return open_in_menus(policy.schema, _offered(policy))


def looks_between_units(policy: Policy) -> tuple[str, ...]:
    """Identities that no rule closes: each unit is one more look at the other, in words."""
    offered = _offered(policy)
    pairs = {
        (tie.holds, tie.each): None
        for tie in ties_of(policy.schema)
        if tie.holds is not Entity.PERSON and tie.holds in offered and tie.each in offered
    }
    return tuple(
        f"Some {holds.plural} are counted with the {each.plural} that hold them: tables of both are"
        f" looks at the same counts. The look budget of each counts the other's as well."
        for holds, each in pairs
    )


def _offered(policy: Policy) -> dict[Entity, Mapping[str, Sequence[Level]]]:
    offered: dict[Entity, Mapping[str, Sequence[Level]]] = {}
    for spec in policy.schema.entities:
        try:
            menu = menu_of(policy, policy.schema, of=spec.entity)
        except SpecError:  # nothing is offered of such units
            continue
        offered[spec.entity] = {
            variable.variable.name: variable.levels for variable in menu.variables
        }
    return offered


def refuse_ties_in_policy(policy: Policy) -> None:
    """Refuse to open what would show counts of one kind of unit through another.

    Raises:
        Refused: Something has to be taken off the menu; the message says what would do.
    """
    ties = ties_in_policy(policy)
    if ties:
        lines = [
            f"The policy {policy.name!r} offers one count through two kinds of units, so the table"
            " builder stays closed.",
            *(f"  {line}" for line in tie_lines(ties)),
        ]
        raise Refused("\n".join(lines))


def without_ties(policy: Policy) -> Policy:
    """A policy that shows no count through two kinds of units, for drafts.

    A variable that larger units have too stays on their tables; one that only persons have is
    offered in classes that mix, or not at all.
    """
    schema = policy.schema
    for _ in schema.variables:
        ties = ties_in_policy(policy)
        if not ties:
            break
        rules = {rule.variable: rule for rule in policy.variables}
        for tie in ties:
            rule = policy.rule_of(tie.variable)
            entity = schema.variable(tie.variable).entity
            others = tuple(
                spec.entity
                for spec in schema.entities
                if entity in schema.lineage(spec.entity)
                and spec.entity is not tie.holds
                and rule.offered_for(spec.entity)
            )
            if others:
                rule = replace(rule, units=others)
            elif tie.mixing and rule.finest_level != tie.mixing[0]:
                rule = replace(rule, finest_level=tie.mixing[0])
            else:
                rule = replace(rule, offered=False, units=None)
            rules[tie.variable] = rule
        policy = replace(policy, variables=tuple(rules.values()))
    return policy


def tie_lines(ties: Sequence[OpenTie]) -> tuple[str, ...]:
    """What identities give away, and what would help."""
    return tuple(f"{tie_sentence(tie)} {remedy_sentence(tie)}" for tie in ties)


@dataclass(frozen=True, slots=True)
class TiedTable:
    """A table that is published.

    Attributes:
        product: The product that it belongs to.
        spec: What it shows.
        required: Whether somebody else says that it must be delivered: a programme.
    """

    product: str
    spec: TableSpec
    required: bool = False


def check_tables(
    schema: Schema,
    tables: Sequence[TiedTable],
    *,
    published: Collection[str] = (),
    before: Sequence[TableSpec] = (),
) -> tuple[str, ...]:
    """Refuse tables that show counts of one kind of unit through another.

    Args:
        schema: What declares identities.
        tables: Everything that is published together.
        published: Products that are out already: refusing them would recall nothing.
        before: Everything else that is out.

    Returns:
        Warnings about tables that cannot be left out, or are out already.

    Raises:
        Refused: Tables that the office can change would.
    """
    if not ties_of(schema):
        return ()
    out = {spec.hash() for spec in before}
    fixed: list[TableSpec] = [spec for spec in before if _fits(schema, spec)]
    free: list[TableSpec] = []
    for table in tables:
        open_to_change = not table.required and table.product not in published
        free_to_change = open_to_change and table.spec.hash() not in out
        (free if free_to_change else fixed).append(table.spec)
    # A tie that is there without them is new where a table of persons shows it that can be changed.
    known = {_key(tie) for tie in open_in_tables(schema, fixed)}
    ours = {spec.name or spec.title for spec in free if spec.of is Entity.PERSON}
    ties = open_in_tables(schema, [*fixed, *free])
    refused = [tie for tie in ties if _key(tie) not in known or ours & {*tie.tables}]
    if refused:
        lines = ["Some tables of persons show counts of larger units once more."]
        for tie in refused:
            lines.append(f"  {tie_sentence(tie)} {_where(tie)}")
            lines.append(f"  {_without(tie)}")
        raise Refused("\n".join(lines))
    return tuple(
        f"{tie_sentence(tie)} {_where(tie)} They are required or published already, so they are not"
        " refused. Swapping records before anything is counted would help."
        for tie in ties
    )


def _key(tie: OpenTie) -> tuple[Entity, Entity, str]:
    return tie.each, tie.holds, tie.variable


def _fits(schema: Schema, spec: TableSpec) -> bool:
    """Whether a table that is out has the code lists of the schema."""
    known = {variable.name: variable for variable in schema.variables}
    used = [*(axis.variable for axis in spec.axes), *spec.universe.variables]
    return all(
        variable.name in known
        and [code.code for code in variable.codes]
        == [code.code for code in known[variable.name].codes]
        for variable in used
    )


def _where(tie: OpenTie) -> str:
    named = list(tie.tables[:_MOST_NAMED])
    more = len(tie.tables) - len(named)
    if more:
        named.append(f"{more:,} more")
    return f"Tables that show it ({len(tie.tables):,}): {joined(named)}."


def _without(tie: OpenTie) -> str:
    coarser = ""
    if tie.mixing:
        coarser = f", or take it in classes that mix: {tie.variable}@{tie.mixing[0]}"
    return (
        f"Leave {tie.variable} out of these tables, or ask for them of {tie.each.plural}{coarser};"
        f" or publish no tables of {tie.each.plural} beside them."
    )
