"""``sdcensus derive``: a store from a store, by any pre-tabular method."""

from __future__ import annotations

from sdcensus.cli.derive.commands import ABOUT, method_command
from sdcensus.cli.shared.options import command_group, examples
from sdcensus.model.method.parameter import Declaration, ValueKind, as_option
from sdcensus.model.method.registry import Part, Registered

app = command_group(
    "Make a store from a store: records are changed before anything is counted.",
    'sdcensus derive drop-records census.store --where "ed == 9" --out less.store',
)

#: How long an example may be.
_WIDTH = 78
#: What examples say for a value of each kind.
_VALUES = {
    ValueKind.WHOLE: "3",
    ValueKind.NUMBER: "3",
    ValueKind.SHARE: "0.1",
    ValueKind.FILE: "file.csv",
    ValueKind.VARIABLES: "sex",
    ValueKind.LISTS: "sex",
    ValueKind.TABLES: "ed,sex",
    ValueKind.CONDITION: '"ed == 9"',
}
#: The same for lists that are more than names of variables.
_LISTS = {"move": "ed=0.05"}


def _example(method: Declaration) -> str:
    """A line with what a method cannot do without."""
    needed = [
        as_option(parameter.name, _LISTS.get(parameter.name) or _VALUES.get(parameter.kind, "name"))
        for parameter in method.takes
        if parameter.required
    ]
    line = " ".join(["sdcensus derive", method.name, "c.store", *needed, "--out d.store"])
    return line if len(line) <= _WIDTH else line.replace(".store", "")


for _name, _method in Registered(Part.PRE_TABULAR).items():
    app.command(
        _name,
        short_help=_method.summary,
        help=f"{_method.summary}\n\n{ABOUT}",
        epilog=examples(_example(_method)),
    )(method_command(_method))
