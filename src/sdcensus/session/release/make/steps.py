"""What was done to make a file, step by step, for the office's own record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from sdcensus.microdata.release.words import recode_words
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.sentences import sentence
from sdcensus.report.release.done import DoneStep, WhatWasDone
from sdcensus.report.release.tables import worst_table
from sdcensus.session.gate.gate import AcceptedRisk
from sdcensus.session.publish.workplace import WrittenFile
from sdcensus.session.release.assess.assessment import AssessedDesign
from sdcensus.session.release.opened import OpenRelease


def what_was_done(
    opened: OpenRelease,
    assessed: AssessedDesign,
    file: ReleaseFile,
    copy: str,
    accepted: AcceptedRisk | None,
    folder: Path,
    plan_text: str,
) -> WhatWasDone:
    """Everything that was done, with parameters and counts. Confidential."""
    plan, records = opened.plan, assessed.told.records
    return WhatWasDone(
        census=opened.store.schema.census.name,
        name=plan.name,
        title=file.title,
        design=records.design.design.name,
        steps=tuple(_steps(opened, assessed, accepted)),
        secret_id=opened.secret.id,
        data_version=records.store.manifest.data_version,
        plan_digest=hashlib.sha256(plan_text.encode()).hexdigest(),
        files={path.name: WrittenFile.of(path).sha256 for path in sorted(folder.iterdir())},
        copy=copy,
    )


def _steps(
    opened: OpenRelease, assessed: AssessedDesign, accepted: AcceptedRisk | None
) -> Iterator[DoneStep]:
    plan, records = opened.plan, assessed.told.records
    design = records.design
    yield DoneStep(
        title=sentence("release.done.removed"),
        parameters={each.variable.name: each.reason.value for each in design.removed},
        counts={"removed": len(design.removed), "kept": len(design.variables)},
    )
    recodes = {each.name: recode_words(each).show() for each in design.variables}
    yield DoneStep(
        title=sentence("release.done.recoded"),
        parameters={name: words for name, words in recodes.items() if words},
    )
    if plan.treatments or plan.suppression is not None:
        yield DoneStep(
            title=sentence("release.done.treated"),
            parameters={
                **{
                    str(place): treatment.method
                    for place, treatment in enumerate(plan.treatments, start=1)
                },
                **_suppression(plan),
            },
            facts=records.facts,
            notes=records.notes,
        )
    yield DoneStep(
        title=sentence("release.done.sampled"),
        parameters={
            "fraction": str(design.design.fraction),
            "institutions": plan.institutions or None,
            "large households above": plan.large_above,
            "large households": plan.large.value if plan.large_above is not None else None,
        },
        counts={entity.plural: rows.size for entity, rows in records.sample.rows.items()},
        facts=records.sample.facts,
        notes=records.sample.notes,
    )
    worst = worst_table([assessed.result], plan.risk.known_keys, None)
    yield DoneStep(
        title=sentence("release.done.assessed"),
        parameters={
            each.measure: f"{each.value:.6f} ({'<=' if each.passes else '>'} {each.accepted:g})"
            for each in assessed.result.verdicts
            if each.value is not None
        },
        facts=(worst,) if worst.rows else (),
    )
    if accepted is not None:
        yield DoneStep(
            title=sentence("release.done.accepted"),
            parameters={"name": accepted.name, "reason": accepted.reason},
        )


def _suppression(plan: ReleasePlan) -> dict[str, str]:
    """What was said about blanked keys, as the document says it."""
    if plan.suppression is None:
        return {}
    return {"suppress": f"k = {plan.suppression.k}, blanks = {plan.suppression.blanks.value}"}
