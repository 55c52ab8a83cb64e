"""``sdcensus words``: the languages that the product speaks, and a language of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output, plain_table, typed
from sdcensus.cli.shared.options import Quiet, command_group, examples
from sdcensus.cli.shared.run import all_or_nothing

app = command_group(
    "List the languages that the product speaks, begin one of your own, check it.",
    "sdcensus words list",
    "sdcensus words copy en words/sw",
    "sdcensus words check words/sw",
)

#: What a language with problems makes of the command.
_INCOMPLETE = 1


@app.command("list", epilog=examples("sdcensus words list"))
def list_languages(quiet: Quiet = False) -> None:
    """Show every language with its folder, those of SDCENSUS_WORDS among them."""
    from sdcensus.session.office.words import spoken_languages

    output = Output(quiet=quiet)
    table = plain_table()
    for head in ("code", "language", "state", "folder"):
        table.add_column(head, overflow="fold")
    for language in spoken_languages():
        state = f"{language.lacks:,} to do" if language.lacks else "complete"
        table.add_row(language.code, language.name, state, str(language.folder))
    output.show(table)


@app.command("copy", epilog=examples("sdcensus words copy en words/sw"))
def copy(
    language: Annotated[str, typer.Argument(metavar="LANGUAGE", help="The language to copy.")],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The new folder, called by the language.")
    ],
    quiet: Quiet = False,
) -> None:
    """Begin a language: copy one that there is, to be translated."""
    from sdcensus.session.office.words import copy_language

    output = Output(quiet=quiet)
    with all_or_nothing():
        written = copy_language(language, folder)
    output.say(
        f"Wrote {written}. Translate what stands in quotes, and leave {{places}} in braces as they"
        " are. Then check it, and name the folder around it in the environment:"
    )
    output.command(f"sdcensus words check {typed(written)}")
    output.command(f"SDCENSUS_WORDS={typed(written.resolve().parent)}")


@app.command("check", epilog=examples("sdcensus words check words/sw"))
def check(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of one language, such as words/sw.")
    ],
    quiet: Quiet = False,
) -> None:
    """List what a language lacks: texts, and places to fill. Exit code 1 if there is anything."""
    from sdcensus.session.office.words import check_language

    output = Output(quiet=quiet)
    lacks = check_language(folder)
    for sentence in lacks:
        output.say(sentence)
    if lacks:
        output.say(f"\n{len(lacks):,} to do. What is missing is shown in English.")
        raise typer.Exit(_INCOMPLETE)
    output.say(f"{folder.name}: complete.")
