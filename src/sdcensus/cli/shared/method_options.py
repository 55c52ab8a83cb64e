"""Options that say how a table is protected, for every command that protects one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from sdcensus.cli.shared.completion import complete_axes

_Command = Callable[..., None]


class MethodName(StrEnum):
    """The methods by which a table can be protected."""

    CELL_KEY = "cell-key"
    RANDOM_ROUNDING = "random-rounding"
    SEMI_CONTROLLED = "semi-controlled-rounding"
    CONVENTIONAL = "conventional-rounding"
    SMALL_CELLS = "small-cell-adjustment"
    PER_UNIT = "per-unit-deviations"
    LIGHT_TOUCH = "light-touch"
    THRESHOLD = "threshold-and-rounding"


class Strength(StrEnum):
    """How strongly cell keys change counts, in plain words."""

    LIGHT = "light"
    MEDIUM = "medium"
    STRONG = "strong"
    NO_ONES_AND_TWOS = "no-ones-and-twos"


class Lookup(StrEnum):
    """How a cell key picks a deviation."""

    ASCENDING = "ascending"
    SCRAMBLED = "scrambled"
    HASHED = "hashed"
    DEFINITION = "definition"


class Totals(StrEnum):
    """Where the totals of per-unit deviations come from."""

    ADDED = "added"
    OWN = "own"


class Mode(StrEnum):
    """How the smallest change is looked for that makes totals add up."""

    AUTO = "auto"
    EXACT = "exact"
    FAST = "fast"


class ControlledTotal(StrEnum):
    """Which totals semi-controlled rounding keeps."""

    GRAND_TOTAL = "grand-total"
    AREAS = "areas"


MethodOption = Annotated[
    MethodName,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"How counts are protected: {', '.join(MethodName)}.",
    ),
]
StrengthOption = Annotated[
    Strength | None,
    typer.Option(
        "--strength",
        help="cell-key (medium if nothing is said), light-touch: how much changes.",
    ),
]
SchemeOption = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        metavar="NAME",
        help="cell-key, light-touch: a published scheme, such as CP3.",
    ),
]
PerturbationFile = Annotated[
    Path | None,
    typer.Option(
        "--perturbation",
        metavar="FILE",
        help="cell-key, light-touch: the file of a perturbation table, in any exchange format.",
    ),
]
AllowBias = Annotated[
    bool,
    typer.Option(
        "--allow-bias", help="With --perturbation: rows that change the mean are meant so."
    ),
]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repeat",
        metavar="N",
        help="With --perturbation: the last N rows take turns for larger counts.",
    ),
]
LookupOption = Annotated[
    Lookup | None,
    typer.Option(
        "--lookup",
        help="cell-key, light-touch, random-rounding: how a key picks a deviation. Best left out:"
        " by definition where deviations reach 3. The others are set keys, for exchange.",
    ),
]
Zeros = Annotated[
    str | None,
    typer.Option(
        "--zeros",
        metavar="NAME",
        help="Empty cells. cell-key: keep (the default) or perturb;"
        " threshold-and-rounding: withhold (the default) or show.",
    ),
]
ZeroShare = Annotated[
    float | None,
    typer.Option(
        "--zero-share",
        metavar="SHARE",
        help="cell-key with --zeros perturb: which share of empty cells grows.",
    ),
]
Exempt = Annotated[
    list[str] | None,
    typer.Option(
        "--exempt",
        metavar="AXES",
        help="cell-key: publish the cells of this table exactly, such as ed@district."
        " Can be given several times.",
        autocompletion=complete_axes,
    ),
]
Base = Annotated[
    int | None,
    typer.Option("--base", metavar="N", help="Rounding: to multiples of this number."),
]
Threshold = Annotated[
    int | None,
    typer.Option(
        "--threshold",
        metavar="N",
        help="small-cell-adjustment, threshold-and-rounding: smaller counts are small.",
    ),
]
UnitsThatChange = Annotated[
    int | None,
    typer.Option(
        "--units", metavar="N", help="per-unit-deviations: how many units change on average."
    ),
]
TotalsOption = Annotated[
    Totals | None,
    typer.Option("--totals", help="per-unit-deviations: added up, or with noise of their own."),
]
ControlledTotals = Annotated[
    ControlledTotal | None,
    typer.Option("--to", help="semi-controlled-rounding: the totals that are kept."),
]
Area = Annotated[
    str | None,
    typer.Option(
        "--area",
        metavar="VARIABLE",
        help="The variable whose codes are areas; the geography of the census if not given.",
    ),
]
KeyVersion = Annotated[
    int | None,
    typer.Option(
        "--key-version", metavar="N", help="The version of the series of published numbers."
    ),
]
Then = Annotated[
    str,
    typer.Option(
        "--then",
        metavar="STEPS",
        help="Steps after the method, comma-separated: additivity, withhold-sparse-areas.",
    ),
]
ModeOption = Annotated[
    Mode | None,
    typer.Option("--mode", help="additivity: how hard the smallest change is looked for."),
]
MeanCellSize = Annotated[
    float | None,
    typer.Option(
        "--mean-cell-size",
        metavar="N",
        help="withhold-sparse-areas: areas with fewer units per cell are sparse.",
    ),
]
Below = Annotated[
    int | None,
    typer.Option(
        "--below",
        metavar="N",
        help="withhold-sparse-areas: smaller values of sparse areas are withheld.",
    ),
]

#: What may be said about cell keys, in the order of the help.
CELL_KEY_OPTIONS: Mapping[str, Any] = {
    "strength": StrengthOption,
    "scheme": SchemeOption,
    "perturbation": PerturbationFile,
    "allow_bias": AllowBias,
    "repeat": Repeat,
    "lookup": LookupOption,
    "zeros": Zeros,
    "zero_share": ZeroShare,
    "exempt": Exempt,
}
#: What may be said about any method and the steps after it.
ALL_OPTIONS: Mapping[str, Any] = {
    **CELL_KEY_OPTIONS,
    "base": Base,
    "threshold": Threshold,
    "units": UnitsThatChange,
    "totals": TotalsOption,
    "to": ControlledTotals,
    "area": Area,
    "key_version": KeyVersion,
    "then": Then,
    "mode": ModeOption,
    "mean_cell_size": MeanCellSize,
    "below": Below,
}


def with_method_options(options: Mapping[str, Any]) -> Callable[[_Command], _Command]:
    """Give a command these options in place of its parameter ``method_options``.

    What was said reaches it there, put together. Options for which the command has a parameter of
    its own it gets by themselves, but the help shows them at their place among the others.
    """

    def decorated(command: _Command) -> _Command:
        own = signature(command).parameters
        collected = [name for name in options if name not in own]
        # For the help alone the class would be heavy to import.
        hints = get_type_hints(command, localns={"MethodOptions": object}, include_extras=True)
        parameters: list[Parameter] = []
        for name, parameter in own.items():
            if name == "method_options":
                parameters += (own.get(one) or _not_said(one) for one in options)
            elif name not in options:
                parameters.append(parameter)
        hints |= options

        @wraps(command)
        def run(**given: Any) -> None:
            from sdcensus.session.protect.table import MethodOptions

            said = {name: given.pop(name) for name in collected}
            said["allow_bias"] = said["allow_bias"] or None
            said["exempt"] = tuple(said["exempt"] or ()) or None
            command(**given, method_options=MethodOptions(**said))

        run.__annotations__ = hints
        run.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[one.name])
                for one in parameters
            ]
        )
        return run

    return decorated


def _not_said(name: str) -> Parameter:
    default = False if name == "allow_bias" else None
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default)
