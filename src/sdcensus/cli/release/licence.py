"""``sdcensus licence``: the office's register of who holds which file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.release import handing
from sdcensus.cli.release.register_options import Day, Document, Number, Office, Reason
from sdcensus.cli.shared.console import Output, plain_table
from sdcensus.cli.shared.options import (
    Quiet,
    SpokenLanguage,
    check_spoken,
    command_group,
    examples,
    listed,
)
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.sentences import speak

if TYPE_CHECKING:
    from sdcensus.model.release.holding import Holding
    from sdcensus.session.licence.register import LicenceRegister

app = command_group(
    "Keep the register of who holds which file, in the office folder.",
    'sdcensus licence apply office --applicant "A. Ruiz" --file f --project X',
    'sdcensus licence decide office 2026-001 --name "Ben Okafor" --grant',
    'sdcensus licence agree office 2026-001 --signed-by "Ana R" --expires 2028-01-31',
    "sdcensus licence due office",
)

app.command(
    "agreement",
    epilog=examples(
        "sdcensus licence agreement office 2026-001 --release release.toml --out a.html",
        "sdcensus licence agreement office 2026-001 --release files --out a.html -l es",
    ),
)(handing.agreement)
app.command(
    "hand-out",
    epilog=examples("sdcensus licence hand-out office 2026-001 release.toml --out copy"),
)(handing.hand_out)
app.command(
    "holder",
    epilog=examples("sdcensus licence holder office found.csv --release release.toml"),
)(handing.holder)


def _register(office: Path, language: str | None) -> LicenceRegister:
    from sdcensus.session.licence.register import LicenceRegister

    check_spoken(language)
    return LicenceRegister(office)


def _say(holding: Holding, quiet: bool, language: str | None, day: str = "") -> None:
    from sdcensus.session.licence.register import day_or_today

    state = speak(f"licence.state.{holding.state(day_or_today(day))}", language)
    who = holding.application.applicant
    said = speak("licence.now", language, number=holding.number, who=who, state=state)
    Output(quiet=quiet).say(said)


@app.command(
    "apply",
    epilog=examples(
        'sdcensus licence apply office --applicant "A. Ruiz" --file f --project X',
        "sdcensus licence apply o --applicant ID --kind organisation --file f --project X",
    ),
)
def apply(
    office: Office,
    applicant: Annotated[str, typer.Option("--applicant", metavar="NAME", help="Who applies.")],
    file: Annotated[
        str, typer.Option("--file", metavar="NAMES", help="The files, comma-separated.")
    ],
    project: Annotated[str, typer.Option("--project", metavar="TITLE", help="For which project.")],
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="person, team or organisation.")
    ] = "person",
    member: Annotated[
        list[str] | None,
        typer.Option("--member", metavar="NAME", help="Who works with it. Can be repeated."),
    ] = None,
    organisation: Annotated[
        str, typer.Option("--organisation", metavar="NAME", help="Where they work.")
    ] = "",
    email: Annotated[str, typer.Option("--email", metavar="ADDRESS", help="Their address.")] = "",
    abstract: Annotated[
        str, typer.Option("--abstract", metavar="TEXT", help="What the project is about.")
    ] = "",
    document: Annotated[
        list[Path] | None,
        typer.Option(
            "--document",
            metavar="FILE",
            help="A paper of the application: place and digest are kept. Can be repeated.",
        ),
    ] = None,
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Record an application, which gets a number."""
    register = _register(office, language)
    with all_or_nothing():
        holding = register.apply(
            applicant,
            listed(file),
            project=project,
            abstract=abstract,
            kind=kind,
            members=member or (),
            organisation=organisation,
            email=email,
            documents=document or (),
            date=date,
        )
    _say(holding, quiet, language, date)


@app.command(
    "decide",
    epilog=examples(
        'sdcensus licence decide office 2026-001 --name "Ben Okafor" --grant',
        'sdcensus licence decide office 2026-001 --name "Li Wei" --refuse --reason "why"',
    ),
)
def decide(
    office: Office,
    licence: Number,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Who decides.")],
    grant: Annotated[
        bool, typer.Option("--grant/--refuse", help="Grant it, or refuse it with a reason.")
    ],
    role: Annotated[
        str, typer.Option("--role", metavar="FUNCTION", help="In which function.")
    ] = "",
    reason: Reason = "",
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Record one person's decision. Two persons have to grant a licence."""
    register = _register(office, language)
    with all_or_nothing():
        holding = register.decide(licence, name, granted=grant, role=role, reason=reason, date=date)
    _say(holding, quiet, language, date)


@app.command(
    "agree",
    epilog=examples(
        'sdcensus licence agree office 2026-001 --signed-by "Ana R" --expires 2028-01-31',
        'sdcensus licence agree office 2026-001 --signed-by "Ana R" --document signed.pdf',
    ),
)
def agree(
    office: Office,
    licence: Number,
    signed_by: Annotated[str, typer.Option("--signed-by", metavar="NAME", help="Who signed.")],
    expires: Annotated[
        str, typer.Option("--expires", metavar="DATE", help="The last day; in two years.")
    ] = "",
    document: Document = None,
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Record the signed agreement. Copies may be handed out from then on."""
    register = _register(office, language)
    with all_or_nothing():
        holding = register.agree(licence, signed_by, expires=expires, document=document, date=date)
    _say(holding, quiet, language, date)


@app.command(
    "extend",
    epilog=examples(
        'sdcensus licence extend office 2026-001 --name "Ben Okafor" --expires 2030-01-01'
    ),
)
def extend(
    office: Office,
    licence: Number,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Who decides.")],
    expires: Annotated[str, typer.Option("--expires", metavar="DATE", help="The new last day.")],
    reason: Reason = "",
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Let a licence hold longer."""
    register = _register(office, language)
    with all_or_nothing():
        holding = register.extend(licence, name, expires=expires, reason=reason, date=date)
    _say(holding, quiet, language, date)


@app.command(
    "deposit",
    epilog=examples('sdcensus licence deposit office 2026-001 --title "Ageing on islands"'),
)
def deposit(
    office: Office,
    licence: Number,
    title: Annotated[str, typer.Option("--title", metavar="TITLE", help="Of the paper.")],
    citation: Annotated[
        str, typer.Option("--citation", metavar="TEXT", help="How to cite it.")
    ] = "",
    document: Document = None,
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Record a paper that came of a licence."""
    register = _register(office, language)
    with all_or_nothing():
        holding = register.deposit(licence, title, citation=citation, document=document, date=date)
    _say(holding, quiet, language, date)


@app.command(
    "breach",
    epilog=examples('sdcensus licence breach office 2026-001 --what "file on a public server"'),
)
def breach(
    office: Office,
    licence: Number,
    what: Annotated[str, typer.Option("--what", metavar="TEXT", help="What happened.")],
    reported_by: Annotated[
        str, typer.Option("--reported-by", metavar="NAME", help="Who says so.")
    ] = "",
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Record a breach of the terms."""
    register = _register(office, language)
    with all_or_nothing():
        holding = register.breach(licence, what, reported_by=reported_by, date=date)
    _say(holding, quiet, language, date)


@app.command(
    "sanction",
    epilog=examples(
        'sdcensus licence sanction office 2026-001 --kind exclusion --name "Ben Okafor"',
        "sdcensus licence sanction office 2026-001 --kind suspension --name Ben",
    ),
)
def sanction(
    office: Office,
    licence: Number,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="warning, suspension or exclusion.")
    ],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Who decides.")],
    until: Annotated[
        str, typer.Option("--until", metavar="DATE", help="The last day; none if not said.")
    ] = "",
    reason: Reason = "",
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Record what follows from a breach. An exclusion holds for every licence of the holder."""
    register = _register(office, language)
    with all_or_nothing():
        holding = register.sanction(licence, kind, name, until=until, reason=reason, date=date)
    _say(holding, quiet, language, date)


@app.command(
    "end", epilog=examples('sdcensus licence end office 2026-001 --how "copies destroyed"')
)
def end(
    office: Office,
    licence: Number,
    how: Annotated[str, typer.Option("--how", metavar="TEXT", help="Destroyed, returned.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Who has seen to it.")] = "",
    date: Day = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Record that copies were destroyed or returned."""
    register = _register(office, language)
    with all_or_nothing():
        holding = register.end(licence, how, name=name, date=date)
    _say(holding, quiet, language, date)


@app.command(
    "show", epilog=examples("sdcensus licence show office", "sdcensus licence show office 2026-001")
)
def show(
    office: Office,
    licence: Annotated[
        str, typer.Argument(metavar="[LICENCE]", help="One licence; all if none is named.")
    ] = "",
    on: Annotated[
        str, typer.Option("--on", metavar="DATE", help="As of which day; today if not said.")
    ] = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Show all licences, or everything about one."""
    from sdcensus.session.licence.register import day_or_today
    from sdcensus.session.licence.told import event_lines

    register, output, day = _register(office, language), Output(quiet=quiet), day_or_today(on)
    if licence:
        holding = register.holding(licence)
        _say(holding, quiet, language, on)
        for line in event_lines(holding, language):
            output.say(f"  {line}")
        return
    known = register.holdings()
    if not known:
        output.say(speak("licence.none", language))
        return
    table = plain_table()
    for heading in ("number", "applicant", "files", "state", "expires", "copies"):
        table.add_column(speak(f"licence.heading.{heading}", language))
    for holding in known.values():
        table.add_row(
            holding.number,
            holding.application.applicant,
            ", ".join(holding.application.files),
            speak(f"licence.state.{holding.state(day)}", language),
            holding.expires or "-",
            str(len(holding.copies)),
        )
    output.show(table)


@app.command(
    "due",
    epilog=examples(
        "sdcensus licence due office",
        "sdcensus licence due office --within 90 --calendar due.ics",
    ),
)
def due(
    office: Office,
    within: Annotated[
        int, typer.Option("--within", metavar="DAYS", help="How many days to look ahead.")
    ] = 60,
    on: Annotated[
        str, typer.Option("--on", metavar="DATE", help="From which day; today if not said.")
    ] = "",
    calendar: Annotated[
        Path | None,
        typer.Option("--calendar", metavar="FILE", help="Write them for a calendar, as .ics."),
    ] = None,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Remind of what expires, what waits for a decision, which copies should come back."""
    from sdcensus.session.licence.calendars import write_calendar
    from sdcensus.session.licence.register import day_or_today

    register, output = _register(office, language), Output(quiet=quiet)
    due = register.due(on, within=within)
    if calendar is not None:
        with all_or_nothing():
            write_calendar(due, calendar, day_or_today(on), language)
        said = speak("licence.say.calendar", language, n=len(due), file=str(calendar))
        output.say(said)
        return
    if not due:
        output.say(speak("licence.nothing_due", language))
    for reminder in due:
        what = speak(f"licence.due.{reminder.what}", language, day=reminder.day)
        output.say(f"{reminder.licence}  {reminder.who}: {what}")
