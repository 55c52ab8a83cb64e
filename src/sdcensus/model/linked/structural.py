"""Combinations that cannot occur, as tables of which everybody knows that they are 0.

Nobody below 15 is married: those below 15 who are not married are all below 15. So a table under
one condition can show cells of a table under another, and nothing but the schema says it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.model.linked.products import ProductTable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, universe_of


def impossible_products(schema: Schema, products: Sequence[ProductTable]) -> list[ProductTable]:
    """For each product the same axes under what cannot occur.

    Rules about variables that no product shows or has a condition on are left out, and so are
    rules about two records, which forbid no combination of codes.

    Args:
        schema: What declares them.
        products: All products that are compared.
    """
    rules = [universe_of(rule.when, schema) for rule in schema.impossible if rule.relation is None]
    tables = dict.fromkeys(
        spec for product in products for spec in _under(schema, product.spec, rules, products)
    )
    return [ProductTable(name="what cannot occur", spec=spec) for spec in tables]


def _under(
    schema: Schema, spec: TableSpec, rules: Sequence[Universe], products: Sequence[ProductTable]
) -> Iterator[TableSpec]:
    units = schema.lineage(spec.of)
    told = {
        variable.name
        for product in products
        if product.spec.of is spec.of
        for variable in (
            *(axis.variable for axis in product.spec.axes),
            *product.spec.universe.variables,
        )
    }
    for rule in rules:
        variables = rule.variables
        if all(each.entity in units and each.name in told for each in variables):
            yield TableSpec(of=spec.of, axes=spec.axes, universe=rule)
