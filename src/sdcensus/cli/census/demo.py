"""``sdcensus demo``: a fictional country to try everything on."""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import Quiet, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.cli.shared.tables import show_cube
from sdcensus.model.quantities import bytes_text, duration_text
from sdcensus.model.vocabulary import DemoCountry, DemoFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdcensus.model.progress import Progress
    from sdcensus.session.demo.country import Demonstration, DemoTable
    from sdcensus.session.demo.publication import DemoPublication
    from sdcensus.session.demo.researchers import DemoFile
    from sdcensus.session.demo.swapping import DemoSwapping
    from sdcensus.session.publish.run import PublishReport

EXAMPLES = examples(
    "sdcensus demo",
    "sdcensus demo --out island --persons 5000 --seed 7",
    "sdcensus demo --out large --preset large-island --files parquet",
)


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where the demo country goes.")
    ] = Path("demo"),
    preset: Annotated[
        DemoCountry | None,
        typer.Option(
            "--preset",
            help="A country of 47 thousand, 303 thousand or 2.2 million persons; the first if"
            " nothing is said.",
        ),
    ] = None,
    persons: Annotated[
        int | None,
        typer.Option("--persons", metavar="N", help="A country with so many persons instead."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Another number, another country.")
    ] = 2021,
    files: Annotated[
        DemoFormat, typer.Option("--files", help="The format of the census files.")
    ] = DemoFormat.CSV,
    quiet: Quiet = False,
) -> None:
    """Make a fictional island country, load its census, tabulate, protect and publish it.

    Nobody in it exists, so its true counts may be shown to anyone. The folder appears when the
    census is loaded; the folder of an earlier demo is made anew, any other folder is left alone.
    """
    from sdcensus.session.demo.country import choose_country, demo_tables, make_demonstration
    from sdcensus.session.demo.publication import publish_demonstration
    from sdcensus.session.demo.swapping import swap_demonstration

    output = Output(quiet=quiet)
    country = choose_country(preset.value if preset else None, persons)
    with all_or_nothing(), Stages(output, "making the country") as stages:
        demonstration = make_demonstration(
            out, country=country, seed=seed, file_format=files.value, progress=stages
        )
    with Stages(output, "tabulating"):
        tables = demo_tables(demonstration)
    with Stages(output, "protecting") as stages:
        publication = publish_demonstration(demonstration, progress=stages)
    with Stages(output, "assessing") as stages:
        reports = _assess(publication, stages)
    with Stages(output, "swapping") as stages:
        swapping = swap_demonstration(demonstration, progress=stages)
    with Stages(output, "publishing") as stages:
        national = _publish(demonstration, stages)
    with Stages(output, "making a file for researchers") as stages:
        researchers = _researchers(demonstration, stages)
    _show_made(output, demonstration)
    _show_tables(output, tables)
    _show_publication(output, publication)
    _show_reports(output, reports)
    _show_swapping(output, swapping, publication.area)
    _show_national(output, demonstration, national)
    _show_researchers(output, researchers)
    _show_next(output, demonstration)


def _assess(publication: DemoPublication, progress: Progress) -> list[Path]:
    """The report on the first of the published tables, where what draws charts is installed."""
    from sdcensus.errors import MissingExtra
    from sdcensus.report.assessment.files import AssessmentReport, write_reports
    from sdcensus.session.assess.assessment import assess_table
    from sdcensus.session.assess.options import AssessOptions

    way = publication.ways[0]
    options = AssessOptions(method=way.method, provenance=way.protected.provenance)
    assessment = assess_table(publication.cube, way.table, options, progress=progress)
    folder = publication.comparison.parent / "assessment"
    try:
        return write_reports([("assessment", AssessmentReport(assessment))], folder)
    except MissingExtra:
        return []


def _publish(made: Demonstration, progress: Progress) -> PublishReport | None:
    """Everything that the national plan names, where what writes workbooks is installed."""
    from sdcensus.errors import MissingExtra
    from sdcensus.session.publish.run import publish

    try:
        return publish(made.plan, secret=made.secret, progress=progress)
    except MissingExtra:
        return None


def _researchers(made: Demonstration, progress: Progress) -> DemoFile | str:
    """The public use file, where what draws charts and writes workbooks is installed."""
    from sdcensus.errors import MissingExtra
    from sdcensus.session.demo.researchers import make_demo_file

    try:
        return make_demo_file(made, progress)
    except MissingExtra as error:
        return str(error)


def _show_researchers(output: Output, file: DemoFile | str) -> None:
    output.say("\nA public use file for researchers, with its report and codebook", style="bold")
    if isinstance(file, str):
        reason = " ".join(file.split())
        for line in textwrap.wrap(f"None was made: {reason}", 76):
            output.say(f"  {line}")
        return
    output.say(
        f"{file.households:,} households with {file.persons:,} persons, in"
        f" {duration_text(file.seconds)}"
    )
    output.say(f"  the designs, to read and to change: {file.document}")
    output.say(f"  for anyone, with codebook, DDI and terms: {file.folder}")
    output.say(f"  for the office only, the report: {file.office}")


def _show_national(output: Output, made: Demonstration, report: PublishReport | None) -> None:
    if report is None:
        return
    output.say(
        f"\nA whole plan, published by one command in {duration_text(report.seconds)}", style="bold"
    )
    output.say(f"  the plan, to read and to change: {made.plan}")
    output.say(
        f"  for anyone, {len(report.products)} tables in {report.files} files: {report.published}"
    )
    output.say(f"  for the office only, with the evaluation: {report.office}")


def _show_reports(output: Output, reports: list[Path]) -> None:
    if not reports:
        return
    output.say(
        "\nWhat it gives away, and what its readers lose: pages to open in a browser", style="bold"
    )
    for path in reports:
        whom = "for anyone" if ".public." in path.name else "for the office only"
        output.say(f"  {whom}: {path}")


def _show_made(output: Output, made: Demonstration) -> None:
    output.say(f"{made.country}, a country that does not exist, is in {made.folder}", style="bold")
    took = ", ".join(f"{step} {duration_text(seconds)}" for step, seconds in made.seconds)
    output.say(f"({took})\n")
    facts = plain_table(header=False)
    facts.add_column(no_wrap=True)
    facts.add_column()
    facts.add_row(str(made.schema), "the schema: variables, codes, units")
    for path, size in made.files:
        facts.add_row(str(path), bytes_text(size))
    facts.add_row(str(made.secret), "a secret for this demo only")
    stored = ", ".join(f"{rows:,} {kind.plural}" for kind, rows in made.records)
    facts.add_row(str(made.store), f"the store: {stored}")
    output.show(facts)


def _show_tables(output: Output, tables: Sequence[DemoTable]) -> None:
    output.say("\nTabulated, exactly and with cell keys", style="bold")
    times = plain_table()
    times.add_column("table")
    times.add_column("cells", justify="right")
    times.add_column("time (warm)", justify="right", no_wrap=True)
    for table in tables:
        spec = table.cube.spec
        times.add_row(spec.title, f"{spec.cells:,}", duration_text(table.seconds))
    output.show(times)
    show_cube(output, tables[0].cube)


def _show_publication(output: Output, publication: DemoPublication) -> None:
    """One area of the table, as the office knows it and as each method publishes it."""
    from sdcensus.model.spec.headings import axis_heading, units_text

    spec, area = publication.cube.spec, publication.area
    place, categories = spec.axes[0].codes[area], spec.axes[1]
    output.say("\nOne table, as the office knows it and as four methods publish it", style="bold")
    where = f"{axis_heading(spec.axes[0])}: {place.label.show() or place.code}"
    output.say(f"{where}. {units_text(spec)} by {axis_heading(categories)}\n")
    shown = plain_table()
    shown.add_column("", no_wrap=True, max_width=31)
    columns = [publication.cube.count[area]]
    columns += [way.table.published[area] for way in publication.ways]
    for title, values in zip(
        ("true, office only", *(way.title for way in publication.ways)), columns, strict=True
    ):
        longest = max(len(f"{int(values.max()):,}"), *map(len, title.split()))
        shown.add_column(title, justify="right", width=longest)
    *parts, total = range(len(categories.codes))
    for at in parts:
        label = categories.codes[at].label.show() or categories.codes[at].code
        shown.add_row(label, *(f"{int(column[at]):,}" for column in columns))
    shown.add_section()
    shown.add_row("sum of these", *(f"{int(column[parts].sum()):,}" for column in columns))
    shown.add_row("Total", *(f"{int(column[total]):,}" for column in columns), style="bold")
    output.show(shown)
    output.say(f"\nWhat readers of it are told, with {publication.ways[0].title}", style="bold")
    output.say(f"  {publication.note.show()}")
    took = duration_text(publication.seconds)
    output.say(f"\nThe whole table is in files, protected and written in {took}", style="bold")
    output.say(f"  for anyone, with notes: {publication.public}")
    for way in publication.ways:
        endings = [path.suffix for path in way.files if path.suffix != ".json"]
        output.say(f"    {way.files[0].stem}{' and '.join(endings)}")
    output.say(f"  for the office only, with true counts: {publication.comparison}")


def _show_swapping(output: Output, swapping: DemoSwapping | str, area: int) -> None:
    """The same area before and after households exchanged their places."""
    from sdcensus.model.spec.headings import axis_heading

    output.say("\nThe same table when households exchange places before counting", style="bold")
    if isinstance(swapping, str):
        output.say(f"  This country is too small for it: {swapping}")
        return
    spec = swapping.before.spec
    place, categories = spec.axes[0].codes[area], spec.axes[1]
    output.say(
        f"{swapping.households:,} households live elsewhere now, in"
        f" {duration_text(swapping.seconds)}. {axis_heading(spec.axes[0])}:"
        f" {place.label.show() or place.code}\n"
    )
    shown = plain_table()
    shown.add_column("", no_wrap=True, max_width=31)
    columns = (swapping.before.count, swapping.after.count, swapping.published.published)
    for title in ("true, office only", "swapped, office only", "swapped, cell keys"):
        shown.add_column(title, justify="right", width=max(map(len, title.split())))
    for at, code in enumerate(categories.codes):
        counts = (f"{int(column[area][at]):,}" for column in columns)
        shown.add_row(
            code.label.show() or code.code, *counts, style="bold" if code.is_total else ""
        )
    output.show(shown)
    output.say(f"  the swapped store, from which a plan can publish: {swapping.store}")
    output.say(f"  for the office only, who moved: {swapping.office}")
    output.say(f"  for the office only, both tables: {swapping.comparison}")


def _show_next(output: Output, made: Demonstration) -> None:
    output.say("\nWhat to try next", style="bold")
    for command in next_commands(made, program()):
        output.command(command)
    output.say("\nThe table builder, in a browser", style="bold")
    output.command(serve_command(made, program()))
    output.say(
        "\nThe true counts of a real census are confidential; that is why --confidential must be"
        " said."
    )


def serve_command(made: Demonstration, called: str = "sdcensus") -> str:
    """The command that opens the table builder; it runs until it is stopped."""
    store, policy, plan, secret = (
        typed(path) for path in (made.store, made.policy, made.plan, made.server_secret)
    )
    return f"{called} serve {store} --policy {policy} --plan {plan} --secret {secret}"


def next_commands(made: Demonstration, called: str = "sdcensus") -> list[str]:
    """Commands that work with what was made, and that no check warns of or refuses."""
    store, schema, secret = (typed(path) for path in (made.store, made.schema, made.secret))
    table = typed(made.folder / "ages.csv")
    again = typed(made.folder / "again.store")
    published = typed(made.folder / "sexes.xlsx")
    plan = typed(made.plan)
    researchers = made.folder / "researchers"
    protect = f"{called} protect {store} --by ed@parish,sex --method cell-key --secret {secret}"
    return [
        f"{called} describe {store}",
        f"{called} describe {store} --variable religion --language es",
        f"{called} tabulate {store} --by ed@parish,sex --show --confidential",
        f"{called} tabulate {store} --of households --by tenure,internet --show --confidential",
        f'{called} tabulate {store} --by education,sex --where "age >= 25" --show --confidential',
        f"{called} tabulate {store} --by ed@parish,age --out {table} --confidential",
        f"{protect} --explain",
        f"{protect} --strength strong --out {published}",
        f"{called} recommend {store}",
        f"{called} describe {typed(made.folder / 'swapped.store')}",
        f"{called} swap {store} --risk-variables sex,age@five_year --secret {secret} --plan",
        f"{called} assess {store} --by ed@parish,sex,religion --secret {secret}",
        f"{called} plan check {plan} --secret {secret}",
        f"{called} verify {typed(made.folder / 'national')}",
        f"{called} attack {typed(made.folder / 'national')}",
        f"{called} release assess {typed(made.folder / 'release.toml')} --secret {secret}",
        # A country that is too small has no file for researchers.
        *([f"{called} release check {typed(researchers)}"] if researchers.is_dir() else []),
        f"{called} schema check {schema}",
        f"{called} load {schema} --out {again} --secret {secret}",
        f"{called} --help",
    ]


def program() -> str:
    """How this program can be called again from the same console."""
    if shutil.which("sdcensus"):
        return "sdcensus"
    called = Path(sys.argv[0])
    if called.stem == "sdcensus":
        return typed(called)
    return f"{typed(sys.executable)} -m sdcensus"
