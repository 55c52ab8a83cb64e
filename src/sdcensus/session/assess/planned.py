"""Assessments of all tables of a plan, each together with the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.report.magnitude.results import AnyAssessment
from sdcensus.session.assess.options import AssessOptions, Surroundings
from sdcensus.session.assess.tables import (
    OthersBeside,
    TableCounter,
    assessed,
    others_beside,
)
from sdcensus.session.assess.together import others_of
from sdcensus.session.looks.budget import opened_plan
from sdcensus.session.protect.linked import protect_together
from sdcensus.session.protect.plan_method import (
    PlannedMethods,
    own_protections,
    planned_smallest_group,
    smallest_group_of,
)
from sdcensus.session.protect.table import noted
from sdcensus.session.publish.planned import planned_products
from sdcensus.session.publish.products import Product


@dataclass(frozen=True, slots=True, repr=False)
class PlanAssessment(Confidential):
    """The tables of a plan, assessed.

    Attributes:
        tables: For each table a name for files, and its assessment.
        skipped: The tables that cannot be assessed, each with the reason.
    """

    tables: tuple[tuple[str, AnyAssessment], ...]
    skipped: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<PlanAssessment of {len(self.tables)} tables: confidential>"


def assess_plan(
    path: str | Path,
    names: Sequence[str] = (),
    options: AssessOptions | None = None,
    around: Surroundings | None = None,
    *,
    secret: str | Path | None = None,
    progress: Progress = no_progress,
) -> PlanAssessment:
    """Assess tables of a plan, each together with all others.

    The others are also the tables of its programme, and those behind shares and indicators: their
    counts can nearly be read off the published figures.

    Args:
        path: The file of the plan.
        names: The tables to assess, also of the programme; one among them that cannot be assessed
            is refused. All ``[[table]]`` of the plan if none is named; those that cannot be
            assessed are then left out.
        options: What is asked.
        around: What else they are taken together with.
        secret: The file of the office secret; else ``SDCENSUS_SECRET_FILE`` names it.
        progress: Told how far it is.
    """
    said, beside = options or AssessOptions(), around or Surroundings()
    plan, census = opened_plan(path)
    products = {product.name: product for product in planned_products(plan, census.schema)}
    chosen = _chosen(path, products, names or [table.name for table in plan.tables])
    specs = (spec for product in products.values() for spec in product.specs)
    planned = tuple({spec.hash(): spec for spec in specs}.values())
    policy = None if plan.policy is None else plan.path(plan.policy.file)
    rules = None if policy is None else read_policy(policy, census.schema)
    smallest = planned_smallest_group(plan, census.schema)
    if beside.smallest_group is not None and beside.smallest_group < (smallest or 0):
        raise SpecError(f"The plan says smallest_group = {smallest}: it can be raised only.")
    beside = replace(beside, smallest_group=beside.smallest_group or smallest)
    assessments: list[tuple[str, AnyAssessment]] = []
    skipped: list[str] = []
    by_unit: dict[tuple[Entity, bool], OthersBeside] = {}
    said = replace(said, tabulate=TableCounter(census))
    methods = PlannedMethods(
        plan=plan,
        census=census,
        own=own_protections(plan, products.values()),
        secret=secret,
    )
    together = _Together(methods, planned)
    for number, (name, title, spec) in enumerate(chosen, start=1):
        method = methods.method(spec)
        said = replace(said, method=method, number=number, title=title.show(said.language))
        around_table = beside
        if spec.hash() in methods.own:
            own = smallest_group_of(plan, methods.protection(spec), rules)
            around_table = replace(beside, smallest_group=own)
        kind = (spec.of, spec.amount is None)
        if kind not in by_unit:
            by_unit[kind] = others_beside(
                census, spec, said, beside, planned=planned, obeyed=policy, progress=progress
            )
        tables = others_of(spec, None, (*by_unit[kind].others, *planned))
        others = replace(by_unit[kind], others=tables)
        try:
            assessment = assessed(
                census,
                spec,
                method,
                others.added_to(said, census),
                around_table,
                progress,
                together.protected(spec, progress),
            )
        except SpecError as error:
            if names:
                raise
            skipped.append(f"{name}: {error}")
        else:
            assessments.append((file_name(name), assessment))
    if not assessments:
        raise SpecError(f"No table of {path} can be assessed. {skipped[0]}")
    return PlanAssessment(tuple(assessments), tuple(skipped))


def _chosen(
    path: str | Path, products: Mapping[str, Product], names: Sequence[str]
) -> list[tuple[str, Text, TableSpec]]:
    """The tables behind the products of these names: what they are called, and what they show."""
    if not names:
        raise SpecError(
            f"{path} has no [[table]] of its own. Name those of its programme that shall be"
            f" assessed, such as --table {next(iter(products))}."
        )
    tables = []
    for name in dict.fromkeys(names):
        if name not in products:
            raise UnknownName("table in the plan", name, known=list(products))
        specs = products[name].specs
        for number, spec in enumerate(specs, start=1):
            called = name if len(specs) == 1 else f"{name}-{number}"
            tables.append((called, products[name].title, spec))
    return tables


class _Together:
    """Tables of a plan that are protected together, as they would be published."""

    __slots__ = ("_done", "_groups", "_methods")

    def __init__(self, methods: PlannedMethods, specs: Sequence[TableSpec]) -> None:
        self._methods = methods
        self._groups = {spec.hash(): group for group in methods.together(specs) for spec in group}
        self._done: dict[str, Protected] = {}

    def protected(self, spec: TableSpec, progress: Progress) -> Protected | None:
        """A table that is protected together with others; ``None`` for one that is not."""
        group = self._groups.get(spec.hash())
        if group is None:
            return None
        if spec.hash() not in self._done:
            progress(f"counting {spec.title}", 0.0)
            method = self._methods.method(spec)
            tables = protect_together(self._methods.census, group, method, progress=progress)
            for each, protected in zip(group, tables, strict=True):
                self._done[each.hash()] = noted(protected, method)
        return self._done[spec.hash()]


def file_name(name: str) -> str:
    """A name that every file system takes.

    Examples:
        >>> file_name("Religion by district (1/2)")
        'religion-by-district-1-2'
    """
    file = re.sub(r"\W+", "-", name.casefold()).strip("-")
    # Names of many axes are longer than file systems allow.
    return file[:80].rstrip("-") or "table"
