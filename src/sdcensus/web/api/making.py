"""Making an answer in a thread: asked, protected, judged below; written here."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from sdcensus.model.policy.policy import UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import JSON_STAT, Checked, TableService, render
from sdcensus.session.policy.verdict import Outcome, Verdict
from sdcensus.web.answers import CachedAnswer, Refusal
from sdcensus.web.api.telling import link_of, told_answer, told_reasons, told_remedies
from sdcensus.web.caching import Key, etag_of, key_of, packed

if TYPE_CHECKING:
    from sdcensus.session.commands import CommandTable


@dataclass(frozen=True, slots=True)
class AskedTable:
    """A question, and in which form and language its answer is wanted.

    Attributes:
        computed: The table of a program that is computed from the answer, if there is one.
    """

    question: Question
    format: str
    language: str
    computed: CommandTable | None = None

    def key(self, role: UserRole) -> Key:
        """The same for the same answer. Roles have limits of their own, and so other answers."""
        parts = [role.value, self.question.text, self.format, self.language]
        if self.computed is not None:
            parts.append(repr(self.computed))
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
        table = finish(asked.computed, answer.table)
        answer = replace(answer, table=table, parts=None, example=None)
    if answer.table is None:
        refused = _refused(service, asked, answer.verdict)
        body, media_type, filename = b"", "", ""
    else:
        refused = None
        progress("writing", 0.0)
        if asked.format == JSON_STAT:
            schema = service.policy.schema
            told = told_answer(answer, service.versions, schema, asked.language)
            # Copied: what orjson returns holds on to the much larger room in which it wrote.
            body = bytes(memoryview(orjson.dumps(told)))
            media_type, filename = "application/json", f"{answer.table.name}.json"
        else:
            rendered = render(answer, asked.format, asked.language)
            body, media_type, filename = rendered.content, rendered.media_type, rendered.filename
    zipped = packed(body, media_type)
    return CachedAnswer(
        body=body,
        zipped=zipped,
        media_type=media_type,
        format=asked.format,
        language=asked.language,
        filename=filename,
        etag=etag_of(body),
        question=asked.question.text,
        link=link_of(asked.question),
        spec=answer.spec,
        spec_hash=answer.spec.hash(),
        cells=answer.cells,
        outcome=answer.verdict.outcome.value,
        codes=tuple(reason.code.value for reason in answer.verdict.reasons),
        refusal=refused,
        milliseconds=round(1_000 * (time.perf_counter() - started)),
    )


def refused_entry(
    service: TableService, asked: AskedTable, checked: Checked
) -> CachedAnswer | None:
    """The answer to a question that code lists refuse; ``None`` if they do not."""
    if checked.verdict.outcome is not Outcome.REFUSED:
        return None
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
        spec=checked.spec,
        spec_hash=checked.spec.hash(),
        cells=checked.cells,
        outcome=checked.verdict.outcome.value,
        codes=tuple(reason.code.value for reason in checked.verdict.reasons),
        refusal=_refused(service, asked, checked.verdict),
    )


def _refused(service: TableService, asked: AskedTable, verdict: Verdict) -> Refusal:
    schema = service.policy.schema
    return Refusal(
        told_reasons(verdict, schema, asked.language),
        told_remedies(verdict, asked.question, schema, asked.language),
    )
