"""Assessments as files: a page to sign, a page for anybody, an evaluation sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError, SpecError
from sdcensus.formats.write import check_new, new_file
from sdcensus.model.confidential import Confidential
from sdcensus.report.assessment.page import assessment_page
from sdcensus.report.assessment.public_page import public_page
from sdcensus.report.assessment.results import Assessment
from sdcensus.report.assessment.sheet import evaluation_workbook
from sdcensus.report.assessment.words import conclusions, lead
from sdcensus.report.charts import require_libraries
from sdcensus.report.magnitude.files import sum_workbook
from sdcensus.report.magnitude.page import sum_page
from sdcensus.report.magnitude.results import SumAssessment
from sdcensus.report.magnitude.words import sum_conclusions, sum_lead
from sdcensus.store.owner_only import create_owner_only, make_owner_only_folder

#: What the files of an assessment are called, after the name of the table.
PAGE, PUBLIC_PAGE, SHEET = "assessment.html", "assessment.public.html", "evaluation.xlsx"
#: The sheet of tables of sums.
SUM_SHEET = "sums.xlsx"


@dataclass(frozen=True, slots=True, repr=False)
class AssessmentReport(Confidential):
    """The assessment of one table, to be read and written.

    Attributes:
        assessment: Every figure.
        reproduce: The command that makes it again, if there is one.
        date: The date that is written into pages; no clock is read.
        language: The language of words and labels.
    """

    assessment: Assessment | SumAssessment
    reproduce: str = ""
    date: str = ""
    language: str | None = None

    def __repr__(self) -> str:
        return f"<AssessmentReport of {self.assessment.table.spec.title}: confidential>"

    @property
    def of_counts(self) -> Assessment:
        """Every figure of a table of counts.

        Raises:
            SpecError: It is a table of sums, which has other figures.
        """
        if isinstance(self.assessment, SumAssessment):
            raise SpecError("This is the assessment of a table of sums: see .assessment.")
        return self.assessment

    @property
    def lead(self) -> str:
        """The conclusion in a few sentences; confidential."""
        if isinstance(self.assessment, SumAssessment):
            return sum_lead(self.assessment, self.language)
        return lead(self.assessment, self.language)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What to know before signing; confidential."""
        if isinstance(self.assessment, SumAssessment):
            return sum_conclusions(self.assessment, self.language)
        return conclusions(self.assessment, self.language)

    def html(self) -> str:
        """The confidential page."""
        said = {"reproduce": self.reproduce, "date": self.date}
        if isinstance(self.assessment, SumAssessment):
            return sum_page(self.assessment, **said, language=self.language)
        return assessment_page(self.assessment, **said, language=self.language)

    def public_html(self) -> str:
        """The page for anybody, without a figure that was computed from true counts."""
        return public_page(self.assessment.public, date=self.date, language=self.language)

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


def write_evaluation(reports: Sequence[AssessmentReport], path: str | Path) -> Path:
    """Write the evaluation sheet of several tables to a new file for its owner only.

    Raises:
        SpecError: Tables of counts and tables of sums, which have sheets of their own.
    """
    target = _target(path, ".xlsx")
    books = _workbooks(reports)
    if len(books) != 1:
        raise SpecError(
            "Tables of counts and tables of sums have sheets of their own: write each kind to a"
            " file of its own."
        )
    return _owner_only(target, *books.values())


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
    contents += _workbooks([report for _, report in reports]).items()
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


def _workbooks(reports: Sequence[AssessmentReport]) -> dict[str, bytes]:
    """The sheet of tables of counts and that of tables of sums, as far as there are any."""
    language, books = _language(reports), {}
    every = [report.assessment for report in reports]
    counts = [each for each in every if isinstance(each, Assessment)]
    sums = [each for each in every if isinstance(each, SumAssessment)]
    if counts or not sums:
        books[SHEET] = evaluation_workbook(counts, language)
    if sums:
        books[SUM_SHEET] = sum_workbook(sums, language)
    return books


def _language(reports: Sequence[AssessmentReport]) -> str | None:
    """The language of a sheet about several tables: that of the first."""
    return reports[0].language if reports else None


def _distinct(names: Sequence[str]) -> list[str]:
    """Names for files, with a number where one was given before."""
    distinct: list[str] = []
    for name in names:
        free_name, again = name, 1
        while free_name in distinct:
            again += 1
            free_name = f"{name}-{again}"
        distinct.append(free_name)
    return distinct


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
