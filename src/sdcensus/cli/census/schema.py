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
from sdcensus.model.sentences import Value as SentenceValue, speak
from sdcensus.model.spec.headings import entity_text

if TYPE_CHECKING:
    from sdcensus.model.schema.schema import Schema
    from sdcensus.session.census.schema_draft import Draft

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
    _show_draft(output, draft, language)


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


def _show_draft(output: Output, draft: Draft, language: str | None) -> None:
    """What was written, what was guessed, and what to do with it."""

    def say(key: str, **values: SentenceValue) -> None:
        output.say(speak(f"start.draft.{key}", language, **values))

    lists = len(draft.code_lists)
    if lists:
        say("wrote_lists" if lists > 1 else "wrote_list", path=str(draft.path), n=lists)
    else:
        say("wrote", path=str(draft.path))
    for areas in draft.areas:
        say("areas", name=areas.name)
    if draft.schema is not None:
        _show_schema(output, draft.schema, language)
    else:
        say("complete", mistakes=draft.mistakes)
    if draft.check is not None:
        output.say("\n" + speak("start.draft.dictionary", language), style="bold")
        for line in draft.check.summary(language):
            output.say(line)
        say("in_full", path=str(draft.check_file))
    if draft.guesses:
        output.say("\n" + speak("start.draft.guesses", language, n=draft.guesses))
    say("page")
    output.command(f"sdcensus schema edit {typed(draft.path)}")
    say("editor")
    output.command(f"sdcensus schema check {typed(draft.path)}")


def _show_schema(output: Output, schema: Schema, language: str | None = None) -> None:
    def word(key: str, **values: SentenceValue) -> str:
        return speak(f"start.schema.{key}", language, **values)

    country = schema.census.country_in(language)
    where = f", {country}" if country else ""
    output.say(f"\n{schema.census.name_in(language)}{where}", style="bold")
    files = plain_table()
    for title in ("file", "records", "format", "path"):
        files.add_column(word(title), overflow="fold")
    missing = []
    for file in schema.files:
        paths = file.source.paths
        missing += [path for path in paths if not path.exists()]
        names = ", ".join(path.name for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
        units_text = entity_text(file.entity, language)
        files.add_row(file.name, units_text, str(file.source.format), names)
    output.say("\n" + word("files"), style="bold")
    output.show(files)
    units = plain_table()
    for title in ("unit", "identified_by", "within", "variables"):
        units.add_column(
            word(title), overflow="fold", justify="right" if title == "variables" else "left"
        )
    for unit in schema.entities:
        within = str(unit.within) if unit.within else ""
        if within and unit.optional:
            within = word("not_all", within=within)
        own = [variable for variable in schema.variables if variable.entity is unit.entity]
        identity = " + ".join(unit.id) or word("content")
        units.add_row(entity_text(unit.entity, language), identity, within, str(len(own)))
    output.say("\n" + word("units"), style="bold")
    output.show(units)
    output.say()
    stored = [variable for variable in schema.variables if variable.stored]
    codes = sum(len(variable.codes) for variable in stored)
    apart = [variable.name for variable in schema.variables if not variable.stored]
    output.say(word("stored", n=len(stored), codes=codes))
    if apart:
        output.say(word("never", names=", ".join(apart)))
    if schema.impossible:
        output.say(word("rules", n=len(schema.impossible)))
        related = sum(rule.relation is not None for rule in schema.impossible)
        if related:
            output.say(speak("rules.related", language, n=related))
    if schema.universes:
        said = ", ".join(f"{universe.name} ({universe.condition})" for universe in schema.universes)
        output.say(word("universes", names=said))
    for path in missing:
        output.note(word("missing", path=str(path)))
