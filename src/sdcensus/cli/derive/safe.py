"""``sdcensus safe``: no combination of listed variables is rare any more."""

from __future__ import annotations

from sdcensus.cli.derive.commands import ABOUT, method_command
from sdcensus.cli.shared.options import examples
from sdcensus.model.method.registry import Part, built_in

EXAMPLES = examples(
    "sdcensus safe c.store --variables ed@parish,sex,age@five_year --plan",
    "sdcensus safe c.store --variables ed@parish,sex,age@five_year --out safe.store",
    "sdcensus safe c.store --variables sex,age --control-table sex=2 --out safe.store",
)
safe = method_command(built_in(Part.PRE_TABULAR)["safe"])
safe.__name__ = "safe"
safe.__doc__ = f"""\
Make a store in which every combination of listed variables is there not at all or several times.

Ctrl+C ends the search and keeps the best so far.

{ABOUT}"""
