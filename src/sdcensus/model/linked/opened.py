"""Cells that one product closes and others show: as they are, changed, or as a sum.

By definitions of cells alone: what was counted is not looked at. It does not matter how tables are
spelled, nor whether numbers are exact, rounded or perturbed: an office that closes a cell in one
product has promised that no other product tells about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.inference.derivation import TooMuchWorkError, derivable, derivation
from sdcensus.model.linked.comparable import ComparedProducts, TooManyCellsError, cell_name
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.shared_cells import shared_cells

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The place of a table that nobody publishes.
NOWHERE = -1
#: Parts of a sum that are named.
_MOST_PARTS = 6


@dataclass(frozen=True, slots=True)
class OpenedCells:
    """Cells that a product closes and that others give away.

    Attributes:
        closed_in: The product that closes them, by its place.
        opened_by: The products that give them away, by their places.
        cells: The cells, by their numbers in the table that closes them.
        names: The first of them by their codes.
        parts: Of which cells the first of them is the sum, in words; empty where the cells
            themselves are shown.
    """

    closed_in: int
    opened_by: tuple[int, ...]
    cells: tuple[int, ...]
    names: tuple[str, ...]
    parts: tuple[str, ...] = ()

    def sentence(self, products: Sequence[ProductTable]) -> str:
        """What gives what away, for the office: names of tables and codes, no number."""
        closing = products[self.closed_in].name
        opening = joined([products[at].name for at in self.opened_by])
        count = len(self.cells)
        several = count > 1
        verb = "show" if len(self.opened_by) > 1 else "shows"
        such = f"{'such as ' if several else ''}{'; '.join(self.names)}"
        cells = f"{count:,} cells" if several else "a cell"
        if not self.parts:
            return f"{opening} {verb} {cells} that {closing} closes: {such}."
        sums = " ".join(self.parts).removeprefix("plus ")
        return (
            f"With {opening} {cells} can be computed that {closing} closes, {such}."
            f" {self.names[0]} is {sums}."
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found about products that close cells.

    Attributes:
        opened: Cells that are closed and given away.
        unchecked: Why sums could not be gone through, a sentence each.
    """

    opened: tuple[OpenedCells, ...] = ()
    unchecked: tuple[str, ...] = ()


def compare_products(
    products: Sequence[ProductTable],
    *,
    empty: Sequence[ProductTable] = (),
    most_named: int = 3,
) -> Comparison:
    """Find cells that some of the products close and others show or make computable.

    Args:
        products: All products that are out or would be.
        empty: Tables of which everybody knows that they are 0, published or not.
        most_named: How many cells of each finding are named.
    """
    if not any(product.closes for product in products):
        return Comparison()
    opened = list(_shown_elsewhere(products, most_named))
    shown: dict[int, set[int]] = {}
    for found in opened:
        shown.setdefault(found.closed_in, set()).update(found.cells)
    unchecked: list[str] = []
    kinds = dict.fromkeys(_kind(product) for product in products if _asks_sums(product))
    for kind in kinds:
        unit, _ = kind
        places = [at for at, product in enumerate(products) if _kind(product) == kind]
        compared = [products[at] for at in places]
        known = [product for product in empty if _kind(product) == kind]
        try:
            opened += _computable(compared, known, places, shown, most_named)
        except (TooManyCellsError, TooMuchWorkError):
            unchecked.append(
                f"The tables of {unit.plural} have too many cells to find out whether closed ones"
                " can be computed from others."
            )
        except SpecError as error:
            unchecked.append(f"Whether closed cells can be computed is not known: {error}")
    return Comparison(tuple(opened), tuple(unchecked))


def _computable(
    products: Sequence[ProductTable],
    empty: Sequence[ProductTable],
    places: Sequence[int],
    shown: Mapping[int, Collection[int]],
    most_named: int,
) -> list[OpenedCells]:
    """Closed cells that can be computed, from the safe side first.

    Tables that close nothing are taken as if they showed all their cells, which is quick: most
    show them. Only if something follows then, their gaps are looked at; where that is too much,
    what follows without them stands. What is known to be 0 is left out where it is too much.
    """
    if empty:
        try:
            beside = [*places, *(NOWHERE for _ in empty)]
            return _computable([*products, *empty], (), beside, shown, most_named)
        except (TooManyCellsError, TooMuchWorkError):
            return _computable(products, (), places, shown, most_named)
    whole = [
        product if product.closes or product.missing is None else replace(product, missing=None)
        for product in products
    ]
    found = list(_summed(ComparedProducts.of(whole), places, shown, most_named))
    if not found or all(one is other for one, other in zip(whole, products, strict=True)):
        return found
    try:
        return list(_summed(ComparedProducts.of(products), places, shown, most_named))
    except (TooManyCellsError, TooMuchWorkError):
        return found


def _kind(product: ProductTable) -> tuple[Entity, str]:
    """What its cells are: counts of units, or sums of an amount over them."""
    amount = product.spec.amount
    return product.spec.of, "" if amount is None else amount.name


def _asks_sums(product: ProductTable) -> bool:
    return product.closes and product.closing is Closing.SUMS


def _shown_elsewhere(products: Sequence[ProductTable], most_named: int) -> Iterator[OpenedCells]:
    for closing, product in enumerate(products):
        if product.closed is None:
            continue
        closed = np.flatnonzero(product.closed.reshape(-1)).astype(np.uint64)
        for at, other in enumerate(products):
            if at == closing:
                continue
            shared = shared_cells(product.spec.compared, other.spec.compared)
            if shared is None:
                continue
            kept, theirs = shared.of(closed)
            if other.missing is not None:
                kept = kept[~other.missing.reshape(-1)[theirs.astype(np.int64)]]
            if kept.size:
                cells = closed[kept].astype(np.int64)
                yield OpenedCells(
                    closing, (at,), tuple(cells.tolist()), _names(product, cells, most_named)
                )


def _names(product: ProductTable, cells: Int64, most: int) -> tuple[str, ...]:
    return tuple(cell_name(product.spec, cell) for cell in cells[:most].tolist())


def _summed(
    compared: ComparedProducts,
    places: Sequence[int],
    shown: Mapping[int, Collection[int]],
    most_named: int,
) -> Iterator[OpenedCells]:
    """Closed cells that follow from several products, and not from those that close them.

    Args:
        compared: The products.
        places: Where each of them stands among all.
        shown: For each place the cells that others show themselves.
        most_named: How many cells are named.
    """
    products = compared.products
    every = range(len(products))
    known = compared.known(every)
    targets = np.zeros(known.size, dtype=bool)
    for numbers, _ in compared.closed:
        targets[numbers] = True
    follow = derivable(compared.sums, known, targets)
    for closing in every:
        numbers, cells = compared.closed[closing]
        found = follow[numbers] & ~np.isin(cells, list(shown.get(places[closing], ())))
        if not found.any():
            continue
        own = [at for at in every if at == closing or products[at].is_with(products[closing])]
        own += [at for at in every if places[at] == NOWHERE]
        # What a method leaves to be computed from its own tables is its own affair.
        already = derivable(compared.sums, compared.known(own), follow)
        found &= ~already[numbers]
        if not found.any():
            continue
        first = int(numbers[found][0])
        parts, used = _parts(compared, known, first, own, places)
        others = used or tuple(at for at in every if at not in own)
        opened = cells[found]
        yield OpenedCells(
            places[closing],
            tuple(places[at] for at in others),
            tuple(opened.tolist()),
            _names(products[closing], opened, most_named),
            parts,
        )


def _parts(
    compared: ComparedProducts, known: Mask, cell: int, own: Sequence[int], places: Sequence[int]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The cells that make up a closed one, in words, and the products that they stand in."""
    made = derivation(compared.sums, known, cell)
    if made is None:
        return ("sums of several cells",), ()
    others = [at for at in range(len(compared.products)) if at not in own]
    parts: list[str] = []
    used: dict[int, None] = {}
    for number, times in zip(made[0].tolist(), made[1].tolist(), strict=True):
        table = compared.holder(number, own)
        if table is None:
            table = compared.holder(number, others)
            if table is None:
                continue
            used[table] = None
        if places[table] == NOWHERE:  # it is 0
            continue
        often = "" if abs(times) == 1 else f"{abs(times)} times "
        sign = "plus" if times > 0 else "less"
        parts.append(f"{sign} {often}{compared.name(number, table)}")
    parts.sort(key=lambda part: part.startswith("less"))  # what is added first
    more = len(parts) - _MOST_PARTS
    shown = parts[:_MOST_PARTS]
    if more > 0:
        shown.append(f"and {more:,} more")
    return tuple(shown), tuple(sorted(used))
