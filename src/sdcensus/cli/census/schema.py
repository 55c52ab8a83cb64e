"""``sdcensus schema``: a first schema from a file, its page, and the check of a schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.census import schema_edit
from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import Quiet, command_group, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.schema.source import FileFormat

if TYPE_CHECKING:
    from sdcensus.model.schema.schema import Schema

app = command_group(
    "Draft a schema from census files, go through it on a page, or check it.",
    "sdcensus schema draft persons.sav --out census",
    "sdcensus schema edit census",
    "sdcensus schema check census/schema.toml",
)


@app.command(
    "draft",
    epilog=examples(
        "sdcensus schema draft persons.sav --out census",
        "sdcensus schema draft persons.csv households.csv --out census",
        "sdcensus schema draft persons.csv --dictionary dictionary.xlsx --out census",
        "sdcensus schema draft census.dat --dictionary census.dcf --out census",
    ),
)
def draft(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Census files of any known format.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FOLDER", help="The folder for schema.toml and its code lists."
        ),
    ],
    file_format: Annotated[
        FileFormat | None,
        typer.Option("--format", help="The format, where the ending of the name does not tell."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="Encoding of a text file, such as cp1252."),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter", metavar="SIGN", help="What separates the fields of a csv file."
        ),
    ] = None,
    decimal: Annotated[
        str | None, typer.Option("--decimal", metavar="SIGN", help="Decimal sign: point or comma.")
    ] = None,
    sheet: Annotated[
        str | None, typer.Option("--sheet", metavar="NAME", help="Sheet of an Excel file.")
    ] = None,
    layout: Annotated[
        Path | None,
        typer.Option(
            "--layout",
            metavar="FILE",
            help="Layout of a fixed-width file: a csv of name,start,width.",
        ),
    ] = None,
    dictionary: Annotated[
        list[Path] | None,
        typer.Option(
            "--dictionary",
            metavar="FILE",
            help="What columns and codes mean: a csv or xlsx table, CSPro (.dcf, .csdb), SPSS or"
            " Stata (.sav, .dta, .sps, .do), DDI (.xml), a Survey Solutions export (.zip). Give it"
            " several times for several files.",
        ),
    ] = None,
    dictionary_columns: Annotated[
        list[str] | None,
        typer.Option(
            "--dictionary-columns",
            metavar="ROLE=HEADING,...",
            help="Columns of a dictionary that is a table, where they are not recognised:"
            " variable=Campo,value=Clave,value_label=Texto. Roles: variable, label, value,"
            " value_label (label:es for a language), table, min, max, range, missing, list.",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            "-l",
            metavar="LANGUAGE",
            help="Language of labels, such as es, where files do not tell it.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write a first schema by looking at census files. Never overwrites a file.

    Labels and code lists in SPSS, Stata, SAS and CSPro files and in dictionaries are taken over.
    Codes that a dictionary lacks, and those that never occur, are listed beside the schema. What
    was guessed is marked in the schema: check it, complete it, and load.
    """
    from sdcensus.session.census.schema_draft import draft as draft_schema

    output = Output(quiet=quiet)
    with all_or_nothing(), Stages(output, "looking at the files"):
        draft = draft_schema(
            files,
            out,
            format=None if file_format is None else file_format.value,
            encoding=encoding,
            delimiter=delimiter,
            decimal=decimal,
            sheet=sheet,
            layout=layout,
            dictionaries=dictionary or [],
            dictionary_columns=dictionary_columns or [],
            language=language,
        )
    lists = len(draft.code_lists)
    beside = f" and {lists} code list{'s' if lists != 1 else ''} beside it" if lists else ""
    output.say(f"Wrote {draft.path}{beside}.")
    for areas in draft.areas:
        output.say(f"{areas.name} lists areas: it is no census file, and gives their levels.")
    if draft.schema is not None:
        _show_schema(output, draft.schema)
    else:
        output.say(f"It must be completed before it can be used: {draft.mistakes}")
    if draft.check is not None:
        output.say("\nDictionary", style="bold")
        for line in draft.check.summary():
            output.say(line)
        output.say(f"In full: {draft.check_file}")
    if draft.guesses:
        output.say(
            f"\nLines of the schema with a guess: {draft.guesses}. Look for the word 'guessed'."
        )
    output.say("Go through the schema on a page of this machine:")
    output.command(f"sdcensus schema edit {typed(draft.path)}")
    output.say("Or complete it in a text editor, then check it with:")
    output.command(f"sdcensus schema check {typed(draft.path)}")


@app.command(
    "check",
    epilog=examples("sdcensus schema check census.toml"),
)
def check(
    schema: Annotated[
        Path, typer.Argument(metavar="SCHEMA", help="The schema document of the census.")
    ],
    quiet: Quiet = False,
) -> None:
    """Check a schema and the code lists that it names; list every mistake with its line.

    The census files themselves are not opened: sdcensus load checks them.
    """
    from sdcensus.documents.schema.document import read_schema

    output = Output(quiet=quiet)
    with Stages(output, "reading the schema"):
        read = read_schema(schema)
    output.say(f"{schema} is right.")
    _show_schema(output, read)


app.command("edit", epilog=schema_edit.EXAMPLES)(schema_edit.edit)


def _show_schema(output: Output, schema: Schema) -> None:
    where = f", {schema.census.country}" if schema.census.country else ""
    output.say(f"\n{schema.census.name}{where}", style="bold")
    files = plain_table()
    for title in ("file", "records", "format", "path"):
        files.add_column(title, overflow="fold")
    missing = []
    for file in schema.files:
        paths = file.source.paths
        missing += [path for path in paths if not path.exists()]
        names = ", ".join(path.name for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
        files.add_row(file.name, file.entity.plural, str(file.source.format), names)
    output.say("\nFiles", style="bold")
    output.show(files)
    units = plain_table()
    for title in ("unit", "identified by", "within", "variables"):
        units.add_column(
            title, overflow="fold", justify="right" if title == "variables" else "left"
        )
    for unit in schema.entities:
        within = f"{unit.within}{' (not all)' if unit.optional else ''}" if unit.within else ""
        own = [variable for variable in schema.variables if variable.entity is unit.entity]
        identity = " + ".join(unit.id) or "(all that the record says)"
        units.add_row(unit.entity.plural, identity, within, str(len(own)))
    output.say("\nUnits", style="bold")
    output.show(units)
    output.say()
    stored = [variable for variable in schema.variables if variable.stored]
    codes = sum(len(variable.codes) for variable in stored)
    apart = [variable.name for variable in schema.variables if not variable.stored]
    output.say(f"{len(stored)} variables with {codes:,} codes will be stored.")
    if apart:
        output.say(f"Never stored, because they identify records: {', '.join(apart)}.")
    if schema.impossible:
        output.say(f"Rules for impossible combinations: {len(schema.impossible)}.")
    if schema.universes:
        said = ", ".join(f"{universe.name} ({universe.condition})" for universe in schema.universes)
        output.say(f"Universes that are counted by name: {said}.")
    for path in missing:
        output.note(f"Note: {path} does not exist yet.")
