"""``sdcensus derive``: a store from a store, by a pre-tabular method."""

from __future__ import annotations

import time
from collections.abc import Callable
from inspect import Parameter as Argument, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.method_options import option_of
from sdcensus.cli.shared.options import Quiet, SecretFile, Store, command_group, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.method.parameter import Declaration, Parameter, ValueKind
from sdcensus.model.method.registry import Part, Registered
from sdcensus.model.quantities import duration_text

if TYPE_CHECKING:
    from sdcensus.session.derive import DerivationReport

app = command_group(
    "Make a store from a store: records are changed before anything is counted.",
    'sdcensus derive drop-records census.store --where "ed == 9" --out less.store',
)

_ABOUT = """\
{summary}

The derived store keeps the keys of its records, so that what did not change is published with the
same numbers, and names its lineage, which everything names that is published from it. It appears
when it is complete, or not at all; the same command goes on where a killed one stopped. What was
changed, and for whom, is kept for the office beside it.
"""
#: What every method is told besides.
_COMMON: dict[str, tuple[Any, Any]] = {
    "out": (
        Annotated[
            Path, typer.Option("--out", metavar="STORE", help="The folder of the store to make.")
        ],
        Argument.empty,
    ),
    "secret": (SecretFile, None),
    "office": (
        Annotated[
            Path | None,
            typer.Option(
                "--office",
                metavar="FOLDER",
                help="Where the office keeps its report; beside the store when nothing is said.",
            ),
        ],
        None,
    ),
    "replace": (
        Annotated[
            bool, typer.Option("--replace", help="Put the store in the place of an older one.")
        ],
        False,
    ),
    "allow_violations": (
        Annotated[
            bool,
            typer.Option(
                "--allow-violations",
                help="Write the store also where records break a rule of the schema that they kept"
                " before.",
            ),
        ],
        False,
    ),
    "quiet": (Quiet, False),
}


def _option(parameter: Parameter) -> Argument:
    """A parameter of a method as an option of its command."""
    default: Any = Argument.empty if parameter.required else None
    return Argument(
        parameter.name,
        Argument.KEYWORD_ONLY,
        default=False if parameter.kind is ValueKind.YES else default,
        annotation=option_of(parameter, parameter.sentence()),
    )


def _command(method: Declaration) -> Callable[..., None]:
    """The command of a method, with the options that it declares."""

    def run(**given: Any) -> None:
        common = {name: given.pop(name) for name in ("store", *_COMMON)}
        # A rate of 0 is something that was said; only what equals nothing by identity is not.
        said = {
            name: value
            for name, value in given.items()
            if value is not None and value is not False and value != []
        }
        _run(method.name, said, **common)

    common = [
        Argument(name, Argument.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _COMMON.items()
    ]
    store = Argument("store", Argument.KEYWORD_ONLY, annotation=Store)
    arguments = [store, *map(_option, method.takes), *common]
    run.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in arguments}
    return run


def _run(
    method: str,
    parameters: dict[str, object],
    *,
    store: Path,
    out: Path,
    secret: Path | None,
    office: Path | None,
    replace: bool,
    allow_violations: bool,
    quiet: bool,
) -> None:
    from sdcensus.session.derive import derive

    output = Output(quiet=quiet)
    began = time.perf_counter()
    with all_or_nothing(), Stages(output, "opening the store") as stages:
        report = derive(
            store,
            out,
            method,
            parameters,
            secret=secret,
            office=office,
            replace=replace,
            allow_violations=allow_violations,
            progress=stages,
        )
    output.say(f"Made {out} in {duration_text(time.perf_counter() - began)}. It is confidential.")
    _say_report(output, report)
    output.say(f"Everything published from it names its lineage: {report.lineage}.")
    output.say(f"What was changed, and for whom, is in {report.office}, for the office only.")
    output.say(f"Look at it with: sdcensus describe {typed(out)}")


def _say_report(output: Output, report: DerivationReport) -> None:
    sizes = plain_table()
    for heading in ("", "records", "dropped", "with what holds them", "now without any"):
        sizes.add_column(heading, justify="right" if heading else "left")
    for entity, rows in report.rows.items():
        dropped, along = report.dropped.get(entity, (0, 0))
        numbers = (rows, dropped, along, report.left_empty.get(entity, 0))
        sizes.add_row(entity.plural, *(f"{number:,}" for number in numbers))
    output.show(sizes)
    for name, count in (*report.changed.items(), *report.figures.items()):
        output.say(f"{name}: {count:,} changed" if name in report.changed else f"{name}: {count:,}")
    for note in report.notes:
        output.note(f"Note: {note}")


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
        help=_ABOUT.format(summary=_method.summary),
        epilog=_EXAMPLES.get(_name),
    )(_command(_method))
