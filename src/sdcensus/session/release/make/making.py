"""Making a file: drawn, judged, written aside, checked, and put into its place; or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.documents.release.text import release_text
from sdcensus.errors import OutputError, Refused
from sdcensus.formats.microdata.labelled import format_problems
from sdcensus.formats.microdata.shortening import Shortening
from sdcensus.microdata.release.copies import content_digest
from sdcensus.microdata.release.groupings import check_thresholds
from sdcensus.microdata.release.publication import published
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.release.plan import Layout
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.report.release.done import WhatWasDone, done_json, done_page
from sdcensus.report.release.files import assessment_files
from sdcensus.report.release.results import DesignResult, MeasureVerdict
from sdcensus.session.derive.office_files import write_office_file
from sdcensus.session.gate.gate import AcceptedRisk
from sdcensus.session.publish.workplace import MANIFEST, Workplace, WrittenFile, read_json
from sdcensus.session.release.assess.assessment import (
    AssessedDesign,
    assessed_design,
    assessment_of,
)
from sdcensus.session.release.assess.cumulation import line_of
from sdcensus.session.release.designed import DesignedRecords, designed
from sdcensus.session.release.extract import extracted, of_extract
from sdcensus.session.release.make.checking import (
    FORMAT_NAME,
    FORMAT_VERSION,
    check_made,
    manifest_tables,
)
from sdcensus.session.release.make.papers import with_harmonised, write_file
from sdcensus.session.release.make.registering import entry_name, entry_text
from sdcensus.session.release.make.shown import write_shown
from sdcensus.session.release.make.steps import what_was_done
from sdcensus.session.release.opened import OpenRelease
from sdcensus.store.owner_only import write_owner_only

#: What the office keeps about a file.
DONE_PAGE, DONE_JSON, PLAN_COPY = "what-was-done.html", "what-was-done.json", "release.toml"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MadeFile(Confidential):
    """A file that was made.

    Attributes:
        folder: Where it stands, with its papers. Public.
        office: Where the office keeps what was done.
        file: The file.
        result: What was measured about it.
        shortened: Names and labels that formats could not hold as they are.
    """

    folder: Path
    office: Path
    file: ReleaseFile
    result: DesignResult
    shortened: tuple[Shortening, ...] = ()

    def __repr__(self) -> str:
        return f"<MadeFile {self.file.name!r}: confidential>"


def office_place(opened: OpenRelease, out: Path) -> Workplace:
    """Where a file is made, and where the office keeps what belongs to it."""
    return Workplace(out, opened.plan.office, f"file-{opened.plan.name}")


def made(
    opened: OpenRelease,
    out: Path,
    *,
    design: str = "",
    extract: str = "",
    copy: str = "",
    accepted: AcceptedRisk | None = None,
    replace: bool = False,
    language: str | None = None,
    progress: Progress = no_progress,
    before_writing: Callable[[Shortening], None] = lambda _: None,
) -> MadeFile:
    """Make the file of a design with its papers, and what the office keeps about it.

    Args:
        opened: The plan, the census and the secret.
        out: The folder of the file, which appears when everything is in it and was checked.
        design: Which design; the one to make that the plan names if empty.
        extract: A researcher's part of it, by its name in the plan.
        copy: Whose copy it is, for an order of records of its own.
        accepted: Who accepts a risk above what the class accepts, and why.
        replace: Put it in the place of an earlier one of the same name.
        language: Of the office's papers.
        progress: Told how far it is.
        before_writing: Told each name and label that a format cannot hold as it is.

    Raises:
        Refused: Categories are too small, the risk is above what the class accepts, or the file
            fails its own check.
    """
    plan = opened.plan
    resolved = opened.design(plan.design(design))
    # The sample is that of the plan; what is made of it has a name, an order and papers of its own.
    own = of_extract(opened, extract)
    workplace = office_place(own, out)
    _check_place(own, workplace, replace=replace)
    opened.store.verify_once(progress)
    check_thresholds(opened.store, resolved, plan.thresholds, progress)
    with workplace.taken():
        workplace.complete()
        try:
            workplace.begin({"file": own.plan.name}, restart=True)
            told = extracted(designed(opened, resolved, progress), plan, extract)
            assessed = assessed_design(own, told, progress=progress)
            _check_accepted(assessed.result, accepted)
            file = file_of(own, told, copy)
            shortened = format_problems(file, plan.making.formats, plan.making.layout)
            for shortening in shortened:
                before_writing(shortening)
            write_file(file, plan, told.design, workplace.hidden, progress)
            write_manifest(workplace.hidden, plan.making.layout, file)
            check_made(workplace.hidden, file, plan.making.layout, progress)
            plan_text = release_text(plan)
            done = what_was_done(own, assessed, file, copy, accepted, workplace.hidden, plan_text)
            names = _write_office(workplace, own, assessed, file, done, accepted, language, extract)
            names.append(PLAN_COPY)
            write_owner_only(workplace.notes / PLAN_COPY, plan_text.encode())
            workplace.commit({name: f"{workplace.own.name}/{name}" for name in names})
        except BaseException as error:
            if not workplace.is_being_completed:
                workplace.forget()
            if isinstance(error, OSError) and _is_own(error, workplace):
                reason = error.strerror or type(error).__name__
                raise OutputError(f"{out} cannot be written: {reason}.") from None
            raise
    return MadeFile(
        folder=out,
        office=workplace.own,
        file=file,
        result=assessed.result,
        shortened=shortened,
    )


def file_of(opened: OpenRelease, told: DesignedRecords, copy: str = "") -> ReleaseFile:
    """The file that readers get: shuffled, renumbered, with international codes if asked for."""
    file = published(told.records, opened.plan, opened.draws(Purpose.COPY), copy)
    return with_harmonised(file, told.design, opened.plan)


def _is_own(error: OSError, workplace: Workplace) -> bool:
    """Whether an error is about what is being written, and not about what was read."""
    path = Path(os.fsdecode(error.filename)) if error.filename else workplace.hidden
    return any(path.is_relative_to(folder) for folder in (workplace.hidden, workplace.own))


def _check_place(opened: OpenRelease, workplace: Workplace, *, replace: bool) -> None:
    """Refuse early what could not be put into its place in the end."""
    out, office = workplace.published, workplace.office
    if office.resolve().is_relative_to(out.resolve()):
        raise OutputError(
            f"The office folder {office} lies inside {out}, which is handed out. Name another one:"
            ' office = "..." in the release document.'
        )
    if out.resolve().is_relative_to(office.resolve()):
        raise OutputError(
            f"{out} lies inside the office folder {office}, which is confidential, and a file is"
            " handed out. Name a folder outside of it: --out FOLDER."
        )
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file. Name a folder for the file: --out FOLDER.")
    if not out.is_dir() or not any(out.iterdir()):
        return
    manifest = read_json(out / MANIFEST) if (out / MANIFEST).is_file() else {}
    if manifest.get("format") != FORMAT_NAME:
        raise OutputError(
            f"{out} is not empty, and was not made by sdcensus release make. Choose another folder."
        )
    if manifest.get("release") != opened.plan.name:
        raise OutputError(
            f"{out} holds the file {manifest.get('release')!r}, and this plan makes"
            f" {opened.plan.name!r}. Choose another folder."
        )
    if not replace:
        raise OutputError(
            f"{out} holds this file already. Say --replace to make it anew in its place, or choose"
            " another folder."
        )


def _check_accepted(result: DesignResult, accepted: AcceptedRisk | None) -> None:
    """Refuse a file whose risk is above what its class accepts, unless somebody takes it on."""
    if result.accepted or accepted is not None:
        return
    reasons = [_above(verdict) for verdict in result.failing]
    reasons += [str(refusal) for refusal in result.refusals]
    changes = [str(verdict.change) for verdict in result.failing if verdict.change is not None]
    raise Refused(
        " ".join(
            [
                f"Design {result.name!r} is not accepted.",
                *reasons,
                *dict.fromkeys(changes),
                "Change the design, or let somebody accept the risk by name: --accept-risk NAME"
                ' --reason "WHY".',
            ]
        )
    )


def _above(verdict: MeasureVerdict) -> str:
    return str(
        sentence(
            f"release.above.{verdict.measure}",
            value=share_text(verdict.value, digits=2),
            accepted=share_text(verdict.accepted, digits=2),
        )
    )


def write_manifest(folder: Path, layout: Layout, file: ReleaseFile) -> None:
    """List everything that stands in the folder, with digests. Public."""
    written = [WrittenFile.of(path).to_json() for path in sorted(folder.iterdir())]
    content: dict[str, Any] = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "release": file.name,
        "title": dict(file.title.by_language),
        "licence": file.licence.value,
        "census": dict(file.census.by_language),
        "country": dict(file.country.by_language),
        "reference_date": file.reference_date,
        "abstract": dict(file.abstract.by_language),
        "producer": dict(file.producer.by_language),
        "contact": file.contact,
        "citation": dict(file.citation.by_language),
        "languages": list(file.languages),
        "file_version": file.version,
        "data_version": file.data_version,
        "tables": manifest_tables(file, layout, folder),
        "files": written,
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(f"{text}\n", encoding="utf-8", newline="\n")


def _write_office(
    workplace: Workplace,
    opened: OpenRelease,
    assessed: AssessedDesign,
    file: ReleaseFile,
    done: WhatWasDone,
    accepted: AcceptedRisk | None,
    language: str | None,
    extract: str,
) -> list[str]:
    """Write what the office keeps: the assessment, what was done, who is in the file."""
    notes = workplace.notes
    contents = dict(assessment_files(assessment_of(opened, [assessed.result]), language))
    contents[DONE_PAGE] = done_page(done, language).encode()
    contents[DONE_JSON] = done_json(done)
    for name, content in contents.items():
        write_owner_only(notes / name, content)
    names = [*contents]
    for office_file in assessed.told.records.files:
        write_office_file(office_file, notes)
        names.append(office_file.name)
    shown = write_shown(assessed.together.shown, opened.store, notes)
    written = _written(workplace.hidden)
    # By the digest of the file, beside those of other designs of the same document: each file that
    # was made can be registered, whichever was made last.
    name = entry_name(written)
    entry = {
        **_entry(opened, assessed, file, shown, accepted),
        "files": written,
        "extract": extract,
        "done": json.loads(contents[DONE_JSON]),
    }
    write_owner_only(notes / name, entry_text(entry))
    return [*names, shown, name]


def _written(folder: Path) -> list[tuple[str, str]]:
    lines = read_json(folder / MANIFEST)["files"]
    return sorted((str(line["name"]), str(line["sha256"])) for line in lines)


def _entry(
    opened: OpenRelease,
    assessed: AssessedDesign,
    file: ReleaseFile,
    shown: str,
    accepted: AcceptedRisk | None,
) -> dict[str, object]:
    """What the register will say about the file."""
    records = assessed.told.records
    return {
        "name": file.name,
        "title": file.title.show(),
        "design": records.design.design.name,
        "licence": file.licence.value,
        "census": "|".join(opened.store.schema.census.code),
        "reference_date": opened.store.schema.census.reference_date,
        "data_version": file.data_version,
        "lineage": line_of(records.store),
        "store_version": opened.store.manifest.data_version,
        "secret_id": opened.secret.id,
        "records": records.sample.rows[Entity.PERSON].size,
        "shown": shown,
        "beside": list(assessed.together.beside),
        "content": content_digest(file),
        "reason": "" if accepted is None else f"{accepted.name}: {accepted.reason}",
    }
