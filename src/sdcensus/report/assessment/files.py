"""Assessments as files: a page to sign, a page for anybody, an evaluation sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError, SpecError
from sdcensus.formats.shared.files import check_new, new_file
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.perturbation.rows import Perturbation
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.assessment.page import assessment_page
from sdcensus.report.assessment.public_page import public_page
from sdcensus.report.assessment.sheet import evaluation_workbook
from sdcensus.report.charts import require_libraries
from sdcensus.risk.looks.budget import LookBudget
from sdcensus.session.assess.assessment import Assessment, assess_table
from sdcensus.session.assess.together import opened_registry, others_of
from sdcensus.session.assess.words import conclusions, lead
from sdcensus.store.owner_only import create_owner_only, make_owner_only_folder
from sdcensus.store.registry import Registry

#: What the files of an assessment are called, after the name of the table.
PAGE, PUBLIC_PAGE, SHEET = "assessment.html", "assessment.public.html", "evaluation.xlsx"


@dataclass(frozen=True, slots=True, repr=False)
class AssessmentReport(Confidential):
    """The assessment of one table, to be read and written.

    Attributes:
        assessment: Every figure.
        reproduce: The command that makes it again, if there is one.
        date: The date that is written into pages; no clock is read.
        language: The language of labels.
    """

    assessment: Assessment
    reproduce: str = ""
    date: str = ""
    language: str | None = None

    def __repr__(self) -> str:
        return f"<AssessmentReport of {self.assessment.table.spec.title}: confidential>"

    @property
    def lead(self) -> str:
        """The conclusion in a few sentences; confidential."""
        return lead(self.assessment)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What to know before signing; confidential."""
        return conclusions(self.assessment)

    def html(self) -> str:
        """The confidential page."""
        return assessment_page(
            self.assessment, reproduce=self.reproduce, date=self.date, language=self.language
        )

    def public_html(self) -> str:
        """The page for anybody, without a figure that was computed from true counts."""
        return public_page(self.assessment.public, date=self.date)

    def to_html(self, path: str | Path) -> Path:
        """Write the confidential page to a new file that only its owner can read."""
        target = _target(path, ".html")
        require_libraries()
        return _owner_only(target, self.html().encode("utf-8"))

    def to_public_html(self, path: str | Path) -> Path:
        """Write the page for anybody to a new file."""
        target = _target(path, ".html")
        content = self.public_html().encode("utf-8")
        with new_file(target) as file:
            file.write(content)
        return target

    def to_xlsx(self, path: str | Path) -> Path:
        """Write the evaluation sheet to a new file that only its owner can read."""
        return write_evaluation([self], path)


def assess(
    cube: AnyCube,
    table: AnyTable | Protected,
    *,
    method: Method | None = None,
    perturbation: Perturbation | None = None,
    knowledge: Knowledge | None = None,
    provenance: Provenance | None = None,
    schema: Schema | None = None,
    sensitive: Sequence[str] | None = None,
    coalition: int = 1,
    compare: bool | None = None,
    exact: bool | None = None,
    registry: Registry | str | Path | None = None,
    others: Sequence[TableSpec] = (),
    tabulate: Callable[[TableSpec], AnyCube] | None = None,
    budgets: Sequence[LookBudget] | None = None,
    recovery_limit: float | None = None,
    number: int = 1,
    title: str = "",
    language: str | None = None,
    date: str = "",
    progress: Progress = no_progress,
) -> AssessmentReport:
    """Assess a published table with the cube that it was made from.

    Args:
        cube: True counts.
        table: What is to be published of them: a table, or what a method gives back.
        method: How it was protected; tells what an intruder may know. Without it the largest
            change in the table itself is taken as known.
        perturbation: The noise of the method, if it is not a method with one of its own.
        knowledge: What an intruder is taken to know, instead of what the method says.
        provenance: How the table was made.
        schema: Tells which cells cannot hold anyone, such as ``census.schema``.
        sensitive: The variables that tell something; by default those that the schema calls so.
        coalition: How many members of a group may put together what they know.
        compare: Whether to protect the table by other methods and show them beside it; by default
            if it is not too large.
        exact: Whether to find exact intervals by linear programs; by default for small tables.
        registry: The tables that were published before: a registry or its folder.
        others: Further tables with the same people, such as planned ones.
        tabulate: Counts the other tables, such as ``census.tabulate``; without it they are counted
            from the cube, where it is fine enough.
        budgets: How often all tables together look at a cell; by default of this table, those of
            the registry and the others.
        recovery_limit: The chance of recovery that the office accepts, between 0 and 1.
        number: The number of the table on the evaluation sheet.
        title: What stands above the pages; by default what the table shows, in words.
        language: The language of labels.
        date: The date that is written into pages; no clock is read.
        progress: Told how far it is.

    Returns:
        The report: ``lead``, ``conclusions``, every figure under ``assessment``, and what writes
        it to files. Confidential, but for ``to_public_html``.

    Examples:
        >>> import sdcensus as sc
        >>> from sdcensus.testing.island import SECRET, island_cube
        >>> cube = island_cube("area", "sex")
        >>> method = sc.methods.CellKey(sc.perturbation.design(max_deviation=3, variance=1), SECRET)
        >>> sc.assess(cube, method.protect(cube), method=method, compare=False)
        <AssessmentReport of persons by area, sex: confidential>
    """
    opened = opened_registry(registry)
    made = assess_table(
        cube,
        table,
        method=method,
        perturbation=perturbation,
        knowledge=knowledge,
        provenance=provenance,
        schema=schema,
        sensitive=sensitive,
        coalition=coalition,
        compare=compare,
        exact=exact,
        others=others_of(cube.spec, opened, others) if opened or others else (),
        tabulate=tabulate,
        budgets=budgets,
        recovery_limit=recovery_limit,
        number=number,
        title=title,
        language=language,
        progress=progress,
    )
    return AssessmentReport(made, date=date, language=language)


def write_evaluation(reports: Sequence[AssessmentReport], path: str | Path) -> Path:
    """Write the evaluation sheet of several tables to a new file for its owner only."""
    target = _target(path, ".xlsx")
    return _owner_only(target, evaluation_workbook([one.assessment for one in reports]))


def write_reports(
    reports: Sequence[tuple[str, AssessmentReport]], folder: str | Path
) -> list[Path]:
    """Write pages and the evaluation sheet of tables into a new folder of the office.

    All of them, or none. Nobody else can open the folder; what is called ``.public.html`` may be
    taken out of it and published, the rest is confidential.

    Args:
        reports: Names for files, each with a report.
        folder: A folder that does not exist.
    """
    place = Path(folder)
    if place.exists() or place.is_symlink():
        raise OutputError(f"{place} already exists. Choose another folder or remove it first.")
    if not place.parent.is_dir():
        raise OutputError(f"The folder {place.parent} does not exist.")
    if not reports:
        raise SpecError("There is no table to write about.")
    require_libraries()
    names = _distinct([name for name, _ in reports])
    contents: list[tuple[str, bytes]] = []
    for name, (_, report) in zip(names, reports, strict=True):
        before = f"{name}." if len(reports) > 1 else ""
        contents.append((f"{before}{PAGE}", report.html().encode("utf-8")))
        contents.append((f"{before}{PUBLIC_PAGE}", report.public_html().encode("utf-8")))
    contents.append((SHEET, evaluation_workbook([one.assessment for _, one in reports])))
    make_owner_only_folder(place)
    written: list[Path] = []
    try:
        for name, content in contents:
            written.append(_owner_only(place / name, content))
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        place.rmdir()
        raise
    return written


def _distinct(names: Sequence[str]) -> list[str]:
    """Names for files, with a number where one was given before."""
    found: list[str] = []
    for name in names:
        made, again = name, 1
        while made in found:
            again += 1
            made = f"{name}-{again}"
        found.append(made)
    return found


def _target(path: str | Path, ending: str) -> Path:
    target = Path(path)
    if target.suffix.lower() != ending:
        raise OutputError(f"{target}: the name of the file ends with {ending}.")
    check_new(target)
    return target


def _owner_only(path: Path, content: bytes) -> Path:
    try:
        create_owner_only(path, content)
    except FileExistsError:
        raise OutputError(f"{path} already exists. Choose another name.") from None
    return path
