"""What comes next on the road, and why: commands that work as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import SdcensusError
from sdcensus.formats.write import new_file
from sdcensus.model.sentences import sentence
from sdcensus.model.text import Text
from sdcensus.session.guard.run import read_lock
from sdcensus.session.recommend.recommendation import PERTURBATION_FILE
from sdcensus.session.start.raw_files import sort_files
from sdcensus.session.start.road import COMMANDS_FILE, SCHEMA_FOLDER, Answers, Road, StartProduct

#: The first line of the list, in every language.
_HEAD = Text.named("start.head")


@dataclass(frozen=True, slots=True)
class NextStep:
    """A step of the road.

    Attributes:
        why: What it is, and what it is for, as a sentence that can be said in every language.
        words: The commands, each as its words.
    """

    why: str
    words: tuple[tuple[str, ...], ...] = ()


def next_steps(road: Road, language: str | None = None) -> tuple[NextStep, ...]:
    """Everything that is left of the road, the next step first.

    Args:
        road: The road.
        language: The language that was asked for; commands ask for it again.
    """
    return tuple(_steps(road, road.answers, () if language is None else ("-l", language)))


def _steps(road: Road, answers: Answers | None, spoken: tuple[str, ...]) -> Iterator[NextStep]:
    again = ("sdcensus", "start", _full(road.folder), *_again(road, answers), *spoken)
    if road.store is None:
        yield from _to_store(road, again, spoken)
        return
    if not road.is_advised:
        yield NextStep(sentence("start.next.advise"), (again,))
        return
    yield from _to_published(road, answers)
    if answers is not None and answers.opens:
        yield from _to_builder(road)
    elif answers is not None and answers.builder_later:
        yield NextStep(sentence("start.next.later"))
    if answers is not None and StartProduct.MICRODATA in answers.products:
        yield from _to_researchers(road, again, spoken)


def _to_store(road: Road, again: tuple[str, ...], spoken: tuple[str, ...]) -> Iterator[NextStep]:
    if road.schema is None:
        out = _full(road.folder / SCHEMA_FOLDER)
        raw = sort_files(road.files)
        files = tuple(_full(path) for path in (*raw.records, *raw.areas))
        beside = [word for path in raw.dictionaries for word in ("--dictionary", _full(path))]
        yield NextStep(
            sentence("start.next.draft"),
            (("sdcensus", "schema", "draft", *files, *beside, "--out", out, *spoken), again),
        )
        return
    check = ("sdcensus", "schema", "check", _full(road.schema))
    if road.mistakes:
        yield NextStep(sentence("start.next.complete"), (check, again))
        return
    edit = ("sdcensus", "schema", "edit", _full(road.schema))
    yield NextStep(sentence("start.next.look"), (edit, check))
    if not road.secret.is_file():
        yield NextStep(
            sentence("start.next.secret"),
            (("sdcensus", "secret", "new", _full(road.secret), "--sheet", _full(road.sheet)),),
        )
    yield NextStep(
        sentence("start.next.load"),
        (
            (
                "sdcensus",
                "load",
                _full(road.schema),
                "--out",
                _full(road.new_store),
                "--secret",
                _full(road.secret),
                *spoken,
            ),
            again,
        ),
    )


def _to_published(road: Road, answers: Answers | None) -> Iterator[NextStep]:
    plan, secret = _full(road.plan), _full(road.secret)
    published = _full(road.published)
    if not road.is_published:
        if answers is not None and StartProduct.PROGRAMME in answers.products:
            yield NextStep(sentence("start.next.swap"))
        yield NextStep(
            sentence("start.next.read"),
            (
                ("sdcensus", "plan", "check", plan),
                (
                    *("sdcensus", "policy", "check", _full(road.policy)),
                    *("--store", _store(road), *_noise(road)),
                ),
            ),
        )
        yield NextStep(
            sentence("start.next.publish"),
            (("sdcensus", "publish", plan, "--secret", secret),),
        )
    yield NextStep(
        sentence("start.next.verify"),
        (("sdcensus", "verify", published), ("sdcensus", "attack", published)),
    )


def _noise(road: Road) -> tuple[str, ...]:
    """The noise of the plan, where it is a file."""
    noise = road.plan.with_name(PERTURBATION_FILE)
    return ("--perturbation", _full(noise)) if noise.is_file() else ()


def _to_builder(road: Road) -> Iterator[NextStep]:
    server = _full(road.server_secret)
    if not road.server_secret.is_file():
        version = _key_version(road)
        options = () if version == 1 else ("--key-version", str(version))
        yield NextStep(
            sentence("start.next.lookup"),
            (("sdcensus", "secret", "lookup", _full(road.secret), server, *options),),
        )
    serve = (
        "sdcensus",
        "serve",
        _store(road),
        "--policy",
        _full(road.policy),
        "--plan",
        _full(road.plan),
        "--secret",
        server,
        "--state",
        _full(road.folder / "server"),
    )
    yield NextStep(
        sentence("start.next.serve"),
        ((*serve, "--check"), serve),
    )


def _to_researchers(
    road: Road, again: tuple[str, ...], spoken: tuple[str, ...]
) -> Iterator[NextStep]:
    """From the draft of a release document to a file that may be registered."""
    if not road.has_persons:
        yield NextStep(sentence("start.next.no_persons"))
        return
    if not road.release.is_file():
        yield NextStep(sentence("start.next.draft_release"), (again,))
        return
    document, secret = _full(road.release), ("--secret", _full(road.secret))
    *measured, new = road.assessments
    assess = ("sdcensus", "release", "assess", document, "--out", _full(new), *secret, *spoken)
    if not measured:
        yield NextStep(sentence("start.next.microdata"), (assess, again))
        return
    folder = _full(road.researchers)
    if not road.researchers.is_dir():
        yield NextStep(sentence("start.next.measure_again"), (assess,))
        make = ("sdcensus", "release", "make", document, "--out", folder, *secret, *spoken)
        yield NextStep(sentence("start.next.make_file"), (make, again))
        return
    yield NextStep(sentence("start.next.check_file"), (("sdcensus", "release", "check", folder),))


def _key_version(road: Road) -> int:
    """The version of the series of numbers that is out."""
    try:
        lock = read_lock(road.advice / "published.office")
    except SdcensusError:
        return 1
    return max((lock.making(table).key_version or 1 for table in lock.tables), default=1)


def _again(road: Road, answers: Answers | None) -> tuple[str, ...]:
    said: tuple[str, ...] = ()
    if answers is None:
        return ("--for", "report,builder")
    beside = road.folder.resolve().parent
    if road.secret.resolve().parent != beside:
        said = ("--secret", _full(road.secret))
    return said


def _store(road: Road) -> str:
    return _full(road.store or road.new_store)


def _full(path: Path) -> str:
    return str(path.resolve())


def write_commands(road: Road, lines: tuple[str, ...], language: str | None = None) -> Path:
    """Write the list; a file of that name that is not ours is left alone.

    Args:
        road: The road.
        lines: What is in the list.
        language: The language of its first line.
    """
    path = road.folder / COMMANDS_FILE
    number = 2
    while path.exists() and not _is_ours(path):
        path = road.folder / COMMANDS_FILE.replace(".txt", f"-{number}.txt")
        number += 1
    with new_file(path) as file:
        file.write("\n".join([_HEAD.show(language), *lines, ""]).encode())
    return path


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().rstrip("\r\n") in dict(_HEAD.by_language).values()
    except (OSError, UnicodeDecodeError):
        return False
