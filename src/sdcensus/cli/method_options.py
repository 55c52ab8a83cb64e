"""Options that say how a table is protected, for every command that protects one."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.completion import complete_axes


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
        "--lookup", help="cell-key, light-touch, random-rounding: how a key picks a deviation."
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
