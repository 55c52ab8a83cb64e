"""``sdcensus approve``: two people put their names under a publication."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output
from sdcensus.cli.shared.options import Quiet, SpokenLanguage, check_spoken, examples
from sdcensus.model.sentences import in_language, speak
from sdcensus.model.spec.headings import joined

EXAMPLES = examples(
    'sdcensus approve published/ --name "Ana Ruiz" --role "head of methodology"',
    'sdcensus approve published/ --name "Ben Okafor" --date 2026-03-01',
)


def approve(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder that sdcensus publish has made.")
    ],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Who approves.")],
    role: Annotated[
        str, typer.Option("--role", metavar="FUNCTION", help="In which function.")
    ] = "",
    date: Annotated[
        str, typer.Option("--date", metavar="DATE", help="On which day; no clock is read.")
    ] = "",
    office: Annotated[
        Path | None,
        typer.Option(
            "--office",
            metavar="FOLDER",
            help="The office's folder; by default the one beside the published folder.",
        ),
    ] = None,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Record that somebody approves a publication as it is.

    The digests of plan, policy, lock and all files stand beside the names, in the office's folder.
    Two people have to approve; what changes afterwards has to be approved again.
    """
    from sdcensus.session.publish.approval import NEEDED, approve as record

    output = Output(quiet=quiet)
    check_spoken(language)
    approvals = record(folder, name=name, role=role, date=date, office=office)
    given = len(approvals.approvals)
    people = joined([approval.name for approval in approvals.approvals], language)
    key = "approve.by" if approvals.complete else "approve.by_some"
    output.say(speak(key, language, people=people, n=given, needed=NEEDED))
    if approvals.accepted is not None:
        output.say(in_language(approvals.accepted.sentence, language))
    for decided in approvals.two_lines:
        output.say(speak("rules.two_lines", language, name=decided))
    if approvals.outdated:
        output.say(speak("approve.outdated", language))
