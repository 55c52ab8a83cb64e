"""A question as the public asks it: plain words, checked for their form and nothing else.

It becomes a table specification only together with a schema. Two spellings of a question that
differ in the order of their parts are written in the same way, so that one link stands for one
question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from sdcensus.errors import QuestionError, Sentence, SpecError, told
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.text import parse_json

Json = dict[str, Any]

#: Longer questions are nobody's: what a question may hold at most.
MOST_AXES = 20
MOST_CODES = 20_000
MOST_GROUPS = 200
LONGEST_AXIS = 200
LONGEST_CONDITION = 4_000
LONGEST_CODE = 200
LONGEST_LABEL = 80

_PARTS = ("of", "measure", "by", "where", "codes", "groups")
#: Control characters, and halves of characters.
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class OwnGroup:
    """Codes that somebody wants to see together, under a name of their own."""

    label: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What somebody asks for.

    Attributes:
        of: What is counted.
        measure: What is said of an amount, such as ``sum(income)``; empty for counts.
        by: Axes in the grammar of plans.
        where: A condition in the grammar of plans; empty for everybody.
        codes: For some axes, by variable, the codes to show; a code that stands at several levels
            may be written ``level:code``. Totals are shown besides, where the axis has one.
        groups: For some axes, by variable, groups of codes to show in the place of codes; each is
            a sum of published values.

    Examples:
        >>> asked = Question.from_json({"of": "persons", "by": ["ed@parish", "sex"]})
        >>> asked.text
        '{"by":["ed@parish","sex"],"of":"persons"}'
        >>> Question.from_parameters(asked.to_parameters()) == asked
        True
    """

    of: str = "persons"
    measure: str = ""
    by: tuple[str, ...] = ()
    where: str = ""
    codes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    groups: tuple[tuple[str, tuple[OwnGroup, ...]], ...] = ()

    @classmethod
    def from_json(cls, document: object) -> Question:
        """Read a question from plain values, such as the body of a request.

        Raises:
            QuestionError: It has parts that no question has, or of another kind.
        """
        if not isinstance(document, Mapping):
            _refuse(
                "",
                told(
                    "question.no-object",
                    "A question is an object with the members {parts}.",
                    parts=_PARTS,
                ),
            )
        for name in document:
            if name not in _PARTS:
                _refuse(
                    str(name)[:40],
                    told(
                        "question.no-such-part",
                        "A question has no such part. It has: {parts}.",
                        parts=_PARTS,
                    ),
                )
        return cls(
            of=_text(document.get("of", "persons"), "of", LONGEST_CODE),
            measure=_measure(document.get("measure")),
            by=tuple(
                _text(one, f"by[{at}]", LONGEST_AXIS)
                for at, one in enumerate(_list(document.get("by", []), "by", MOST_AXES))
            ),
            where=_condition(document.get("where")),
            codes=tuple(
                (name, _codes(codes, f"codes.{name}"))
                for name, codes in sorted(_object(document.get("codes"), "codes").items())
            ),
            groups=tuple(
                (name, _groups(groups, f"groups.{name}"))
                for name, groups in sorted(_object(document.get("groups"), "groups").items())
            ),
        )

    @classmethod
    def from_parameters(cls, parameters: Sequence[tuple[str, str]]) -> Question:
        """Read a question from the parameters of a link; others than its own are left alone.

        ``by`` may be repeated, or hold several axes apart by commas, or be empty, which is no axis;
        ``codes`` and ``groups`` are JSON.
        """
        document: Json = {}
        if ("by", "") in parameters:
            parameters = [*parameters]
            parameters.remove(("by", ""))
        for name, value in parameters:
            if name == "by":
                document.setdefault("by", []).extend(name.strip(" ") for name in value.split(","))
            elif name in _PARTS:
                if name in document:
                    _refuse(
                        name, told("question.part-twice", "This part stands twice in the link.")
                    )
                plain = name in ("of", "measure", "where")
                document[name] = value if plain else _parsed(name, value)
        return cls.from_json(document)

    def to_json(self) -> Json:
        """The question as plain values; parts that say nothing are left out."""
        document: Json = {"of": self.of, "by": list(self.by)}
        if self.measure:
            document["measure"] = self.measure
        if self.where:
            document["where"] = self.where
        if self.codes:
            document["codes"] = {name: list(codes) for name, codes in self.codes}
        if self.groups:
            document["groups"] = {
                name: [{"label": group.label, "codes": list(group.codes)} for group in groups]
                for name, groups in self.groups
            }
        return document

    def to_parameters(self) -> list[tuple[str, str]]:
        """The question as parameters of a link, in one order."""
        document = self.to_json()
        parameters = [("of", self.of), *(("by", axis) for axis in self.by)]
        if self.measure:
            parameters.insert(1, ("measure", self.measure))
        if self.where:
            parameters.append(("where", self.where))
        parameters += [
            (name, _written(document[name])) for name in ("codes", "groups") if name in document
        ]
        return parameters

    @property
    def figure(self) -> FigureOf | None:
        """What is said of an amount; ``None`` for counts."""
        return FigureOf.parse(self.measure)

    @property
    def text(self) -> str:
        """The question as one line of text, the same for the same question."""
        return _written(self.to_json())


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _parsed(name: str, value: str) -> object:
    try:
        return parse_json(value)
    except ValueError:
        _refuse(
            name,
            told("question.part-unreadable", "This part of a link is JSON, and cannot be read."),
        )


def _text(value: object, place: str, longest: int) -> str:
    if not isinstance(value, str):
        _refuse(place, told("question.needs-text", "A text is needed here."))
    if len(value) > longest:
        _refuse(
            place,
            told(
                "question.text-too-long",
                "The text is longer than {most:,} characters.",
                most=longest,
            ),
        )
    if _UNSHOWN.search(value):
        _refuse(
            place, told("question.text-unshown", "The text has characters that cannot be shown.")
        )
    return value


def _condition(value: object) -> str:
    return "" if value is None else _text(value, "where", LONGEST_CONDITION).strip()


def _measure(value: object) -> str:
    """A measure in its one spelling; counts are what is meant without one."""
    if value is None:
        return ""
    try:
        figure = FigureOf.parse(_text(value, "measure", LONGEST_AXIS))
    except SpecError as error:
        _refuse("measure", error.said)
    return "" if figure is None else str(figure)


def _list(value: object, place: str, most: int) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        _refuse(place, told("question.needs-list", "A list is needed here."))
    if len(value) > most:
        _refuse(
            place,
            told("question.list-too-long", "The list has more than {most:,} members.", most=most),
        )
    return value


def _object(value: object, place: str) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        _refuse(
            place,
            told(
                "question.needs-object",
                "An object is needed here, with the name of a variable for each member.",
            ),
        )
    if len(value) > MOST_AXES:
        _refuse(
            place,
            told(
                "question.object-too-large",
                "The object has more than {most} members.",
                most=MOST_AXES,
            ),
        )
    return {_text(name, place, LONGEST_CODE): one for name, one in value.items()}


def _codes(value: object, place: str) -> tuple[str, ...]:
    codes = [
        _text(one, f"{place}[{at}]", LONGEST_CODE)
        for at, one in enumerate(_list(value, place, MOST_CODES))
    ]
    if not codes:
        _refuse(
            place,
            told("question.no-code", "The list is empty. Name a code, or leave the variable out."),
        )
    return tuple(dict.fromkeys(codes))


def _groups(value: object, place: str) -> tuple[OwnGroup, ...]:
    groups = []
    for at, one in enumerate(_list(value, place, MOST_GROUPS)):
        here = f"{place}[{at}]"
        if not isinstance(one, Mapping) or set(one) != {"label", "codes"}:
            _refuse(
                here, told("question.no-group", "A group has a label and codes, and nothing else.")
            )
        label = _text(one["label"], f"{here}.label", LONGEST_LABEL).strip()
        if not label:
            _refuse(f"{here}.label", told("question.group-unnamed", "A group needs a name."))
        groups.append(OwnGroup(label, _codes(one["codes"], f"{here}.codes")))
    if not groups:
        _refuse(
            place,
            told(
                "question.no-groups", "The list is empty. Name a group, or leave the variable out."
            ),
        )
    return tuple(groups)


def _refuse(place: str, text: Sentence) -> NoReturn:
    raise QuestionError(text, place=place)
