"""Menus that were served, as texts that are kept, and again as menus of a later schema.

Whoever saw a table of an earlier, wider menu compares it with the same table when it is offered
again: a revision has to pass over every menu that ever was.
"""

from __future__ import annotations

import json

from sdcensus.errors import SdcensusError, StoreError
from sdcensus.model.policy.menu import Menu, MenuVariable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import parse_json


def menu_text(menu: Menu) -> str:
    """A menu as a text, the same for the same tables. Public: code lists and rules only."""
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
        "never": sorted(sorted(map(list, one)) for one in menu.never_together),
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
            areas = tuple((str(area), tuple(some)) for area, some in rules["areas"])
            if levels:
                variables.append(MenuVariable(variable, levels, areas))
        if not variables:
            return None
        # A combination that is not there any more forbids nothing.
        names = {variable.variable.name for variable in variables}
        never = tuple(
            tuple((str(name), str(level)) for name, level in one)
            for one in content["never"]
            if names.issuperset(name for name, _ in one)
        )
        return Menu(
            Entity(content["of"]),
            tuple(variables),
            int(content["dimensions"]),
            never_together=never,
        )
    except (ValueError, LookupError, TypeError, AttributeError, SdcensusError):
        raise StoreError("the menu that was served before is damaged in the database") from None
