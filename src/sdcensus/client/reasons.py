"""Why a table or parts of it are not published, and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sdcensus.errors import QuestionError
from sdcensus.model.spec.question import Question


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not published: a code for programs, and a sentence for people."""

    code: str
    text: str
    variables: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would help.

    Attributes:
        text: What to change, for people.
        kinds: What kinds of change these are, such as ``coarser-area``.
        question: The changed question; ask it with ``Connection.ask``.
        available, areas: For how many of how many areas it would be published, where it is known.
    """

    text: str
    kinds: tuple[str, ...] = ()
    question: Question | None = None
    available: int | None = None
    areas: int | None = None


def reasons_of(said: object) -> tuple[Reason, ...]:
    """The reasons of an answer; what is not one is left out."""
    return tuple(
        Reason(
            _text(reason.get("code")),
            _text(reason.get("text")),
            _texts(reason.get("variables")),
            dict(reason["values"]) if isinstance(reason.get("values"), Mapping) else {},
        )
        for reason in _objects(said)
    )


def remedies_of(said: object) -> tuple[Remedy, ...]:
    """The remedies of an answer; what is not one is left out."""
    return tuple(
        Remedy(
            _text(remedy.get("text")),
            _texts(remedy.get("kinds")),
            _question(remedy.get("question")),
            _number(remedy.get("available")),
            _number(remedy.get("areas")),
        )
        for remedy in _objects(said)
    )


def _objects(said: object) -> list[Mapping[str, Any]]:
    return [item for item in said if isinstance(item, Mapping)] if isinstance(said, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _number(value: object) -> int | None:
    return value if type(value) is int else None


def _question(value: object) -> Question | None:
    """A remedy is still worth its sentence where its question cannot be read."""
    try:
        return Question.from_json(value)
    except QuestionError:
        return None
