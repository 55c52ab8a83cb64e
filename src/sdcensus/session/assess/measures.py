"""The measures of a report: our own, and those of other packages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.model.measure import Measure, MeasureContext, Measured, PublicMeasure, PublicRow
from sdcensus.model.method.registry import Announced, announced, loaded
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Table
from sdcensus.model.sentences import sentence

Result = TypeVar("Result")

#: Where other packages name theirs: ``name = "module:Class"``.
GROUP = "sdcensus.measures"
#: In the order of the report. Listed, so that they are there without looking for packages.
BUILT_IN = (
    "sdcensus.risk.composite:CompositeRiskMeasure",
    "sdcensus.risk.exempt:ExemptMeasure",
    "sdcensus.utility.adding_up:AddingUpMeasure",
)


def registered() -> tuple[Measure[Any] | PublicMeasure, ...]:
    """One of each measure, our own first."""
    measures: dict[str, Measure[Any] | PublicMeasure] = {}
    for entry in (*(Announced(value, value) for value in BUILT_IN), *sorted(announced(GROUP))):
        kind = loaded(entry, lambda kind: kind)
        if not (isinstance(kind, type) and issubclass(kind, Measure | PublicMeasure)):
            raise SpecError(f"The measure {entry.name} ({entry.target}) is no Measure.")
        measure = kind()
        if measure.name in measures:
            raise SpecError(f"Two measures are called {measure.name}; one is {entry.target}.")
        measures[measure.name] = measure
    return tuple(measures.values())


def tried(left_out: list[str], title: str, make: Callable[[], Result]) -> Result | None:
    """A measure that may have no meaning for a table, which then is said."""
    try:
        return make()
    except SdcensusError as error:
        left_out.append(sentence("assess.left_out.why", what=title, why=error.said))
        return None


def measured(context: MeasureContext, left_out: list[str]) -> tuple[Measured, ...]:
    """What every confidential measure finds.

    Args:
        context: The table.
        left_out: Is told what could not be measured, and why.
    """
    results = []
    for measure in registered():
        if isinstance(measure, PublicMeasure):
            continue
        missing = [need.value for need in measure.needs if getattr(context, need) is None]
        if missing:
            names = ", ".join(missing)
            what = measure.title
            left_out.append(sentence("assess.left_out.not_known", what=what, names=names))
            continue
        result = tried(left_out, measure.title, partial(_measured, measure, context))
        results += [result] if result is not None else []
    return tuple(results)


def _measured(measure: Measure[Any], context: MeasureContext) -> Measured | None:
    result = measure.measure(context)
    if result is None:
        return None
    return Measured(measure, result, measure.rows(result, context), measure.cautions(result))


def public_rows(table: Table, claims: Claims) -> tuple[PublicRow, ...]:
    """What every public measure says of a published table; none of them sees a true count."""
    public = [measure for measure in registered() if isinstance(measure, PublicMeasure)]
    return tuple(row for measure in public for row in measure.rows(table, claims))
