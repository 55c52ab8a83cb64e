"""``sdcensus impute``: values are blanked and imputed anew, here or by another system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sdcensus.cli.derive.commands import Family, family_command
from sdcensus.cli.derive.impute_export import run_export
from sdcensus.cli.shared.options import examples
from sdcensus.errors import SpecError

IMPUTE = Family(
    "impute",
    "way to impute",
    {"over": "over-imputation", "returned": "returned-imputation"},
    {"file": "--import"},
)
EXAMPLES = examples(
    "sdcensus impute c.store --blank tenure --rate 0.05 --match size --plan",
    "sdcensus impute c.store --blank tenure --rate 0.05 --match size --out d.store",
    "sdcensus impute c.store --blank tenure --rate 0.05 --export blanks.csv",
    "sdcensus impute c.store --import blanks.csv --out d.store",
)
_MORE: dict[str, tuple[Any, Any]] = {
    "export": (
        Annotated[
            Path | None,
            typer.Option(
                "--export",
                metavar="FILE",
                help="Write the blanked records for your own system instead, and no store; what it"
                " has filled in is read back by --import.",
            ),
        ],
        None,
    ),
    "context": (
        Annotated[
            str | None,
            typer.Option(
                "--context",
                metavar="VARIABLES",
                help="With --export: the variables that the other system sees of all records.",
            ),
        ],
        None,
    ),
}


def _instead(said: dict[str, Any], common: dict[str, Any]) -> bool:
    """Write blanked records, if that is asked for; a file to import says how."""
    export, context = common["export"], common["context"]
    if "file" in said:
        if export is not None:
            raise SpecError("--export writes blanked records and --import reads them. Choose one.")
        common["how"] = "returned"
    if export is None:
        if context is not None:
            raise SpecError("--context goes with --export FILE.")
        return False
    for name in ("out", "plan", "office"):
        if common[name]:
            raise SpecError(f"--export writes no store. Leave --{name} out.")
    if context is not None:
        said = {**said, "context": context}
    run_export(
        common["store"],
        export,
        said,
        secret=common["secret"],
        replace=common["replace"],
        quiet=common["quiet"],
    )
    return True


impute = family_command(
    IMPUTE,
    "Make a store in which values of some records were blanked and imputed anew.",
    more=_MORE,
    instead=_instead,
)
