"""What was done to make a file, step by step. Confidential: whoever reads it can undo a part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sdcensus._version import __version__
from sdcensus.errors import Sentence
from sdcensus.microdata.method import FactTable
from sdcensus.model.catalogue import FIRST
from sdcensus.model.confidential import Confidential
from sdcensus.model.sentences import in_language
from sdcensus.model.text import Text
from sdcensus.report import page as shell
from sdcensus.report.derivation.page import fact_block
from sdcensus.report.page import Html
from sdcensus.report.release.tables import fact_table, say

Parameter = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DoneStep(Confidential):
    """One step: what was said, and what came of it.

    Attributes:
        title: What was done.
        parameters: What was said about it, by name.
        counts: What was counted, by name.
        facts: The same as tables.
        notes: What else there is to know.
    """

    title: Sentence
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    facts: tuple[FactTable, ...] = ()
    notes: tuple[Sentence, ...] = ()

    def __repr__(self) -> str:
        return "<DoneStep: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WhatWasDone(Confidential):
    """Everything that was done to make a file.

    Attributes:
        census: What the census is called.
        name, title: The file.
        design: The design that was made.
        steps: In their order.
        secret_id: Which secret drew; the secret itself stands nowhere.
        data_version: Of the census.
        plan_digest: Of the document that says what to do.
        files: The digest of each file that was written, by its name.
        date: When.
        copy: Which copy, for a file of its own order.
    """

    census: str
    name: str
    title: Text
    design: str
    steps: tuple[DoneStep, ...]
    secret_id: str = ""
    data_version: str = ""
    plan_digest: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    date: str = ""
    copy: str = ""

    def __repr__(self) -> str:
        return "<WhatWasDone: confidential>"


#: What is told of the whole, in this order.
_FIELDS = ("name", "design", "date", "data_version", "plan_digest", "secret_id", "copy")


def done_page(done: WhatWasDone, language: str | None = None) -> str:
    """The page for the office."""
    blocks: list[str] = []
    for number, step in enumerate(done.steps, start=1):
        title = f"{number}. {in_language(step.title, language)}"
        blocks.append(shell.section(title, *_step(step, language), level=3))
    files = fact_table("files", ("file", "digest"), list(done.files.items()))
    whole = [
        (say(f"done.{name}", language), text) for name in _FIELDS if (text := getattr(done, name))
    ]
    parts: dict[str, list[str]] = {
        "done.whole": [fact_block(fact_table("whole", ("parameter", "value"), whole), language)],
        "done.steps": blocks,
        "done.files": [fact_block(files, language)] if done.files else [],
    }
    return shell.page(
        say("done.title", language, title=done.title.show(language) or done.name),
        *(shell.section(say(key, language), *inside) for key, inside in parts.items() if inside),
        facts=" · ".join(part for part in (done.census, done.design, done.date) if part),
        lead=say("done.lead", language),
        stamp=say("done.stamp", language),
        closing=say("closing", language),
        language=language or FIRST,
        style=".scroll td{overflow-wrap:anywhere}",
    )


def _step(step: DoneStep, language: str | None) -> list[str]:
    blocks: list[str] = []
    if step.parameters:
        rows = [(name, _parameter_text(value, language)) for name, value in step.parameters.items()]
        table = fact_table("parameters", ("parameter", "value"), rows)
        blocks.append(fact_block(table, language))
    if step.counts:
        table = fact_table("counts", ("counted", "number"), list(step.counts.items()))
        blocks.append(fact_block(table, language))
    blocks += [fact_block(table, language) for table in step.facts]
    notes = [in_language(note, language) for note in step.notes]
    blocks += [shell.bullets(notes)] if notes else []
    return blocks or [Html("")]


def _parameter_text(value: Parameter, language: str | None) -> str:
    if isinstance(value, bool):
        return say("codebook.yes" if value else "codebook.no", language)
    return "–" if value is None else str(value)


def done_json(done: WhatWasDone) -> bytes:
    """The same for programs, in English."""
    document = {
        "confidential": True,
        "package_version": __version__,
        "census": done.census,
        "title": dict(done.title.by_language),
        **{name: getattr(done, name) for name in _FIELDS},
        "steps": [
            {
                "title": str(step.title),
                "parameters": dict(step.parameters),
                "counts": {name: int(number) for name, number in step.counts.items()},
                "facts": [_fact_document(table) for table in step.facts],
                "notes": [str(note) for note in step.notes],
            }
            for step in done.steps
        ],
        "files": dict(done.files),
    }
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _fact_document(table: FactTable) -> dict[str, object]:
    return {
        "name": table.name,
        "title": str(table.title),
        "headings": [str(heading) for heading in table.headings],
        "rows": [[_plain(fact) for fact in row] for row in table.rows],
        **({} if table.note is None else {"note": str(table.note)}),
    }


def _plain(fact: object) -> object:
    """A fact as json has it: measures of numpy are numbers, sentences are texts."""
    if fact is None or isinstance(fact, bool | int | float):
        return fact
    return str(fact)
