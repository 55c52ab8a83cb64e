"""What comes next on the road, and why: commands that work as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import SdcensusError
from sdcensus.formats.write import new_file
from sdcensus.session.guard.run import read_lock
from sdcensus.session.recommend.recommendation import PERTURBATION_FILE
from sdcensus.session.start.raw_files import sort_files
from sdcensus.session.start.road import COMMANDS_FILE, SCHEMA_FOLDER, Answers, Road, StartProduct

_HEAD = "# What comes next. Written by sdcensus start, anew each time it is run."


@dataclass(frozen=True, slots=True)
class NextStep:
    """A step of the road.

    Attributes:
        why: What it is, and what it is for.
        words: The commands, each as its words.
    """

    why: str
    words: tuple[tuple[str, ...], ...] = ()


def next_steps(road: Road) -> tuple[NextStep, ...]:
    """Everything that is left of the road, the next step first."""
    return tuple(_steps(road, road.answers))


def _steps(road: Road, answers: Answers | None) -> Iterator[NextStep]:
    again = ("sdcensus", "start", _full(road.folder), *_again(road, answers))
    if road.store is None:
        yield from _to_store(road, again)
        return
    if not road.is_advised:
        yield NextStep(
            "Choose noise, policy and tables: plan, policy and noise are written.", (again,)
        )
        return
    yield from _to_published(road, answers)
    if answers is not None and answers.opens:
        yield from _to_builder(road)
    elif answers is not None and answers.builder_later:
        yield NextStep(
            "A table builder can be opened later with the same policy and plan: no published number"
            " changes."
        )
    if answers is not None and StartProduct.MICRODATA in answers.products:
        yield NextStep(
            "Microdata: sdcensus makes no file of records for release. Make it with a tool for"
            " that, from the same records."
        )


def _to_store(road: Road, again: tuple[str, ...]) -> Iterator[NextStep]:
    if road.schema is None:
        out = _full(road.folder / SCHEMA_FOLDER)
        raw = sort_files(road.files)
        files = tuple(_full(path) for path in (*raw.records, *raw.areas))
        beside = [word for path in raw.dictionaries for word in ("--dictionary", _full(path))]
        yield NextStep(
            "Draft a schema: what the columns mean.",
            (("sdcensus", "schema", "draft", *files, *beside, "--out", out), again),
        )
        return
    check = ("sdcensus", "schema", "check", _full(road.schema))
    if road.mistakes:
        yield NextStep(
            "Complete the schema: what it cannot say yet is listed with its line.", (check, again)
        )
        return
    edit = ("sdcensus", "schema", "edit", _full(road.schema))
    yield NextStep(
        "Go through the schema on a page, or in a text editor: lines with the word 'guessed' are"
        " guesses. Then check it.",
        (edit, check),
    )
    if not road.secret.is_file():
        yield NextStep(
            "Make the office secret, once. Print its recovery sheet and lock it away.",
            (("sdcensus", "secret", "new", _full(road.secret), "--sheet", _full(road.sheet)),),
        )
    yield NextStep(
        "Load the census, and go on.",
        (
            (
                "sdcensus",
                "load",
                _full(road.schema),
                "--out",
                _full(road.new_store),
                "--secret",
                _full(road.secret),
            ),
            again,
        ),
    )


def _to_published(road: Road, answers: Answers | None) -> Iterator[NextStep]:
    plan, secret = _full(road.plan), _full(road.secret)
    published = _full(road.published)
    if not road.is_published:
        yield NextStep(
            "Read plan and policy, and change them: they are yours. Then check them.",
            (
                ("sdcensus", "plan", "check", plan),
                (
                    *("sdcensus", "policy", "check", _full(road.policy)),
                    *("--store", _store(road), *_noise(road)),
                ),
            ),
        )
        yield NextStep(
            "Publish. From then on no number changes without a name for the event.",
            (("sdcensus", "publish", plan, "--secret", secret),),
        )
    yield NextStep(
        "Check the files, and attack them as an intruder would.",
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
            "Make the part of the secret that a server needs; the office secret stays where it is.",
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
        "Open the table builder: first all checks without opening, then until Ctrl+C.",
        ((*serve, "--check"), serve),
    )


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


def write_commands(road: Road, lines: tuple[str, ...]) -> Path:
    """Write the list; a file of that name that is not ours is left alone.

    Args:
        road: The road.
        lines: What is in the list.
    """
    path = road.folder / COMMANDS_FILE
    number = 2
    while path.exists() and not _is_ours(path):
        path = road.folder / COMMANDS_FILE.replace(".txt", f"-{number}.txt")
        number += 1
    with new_file(path) as file:
        file.write("\n".join([_HEAD, *lines, ""]).encode())
    return path


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().rstrip("\r\n") == _HEAD
    except (OSError, UnicodeDecodeError):
        return False
