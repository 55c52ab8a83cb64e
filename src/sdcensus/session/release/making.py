"""Making a file: drawn, judged, written aside, checked, and put into its place; or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError, Refused
from sdcensus.formats.microdata.labelled import format_problems
from sdcensus.formats.microdata.shortening import Shortening
from sdcensus.microdata.release.publication import published
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.report.release.results import DesignResult
from sdcensus.session.gate.gate import AcceptedRisk
from sdcensus.session.publish.workplace import MANIFEST, Workplace, read_json
from sdcensus.session.release.assessment import assessed_design
from sdcensus.session.release.checking import FORMAT_NAME, check_made
from sdcensus.session.release.designed import designed
from sdcensus.session.release.extract import extracted
from sdcensus.session.release.groupings import check_thresholds
from sdcensus.session.release.harmonisation import with_harmonised
from sdcensus.session.release.opened import OpenRelease
from sdcensus.session.release.papers import write_file

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

    Raises:
        Refused: Categories are too small, the risk is above what the class accepts, or the file
            fails its own check.
    """
    workplace = office_place(opened, out)
    _check_place(opened, workplace, replace=replace)
    resolved = opened.design(opened.plan.design(design))
    check_thresholds(opened, resolved)
    with workplace.taken():
        workplace.complete()
        workplace.begin({"release": opened.plan.name}, restart=True)
        try:
            told = designed(opened, resolved, progress)
            told = extracted(opened, told, extract)
            result = assessed_design(opened, told, progress=progress)
            _check_accepted(result, accepted)
            file = published(told.records, opened.plan, opened.draws(Purpose.COPY), copy)
            file = with_harmonised(file, told.design, opened.plan)
            shortened = format_problems(file, opened.plan.making.formats, opened.plan.making.layout)
            write_file(file, opened.plan, told.design, workplace.hidden, progress)
            _write_manifest(workplace, opened, file, told)
            check_made(workplace.hidden, opened, told, file, progress)
            names = _write_office(workplace, opened, told, result, file, copy, accepted, language)
            workplace.commit({name: f"{workplace.own.name}/{name}" for name in names})
        except BaseException:
            if not workplace.is_being_completed:
                workplace.forget()
            raise
    return MadeFile(folder=out, office=workplace.own, file=file, result=result, shortened=shortened)


def _check_place(opened: OpenRelease, workplace: Workplace, *, replace: bool) -> None:
    """Refuse early what could not be put into its place in the end."""
    out, office = workplace.published, workplace.office
    if office.resolve().is_relative_to(out.resolve()):
        raise OutputError(
            f"The office folder {office} lies inside {out}, which is handed out. Name another one:"
            ' office = "..." in the release document.'
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
    reasons = [
        str(
            sentence(f"release.above.{verdict.measure}", **_shares(verdict.value, verdict.accepted))
        )
        for verdict in result.failing
    ]
    reasons += [str(refusal) for refusal in result.refusals]
    changes = [str(verdict.change) for verdict in result.failing if verdict.change is not None]
    raise Refused(
        " ".join(
            [
                f"Design {result.name!r} is above what its class accepts.",
                *reasons,
                *dict.fromkeys(changes),
                "Change the design, or let somebody accept the risk by name: --accept-risk NAME"
                ' --reason "WHY".',
            ]
        )
    )
