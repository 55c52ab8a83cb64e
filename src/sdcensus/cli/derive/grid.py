"""``sdcensus grid``: groups of squares that hold enough, as a further level of a grid."""

from __future__ import annotations

from sdcensus.cli.derive.commands import ABOUT, method_command
from sdcensus.cli.shared.options import examples
from sdcensus.model.method.registry import Part, built_in

EXAMPLES = examples(
    "sdcensus grid c.store --variable ed_grid --at-least 11 --plan",
    "sdcensus grid c.store --variable ed_grid --at-least 11 --out grouped.store",
    "sdcensus grid c.store --variable ed_grid --at-least 11 --counted persons --plan",
)
grid = method_command(built_in(Part.PRE_TABULAR)["multilevel-grid"])
grid.__name__ = "grid"
grid.__doc__ = f"""\
Make a store whose grid has one more level: groups of squares that hold at least so many units.

Tables by ed_grid@groups are tables like others. The groups are made from true counts, once, by a
decision of the office. Which square is in which group is written for everybody.

{ABOUT}"""
