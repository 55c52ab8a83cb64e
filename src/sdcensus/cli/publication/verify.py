"""``sdcensus verify``: whether a published folder is as it was published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import Quiet, examples
from sdcensus.errors import InputError
from sdcensus.model.quantities import bytes_text
from sdcensus.model.sentences import speak

EXAMPLES = examples(
    "sdcensus verify published/", "sdcensus verify published/ --office published.office"
)

#: Problems that are listed.
SHOWN = 20


def verify(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder that sdcensus publish has made.")
    ],
    office: Annotated[
        Path | None,
        typer.Option(
            "--office", metavar="FOLDER", help="The office's folder, to see who has approved."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Compare every published file with the digest in manifest.json.

    Missing, changed and added files are listed, and the exit code tells that there are some.
    """
    from sdcensus.session.publish.approval import verify as check

    output = Output(quiet=quiet)
    with Stages(output, "comparing files with their digests") as stages:
        verification = check(folder, office=office, progress=stages)
    if not verification.sound:
        more = len(verification.problems) - SHOWN
        lines = [f"  {problem}" for problem in verification.problems[:SHOWN]]
        lines += [f"  and {more:,} more"] if more > 0 else []
        raise InputError(
            f"{folder} is not as it was published:\n" + "\n".join(lines) + "\nPublish it again, or"
            " restore it from a backup."
        )
    output.say(
        f"{folder}: {verification.publication}, all {verification.files:,} files"
        f" ({bytes_text(verification.size)}) are as they were published."
    )
    for line in verification.lines:
        output.say(f"Its tables were made from {line}.")
    if verification.approvals is not None:
        people = [
            _person(approval.name, approval.role) for approval in verification.approvals.approvals
        ]
        if verification.approvals.complete:
            output.say(f"Approved by {' and '.join(people)}.")
        else:
            given = f"Approved by {people[0]} only" if people else "Not approved yet"
            output.say(f"{given}: sdcensus approve records two names.")
        if verification.approvals.accepted is not None:
            output.say(verification.approvals.accepted.sentence)
        for decided in verification.approvals.two_lines:
            output.say(speak("rules.two_lines", None, name=decided))
        if verification.approvals.outdated:
            output.say("An earlier approval was for something that has changed since.")


def _person(name: str, role: str) -> str:
    return f"{name} ({role})" if role else name
