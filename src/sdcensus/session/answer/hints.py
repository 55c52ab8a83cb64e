"""What is told besides a table: its example in words of the table, questions that would help."""

from __future__ import annotations

from typing import Any

from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.question import Question
from sdcensus.session.answer.service import Answer
from sdcensus.session.policy import VerdictRemedy


def told_example(answer: Answer, language: str) -> dict[str, Any] | None:
    """Where published parts do not add up, with the labels of the table; ``None`` without one."""
    example, table = answer.example, answer.table
    if example is None or table is None:
        return None
    axis = table.axes[example.axis]
    others = [axis for at, axis in enumerate(table.axes) if at != example.axis]
    index = list(example.place)

    def value(place: int) -> int:
        cell = (*index[: example.axis], place, *index[example.axis :])
        return int(table.values[cell])

    places = [
        {"axis": other.label.show(language), "label": other.label_of(at, language)}
        for other, at in zip(others, index, strict=True)
        if other.levels[at] != TOTAL
    ]
    return {
        "axis": axis.label.show(language),
        "place": places,
        "parts": [
            {"label": axis.label_of(at, language), "value": value(at)} for at in example.parts
        ],
        "sum": example.sum,
        "total": example.published,
    }


def question_of(remedy: VerdictRemedy, question: Question) -> Question:
    """The question that a remedy stands for: other axes, and of the rest what still fits."""
    kept = {axis.variable.name for axis in remedy.spec.axes}
    same = {
        axis.variable.name
        for axis in remedy.spec.axes
        if any(_same(text, axis.name) for text in question.by)
    }
    conditions = {variable.name for variable in remedy.spec.universe.variables}
    return Question(
        of=question.of,
        by=remedy.by,
        where=question.where if conditions or not question.where else "",
        codes=tuple(code for code in question.codes if code[0] in kept & same),
        groups=tuple(group for group in question.groups if group[0] in kept & same),
    )


def _same(text: str, name: str) -> bool:
    return text.replace(" ", "") == name
