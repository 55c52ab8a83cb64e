"""What each setting of methods that search changes: closed and moved cells, coarser codes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sdcensus.documents.plan.document import read_plan
from sdcensus.errors import SdcensusError
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from sdcensus.session.protect.plan_method import planned_method
from tests.documents.effects import Effect, Files, edited
from tests.documents.effects_of_plans import (
    CELL_KEY,
    PLAN,
    SEXES,
    WIDE,
    offices,
    published,
    settings_of,
)

AGES = 'rows = ["ed"]\ncolumns = ["age@ten_year"]'
#: What an office says of single cells.
CELLS = "ed,age,status\nE1,20-29,sensitive\n"
#: Settings with which there is no result.
REFUSED = ("suppression.known_within",)
#: Settings that may change nothing but how a search ends.
TOLD = ("seconds", "gap")
#: The figure of the plan: what closes cells and shares that need them do not go together.
FIGURE = PLAN[PLAN.index("[[indicator]]") : PLAN.index("[protect]")]


def _protected(files: Files, folder: Path) -> Protected:
    """The first table of a plan by itself, as ``protect`` makes it."""
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    secret = offices(folder.parent).secret
    plan = read_plan(folder / "plan.toml")
    census = open_store(folder / plan.store)
    method = planned_method(plan, census, Entity.PERSON, secret=secret)
    axes = (*plan.tables[0].rows, *plan.tables[0].columns)
    return method.protect(census.tabulate(*axes, households=method.needs_households))


def alone(files: Files, folder: Path) -> object:
    """What is published of the first table of a plan, or why nothing is."""
    try:
        table = _protected(files, folder).table
    except SdcensusError as error:
        return str(error)
    assert isinstance(table, Table)
    return table.columns()


def remarks(files: Files, folder: Path) -> object:
    """What the office is told of a search: how it ended, or that there is no result.

    A clock ends a search now here and now there, so no table shows what it does.
    """
    try:
        return _protected(files, folder).audit.remarks
    except SdcensusError as error:
        return (str(error),)


def of_method(
    method: str, said: Mapping[str, tuple[str, str] | tuple[str, str, str]]
) -> dict[str, Effect]:
    """For each setting a plan without and with it; a third text is the table that shows it."""
    effects = {}
    for setting, (without, given, *table) in said.items():
        effect = settings_of(method, without, given, table=table[0] if table else WIDE)
        cells = {"cells.csv": CELLS}
        refused = "given" if f"{method}.{setting}" in REFUSED else ""
        way = remarks if setting in TOLD else alone
        effects[f"{method}.{setting}"] = Effect(
            {**effect.without, **cells}, {**effect.given, **cells}, way, refused
        )
    return effects


def _releases(first: str, without: str, given: str, refused: str = "") -> Effect:
    """A table that is published, and once more in another office that keeps to it or does not."""
    plain = edited(PLAN, (SEXES, AGES), (FIGURE, ""))
    plans = [
        edited(
            plain,
            (CELL_KEY, f'method = "suppression"\n{said}'),
            ('"published"', f'"published{number}"\noffice_folder = "office{number}"'),
        )
        for number, said in ((1, first), (2, without), (2, given))
    ]
    return Effect(
        {"plan1.toml": plans[0], "plan2.toml": plans[1]},
        {"plan1.toml": plans[0], "plan2.toml": plans[2]},
        published,
        refused,
    )


MODULAR, OPTIMAL = 'secondary = "modular"', 'secondary = "optimal"\nsingles = "none"'
BEFORE = 'earlier_release = "published1"'

OF_METHODS: dict[str, Effect] = {
    **of_method(
        "suppression",
        {
            "minimum": ("minimum = 2", "minimum = 4"),
            "zeros": ("", 'zeros = "protect"', AGES),
            "group": ("", "group = 0"),
            "group_axes": ("group = 1", 'group = 1\ngroup_axes = ["sex"]'),
            "households": ("minimum = 1", "minimum = 1\nhouseholds = true", AGES),
            "population": ("", "population = 30"),
            "area": ("population = 30", 'population = 30\narea = "sex"'),
            "singles": ('minimum = 2\nsingles = "none"', 'minimum = 2\nsingles = "any-sum"'),
            "order": ("", 'order = "totals-first"'),
            "width": ("minimum = 2", "minimum = 2\nwidth = 8"),
            "secondary": ("", MODULAR, AGES),
            "lower_protection": (
                f"minimum = 4\nupper_protection = 1\n{MODULAR}",
                f"minimum = 4\nupper_protection = 1\n{MODULAR}\nlower_protection = 1",
                'rows = ["sex", "married"]\ncolumns = ["age@ten_year"]',
            ),
            "upper_protection": (MODULAR, f"{MODULAR}\nupper_protection = 30"),
            "percent_protection": (MODULAR, f"{MODULAR}\npercent_protection = 900"),
            "known_within": (MODULAR, f"{MODULAR}\nknown_within = 50"),
            "work": (OPTIMAL, f"{OPTIMAL}\nwork = 0.000001", AGES),
            "seconds": (OPTIMAL, f"{OPTIMAL}\nseconds = 0.000001", AGES),
            "gap": (OPTIMAL, f"{OPTIMAL}\ngap = 0.9", AGES),
        },
    ),
    "suppression.earlier_release": _releases(
        "minimum = 4", "minimum = 2", f"minimum = 2\n{BEFORE}"
    ),
    "suppression.contradictions": _releases(
        "minimum = 2",
        f"minimum = 4\n{BEFORE}",
        f'minimum = 4\n{BEFORE}\ncontradictions = "close"',
        "without",
    ),
    **of_method(
        "tabular-adjustment",
        {
            "minimum": ("minimum = 2", "minimum = 4"),
            "group": ('zeros = "change"', 'zeros = "change"\ngroup = 0'),
            "group_axes": (
                'zeros = "change"\ngroup = 0',
                'zeros = "change"\ngroup = 0\ngroup_axes = ["sex"]',
            ),
            "households": ("minimum = 1", "minimum = 1\nhouseholds = true", AGES),
            "population": ("", "population = 30"),
            "area": ("population = 30", 'population = 30\narea = "sex"'),
            "lower_protection": (
                "upper_protection = 9",
                "upper_protection = 9\nlower_protection = 2",
            ),
            "upper_protection": ("", "upper_protection = 5"),
            "new_small_counts": ("", 'new_small_counts = "allow"'),
            "zeros": ("", 'zeros = "change"', AGES),
            "kept_totals": ("", 'kept_totals = "total"'),
            "fixed": ("", 'fixed = ["sex"]'),
            "largest_change": ("", "largest_change = 0.5"),
            "weights": ("", 'weights = "inverse"'),
            "cells": ("", 'cells = "cells.csv"', AGES),
            "senses": ("", 'senses = "best"'),
            "effort": ('senses = "best"', 'senses = "best"\neffort = "fast"'),
            "work": ('senses = "best"', 'senses = "best"\nwork = 0.001'),
            "seconds": ('senses = "best"', 'senses = "best"\nseconds = 0.0001'),
            "gap": ('senses = "best"', 'senses = "best"\ngap = 0.9'),
            "key_version": ("", "key_version = 2"),
        },
    ),
    **of_method(
        "coarsening",
        {
            "minimum": ("minimum = 2", "minimum = 4"),
            "small_share": ("", "small_share = 0.5"),
            "mean_cell_size": ("small_share = 1", "small_share = 1\nmean_cell_size = 5"),
            "area_population": ("small_share = 1", "small_share = 1\narea_population = 30"),
            "area": (
                "small_share = 1\narea_population = 30",
                'small_share = 1\narea_population = 30\narea = "sex"',
            ),
            "whole_groups": ("small_share = 1", 'small_share = 1\nwhole_groups = "avoid"'),
            "collapse": ("", 'collapse = "levels"'),
            "ordered": ("", 'ordered = ["ed"]', 'rows = ["ed@parish"]\ncolumns = ["sex"]'),
            "only": ("small_share = 0.5", 'small_share = 0.5\nonly = ["age"]'),
            "finest": (
                "",
                'finest = "information"',
                'rows = ["ed@parish"]\ncolumns = ["age@broad"]',
            ),
        },
    ),
}
