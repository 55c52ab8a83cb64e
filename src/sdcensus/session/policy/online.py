"""Answering for a policy: may this be asked, and what of a published table is shown.

Everything here is a function of the policy, of code lists and of published tables. True counts have
no way in: no type that holds them is named in these modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.withhold_sparse import withhold
from sdcensus.model.cube.constraints import adds_up
from sdcensus.model.policy.policy import OnlineRules, Policy, UserRole, WhenSparse
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.quantities import figure_text, limit_text
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.session.policy.code_rules import areas_shown, code_reasons, positions_of
from sdcensus.session.policy.remedies import (
    Judgement,
    judge,
    remedies_by_numbers,
    remedies_for,
    with_remedies,
)
from sdcensus.session.policy.value_rules import (
    Publish,
    ValueShares,
    areas_of,
    ask_published,
    needed_tables,
    shares_of,
    universe_population,
)
from sdcensus.session.policy.verdict import (
    Decision,
    Outcome,
    ReasonCode,
    Verdict,
    VerdictReason,
    VerdictRemedy,
    Withheld,
    still_to_come,
)

Mask = npt.NDArray[np.bool_]
#: How many tables are published at most while looking for a remedy.
MOST_PUBLISHED = 12


def ask(
    policy: Policy,
    spec: TableSpec,
    *,
    role: str | UserRole = UserRole.PUBLIC,
    cells: int | None = None,
) -> Verdict:
    """Whether a table may be asked for, by rules on code lists: nothing is counted.

    Args:
        policy: The policy.
        spec: The table.
        role: Who asks.
        cells: How many cells are asked for, where some codes of the axes are not.
    """
    reasons = code_reasons(policy, spec, role, cells=cells)
    if reasons:
        strict = not any(reason.refuses for reason in reasons)

        def enough(version: TableSpec) -> bool:
            return not strict or not code_reasons(policy, version, role)

        reasons = with_remedies(reasons, remedies_for(policy, spec, role, enough=enough))
    areas, available = areas_shown(policy, spec, reasons)
    verdict = _nothing_left(Verdict(reasons, areas, available))
    if verdict.outcome is Outcome.REFUSED:
        return verdict
    return replace(verdict, notes=tuple(still_to_come(policy.online_for(role))))


def needed(
    policy: Policy, spec: TableSpec, *, role: str | UserRole = UserRole.PUBLIC
) -> tuple[TableSpec, ...]:
    """The published tables that decide about a table, besides the table itself."""
    return needed_tables(policy, spec, policy.online_for(role))


def show(
    policy: Policy,
    table: AnyTable,
    *,
    role: str | UserRole = UserRole.PUBLIC,
    published: Publish | None = None,
) -> Decision:
    """What of a published table is shown: all of it, a part, or nothing.

    Args:
        policy: The policy.
        table: The table as its method published it.
        role: Who asks.
        published: Gives the published table of a specification. It is needed for a table with a
            condition or without totals, since the table without the condition is judged; and for a
            weighted one, which is judged by the published numbers of its records.

    Raises:
        SpecError: ``published`` is needed and missing.
    """
    spec = table.spec
    asked = ask(policy, spec, role=role)
    if asked.outcome is Outcome.REFUSED:
        return Decision(None, asked)
    rules = policy.online_for(role)
    reasons: tuple[VerdictReason, ...] = asked.reasons
    small_become_c = np.zeros(spec.shape, dtype=bool)
    if rules.on_values:
        records = table
        if spec.measure is not Measure.COUNT:
            records = ask_published(published, spec.records, spec)
        further, judged = _by_numbers(policy, spec.records, records, role, rules, published)
        for own in judged:
            small_become_c |= _small_become_c(records, own, rules)
        reasons = (*reasons, *further)
    areas, available = areas_shown(policy, spec, reasons)
    verdict = _nothing_left(Verdict(reasons, areas, available))
    if verdict.outcome is Outcome.REFUSED:
        return Decision(None, verdict)
    hidden = _hidden(spec, reasons)
    if not verdict.reasons:
        return Decision(table, verdict)
    if table.dense is None:
        return Decision(None, Verdict((*reasons, _too_large(policy, spec, role)), areas, available))
    shown = withhold(table.dense, hidden)
    if small_become_c.any():
        shown = withhold(shown, small_become_c)
        if _adds_up(table):
            return Decision(None, Verdict((*reasons, _additive(rules)), areas, available))
    return Decision(shown, verdict)


@dataclass(frozen=True, slots=True, eq=False)
class Ruling:
    """What a policy says about a table before the table itself is there.

    Attributes:
        verdict: What it says.
        sparse: The codes of areas in which values below ``below`` are shown as ``c``.
        everywhere: Whether that holds for every cell, since the table shows no areas.
        below: The smallest value that is shown there.
    """

    verdict: Verdict
    sparse: tuple[Withheld, ...] = ()
    everywhere: bool = False
    below: int = 0


def decide(
    policy: Policy,
    spec: TableSpec,
    *,
    published: Publish,
    role: str | UserRole = UserRole.PUBLIC,
    cells: int | None = None,
) -> Ruling:
    """What is shown of a table, from published tables alone; the table itself is not needed.

    Args:
        policy: The policy.
        spec: The table.
        published: Gives the published table of a specification.
        role: Who asks.
        cells: How many cells are asked for, where some codes of the axes are not.
    """
    asked = ask(policy, spec, role=role, cells=cells)
    rules = policy.online_for(role)
    if asked.outcome is Outcome.REFUSED or not rules.on_values:
        return Ruling(replace(asked, notes=()))
    further, judged = _by_numbers(policy, spec, None, role, rules, published)
    reasons = (*asked.reasons, *further)
    areas, available = areas_shown(policy, spec, reasons)
    verdict = _nothing_left(Verdict(reasons, areas, available))
    sparse = [own for own in judged if own.sparse.any()]
    if rules.when_sparse is not WhenSparse.C or not sparse:
        return Ruling(verdict)
    withheld = tuple(codes for own in sparse for codes in own.withheld(own.sparse))
    return Ruling(verdict, withheld, any(own.axis is None for own in sparse), rules.below)


# ---------------------------------------------------------------------------- published numbers


def _by_numbers(
    policy: Policy,
    spec: TableSpec,
    table: AnyTable | None,
    role: str | UserRole,
    rules: OnlineRules,
    published: Publish | None,
) -> tuple[tuple[VerdictReason, ...], tuple[Judgement, ...]]:
    """The reasons that published numbers give, and what they say of each area.

    Every variable of areas is judged by itself, the main geography first.
    """
    areas = areas_of(policy, spec, table, published)
    judged = tuple(judge(policy, spec, own, rules) for own in areas)
    reasons = [
        *_together(reason for own in judged for reason in _area_reasons(own, rules, spec)),
        *_table_reasons(judged[0], rules, spec),
        *_universe_reasons(spec, table, rules, published),
    ]
    also: Callable[[TableSpec], bool] | None = None
    if not any(reason.refuses for reason in reasons) and _shares(rules):
        reasons += _share_reasons(shares_of(spec, table, published), rules)
    by_universe = rules.minimum_population is not None and not spec.universe.everything
    if published is not None and (_shares(rules) or by_universe):
        publish = published
        left = MOST_PUBLISHED

        def also(version: TableSpec) -> bool:
            nonlocal left
            left -= 1
            if left < 0:
                return False
            # The version itself is not asked for: with a condition it need not be published.
            further = [*_universe_reasons(version, None, rules, publish)]
            if _shares(rules):
                further += _share_reasons(shares_of(version, None, publish), rules)
            return not further

    remedies: tuple[VerdictRemedy, ...] = ()
    if reasons:
        remedies = remedies_by_numbers(policy, spec, role, areas, rules, also)
    return with_remedies(reasons, remedies), judged


def _small_become_c(table: AnyTable, judged: Judgement, rules: OnlineRules) -> Mask:
    """The cells of sparse areas whose values are too small to be shown there."""
    spec = table.spec
    if rules.when_sparse is not WhenSparse.C or not judged.sparse.any():
        return np.zeros(spec.shape, dtype=bool)
    if table.dense is None:
        return np.zeros(spec.shape, dtype=bool)
    rows: Mask = judged.sparse
    if judged.axis is not None:
        rows = _across(rows, spec.position(judged.axis.variable.name), spec)
    else:
        rows = rows.reshape((1,) * len(spec.axes))
    return np.broadcast_to(rows, spec.shape) & (table.published < rules.below)


def _shares(rules: OnlineRules) -> bool:
    return rules.ones is not None or rules.ones_and_twos is not None


def _area_reasons(
    judged: Judgement, rules: OnlineRules, spec: TableSpec
) -> Iterable[VerdictReason]:
    units = spec.of.plural
    few = f"fewer than {figure_text(rules.mean_cell_size or 0)} {units} for each cell on average"
    figures = (("limit", rules.mean_cell_size or 0), ("units", spec.of.value))
    in_axis = judged.axis is not None
    if judged.sparse.any() and rules.when_sparse is WhenSparse.C:
        where = "some areas" if in_axis else "this table"
        yield VerdictReason(
            ReasonCode.SPARSE_AREA,
            f"There are {few} in {where}; values below {rules.below} are shown there as c.",
            refuses=False,
            words="sparse-area.small-values" if in_axis else "sparse-area.small-values-table",
            values=(*figures, ("below", rules.below)),
        )
    elif judged.sparse.any() and in_axis and rules.when_sparse is WhenSparse.WITHHOLD_AREA:
        yield VerdictReason(
            ReasonCode.SPARSE_AREA,
            f"Areas with {few} are withheld.",
            refuses=False,
            withheld=judged.withheld(judged.sparse),
            words="sparse-area.withheld",
            values=figures,
        )
    elif judged.sparse.any():
        where = "in some area, and then the whole table is refused" if in_axis else "in this table"
        yield VerdictReason(
            ReasonCode.SPARSE_AREA,
            f"There are {few} {where}.",
            words="sparse-area.refused" if in_axis else "sparse-area.table",
            values=figures,
        )
    if judged.small.any():
        limit = figure_text(rules.minimum_population or 0)
        yield VerdictReason(
            ReasonCode.SMALL_POPULATION,
            f"Areas with a published population below {limit} {units} are withheld."
            if in_axis
            else f"The published population is below {limit} {units}.",
            refuses=not in_axis,
            withheld=judged.withheld(judged.small),
            words="small-population.withheld" if in_axis else "small-population.table",
            values=(("limit", rules.minimum_population or 0), ("units", spec.of.value)),
        )


def _together(reasons: Iterable[VerdictReason]) -> Iterable[VerdictReason]:
    """Reasons that say the same of several variables of areas, as one."""
    said: dict[tuple[str, bool], VerdictReason] = {}
    for reason in reasons:
        other = said.get((reason.words, reason.refuses))
        withheld = reason.withheld if other is None else (*other.withheld, *reason.withheld)
        said[reason.words, reason.refuses] = replace(reason, withheld=withheld)
    return said.values()


def _table_reasons(
    judged: Judgement, rules: OnlineRules, spec: TableSpec
) -> Iterable[VerdictReason]:
    if judged.table_is_sparse:
        size = figure_text(rules.mean_cell_size_of_table or 0)
        yield VerdictReason(
            ReasonCode.SPARSE_TABLE,
            f"The table has fewer than {size} {spec.of.plural} for each cell on average.",
            words="sparse-table",
            values=(("limit", rules.mean_cell_size_of_table or 0), ("units", spec.of.value)),
        )


def _universe_reasons(
    spec: TableSpec, table: AnyTable | None, rules: OnlineRules, published: Publish | None
) -> Iterable[VerdictReason]:
    """A condition that chooses few units, by the published number of them."""
    if rules.minimum_population is None or spec.universe.everything:
        return
    if universe_population(spec, table, published) < rules.minimum_population:
        limit = figure_text(rules.minimum_population or 0)
        yield VerdictReason(
            ReasonCode.SMALL_POPULATION,
            f"The condition chooses fewer than {limit} {spec.of.plural} by published numbers.",
            variables=tuple(variable.name for variable in spec.universe.variables),
            words="small-population.condition",
            values=(("limit", rules.minimum_population), ("units", spec.of.value)),
        )


def _share_reasons(shares: ValueShares, rules: OnlineRules) -> list[VerdictReason]:
    reasons = []
    if shares.above(rules.ones, twos=False):
        reasons.append(
            VerdictReason(
                ReasonCode.ONES,
                "Too many of the cells that are not 0 would show a 1: more than"
                f" {limit_text(rules.ones or 0)}.",
                words="too-many-ones",
                values=(("percent", _percent(rules.ones)),),
            )
        )
    if shares.above(rules.ones_and_twos, twos=True):
        reasons.append(
            VerdictReason(
                ReasonCode.ONES_AND_TWOS,
                "Too many of the cells that are not 0 would show a 1 or a 2: more than"
                f" {limit_text(rules.ones_and_twos or 0)}.",
                words="too-many-ones-and-twos",
                values=(("percent", _percent(rules.ones_and_twos)),),
            )
        )
    return reasons


def _percent(share: float | None) -> float:
    return float(Fraction(str(share or 0)) * 100)


# -------------------------------------------------------------------------------- what is shown


def _hidden(spec: TableSpec, reasons: Iterable[VerdictReason]) -> Mask:
    """The cells of withheld codes."""
    hidden = np.zeros(spec.shape, dtype=bool)
    for reason in reasons:
        for withheld in reason.withheld:
            at = spec.position(withheld.variable)
            rows = np.zeros(spec.shape[at], dtype=bool)
            rows[positions_of(spec.axes[at], withheld)] = True
            hidden |= _across(rows, at, spec)
    return hidden


def _across(rows: Mask, at: int, spec: TableSpec) -> Mask:
    """What holds for positions of one axis, for all cells."""
    return np.expand_dims(rows, [other for other in range(len(spec.axes)) if other != at])


def _nothing_left(verdict: Verdict) -> Verdict:
    """A table of which every area is withheld is refused."""
    if verdict.outcome is Outcome.WITHHELD and verdict.areas and verdict.available == 0:
        reasons = tuple(replace(reason, refuses=True) for reason in verdict.reasons)
        return replace(verdict, reasons=reasons)
    return verdict


def _adds_up(table: Table) -> bool:
    """Whether withheld values could be worked out from totals, since all of them are sums."""
    if table.flags is not None or not any(len(axis.blocks) > 1 for axis in table.spec.axes):
        return False
    try:
        return bool(table.published.any()) and adds_up(table.spec, table.published)
    except SpecError:
        return False  # levels that do not nest have no interior to add up from


def _additive(rules: OnlineRules) -> VerdictReason:
    return VerdictReason(
        ReasonCode.ADDS_UP,
        f"Values below {rules.below} would become c, and the totals of this table are sums of its"
        " cells, so that they could be worked out again.",
        words="withheld-values-add-up",
        values=(("below", rules.below),),
    )


def _too_large(policy: Policy, spec: TableSpec, role: str | UserRole) -> VerdictReason:
    remedies = remedies_for(
        policy, spec, role, enough=lambda version: not code_reasons(policy, version, role)
    )
    return VerdictReason(
        ReasonCode.TOO_LARGE_FOR_SIGNS,
        "Some codes of this table are withheld, and a table of its size has no room for the signs"
        " that say so.",
        remedies=remedies,
        words="too-large-for-signs",
    )
