"""Answers, verdicts and checks as plain values, in the language of the reader. All public.

An answer is made in a thread: asked, protected, judged below; written here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import numpy as np
import orjson

from sdcensus.model.policy.policy import UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import (
    JSON_STAT,
    Answer,
    Checked,
    DataVersions,
    TableService,
    forms_of,
    json_stat,
    question_of,
    render,
    told_example,
)
from sdcensus.session.census.maps import outlines_in
from sdcensus.session.figures.computation import counted_of
from sdcensus.session.policy.verdict import Outcome, Verdict, VerdictReason, VerdictRemedy
from sdcensus.session.policy.words import note_text, reason_text, remedy_text
from sdcensus.web.answers import CachedAnswer, Refusal
from sdcensus.web.api.errors import ApiError
from sdcensus.web.caching import Key, etag_of, key_of, packed
from sdcensus.web.languages import texts

if TYPE_CHECKING:
    from sdcensus.session.commands import CommandTable


Json = dict[str, Any]

TABLES = "/api/v1/tables"
_VERSIONS = ("data", "keys", "method", "package", "policy")


def link_of(question: Question) -> str:
    """The address in the API that gives exactly this table; of plain characters only."""
    return f"{TABLES}?{urlencode(question.to_parameters(), quote_via=quote, safe='@:')}"


def told_versions(versions: DataVersions) -> Json:
    """Which numbers these are."""
    return {name: getattr(versions, name) for name in _VERSIONS}


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


def told_answer(
    answer: Answer, versions: DataVersions, schema: Schema, language: str, forms: Sequence[str]
) -> Json:
    """An answer as a JSON-stat 2.0 dataset that tells everything there is to know about it."""
    assert answer.table is not None
    dataset = json_stat(answer.table, language, compact=True)
    extension = dict(dataset.get("extension") or {})
    extension["sdcensus"] = {
        **_about(answer, versions, schema, language),
        "formats": list(forms),
    }
    dataset["extension"] = extension
    return dataset


def _about(answer: Answer, versions: DataVersions, schema: Schema, language: str) -> Json:
    question, verdict = answer.question, answer.verdict
    areas = None
    if answer.areas is not None:
        areas = {"all": answer.areas, "available": answer.available}
    assert answer.table is not None
    table = answer.table
    parts = None if answer.parts is None else answer.parts.reshape(-1).tolist()
    # Of figures that were computed, the signs say it already.
    weak = []
    if not table.decimals:
        low = counted_of(table).low(table.limits) & table.numbered
        weak = np.flatnonzero(low).tolist()
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
        "none_below": table.limits.none_below,
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


@dataclass(frozen=True, slots=True)
class AskedTable:
    """A question, and in which form and language its answer is wanted.

    Attributes:
        computed: The table of a program that is computed from the answer, if there is one.
        origin: Under which address the server was asked, such as ``https://census.example``.
        address: The path of the table of a program.
    """

    question: Question
    format: str
    language: str
    computed: CommandTable | None = None
    origin: str = ""
    address: str = ""

    @property
    def page(self) -> str:
        """Where somebody who has only the file finds the table again; empty if not known."""
        if not self.origin:
            return ""
        query = link_of(self.question).partition("?")[2]
        return f"{self.origin}{self.address or f'/?{query}'}"

    def key(self, role: UserRole) -> Key:
        """The same for the same answer. Roles have limits of their own, and so other answers."""
        parts = [role.value, self.question.text, self.format, self.language, self.origin]
        if self.computed is not None:
            parts += [repr(self.computed), self.address]
        return key_of(*parts)


def make_entry(
    service: TableService, asked: AskedTable, role: UserRole, progress: Progress = no_progress
) -> CachedAnswer:
    """The answer to a question, ready to be sent. Blocks."""
    started = time.perf_counter()
    progress("counting", 0.0)
    answer = service.answer(asked.question, role, progress=progress)
    if asked.computed is not None and answer.table is not None:
        # Here and not above: the server starts sooner.
        from sdcensus.session.commands import finish

        # Figures computed from published numbers are not sums of them.
        table = finish(asked.computed, answer.table, service.least_behind)
        answer = replace(answer, table=table, parts=None, example=None)
    entry = _entry(service, asked, answer)
    if answer.table is not None and answer.table.census is not None:
        linked = replace(answer.table.census, link=asked.page)
        answer = replace(answer, table=replace(answer.table, census=linked))
    if answer.table is not None:
        progress("writing", 0.0)
        forms = forms_of(answer.table, service.mapped_levels)
        if asked.format not in forms:
            raise ApiError(406, "format", values={"formats": ", ".join(forms)}, place="format")
        if asked.format == JSON_STAT:
            schema = service.policy.schema
            members = told_answer(answer, service.versions, schema, asked.language, forms)
            if asked.origin:
                members["href"] = f"{asked.origin}{asked.address or link_of(asked.question)}"
            # Copied: what orjson returns holds on to the much larger room in which it wrote.
            body = bytes(memoryview(orjson.dumps(members)))
            media_type, filename = "application/json", f"{answer.table.name}.json"
        else:
            rendered = render(answer, asked.format, asked.language, outlines_in(service.census))
            body, media_type, filename = rendered.content, rendered.media_type, rendered.filename
        zipped, etag = packed(body, media_type), etag_of(body)
        entry = replace(entry, body=body, zipped=zipped, etag=etag)
        entry = replace(entry, media_type=media_type, filename=filename)
    return replace(entry, milliseconds=round(1_000 * (time.perf_counter() - started)))


def refused_entry(
    service: TableService, asked: AskedTable, checked: Checked
) -> CachedAnswer | None:
    """The answer to a question that code lists refuse; ``None`` if they do not."""
    return _entry(service, asked, checked) if checked.verdict.outcome is Outcome.REFUSED else None


def _entry(service: TableService, asked: AskedTable, about: Answer | Checked) -> CachedAnswer:
    """What is known of an answer before its table is written; all of it where there is none."""
    schema, verdict = service.policy.schema, about.verdict
    refusal = None
    if isinstance(about, Checked) or about.table is None:
        refusal = Refusal(
            told_reasons(verdict, schema, asked.language),
            told_remedies(verdict, asked.question, schema, asked.language),
        )
    return CachedAnswer(
        body=b"",
        zipped=None,
        media_type="",
        format=asked.format,
        language=asked.language,
        filename="",
        etag="",
        question=asked.question.text,
        link=link_of(asked.question),
        spec=about.spec,
        spec_hash=about.spec.hash(),
        cells=about.cells,
        outcome=verdict.outcome.value,
        codes=tuple(reason.code.value for reason in verdict.reasons),
        refusal=refusal,
    )
