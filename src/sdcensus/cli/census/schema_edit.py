"""``sdcensus schema edit``: a page on this machine in which the office goes through its schema."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, typed
from sdcensus.cli.shared.options import Quiet, examples
from sdcensus.cli.shared.run import Interrupted
from sdcensus.errors import InputError, MissingExtra, unknown
from sdcensus.model.text import LANGUAGES

if TYPE_CHECKING:
    from sdcensus.session.schema_editing.editing import SchemaEditing
    from sdcensus.web.schema_editor.server import EditorServer

EXAMPLES = examples(
    "sdcensus schema edit census",
    "sdcensus schema edit census/schema.toml -l es",
    "sdcensus schema edit census --port 8090 --no-browser",
)


def edit(
    schema: Annotated[
        Path,
        typer.Argument(
            metavar="SCHEMA", help="The schema document, or the folder with its schema.toml."
        ),
    ],
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="N", min=0, max=65_535, help="The port; 0 for any that is free."
        ),
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="This machine only; any other address is refused."
        ),
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    language: Annotated[
        str,
        typer.Option("--language", "-l", metavar="LANGUAGE", help="The language of the page."),
    ] = "en",
    quiet: Quiet = False,
) -> None:
    """Go through a schema on a page, variable by variable, with the distributions beside it.

    The page is for this machine and for one browser: its address works once. Nothing leaves the
    machine. Roles, labels, codes, missing codes, levels and groups are accepted or corrected; what
    is wrong is told where it stands. Saving changes what was changed and keeps every other line,
    and the document of before as schema.toml.bak. An interrupted session goes on where it was.
    """
    from sdcensus.session.schema_editing.editing import SchemaEditing

    if host not in ("127.0.0.1", "localhost"):
        raise InputError(
            f"The page shows true counts of records, so it is not opened on {host}: only on this"
            " machine, 127.0.0.1. Leave --host out."
        )
    if language not in LANGUAGES:
        raise InputError(unknown("language", language, LANGUAGES))
    _check_extra()
    output = Output(quiet=quiet)
    with Stages(output, "looking at the files") as stages:
        editing = SchemaEditing(schema, progress=stages)
    _serve(output, editing, _server(editing, port, language), browser=browser)


def _serve(output: Output, editing: SchemaEditing, server: EditorServer, *, browser: bool) -> None:
    def ready() -> None:
        address = (
            f"Open this address in a browser of this machine; it works once:\n{server.address}"
        )
        if browser:
            output.say(address.replace("Open this address", "If no page opens, open this address"))
            # Some browsers run in the terminal and give it back at their end only.
            threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        else:
            # Even with --quiet: without the address there is no way in.
            typer.echo(address[:1].upper() + address[1:])
        output.say("Close the page by its button, or stop with Ctrl+C. Unsaved changes are kept.")

    try:
        server.run(ready)
    except Interrupted:
        output.say("Stopped.")
    if editing.dirty:
        output.say(f"Not saved yet. Go on with: sdcensus schema edit {typed(editing.path)}")
    else:
        output.say("Check the schema with:")
        output.command(f"sdcensus schema check {typed(editing.path)}")


def _check_extra() -> None:
    """Say what is missing before the files are read."""
    try:
        import sdcensus.web.schema_editor.server  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("sdcensus"):
            raise
        raise MissingExtra("web", needed_for="The page of sdcensus schema edit") from None


def _server(editing: SchemaEditing, port: int, language: str) -> EditorServer:
    from sdcensus.web.schema_editor.server import EditorServer

    return EditorServer(editing, port=port, language=language)
