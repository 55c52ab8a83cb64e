"""``sdcensus release``: files for researchers, designed by risk, made, checked, registered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import (
    Quiet,
    SecretFile,
    SpokenLanguage,
    check_spoken,
    command_group,
    examples,
    listed,
)
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.quantities import number_text, share_text
from sdcensus.model.sentences import in_language, speak
from sdcensus.model.spec.headings import joined

if TYPE_CHECKING:
    from sdcensus.report.release.results import DesignResult

app = command_group(
    "Make files of census records for researchers: design, make, check and register them.",
    "sdcensus release presets grenada --out release.toml",
    "sdcensus release assess release.toml --out assessment --secret office.secret",
    "sdcensus release make release.toml --out researchers --secret office.secret",
    "sdcensus release check researchers",
    'sdcensus release register researchers --name "Ana Ruiz" --name "Ben Okafor"',
)

Document = Annotated[
    Path, typer.Argument(metavar="DOCUMENT", help="The release document, such as release.toml.")
]
Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="A folder that sdcensus release make has made.")
]


@app.command(
    "assess",
    epilog=examples(
        "sdcensus release assess release.toml",
        "sdcensus release assess release.toml --out assessment -l es",
    ),
)
def assess(
    document: Document,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="A new folder for the report (html, xlsx, csv) and the proposed groupings.",
        ),
    ] = None,
    secret: SecretFile = None,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Measure the risk of every design along the ladder, what users lose, and say which pass.

    The report is confidential: only you can read its folder.
    """
    from sdcensus.session.release.assess.proposal import GROUPINGS_FILE
    from sdcensus.session.release.release import Release

    output = Output(quiet=quiet)
    check_spoken(language)
    with all_or_nothing(), Stages(output, "reading the document") as stages:
        assessment = Release(document, secret=secret).assess(
            out, language=language, progress=stages
        )
    for caution in assessment.notes:
        _note(in_language(caution, language), output, language)
    for design in assessment.designs:
        _show(design, assessment.known_keys, output, language)
    if out is not None:
        output.say(f"\n{speak('release.say.office', language, folder=str(out))}")
        if (out / GROUPINGS_FILE).exists():
            path = str(out / GROUPINGS_FILE)
            output.say(speak("release.say.proposal", language, file=path))


@app.command(
    "make",
    epilog=examples(
        "sdcensus release make release.toml --out researchers",
        "sdcensus release make release.toml --design B --out researchers --replace",
        'sdcensus release make r.toml --out f --accept-risk "A. Ruiz" --reason "law 7"',
    ),
)
def make(
    document: Document,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="The folder of the file to make.")
    ],
    design: Annotated[
        str, typer.Option("--design", metavar="NAME", help="Which design, if not [make] design.")
    ] = "",
    extract: Annotated[
        str, typer.Option("--extract", metavar="NAME", help="An extract of the document.")
    ] = "",
    accept_risk: Annotated[
        str,
        typer.Option(
            "--accept-risk",
            metavar="NAME",
            help="Who accepts a risk above what the class of users accepts; kept by the office.",
        ),
    ] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of an earlier one.")
    ] = False,
    secret: SecretFile = None,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Make the file of a design with codebook, DDI, lists and terms; all of it, or nothing.

    It is refused if categories are too small, or if its risk, alone or together with files that
    are out, is above what its class of users accepts; or if files or tables are out that were made
    from other records.
    """
    from sdcensus.model.schema.variable import Entity
    from sdcensus.session.release.release import Release

    output = Output(quiet=quiet)
    check_spoken(language)
    with all_or_nothing(), Stages(output, "reading the document") as stages:
        made = Release(document, secret=secret).make(
            out,
            design=design,
            extract=extract,
            accepted_by=accept_risk,
            reason=reason,
            replace=replace,
            language=language,
            progress=stages,
            before_writing=lambda shortening: _note(
                in_language(shortening.message, language), output, language
            ),
        )
    sizes = {table.entity: table.rows for table in made.file.tables}
    persons = number_text(sizes[Entity.PERSON], language)
    if Entity.HOUSEHOLD in sizes:
        households = number_text(sizes[Entity.HOUSEHOLD], language)
        said = {"name": made.file.name, "persons": persons, "households": households}
        output.say(speak("release.say.made", language, **said))
    else:
        output.say(
            speak("release.say.made_persons", language, name=made.file.name, persons=persons)
        )
    for note in dict.fromkeys(made.result.notes):
        _note(in_language(note, language), output, language)
    output.say(speak("release.say.folder", language, folder=str(made.folder)))
    output.say(speak("release.say.office", language, folder=str(made.office)))
    output.say(speak("release.say.not_registered", language))
    output.command(f"sdcensus release register {typed(made.folder)} --name NAME --name NAME")


@app.command("check", epilog=examples("sdcensus release check researchers"))
def check(folder: Folder, language: SpokenLanguage = None, quiet: Quiet = False) -> None:
    """Check a file: digests, all formats alike, numbers without gaps, households whole."""
    from sdcensus.session.release.make.checking import check_folder

    output = Output(quiet=quiet)
    check_spoken(language)
    with Stages(output, "reading files back") as stages:
        checked = check_folder(folder, stages)
    for problem in checked.problems:
        output.say(in_language(problem, language))
    if not checked.sound:
        raise typer.Exit(1)
    output.say(speak("release.say.sound", language, name=checked.release, files=checked.files))


@app.command(
    "register",
    epilog=examples('sdcensus release register researchers --name "A. Ruiz" --name "B. Li"'),
)
def register(
    folder: Folder,
    name: Annotated[
        list[str], typer.Option("--name", metavar="NAME", help="Who decides; twice, two people.")
    ],
    office: Annotated[
        Path | None,
        typer.Option(
            "--office", metavar="FOLDER", help="The office folder; office beside the file if not."
        ),
    ] = None,
    date: Annotated[
        str, typer.Option("--date", metavar="DATE", help="On which day; today if not said.")
    ] = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Register a file that goes out: from then on it counts for every further file.

    It is refused if another file of the census was registered since this one was made: make it
    again, so that both are measured together.
    """
    from sdcensus.session.release.make.registering import register_file

    output = Output(quiet=quiet)
    check_spoken(language)
    with all_or_nothing():
        shared = office if office is not None else folder.absolute().parent / "office"
        out = register_file(folder, shared, names=tuple(name), date=date)
    output.say(speak("release.say.registered", language, name=out[-1].name, n=len(out)))


@app.command(
    "catalogue",
    epilog=examples(
        "sdcensus release catalogue office --out site",
        "sdcensus release catalogue researchers public --office office --out site",
    ),
)
def catalogue(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="PLACES", help="The office folder, for all its files; or folders of files."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder of the site.")],
    office: Annotated[
        Path | None,
        typer.Option(
            "--office", metavar="FOLDER", help="Where they are registered; office beside each."
        ),
    ] = None,
    languages: Annotated[
        str, typer.Option("--languages", metavar="NAMES", help="Of the pages; all if not said.")
    ] = "",
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Write the page of registered files for the office's site, with their papers.

    Records stand there only of public use files.
    """
    from sdcensus.session.release.catalogue import write_site

    check_spoken(language)
    chosen = listed(languages)
    for name in chosen:
        check_spoken(name)
    with all_or_nothing():
        names = write_site(places, out, office=office, languages=chosen)
    said = speak("licence.say.site", language, n=len(names), folder=str(out))
    Output(quiet=quiet).say(said)


@app.command(
    "presets",
    epilog=examples(
        "sdcensus release presets", "sdcensus release presets grenada --out release.toml"
    ),
)
def presets(
    name: Annotated[
        str, typer.Argument(metavar="[PRESET]", help="Show one; list them if none is named.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write it to a new file, to begin with."),
    ] = None,
) -> None:
    """List designs that offices have published, or show one as a document to begin with."""
    from sdcensus.session.release.presets import preset_lines, write_preset

    output = Output()
    if name and out is not None:
        with all_or_nothing():
            output.say(f"Wrote {write_preset(name, out)}.")
        return
    for line in preset_lines(name):
        output.verbatim(line)


def _show(
    design: DesignResult, known_keys: int | None, output: Output, language: str | None
) -> None:
    """The verdict about a design, measure by measure."""
    from sdcensus.report.release.words import advice

    key = "accepted" if design.accepted else "refused"
    output.say(f"\n{speak(f'release.say.{key}', language, name=design.name)}", style="bold")
    table = plain_table(header=False)
    for column in range(3):
        table.add_column(justify="right" if column else "left")
    for verdict in design.verdicts:
        table.add_row(
            speak(f"release.measure.{verdict.measure}", language),
            share_text(verdict.value, language, digits=2),
            f"{'≤' if verdict.passes else '>'} {share_text(verdict.accepted, language, digits=2)}",
        )
    output.show(table)
    row = design.judged_row(known_keys)
    worst = {"persons": row, "households": design.composition}
    for units, risk in worst.items():
        if risk is None or risk.journalist_risk is None:
            continue
        known = share_text(risk.prosecutor_risk, language, digits=2)
        unknown = share_text(risk.journalist_risk, language, digits=2)
        words = speak(f"release.say.worst_{units}", language, journalist=unknown, prosecutor=known)
        output.say(words)
    for measures, change in advice(design, language):
        names = [speak(f"release.measure.{measure}", language) for measure in measures]
        output.say(
            speak("release.say.advice", language, measures=joined(names, language), change=change)
        )
    for refusal in design.refusals:
        output.say(in_language(refusal, language))
    for note in dict.fromkeys(design.notes):
        # Where notes go elsewhere than answers, nobody sees under which design they stand.
        _note(f"{design.name}: {in_language(note, language)}", output, language)


def _note(text: str, output: Output, language: str | None) -> None:
    output.note(speak("release.say.note", language, text=text))
