"""``sdcensus derive``: a store from a store, by any pre-tabular method."""

from __future__ import annotations

from sdcensus.cli.derive.commands import ABOUT, method_command
from sdcensus.cli.shared.options import command_group, examples
from sdcensus.model.method.registry import Part, Registered

app = command_group(
    "Make a store from a store: records are changed before anything is counted.",
    'sdcensus derive drop-records census.store --where "ed == 9" --out less.store',
)

_EXAMPLES = {
    "drop-records": examples(
        'sdcensus derive drop-records census.store --where "ed == 9" --out less.store',
        'sdcensus derive drop-records c.store --where "age > 90" --out d.store',
    )
}

for _name, _method in Registered(Part.PRE_TABULAR).items():
    app.command(
        _name,
        short_help=_method.summary,
        help=f"{_method.summary}\n\n{ABOUT}",
        epilog=_EXAMPLES.get(_name),
    )(method_command(_method))
