"""What each setting of the method for estimates of samples changes."""

from __future__ import annotations

from pathlib import Path

from sdcensus.documents.plan.document import read_plan
from sdcensus.errors import SdcensusError
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from sdcensus.session.protect.plan_method import planned_method
from tests.documents.effects import Effect, Files
from tests.documents.effects_of_plans import offices, settings_of

#: Limits for a hamlet: few were asked, so errors are large.
LIMITS = "moderate_above = 0.12\nbrackets_above = 0.4\nwithheld_above = 0.9"


def estimates(files: Files, folder: Path) -> object:
    """What is published of how many live in the hamlet, or why nothing is."""
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    secret = offices(folder.parent).secret
    plan = read_plan(folder / "plan.toml")
    census = open_store(folder / plan.store)
    try:
        method = planned_method(plan, census, Entity.PERSON, secret=secret)
        cube = census.tabulate("ed", "age", measure="weighted", replicates=method.needs_replicates)
        table = method.protect(cube).table
    except SdcensusError as error:
        return str(error)
    assert isinstance(table, Table)
    return table.columns()


def _effect(without: str, given: str) -> Effect:
    plans = settings_of("sample-rounding", without, given)
    return Effect(plans.without, plans.given, estimates)


OF_METHODS: dict[str, Effect] = {
    "sample-rounding.base": _effect(LIMITS, f"base = 50\n{LIMITS}"),
    "sample-rounding.minimum_cases": _effect(LIMITS, f"minimum_cases = 9\n{LIMITS}"),
    "sample-rounding.zeros": _effect(LIMITS, f'zeros = "withhold"\n{LIMITS}'),
    "sample-rounding.moderate_above": _effect(LIMITS, LIMITS.replace("0.12", "0.3")),
    "sample-rounding.brackets_above": _effect(LIMITS, LIMITS.replace("0.4", "0.3")),
    "sample-rounding.withheld_above": _effect(LIMITS, LIMITS.replace("0.9", "0.41")),
}
