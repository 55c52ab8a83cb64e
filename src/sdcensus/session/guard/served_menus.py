"""The menus of a table builder: kept as texts, and as products that show cells.

A builder that is open shows every table of its menu, whether somebody has asked for it or not.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from sdcensus.errors import Refused, SdcensusError, StoreError
from sdcensus.model.linked.opened import compare_products
from sdcensus.model.linked.products import ProductTable
from sdcensus.model.linked.structural import impossible_products
from sdcensus.model.policy.menu import Menu, MenuVariable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import parse_json
from sdcensus.store.owner_only import write_owner_only
from sdcensus.store.registry_closed import opened_lines

#: Where a server under a plan leaves word of what it offers, in the office's folder.
MENUS_FILE = "served-menus.json"
#: What messages call what a builder shows.
_BUILDER = "the table builder"


def menu_text(menu: Menu) -> str:
    """A menu as a text, the same for the same tables. Public: code lists and rules only.

    Whoever saw a table of an earlier, wider menu compares it with the same table when it is offered
    again: a revision has to pass over every menu that ever was.
    """
    content = {
        "of": menu.of.value,
        "dimensions": menu.dimensions,
        "variables": {
            variable.variable.name: {
                "levels": sorted(level.name for level in variable.levels),
                "areas": sorted([name, sorted(levels)] for name, levels in variable.finest_areas),
            }
            for variable in menu.variables
        },
        "never": sorted(sorted(map(list, pair)) for pair in menu.never_together),
    }
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def menu_of_text(text: str, schema: Schema) -> Menu | None:
    """The tables of a kept menu that a schema still has; ``None`` if there are none.

    Raises:
        StoreError: The text is damaged.
    """
    try:
        content = parse_json(text)
        known = {variable.name: variable for variable in schema.variables}
        variables = []
        for name, rules in content["variables"].items():
            variable = known.get(name)
            if variable is None:
                continue
            levels = tuple(level for level in variable.levels() if level.name in rules["levels"])
            areas = tuple((str(area), tuple(levels)) for area, levels in rules["areas"])
            if levels:
                variables.append(MenuVariable(variable, levels, areas))
        if not variables:
            return None
        # A combination that is not there any more forbids nothing.
        names = {variable.variable.name for variable in variables}
        never = tuple(
            tuple((str(name), str(level)) for name, level in pairs)
            for pairs in content["never"]
            if names.issuperset(name for name, _ in pairs)
        )
        return Menu(
            Entity(content["of"]),
            tuple(variables),
            int(content["dimensions"]),
            never_together=never,
        )
    except (ValueError, LookupError, TypeError, AttributeError, SdcensusError):
        raise StoreError("the menu that was served before is damaged in the database") from None


def menu_products(menu: Menu, names: Collection[str]) -> list[ProductTable]:
    """The tables of a menu by some variables, as products that show all their cells.

    Those at the finest levels that are allowed, with all coarser ones: any other table of these
    variables is made of their cells, and so are groups of a reader's own.

    Args:
        menu: What may be asked for.
        names: The variables.
    """
    wanted = [variable for variable in menu.variables if variable.variable.name in names]
    allowed: list[dict[str, Level]] = []
    choices = [(None, *variable.levels) for variable in wanted]
    for chosen in itertools.product(*choices):
        levels = {
            variable.variable.name: level
            for variable, level in zip(wanted, chosen, strict=True)
            if level is not None
        }
        if levels and menu.allows(levels):
            allowed.append(levels)
    finest = [
        levels
        for levels in allowed
        if not any(_is_within(levels, other) for other in allowed if other is not levels)
    ]
    products = [ProductTable(name=_BUILDER, spec=_spec(menu, levels)) for levels in finest]
    return products or [ProductTable(name=_BUILDER, spec=TableSpec(of=menu.of, axes=()))]


def _is_within(levels: Mapping[str, Level], other: Mapping[str, Level]) -> bool:
    """Whether a table adds up from another one that is finer or has more variables."""
    if not all(name in other and other[name].refines(level) for name, level in levels.items()):
        return False
    same = len(levels) == len(other) and all(
        level.refines(other[name]) for name, level in levels.items()
    )
    return not same


def _spec(menu: Menu, levels: Mapping[str, Level]) -> TableSpec:
    axes = []
    for name, level in levels.items():
        variable = menu.variable(name)
        coarser = [other for other in variable.levels if level.refines(other)]
        axes.append(make_axis(variable.variable, coarser, total=True))
    return TableSpec(of=menu.of, axes=tuple(axes))


def refuse_closed_cells(
    name: str, menus: Sequence[Menu], out: Sequence[ProductTable], schema: Schema
) -> None:
    """Keep a builder closed whose menu would show what a published table closes.

    Args:
        name: The policy that opens the menus.
        menus: What would be offered.
        out: What is published.
        schema: Of the census: what it declares impossible is known to everybody.

    Raises:
        Refused: A closed cell could be asked for, or be computed from answers.
    """
    products = [*out, *(each for menu in menus for each in _of_menu(menu, out))]
    if not any(product.closes for product in out):
        return
    comparison = compare_products(products, empty=impossible_products(schema, products))
    served = range(len(out), len(products))
    opened = [cells for cells in comparison.opened if any(at in served for at in cells.opened_by)]
    if not opened and not comparison.unchecked:
        return
    lines = opened_lines(products, opened)
    lines += [f"  {reason}" for reason in comparison.unchecked]
    raise Refused(
        "\n".join(
            [
                f"What the policy {name!r} opens would show cells that published tables close, so"
                " the table builder stays closed.",
                *lines,
                "A closed cell stays closed in every product: exact, perturbed and as a sum.",
                "What can be done, in the policy:",
                "  forbid the variables of these tables together (never_together), or at these"
                " levels;",
                "  offer coarser levels of them (finest_level), or fewer variables in a table;",
                "  or publish these tables by the method of the builder, which closes nothing.",
            ]
        )
    )


def _of_menu(menu: Menu, out: Sequence[ProductTable]) -> Iterator[ProductTable]:
    """The tables of a menu by the variables that closed cells are about."""
    names = {
        variable.name
        for product in out
        if product.closes and product.spec.of is menu.of
        for variable in (
            *(axis.variable for axis in product.spec.axes),
            *product.spec.universe.variables,
        )
    }
    return iter(menu_products(menu, names)) if names else iter(())


# ------------------------------------------------------------------- what an office is told


def note_menus(office: Path, series: str, menus: Sequence[str]) -> None:
    """Leave word in the office's folder of what is offered; earlier menus stay.

    Args:
        office: The folder.
        series: The census.
        menus: The menus, as texts.

    Raises:
        OutputError: It cannot be written.
    """
    known = read_menus(office)
    whole = tuple(dict.fromkeys((*known.get(series, ()), *menus)))
    if office.is_dir() and whole != known.get(series):
        content = {**{name: list(texts) for name, texts in known.items()}, series: list(whole)}
        write_owner_only(office / MENUS_FILE, json.dumps(content, sort_keys=True).encode())


def read_menus(office: Path) -> Mapping[str, tuple[str, ...]]:
    """The menus that were ever offered of each census, as texts; empty if nothing was.

    Raises:
        StoreError: The file is damaged.
    """
    path = office / MENUS_FILE
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        return {str(series): tuple(map(str, texts)) for series, texts in content.items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, AttributeError, TypeError):
        raise StoreError(
            f"{path} is damaged. Restore it from a backup; or remove it and start the table builder"
            " again."
        ) from None


def served_products(
    office: Path, series: str, schema: Schema, tables: Sequence[ProductTable]
) -> list[ProductTable]:
    """What the table builder of an office shows of the variables of closed cells.

    Args:
        office: The folder of the office.
        series: The census.
        schema: Of the census.
        tables: Products, of which some close cells.
    """
    menus = [menu_of_text(text, schema) for text in read_menus(office).get(series, ())]
    return [each for menu in menus if menu is not None for each in _of_menu(menu, tables)]
