"""What was published as products that close cells, and the refusal to give such cells away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sdcensus.errors import Refused
from sdcensus.model.linked.opened import Comparison, OpenedCells, compare_products
from sdcensus.model.linked.products import ProductTable
from sdcensus.store.registry_files import RegistryEntry
from sdcensus.store.registry_values import Values

#: Findings that a message tells.
_MOST = 5


def product_of(
    entry: RegistryEntry, values: Callable[[RegistryEntry], Values], name: str = ""
) -> ProductTable:
    """A table of the registry as a product; one whose values are not kept shows all its cells.

    Args:
        entry: The table.
        values: Gives its values.
        name: What messages call it; the name of the table if it is empty.
    """
    called = name or entry.name
    if not entry.has_values or entry.sparse:
        return ProductTable(name=called, spec=entry.spec)
    table = values(entry).table(entry.spec)
    return ProductTable.of(called, table, closing=entry.closes, together=entry.together)


def refuse_opened(new: ProductTable, before: Iterable[ProductTable]) -> None:
    """Refuse a table that shows what others close, or closes what others show.

    Args:
        new: What would be published.
        before: What is out.

    Raises:
        Refused: Cells would be closed in one product and given away by others.
    """
    products = [*before, new]
    at = len(products) - 1
    if not any(product.closes for product in products):
        return
    comparison = compare_products(products)
    opens = [cells for cells in comparison.opened if at in cells.opened_by]
    if opens or comparison.unchecked:
        raise Refused(opening_text(products, opens, comparison))
    late = [cells for cells in comparison.opened if cells.closed_in == at]
    if late:
        raise Refused(late_text(products, late))


def opening_text(
    products: Sequence[ProductTable], opens: Sequence[OpenedCells], comparison: Comparison
) -> str:
    """Why products are refused that give away what others close, and what can be done."""
    lines = [_HEAD if opens else _UNCHECKED_HEAD, *opened_lines(products, opens)]
    lines += [f"  {reason}" for reason in comparison.unchecked]
    lines += [
        "A closed cell stays closed in every product: exact, rounded, perturbed and as a sum.",
        "What can be done:",
        "  protect these tables together, by the same method with the same settings;",
        "  take coarser codes or fewer axes in the tables that give the cells away, so that they"
        " cannot be computed;",
        "  or leave these tables out.",
    ]
    return "\n".join(lines)


def late_text(
    products: Sequence[ProductTable], late: Sequence[OpenedCells], *, accepting: str = ""
) -> str:
    """Why it is pointless to close what is out, and what can be done.

    Args:
        products: All products.
        late: What would be closed.
        accepting: How somebody can accept it by name, if that is possible.
    """
    lines = [
        "Cells would be closed that are out already. It hides nothing: readers have the numbers.",
        *opened_lines(products, late),
        "What can be done:",
        "  take coarser codes, so that these cells are not shown at all;",
        "  have the method keep to what is out (the setting 'earlier', where it has one);",
        f"  {accepting}" if accepting else "  or publish without closing them.",
    ]
    return "\n".join(lines)


_HEAD = "Cells that one product closes would be given away by others."
_UNCHECKED_HEAD = (
    "Some products close cells, and it cannot be found out whether others give them away."
)


def opened_lines(products: Sequence[ProductTable], opened: Sequence[OpenedCells]) -> list[str]:
    """What gives what away, a line each, the first ones."""
    lines = list(dict.fromkeys(f"  {cells.sentence(products)}" for cells in opened))
    more = len(lines) - _MOST
    return [*lines[:_MOST], f"  and {more:,} more"] if more > 0 else lines
