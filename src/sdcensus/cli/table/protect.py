"""``sdcensus protect``: one table, protected and ready to be published."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table
from sdcensus.cli.shared.method_options import ALL_OPTIONS, MethodOption, Then, with_method_options
from sdcensus.cli.shared.options import (
    Axes,
    CensusMeasureOption,
    Confidential,
    EngineOption,
    Language,
    Quiet,
    SecretFile,
    SmallestGroup,
    Store,
    Units,
    Where,
    Yes,
    check_language,
    complete_format,
    examples,
    listed,
)
from sdcensus.cli.shared.questions import confirm
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.cli.shared.tables import MOST_LINES, show_published
from sdcensus.errors import SpecError
from sdcensus.model.published.table_format import BUILT_IN
from sdcensus.model.quantities import bytes_text, duration_text
from sdcensus.model.vocabulary import EngineName, Measure

if TYPE_CHECKING:
    from sdcensus.model.method.parameter import MethodOptions
    from sdcensus.model.published.claims import Claims
    from sdcensus.model.published.grouped_table import GroupedTable
    from sdcensus.model.published.protected import Protected
    from sdcensus.session.protect.table import ProtectedFiles

#: Tables with at most so many cells are shown without being asked for.
SMALL = 300

EXAMPLES = examples(
    "sdcensus protect census.store --by ed@parish,sex --method cell-key",
    "sdcensus protect census.store --by ed,sex --method cell-key --out table.xlsx",
    "sdcensus protect census.store --by sex --method cell-key --strength strong",
    "sdcensus protect census.store --by religion --method random-rounding --base 5",
    "sdcensus protect census.store --by ed,sex --method cell-key --groups groups.csv",
    "sdcensus protect census.store --method cell-key --audit a.csv --confidential",
)


@with_method_options(ALL_OPTIONS)
def protect(
    store: Store,
    method: MethodOption,
    by: Axes = "",
    of: Units = "persons",
    where: Where = None,
    measure: CensusMeasureOption = None,
    engine: EngineOption = EngineName.MEMORY,
    secret: SecretFile = None,
    *,
    method_options: MethodOptions,
    then: Then = "",
    smallest_group: SmallestGroup = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the published table to a new file, such as table.xlsx: its ending tells"
            " the format.",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            autocompletion=complete_format,
            help=f"The format, if the ending does not tell it: {', '.join(BUILT_IN)}, or one of"
            " an installed package.",
        ),
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option(
            "--groups",
            metavar="FILE",
            help="Also add published values up to groups of your own: a csv file with the columns"
            " variable, group and code.",
        ),
    ] = None,
    groups_out: Annotated[
        Path | None,
        typer.Option(
            "--groups-out", metavar="FILE", help="Write these sums to a new file, as with --out."
        ),
    ] = None,
    minimum_population: Annotated[
        int | None,
        typer.Option(
            "--minimum-population",
            metavar="N",
            help="--groups: refuse groups of areas with fewer published units.",
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show the published table, however large it is.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what the method promises.")
    ] = False,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            metavar="FILE",
            help="Write true counts and keys beside published values to a new .csv or .parquet"
            " file that only you can read. Needs --confidential.",
        ),
    ] = None,
    squares: Annotated[
        Path | None,
        typer.Option(
            "--squares",
            metavar="FILE",
            help="Also write a new .csv file with every square of the grid, its group, the group's"
            " published value, and whether it is shared with other squares. Needs --out.",
        ),
    ] = None,
    registry: Annotated[
        Path | None,
        typer.Option(
            "--registry",
            metavar="FOLDER",
            help="Record what is published in this folder of the office, and refuse numbers that"
            " contradict what was published before. Needs --out.",
        ),
    ] = None,
    confidential: Confidential = False,
    yes: Yes = False,
    language: Language = None,
    quiet: Quiet = False,
) -> None:
    """Protect a table and write it for publication.

    What is shown and written is public: published values, notes for readers, and how the table
    was made. True counts are written nowhere, unless --audit asks for them. A caution for you
    says how sparse the table is, if it is. Very many cells are written only with --yes.
    """
    from sdcensus.model.spec.headings import heading_in
    from sdcensus.session.census.census import open_census
    from sdcensus.session.protect import own_groups, table as session

    output = Output(quiet=quiet)
    files = session.ProtectedFiles(out=out, format=format, registry=registry, squares=squares)
    files = replace(files, audit=audit, confidential=confidential)
    files.check()
    _check_groups(groups, groups_out, minimum_population, format)
    census = open_census(store)
    check_language(census, language)
    language = language or next(iter(census.schema.census.languages), None)
    where = where.strip() or None if where else None
    spec = session.published_spec(census, *listed(by), of=of, where=where, measure=measure)
    if not yes:
        confirm(output, partial(files.check_size, census, spec))
    chosen = session.build_method(
        method, census, of=of, then=listed(then), options=method_options, secret=secret
    )
    claims, began = chosen.claims(), time.perf_counter()
    with all_or_nothing(), Stages(output, f"counting {spec.title}") as stages:
        protect_spec = partial(
            session.protect_table,
            census,
            method=chosen,
            engine=engine.value,
            smallest_group=smallest_group,
            progress=stages,
        )
        protected = protect_spec(spec, elsewhere=files.elsewhere(spec, chosen))
        took = time.perf_counter() - began
        grouped = None
        if groups is not None:
            least = minimum_population or 0
            grouped = own_groups.group_table(
                protected, groups, protect_spec, minimum_population=least, language=language
            )
        stages("writing", 0.0)
        title = heading_in(spec, census.schema.census.languages)
        written = replace(files, title=title, language=language).write(protected, census)
        if grouped is not None and groups_out is not None:
            written += own_groups.write_grouped(
                grouped,
                groups_out,
                provenance=protected.provenance,
                claims=claims,
                format=format,
                language=language,
            )
    _say_head(output, protected, where, took)
    shown = show or spec.cells <= SMALL
    if shown:
        show_published(output, protected.table, language=language)
    if grouped is not None and groups_out is None:
        _show_groups(output, grouped, language)
    _say_notes(output, protected, language)
    if explain:
        _say_claims(output, claims)
    _say_files(output, written, files, shown=shown, remarked=bool(protected.audit.remarks))
    _say_cautions(output, protected, claims)


def _check_groups(
    groups: Path | None, out: Path | None, population: int | None, format: str | None
) -> None:
    if groups is None:
        for name, value in {"--groups-out": out, "--minimum-population": population}.items():
            if value is not None:
                raise SpecError(f"{name} is for groups of your own: --groups FILE.")
    if out is not None:
        from sdcensus.session.protect.own_groups import check_groups_target

        check_groups_target(out, format)


def _show_groups(output: Output, grouped: GroupedTable, language: str | None) -> None:
    """Draw sums with how many published values they have, and how much larger their error is."""
    from sdcensus.model.spec.headings import axis_heading

    output.say("\nSums for your groups", style="bold")
    columns = grouped.columns()
    labels = [f"{axis.variable}_label" for axis in grouped.axes]
    table = plain_table()
    for axis in grouped.spec.axes:
        table.add_column(axis_heading(axis, language), overflow="fold")
    table.add_column("sum", justify="right")
    table.add_column("of values", justify="right")
    table.add_column("error", justify="right")
    rows = range(len(columns["published"]))
    for row in rows[:MOST_LINES]:
        value = columns["published"][row]
        flag = columns["flag"][row] if "flag" in columns else ""
        table.add_row(
            *(columns[name][row] for name in labels),
            flag if value is None else f"{value:,}",
            str(columns["parts"][row]),
            f"× {columns['error_factor'][row]:.2f}",
        )
    output.show(table)
    output.say(
        "Sums of published values. Their standard error is the one of a single published value"
        " times this factor."
    )
    if len(rows) > MOST_LINES:
        output.say(f"Only {MOST_LINES:,} lines are shown. See all with --groups-out FILE.")


def _say_files(
    output: Output,
    written: tuple[Path, ...],
    files: ProtectedFiles,
    *,
    shown: bool,
    remarked: bool = False,
) -> None:
    from sdcensus.session.office.confidential_output import remarks_file

    lines = [f"Wrote {path} ({bytes_text(path.stat().st_size)})." for path in written]
    if files.audit is not None:
        lines.append(f"Wrote {files.audit}. It is confidential: only you can read it.")
        if remarked:
            lines.append(f"Wrote {remarks_file(files.audit)}, for the office only.")
    if files.registry is not None:
        lines.append(f"Recorded in {files.registry}.")
    if not shown and files.out is None:
        lines.append("See the table with --show, or write it with --out FILE.")
    if lines:
        output.say("\n" + "\n".join(lines))


def _say_head(output: Output, protected: Protected, where: str | None, took: float) -> None:
    spec = protected.table.spec
    what = spec.title if spec.axes else spec.of.plural
    if spec.measure.value != Measure.COUNT:
        what = f"{spec.measure} {what}"
    shape = " × ".join(f"{size:,}" for size in spec.shape)
    cells = f"{spec.cells:,} cell{'s' if spec.cells != 1 else ''}"
    output.say(
        f"{what}{f', where {where}' if where else ''}: protected by {protected.provenance.method}",
        style="bold",
    )
    output.say(f"{f'{shape} = ' if len(spec.shape) > 1 else ''}{cells}, {duration_text(took)}")


def _say_notes(output: Output, protected: Protected, language: str | None) -> None:
    output.say("\nNotes for readers", style="bold")
    for note in protected.table.notes:
        output.say(f"  {note.show(language)}")


def _say_claims(output: Output, claims: Claims) -> None:
    output.say("\nWhat the method promises", style="bold")
    for sentence in claims.sentences():
        output.say(f"  {sentence}")


def _say_cautions(output: Output, protected: Protected, claims: Claims) -> None:
    """What the office should know; how sparse the table is was made from true counts.

    What a search has found is told here and in the audit, never in what is published.
    """
    from sdcensus.model.published.record_changes import cautions_of_records
    from sdcensus.session.protect.detail import sparse_figures

    sparse = sparse_figures(protected.audit.cube)
    if sparse is not None and sparse.is_sparse:
        output.note(f"caution: {sparse.sentence}")
    audit = protected.audit
    for remark in audit.remarks:
        output.note(f"{'for the office' if audit.repeatable else 'caution'}: {remark}")
    origin = audit.cube.origin
    about = cautions_of_records(origin.lineage, origin.listed, [protected.table.spec])
    for caution in (*about, *claims.cautions):
        output.note(f"caution: {caution}")
