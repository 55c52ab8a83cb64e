"""The evaluation of a published table as plain values, which a run keeps until all are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.delivery import DeliveredAxis, delivered_axis
from sdcensus.model.published.table import Table
from sdcensus.utility.delivered_evaluation import delivered_evaluation
from sdcensus.utility.evaluation import EvaluationRow, Stage, StageFigures


def evaluated(
    name: str,
    cube: Cube,
    table: Table,
    axes: Sequence[DeliveredAxis] | None = None,
    *,
    original: Cube | None = None,
) -> dict[str, Any]:
    """The row of a table on the evaluation sheet, as plain values; confidential.

    Args:
        name: What the table is called.
        cube: True counts of what is published.
        table: What is published.
        axes: How it is delivered: each code is counted once.
        original: The counts before records were swapped, if they were.
    """
    shown = [delivered_axis(axis) for axis in cube.spec.axes] if axes is None else axes
    row = delivered_evaluation(
        name,
        cube if original is None else original,
        table,
        shown,
        swapped=None if original is None else cube,
    )
    return row_to_json(row)


def row_to_json(row: EvaluationRow) -> dict[str, Any]:
    """A row as plain values; its number on the sheet is given later."""
    stages = [{**asdict(stage), "stage": stage.stage.value} for stage in row.stages]
    return {
        "table": row.table,
        "variables": list(row.variables),
        "levels": list(row.levels),
        "unsafe_up_to": row.unsafe_up_to,
        "stages": stages,
    }


def row_from_json(number: int, content: Mapping[str, Any]) -> EvaluationRow:
    """Read what ``row_to_json`` made."""
    stages = [StageFigures(**{**one, "stage": Stage(one["stage"])}) for one in content["stages"]]
    return EvaluationRow(
        number,
        str(content["table"]),
        tuple(content["variables"]),
        tuple(content["levels"]),
        int(content["unsafe_up_to"]),
        tuple(stages),
    )
