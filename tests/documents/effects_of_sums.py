"""What each setting of the methods for sums changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sdcensus.documents.plan.document import read_plan
from sdcensus.errors import SdcensusError
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from sdcensus.session.protect.plan_method import planned_method
from tests.documents.effects import Effect, Files
from tests.documents.effects_of_plans import offices, settings_of

#: Cells of few and of many, with a total that all contribute to.
AXES = ("ed", "sex", "age@ten_year")
FLEXIBLE = "noise_share = 0.2\nlarge_share = 0.03\nflex_point = 1000"
SMALL = "noise_share = 0.01\nsmall_values = true\nsmall_unit = 100"
SENSITIVE = "extra_noise = 2\nsensitive_below = 3"


def sums(files: Files, folder: Path) -> object:
    """What is published of the incomes of the hamlet, or why nothing is."""
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    secret = offices(folder.parent).secret
    plan = read_plan(folder / "plan.toml")
    census = open_store(folder / plan.store)
    try:
        method = planned_method(plan, census, Entity.PERSON, secret=secret)
        cube = census.tabulate(
            *AXES, measure="sum(income)", contributions=method.needs_contributions
        )
        table = method.protect(cube).table
    except SdcensusError as error:
        return str(error)
    assert isinstance(table, Table)
    return table.columns()


def _of_method(
    method: str, said: Mapping[str, tuple[str, str] | tuple[str, str, str]]
) -> dict[str, Effect]:
    """For each setting a plan without and with it; a third text says which is refused."""
    effects = {}
    for setting, (without, given, *refused) in said.items():
        plans = settings_of(method, without, given)
        effects[f"{method}.{setting}"] = Effect(
            plans.without, plans.given, sums, refused[0] if refused else ""
        )
    return effects


_CELL_KEY_SUMS = _of_method(
    "cell-key-sums",
    {
        "measured_by": ("", 'measured_by = "mean"'),
        "contribution_shares": ("", 'contribution_shares = "1, 0.5"'),
        "noise_share": ("", "noise_share = 0.2"),
        "large_share": (FLEXIBLE, FLEXIBLE.replace("0.03", "0.01")),
        "flex_point": (FLEXIBLE, FLEXIBLE.replace("1000", "100")),
        "power": (FLEXIBLE, f"{FLEXIBLE}\npower = 3"),
        "max_deviation": ("", "max_deviation = 2"),
        "table_variance": ("", "table_variance = 0.5"),
        "step": ("", "step = 8"),
        "anchors": ("noise_share = 0.5", 'noise_share = 0.5\nanchors = "1, 3"'),
        "odd_variance": ("", "odd_variance = 3"),
        "small_values": ("noise_share = 0.01", SMALL),
        "small_deviation": (SMALL, f"{SMALL}\nsmall_deviation = 5"),
        "small_variance": (SMALL, f"{SMALL}\nsmall_variance = 2"),
        "small_unit": (SMALL, SMALL.replace("100", "200")),
        "extra_noise": (SENSITIVE, SENSITIVE.replace("2", "1")),
        "sensitive_below": (SENSITIVE, SENSITIVE.replace("3", "2")),
        "sensitive_remainder": (SENSITIVE, f"{SENSITIVE}\nsensitive_remainder = 50"),
        "sensitive_dominance": (SENSITIVE, f'{SENSITIVE}\nsensitive_dominance = "2, 60"'),
        "rounded_to": ("", "rounded_to = 100"),
        "key_derivation": ("", 'key_derivation = "hashed"'),
        "same_key": ("", "same_key = true"),
        "zeros_in_key": ("", "zeros_in_key = true"),
        "key_version": ("", "key_version = 2"),
    },
)
_ABS = _of_method(
    "abs-top-contributors",
    {
        "magnitudes": ("", 'magnitudes = "0.6, 0.4"'),
        "few_contributors": ("", "few_contributors = 2"),
        "small_spread": ("", "small_spread = 0.2"),
        "large_spread": ("", "large_spread = 0.5"),
        "key_version": ("", "key_version = 2"),
    },
)
_LAYERED = _of_method(
    "experimental-layered",
    {
        "layer_shares": ("", 'layer_shares = "0.3, 0.15"'),
        "layer_spread": ("", "layer_spread = 0.2"),
        "key_version": ("", "key_version = 2"),
    },
)
#: Rules of suppression that are for sums alone; the others are in effects_of_searches.
_SUPPRESSION = _of_method(
    "suppression",
    {
        "dominance": ("minimum = 1", 'minimum = 1\ndominance = "1, 60"'),
        "percent_rule": ("minimum = 1", "minimum = 1\npercent_rule = 50"),
        "pq_rule": ("minimum = 1", 'minimum = 1\npq_rule = "10, 20"'),
    },
)
OF_METHODS: dict[str, Effect] = _CELL_KEY_SUMS | _ABS | _LAYERED | _SUPPRESSION
