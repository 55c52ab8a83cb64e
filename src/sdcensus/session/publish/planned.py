"""What a plan publishes: its own tables, those of its programme, its indicators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdcensus.documents.mapping.document import read_mapping
from sdcensus.documents.policy.document import read_policy
from sdcensus.model.plan.plan import Plan, PlannedTable
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.headings import heading_in
from sdcensus.model.spec.table_spec import Measure
from sdcensus.session.figures.asked import Behind
from sdcensus.session.figures.indicators import indicator_product, share_product
from sdcensus.session.protect.few_contributors import least_behind
from sdcensus.session.protect.plan_method import planned_smallest_group
from sdcensus.session.publish.products import (
    Product,
    Publishable,
    PublishableTable,
    StatisticsProduct,
    TableProduct,
)
from sdcensus.session.publish.programme import open_programme, programme_tables


def planned_products(plan: Plan, schema: Schema) -> tuple[Product, ...]:
    """Everything that a plan publishes: its own tables, those of its programme, its indicators.

    Args:
        plan: The plan.
        schema: Of the census that it is about.
    """
    return tuple(_products(plan, schema))


def _sums(table: PlannedTable, plan: Plan, schema: Schema) -> Product:
    """A table with a condition: sums of published values of codes that the policy allows."""
    # Here and not above: few plans have conditions, which are answered as the builder does.
    from sdcensus.session.figures.definitions import sums_product

    policy = Policy(name="", schema=schema)
    if plan.policy is not None:
        policy = read_policy(plan.path(plan.policy.file), schema)
    return sums_product(table, policy, plan.measure)


def _products(plan: Plan, schema: Schema) -> Iterator[Product]:
    for table in plan.tables:
        if table.share:
            yield share_product(table, schema, plan.measure)
            continue
        if table.where:
            yield _sums(table, plan, schema)
            continue
        spec = table.spec(schema, plan.measure)
        title = table.title or heading_in(spec, schema.census.languages)
        rows = len(table.rows) or None
        yield TableProduct(PublishableTable(name=table.name, title=title, spec=spec, rows=rows))
    if plan.programme:
        programme = open_programme(plan.programme)
        mapping = read_mapping(plan.path(plan.mapping), programme, schema)
        patterns = plan.programme_tables or ("*",)
        for made in programme_tables(plan.programme, patterns, mapping, schema):
            yield _of_programme(made, plan, schema)
    behind = _behind(plan, schema)
    for indicator in plan.indicators:
        yield indicator_product(indicator, schema, plan.measure, behind)


def _behind(plan: Plan, schema: Schema) -> Behind:
    """Behind figures of an amount stand as many as behind its sums, or as the plan says."""
    policy = None
    if plan.policy is not None:
        policy = read_policy(plan.path(plan.policy.file), schema)
    smallest = planned_smallest_group(plan, schema, policy)
    return lambda amount, said: least_behind(policy, amount, smallest, said)


def _of_programme(table: Publishable, plan: Plan, schema: Schema) -> Product:
    measure = plan.measure or schema.census.measure or Measure.COUNT
    if isinstance(table, PublishableTable):
        return TableProduct(replace(table, spec=table.spec.measured(measure, schema)), own=False)
    # Figures of one table share its specification, which is counted once.
    specs = {id(figure.spec): figure.spec.measured(measure, schema) for figure in table.statistics}
    figures = tuple(replace(figure, spec=specs[id(figure.spec)]) for figure in table.statistics)
    return StatisticsProduct(replace(table, statistics=figures))
