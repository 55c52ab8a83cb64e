"""``sdcensus licence agreement``, ``hand-out`` and ``holder``: papers and copies for holders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.release.register_options import Day, Number, Office
from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import Quiet, SecretFile, SpokenLanguage, check_spoken
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.sentences import speak


def agreement(
    office: Office,
    licence: Number,
    release: Annotated[
        Path,
        typer.Option(
            "--release", metavar="DOCUMENT", help="The release document, or the file's folder."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new html file.")],
    template: Annotated[
        Path | None,
        typer.Option("--template", metavar="FILE", help="The office's own terms, with gaps."),
    ] = None,
    for_office: Annotated[
        str, typer.Option("--for-office", metavar="NAME", help="Who signs for the office.")
    ] = "",
    expires: Annotated[
        str, typer.Option("--expires", metavar="DATE", help="The last day; in two years.")
    ] = "",
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Fill the agreement from application and file, as a page to print (A4) and sign.

    Only you can read it: it holds who applies and for what.
    """
    from sdcensus.session.licence.agreements import write_agreement

    check_spoken(language)
    with all_or_nothing():
        write_agreement(
            office,
            licence,
            release,
            out,
            template=template,
            for_office=for_office,
            expires=expires,
            date=date,
            language=language,
        )
    Output(quiet=quiet).say(speak("licence.say.agreement", language, file=str(out)))


def hand_out(
    office: Office,
    licence: Number,
    document: Annotated[
        Path, typer.Argument(metavar="DOCUMENT", help="The release document of the file.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="A new folder for the copy.")
    ],
    date: Day = "",
    secret: SecretFile = None,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Make a holder's copy of a registered file, with its own order of records, and record it."""
    from sdcensus.session.licence.copies import hand_out as given_copy
    from sdcensus.session.release.opened import open_release

    output = Output(quiet=quiet)
    check_spoken(language)
    with all_or_nothing(), Stages(output, "reading the document") as stages:
        opened = open_release(document, secret=secret)
        given = given_copy(opened, office, licence, out, date=date, progress=stages)
    if given.settled:
        output.say(speak("licence.say.settled", language))
    said = {"file": given.event.file, "number": licence, "folder": str(out)}
    who = given.holding.application.applicant
    output.say(speak("licence.say.given", language, who=who, **said))
    output.say(speak("licence.say.order", language))


def holder(
    office: Office,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that was found: csv, parquet, sav, dta.")
    ],
    release: Annotated[
        Path, typer.Option("--release", metavar="DOCUMENT", help="The release document.")
    ],
    secret: SecretFile = None,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Find whose copy a file is, by the order of its records.

    Rows and columns may be missing. A file that was sorted has no order left, and nobody is named.
    """
    from sdcensus.session.licence.holders import find_holder
    from sdcensus.session.release.opened import open_release

    output = Output(quiet=quiet)
    check_spoken(language)
    with Stages(output, "reading the document") as stages:
        opened = open_release(release, secret=secret)
        answer = find_holder(opened, office, file, stages)
    holding = answer.holding
    said = {"rows": answer.rows, "known": answer.known}
    if holding is not None:
        who = holding.application.applicant
        output.say(speak("licence.found.holder", language, number=holding.number, who=who))
    else:
        output.say(speak(f"licence.found.{answer.answer}", language, **said))
    more = {"columns": answer.columns, "copies": answer.copies}
    output.say(speak("licence.found.compared", language, **said, **more))
