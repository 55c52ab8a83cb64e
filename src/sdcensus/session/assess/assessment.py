"""One table assessed: what an intruder could learn from it, and what its readers lose.

Every figure is measured on this table. Conclusions name their scope: this table alone, or
together with which others; for an intruder who knows what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdcensus.errors import SpecError
from sdcensus.methods.method import Method
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.parts import parts_of
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.measure import MeasureContext, Measured
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.census_facts import CensusFacts
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.record_changes import cautions_of_records
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.structural import structural_zeros
from sdcensus.model.sentences import sentence
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import with_settings
from sdcensus.report.assessment.files import AssessmentReport
from sdcensus.report.assessment.results import Assessment
from sdcensus.report.magnitude.results import SumAssessment, SumStudy
from sdcensus.report.study.results import Study
from sdcensus.risk.composite import RiskBeforeAndAfter
from sdcensus.risk.counted_parts import part_counts
from sdcensus.risk.detection.detectors import detect
from sdcensus.risk.detection.findings import FindingKind, Findings
from sdcensus.risk.detection.withheld import withheld_that_follow
from sdcensus.risk.feasibility import Feasibility, How
from sdcensus.risk.looks.budget import LookBudget
from sdcensus.risk.posterior import posterior_observed_of
from sdcensus.session.assess.figures import (
    by_area,
    checked_pair,
    compared_with,
    distances_of,
    population_of,
    small_given_away,
)
from sdcensus.session.assess.knowledge import (
    Intruder,
    given_intruder,
    intervals_of,
    intruder_of,
    noise_of,
    variance_of,
)
from sdcensus.session.assess.measures import measured, tried
from sdcensus.session.assess.options import AssessOptions
from sdcensus.session.assess.public import public_assessment
from sdcensus.session.assess.records import record_figures
from sdcensus.session.assess.sums import assess_sums
from sdcensus.session.assess.together import budgets_of, differences_of, opened_registry, others_of
from sdcensus.session.protect.smallest_group import group_claim
from sdcensus.session.study.cells import worst
from sdcensus.session.study.sums import beside
from sdcensus.store.registry import Registry
from sdcensus.utility.deviations import deviation_distribution
from sdcensus.utility.evaluation import evaluation_row

#: Tables with at most so many cells are gone through by linear programs without being asked.
EXACT_UP_TO = 1_500
#: Tables with more cells than this are not protected anew by other methods, unless asked for.
COMPARED_UP_TO = 600_000


def assess(
    cube: AnyCube,
    table: AnyTable | Protected,
    options: AssessOptions | None = None,
    *,
    method: Method | None = None,
    schema: Schema | None = None,
    registry: Registry | str | Path | None = None,
    date: str = "",
    progress: Progress = no_progress,
    **settings: Any,
) -> AssessmentReport:
    """Assess a published table with the cube that it was made from.

    Args:
        cube: True counts.
        table: What is to be published of them: a table, or what a method gives back.
        options: What else is known about it, and what is asked.
        method: How it was protected; the same as in the options.
        schema: The schema of the census, such as ``census.schema``; the same as in the options.
        registry: The tables that were published before: a registry or its folder. They are taken
            together with the others of the options.
        date: The date that is written into pages; no clock is read.
        progress: Told how far it is.
        settings: Fields of the options by their names, such as ``compare=False``.

    Returns:
        The report: ``lead``, ``conclusions``, every figure under ``assessment``, and what writes
        it to files. Confidential, but for ``to_public_html``.

    Examples:
        >>> import sdcensus as sc
        >>> from sdcensus.testing.island import SECRET, island_cube
        >>> cube = island_cube("area", "sex")
        >>> method = sc.methods.CellKey(sc.perturbation.design(max_deviation=3, variance=1), SECRET)
        >>> sc.assess(cube, method.protect(cube), method=method)
        <AssessmentReport of persons by area, sex: confidential>
    """
    said = with_settings(options or AssessOptions(), settings)
    opened = opened_registry(registry)
    said = replace(
        said,
        method=method or said.method,
        schema=schema or said.schema,
        others=others_of(cube.spec, opened, said.others) if opened or said.others else (),
    )
    assessment = assess_table(cube, table, said, progress=progress)
    return AssessmentReport(assessment, date=date, language=said.language)


def assess_table(
    cube: AnyCube,
    table: AnyTable | Protected,
    options: AssessOptions | None = None,
    *,
    progress: Progress = no_progress,
) -> Assessment | SumAssessment:
    """Measure risk and utility of one published table, of counts or of sums.

    Args:
        cube: True counts.
        table: What is to be published of them, alone or as a method gives it back.
        options: How it was made, what it stands beside, and what is asked.
        progress: Told how far it is.
    """
    cube, table, said = _checked(cube, table, options)
    if cube.spec.amount is not None:
        left_out: list[str] = []
        study = _sums_compared(cube, table, said, left_out, progress)
        return assess_sums(cube, table, said, progress, compared=study, left_out=left_out)
    return _assess_counts(cube, table, said, progress)


def assess_counts(
    cube: AnyCube,
    table: AnyTable | Protected,
    options: AssessOptions | None = None,
    *,
    progress: Progress = no_progress,
) -> Assessment:
    """Measure risk and utility of one published table of counts; as ``assess_table``."""
    checked_cube, checked_table, said = _checked(cube, table, options)
    if checked_cube.spec.amount is not None:
        raise SpecError(f"{checked_cube.spec.title}: this is a table of sums, not of counts.")
    return _assess_counts(checked_cube, checked_table, said, progress)


def _assess_counts(cube: Cube, table: Table, said: AssessOptions, progress: Progress) -> Assessment:
    method, perturbation, language = said.method, said.perturbation, said.language
    left_out: list[str] = []
    progress("looking for what true counts give away", 0.0)
    findings, readable = _found(cube, table, said, left_out)
    progress("working out what an intruder could", 0.2)
    intruder = _intruder(cube, table, said)
    fitting = _fitting(cube, intruder, said, left_out, progress)
    progress("measuring what readers lose", 0.5)
    results = measured(_context(cube, table, intruder, said), left_out)
    levels, rows = by_area(cube, table, left_out)
    progress("comparing with other tables", 0.6)
    between = _differences(cube, said, left_out, progress)
    progress("comparing methods", 0.7)
    study, chosen = _compared(cube, table, said, intruder, fitting, results, left_out)
    deviations = tried(
        left_out, sentence("assess.left_out.changes"), lambda: deviation_distribution(cube, table)
    )
    return Assessment(
        public=public_assessment(
            table, method=method, provenance=said.provenance, title=said.title, language=language
        ),
        population=population_of(cube),
        counted=part_counts(cube, table),
        method=_name(method, noise_of(method, perturbation)),
        cautions=_cautions(cube, method),
        findings=findings,
        groups_readable=readable,
        withheld=(withheld_that_follow(table) or None) if table.flags is not None else None,
        known=intruder.known,
        whole=intruder.whole,
        assumed=intruder.notes,
        true_on_purpose=intruder.shown is not None,
        intervals=tuple(fitting),
        given_away=small_given_away(cube, table, intruder, fitting, language),
        measured=results,
        posteriors=tuple(
            (part, posterior_observed_of(cube, table, part=part)) for part in parts_of(cube.spec)
        ),
        utility=distances_of(cube, table),
        levels=levels,
        rows=rows,
        deviations=deviations,
        worst=worst(cube, table, language=language),
        compared=study,
        chosen=chosen,
        others=len(said.others),
        budgets=_budgets(cube, said),
        variance=variance_of(method, perturbation),
        noise=noise_of(method, perturbation),
        recovery_limit=said.recovery_limit,
        differences=between,
        evaluation=evaluation_row(said.number, cube, table),
        left_out=tuple(dict.fromkeys(left_out)),
        provenance=said.provenance,
        smallest_group=_group_claim(method, said.provenance),
        groups=tuple(said.groups),
        records=None if said.behind is None else record_figures(cube, table, said.behind),
        census=Text() if said.schema is None else CensusFacts.of(said.schema.census).name,
    )


def _cautions(cube: AnyCube, method: Method | None) -> tuple[str, ...]:
    """What to know of the records, and of the method."""
    origin = cube.origin
    of_records = cautions_of_records(origin.lineage, origin.listed, [cube.spec])
    return (*of_records, *(() if method is None else method.claims().cautions))


def _checked(
    cube: AnyCube,
    table: AnyTable | Protected,
    options: AssessOptions | None,
) -> tuple[Cube, Table, AssessOptions]:
    """A cube and a table that belong together, and how the table was made."""
    said = options or AssessOptions()
    if isinstance(table, Protected):
        said = replace(said, provenance=said.provenance or table.provenance)
        table = table.table
    return *checked_pair(cube, table), said


def _found(
    cube: Cube, table: Table, said: AssessOptions, left_out: list[str]
) -> tuple[tuple[Findings, ...], int]:
    """What true counts give away, and how many groups still look so in the published table."""
    impossible, schema = None, said.schema
    if schema is not None:
        impossible = tried(
            left_out,
            sentence("assess.left_out.impossible"),
            lambda: structural_zeros(cube.spec, schema),
        )
    findings = detect(
        cube, sensitive=said.sensitive, coalition=said.coalition, structural=impossible
    )
    published = detect(table, sensitive=said.sensitive, structural=impossible)
    return tuple(kind for kind in findings if kind), groups_readable(findings, published)


def _intruder(cube: Cube, table: Table, said: AssessOptions) -> Intruder:
    if said.knowledge is None:
        return intruder_of(cube, table, said.method, said.perturbation)
    return given_intruder(cube, table, said.method, said.knowledge)


def _fitting(
    cube: Cube,
    intruder: Intruder,
    said: AssessOptions,
    left_out: list[str],
    progress: Progress,
) -> list[Feasibility]:
    """What is left for the intruder; by linear programs too, where the table is not large."""
    programs = cube.spec.cells <= EXACT_UP_TO if said.exact is None else said.exact
    return intervals_of(cube, intruder, exact=programs, left_out=left_out, progress=progress)


def _context(cube: Cube, table: Table, intruder: Intruder, said: AssessOptions) -> MeasureContext:
    """What every registered measure is given."""
    return MeasureContext(
        cube=cube,
        table=table,
        schema=said.schema,
        claims=None if said.method is None else said.method.claims(),
        knowledge=intruder.known,
        perturbation=noise_of(said.method, said.perturbation),
        exempt=intruder.exempt,
    )


def _differences(
    cube: Cube, said: AssessOptions, left_out: list[str], progress: Progress
) -> tuple[Findings, ...]:
    findings = tried(
        left_out,
        "Differences",
        lambda: differences_of(
            cube, said.others, said.tabulate, left_out=left_out, progress=progress
        ),
    )
    return findings or ()


def _budgets(cube: Cube, said: AssessOptions) -> tuple[LookBudget, ...]:
    if said.budgets is not None:
        return tuple(said.budgets)
    return budgets_of(cube.spec, said.others) if said.others else ()


def _compared(
    cube: Cube,
    table: Table,
    said: AssessOptions,
    intruder: Intruder,
    fitting: Sequence[Feasibility],
    results: Sequence[Measured],
    left_out: list[str],
) -> tuple[Study | None, str | None]:
    """The table beside the same by other methods, and what it is called among them."""
    main = [
        each for each in fitting if each.knowledge == intruder.known and each.how is How.SHUTTLE
    ]
    if not main or not _wanted(cube, said.compare, left_out):
        return None, None
    risks = [each.result for each in results if isinstance(each.result, RiskBeforeAndAfter)]
    risk = risks[0].after.value if risks else None
    compared = tried(
        left_out,
        sentence("assess.left_out.methods"),
        lambda: compared_with(cube, table, said.method, main[0], risk, language=said.language),
    )
    return compared or (None, None)


def _sums_compared(
    cube: Cube, table: Table, said: AssessOptions, left_out: list[str], progress: Progress
) -> SumStudy | None:
    """A table of sums beside the same by other methods."""
    method = said.method
    if said.compare is False:
        return None
    if said.compare is None and cube.spec.cells > COMPARED_UP_TO:
        left_out.append(sentence("sums.left_out.many_cells", n=COMPARED_UP_TO))
        return None
    if method is None or method.secret is None:
        left_out.append(sentence("sums.left_out.no_secret"))
        return None
    progress("comparing methods", 0.0)
    return beside(
        cube,
        table,
        method,
        within=said.within,
        members=max(said.coalition, 2),
        language=said.language,
    )


def _group_claim(method: Method | None, provenance: Provenance | None) -> str:
    """What the smallest group guarantees; ``method.protect`` alone applies and claims nothing."""
    if method is None or provenance is None or not provenance.smallest_group:
        return ""
    return group_claim(method, provenance.smallest_group).sentence


def _wanted(cube: Cube, compare: bool | None, left_out: list[str]) -> bool:
    """Whether other methods are compared."""
    if compare is not None:
        return compare
    if cube.spec.cells > COMPARED_UP_TO:
        left_out.append(sentence("assess.left_out.many_cells", n=COMPARED_UP_TO))
        return False
    return True


def _name(method: Method | None, noise: Perturbation | None) -> str:
    if method is None:
        return sentence("assess.page.no_method")
    name = getattr(noise, "name", "")
    return f"{method.described_name}, {name}" if name else method.described_name


def groups_readable(true: Sequence[Findings], published: Sequence[Findings]) -> int:
    """How many groups in which all have the same property still look so when published.

    Noise that keeps empty cells empty keeps such groups readable: all other cells of the line are
    published as 0.
    """

    def groups(findings: Sequence[Findings]) -> set[tuple[int, int]]:
        return {
            pair
            for kind in findings
            if kind.kind is FindingKind.GROUP_ATTRIBUTE
            for pair in zip(kind.cells.tolist(), kind.axes.tolist(), strict=True)
        }

    return len(groups(true) & groups(published))
