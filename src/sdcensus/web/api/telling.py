"""Answers, verdicts and checks as plain values, in the language of the reader. All public."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import (
    Answer,
    Checked,
    DataVersions,
    json_stat,
    question_of,
    told_example,
)
from sdcensus.session.figures.computation import counted_of
from sdcensus.session.policy.verdict import Verdict, VerdictReason, VerdictRemedy
from sdcensus.web.languages import texts
from sdcensus.web.policy_words import note_text, reason_text, remedy_text

Json = dict[str, Any]

TABLES = "/api/v1/tables"


def link_of(question: Question) -> str:
    """The address in the API that gives exactly this table; of plain characters only."""
    return f"{TABLES}?{urlencode(question.to_parameters(), quote_via=quote, safe='@:')}"


def told_versions(versions: DataVersions) -> Json:
    """Which numbers these are."""
    return {
        "data": versions.data,
        "keys": versions.keys,
        "method": versions.method,
        "package": versions.package,
        "policy": versions.policy,
    }


def told_reasons(verdict: Verdict, schema: Schema, language: str) -> list[Json]:
    """Why a table is refused or shown in part."""
    return [_reason(reason, schema, language) for reason in verdict.reasons]


def told_remedies(
    verdict: Verdict, question: Question, schema: Schema, language: str
) -> list[Json]:
    """What would help, each with the question that it stands for."""
    return [_remedy(remedy, question, schema, language) for remedy in verdict.remedies]


def told_check(checked: Checked, schema: Schema, language: str) -> Json:
    """How large a table would be, and what code lists say about it."""
    verdict = checked.verdict
    return {
        "question": checked.question.to_json(),
        "link": link_of(checked.question),
        "cells": checked.cells,
        "limit": checked.limit,
        "variables": checked.dimensions,
        "most_variables": checked.most_dimensions,
        "outcome": verdict.outcome.value,
        "reasons": told_reasons(verdict, schema, language),
        "remedies": told_remedies(verdict, checked.question, schema, language),
        "notes": [note_text(note, language, texts(language)) for note in verdict.notes],
    }


def told_answer(answer: Answer, versions: DataVersions, schema: Schema, language: str) -> Json:
    """An answer as a JSON-stat 2.0 dataset that tells everything there is to know about it."""
    assert answer.table is not None
    dataset = json_stat(answer.table, language)
    extension = dict(dataset.get("extension") or {})
    extension["sdcensus"] = _about(answer, versions, schema, language)
    dataset["extension"] = extension
    return dataset


def _about(answer: Answer, versions: DataVersions, schema: Schema, language: str) -> Json:
    question, verdict = answer.question, answer.verdict
    areas = None
    if answer.areas is not None:
        areas = {"all": answer.areas, "available": answer.available}
    assert answer.table is not None
    parts, weak = None, []
    if answer.parts is not None:
        parts = answer.parts.reshape(-1).tolist()
        weak = np.flatnonzero(counted_of(answer.table).low()).tolist()
    return {
        "question": question.to_json(),
        "link": link_of(question),
        "hash": answer.spec.hash(),
        "cells": answer.cells,
        "limit": answer.limit,
        "variables": answer.dimensions,
        "most_variables": answer.most_dimensions,
        "outcome": verdict.outcome.value,
        "areas": areas,
        "withheld": [
            {"variable": withheld.variable, "level": withheld.level, "codes": list(withheld.codes)}
            for withheld in verdict.withheld
        ],
        "reasons": told_reasons(verdict, schema, language),
        "remedies": told_remedies(verdict, question, schema, language),
        "parts": parts,
        "weak": weak,
        "example": told_example(answer, language),
        "own_groups": {
            name: [{"label": group.label, "codes": list(group.codes)} for group in groups]
            for name, groups in question.groups
        },
        "versions": told_versions(versions),
    }


def _reason(reason: VerdictReason, schema: Schema, language: str) -> Json:
    return {
        "code": reason.code.value,
        "text": reason_text(reason, schema, language, texts(language)),
        "variables": list(reason.variables),
        "values": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in reason.values
        },
    }


def _remedy(remedy: VerdictRemedy, question: Question, schema: Schema, language: str) -> Json:
    return {
        "kinds": [kind.value for kind in remedy.kinds],
        "text": remedy_text(remedy, schema, language, texts(language)),
        "question": question_of(remedy, question).to_json(),
        "available": remedy.available,
        "areas": remedy.areas,
    }
