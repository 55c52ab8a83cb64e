"""``sdcensus start``: from raw files to published tables, by answering questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, typed
from sdcensus.cli.shared.options import Quiet, SecretFile, examples
from sdcensus.cli.shared.questions import agreed, can_answer
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError
from sdcensus.model.catalogue import FIRST
from sdcensus.model.sentences import in_language, speak

if TYPE_CHECKING:
    from sdcensus.session.start.next_commands import NextStep
    from sdcensus.session.start.road import Answers, Road

EXAMPLES = examples(
    "sdcensus start census",
    "sdcensus start census --for report,builder --yes",
    "sdcensus start census --for programme --builder-later --secret office.secret",
    "sdcensus start censo -l es",
)


def start(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="A folder with the files of the census, a schema or a store."
        ),
    ],
    wanted: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="PRODUCTS",
            help="What will be published: report, programme, builder, microdata, or several of"
            " them. Asked for where it is not said.",
        ),
    ] = None,
    builder_later: Annotated[
        bool | None,
        typer.Option(
            "--builder-later/--no-builder-later",
            help="Whether a table builder may be opened one day: its noise is then chosen now.",
        ),
    ] = None,
    secret: SecretFile = None,
    dictionary: Annotated[
        list[Path] | None,
        typer.Option(
            "--dictionary",
            metavar="FILE",
            help="What columns and codes mean, as in schema draft. Dictionaries that lie in the"
            " folder are found without it. Give it several times for several files.",
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Answer yes: take the drafted schema, make the secret if there is none, and load.",
        ),
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            "-l",
            metavar="LANGUAGE",
            help="Language of questions, and of labels in files. Without it that of the census.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Go from the files of a census to tables and a table builder, one step at a time.

    Asks first what will be published, since noise is chosen for all of it together. Then drafts
    the schema, makes the secret, loads, and writes plan, policy, noise and a list of the commands
    that come next, which work as they are. Run it again at any time: it keeps what is there,
    overwrites nothing, and goes on where the road stands.
    """
    from sdcensus.session.start.road import find_road, keep_answers

    output = Output(quiet=quiet)
    road = find_road(folder, secret=secret)
    spoken = language or road.language
    answers = _answers(output, road, wanted, builder_later, spoken)
    if answers != road.answers:
        keep_answers(road.folder, answers, spoken)
    try:
        given = tuple(dictionary or ())
        _walk(output, folder, secret, answers, yes=yes, language=spoken, given=given)
    finally:
        # Also where a step could not be taken: what to do then is part of the list.
        _show_next(output, find_road(folder, secret=secret), spoken, asked=language)


def _answers(
    output: Output,
    road: Road,
    wanted: str | None,
    builder_later: bool | None,
    language: str | None,
) -> Answers:
    """What will be published: as it is said now, as it was said before, or as it is answered."""
    from sdcensus.session.start.road import Answers, StartProduct

    known = road.answers
    if wanted is None and known is None and not can_answer():
        raise SpecError(
            "Say what will be published, since nobody can be asked here: --for report,builder."
            f" There are: {', '.join(StartProduct)}."
        )
    if wanted is None and known is not None:
        answers = known
    else:
        answers = Answers.named(_asked_products(output, language) if wanted is None else wanted)
    later = builder_later
    if later is None:
        later = known.builder_later if known is not None and wanted is None else None
    if later is None and not answers.opens:
        later = agreed(output, speak("start.ask.later", language), language=language)
    answers = Answers(answers.products, bool(later) and not answers.opens)
    if known is not None and road.is_advised and not answers.shares_advice(known):
        raise SpecError(
            f"{road.advice} was written for {', '.join(known.products)}. To publish something else,"
            f" move it away first; if something is published already, other noise changes every"
            " number, which needs a name: publish --revision NAME --rekey."
        )
    return answers


def _asked_products(output: Output, language: str | None) -> str:
    from sdcensus.session.start.road import StartProduct

    output.say(speak("start.ask.what", language), style="bold")
    for number, product in enumerate(StartProduct, 1):
        output.say(f"  {number}  {product}: {speak(f'start.ask.{product}', language)}")
    return str(typer.prompt(speak("start.ask.numbers", language), err=True))


def _walk(
    output: Output,
    folder: Path,
    secret: Path | None,
    answers: Answers,
    *,
    yes: bool,
    language: str | None,
    given: Sequence[Path],
) -> None:
    """Every step that is not taken yet, as far as somebody agrees."""
    from sdcensus.session.start.advice import check_advice, check_secret
    from sdcensus.session.start.release_draft import write_release
    from sdcensus.session.start.road import StartProduct, find_road

    road = find_road(folder, secret=secret)
    if road.store is None:
        if not _has_schema(output, road, yes=yes, language=language, given=given):
            return
        road = find_road(folder, secret=secret)
        if not _has_secret(output, road, yes=yes, language=language):
            return
        if not _is_loaded(output, road, yes=yes, language=language):
            return
        road = find_road(folder, secret=secret)
    check_secret(road)
    if not road.is_advised:
        _advise(output, road, answers, language)
    if StartProduct.MICRODATA in answers.products and write_release(road):
        output.say(speak("start.said.wrote", language, path=str(road.release)))
    if not road.is_published:
        with Stages(output, "checking plan and policy") as stages:
            check_advice(road, progress=stages)
        output.say(speak("start.said.passed", language))


def _has_schema(
    output: Output, road: Road, *, yes: bool, language: str | None, given: Sequence[Path]
) -> bool:
    """Whether there is a schema to go on with; drafted if there is none."""
    from sdcensus.cli.census.schema import draft
    from sdcensus.session.start.raw_files import sort_files
    from sdcensus.session.start.road import SCHEMA_FOLDER, find_road

    if road.schema is None:
        with Stages(output, "telling records from dictionaries"):
            raw = sort_files(road.files, given)
        for key, paths in (
            ("no_schema", raw.records),
            ("dictionaries", raw.dictionaries),
            ("others", raw.others),
        ):
            if paths:
                output.say(speak(f"start.said.{key}", language, names=_names(paths)))
        draft(
            files=[*raw.records, *raw.areas],
            out=road.folder / SCHEMA_FOLDER,
            dictionary=list(raw.dictionaries),
            language=language,
            quiet=output.quiet,
        )
        road = find_road(road.folder, secret=road.secret)
    if road.mistakes:
        output.note(speak("start.said.unusable", language, mistakes=road.mistakes))
        return False
    question = speak("start.ask.schema", language, path=str(road.schema))
    return yes or agreed(output, question, language=language)


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(path.name for path in paths)


def _has_secret(output: Output, road: Road, *, yes: bool, language: str | None) -> bool:
    """Whether there is a secret; a new one is made only where there is none."""
    from sdcensus.cli.census.secret import new

    if road.secret.is_file():
        return True
    question = speak("start.ask.secret", language, path=str(road.secret))
    if not yes and not agreed(output, question, default=True, language=language):
        return False
    new(file=road.secret, sheet=road.sheet, language=language, quiet=output.quiet)
    return True


def _is_loaded(output: Output, road: Road, *, yes: bool, language: str | None) -> bool:
    from sdcensus.cli.census.load import load

    assert road.schema is not None
    question = speak("start.ask.load", language, path=str(road.new_store))
    if not yes and not agreed(output, question, default=True, language=language):
        return False
    load(
        schema=road.schema,
        out=road.new_store,
        secret=road.secret,
        language=language,
        quiet=output.quiet,
    )
    return True


def _advise(output: Output, road: Road, answers: Answers, language: str | None) -> None:
    """Write plan, policy and noise, and say what was chosen."""
    from sdcensus.session.recommend.recommendation import noise_words
    from sdcensus.session.start.advice import write_advice

    with all_or_nothing(), Stages(output, "looking at areas") as stages:
        recommendation, written = write_advice(road, answers, progress=stages)
    chosen = speak("start.said.chosen", language, product=str(recommendation.product))
    output.say(f"\n{chosen}", style="bold")
    for line in noise_words(recommendation.noise):
        output.say(f"  {in_language(line, language)}")
    for caution in recommendation.cautions:
        output.say(f"  {in_language(caution, language)}")
    for path in written:
        key = "wrote_noise" if path.suffix == ".csv" else "wrote"
        output.say(speak(f"start.said.{key}", language, path=str(path)))
    products = ",".join(recommendation.products)
    output.say(speak("start.said.reasons", language))
    again = "" if (language or FIRST) == FIRST else f" -l {language}"
    output.command(f"sdcensus recommend {typed(road.store or '')} --product {products}{again}")


def _show_next(output: Output, road: Road, language: str | None, *, asked: str | None) -> None:
    """Say what is next and why, and write it down."""
    from sdcensus.session.start.next_commands import next_steps, write_commands
    from sdcensus.session.start.road import near

    steps = next_steps(road, asked)
    lines = [line for step in steps for line in _lines(step, language)]
    output.say(f"\n{speak('start.said.next', language)}", style="bold")
    for step in steps:
        output.say(in_language(step.why, language))
        for words in step.words:
            output.command(" ".join(typed(near(word)) for word in words))
    path = write_commands(road, tuple(lines), language)
    output.say(f"\n{speak('start.said.wrote_commands', language, path=str(path))}")


def _lines(step: NextStep, language: str | None) -> list[str]:
    why = in_language(step.why, language)
    return ["", f"# {why}", *(" ".join(map(typed, words)) for words in step.words)]
