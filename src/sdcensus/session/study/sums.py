"""Comparing methods on tables of sums: who can be estimated by each, and what each costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.methods.magnitude.abs_top import AbsTopContributors
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.method import Method
from sdcensus.model.cube.cube import Cube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import Table
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.magnitude.results import SumResult, SumStudy, SumStudyTable
from sdcensus.report.study.results import Candidate
from sdcensus.risk.magnitude.attackers import WITHIN
from sdcensus.session.assess.sums import sum_figures
from sdcensus.session.census.census import Census
from sdcensus.session.study.tables import cubes_of

#: What is compared on tables of sums where nothing is named: noise of several sizes, for one and
#: for three of the largest contributions, more of it for sensitive cells, and top contributors.
SCHEMES = (
    "cell-key-sums noise_share=0.05",
    "cell-key-sums noise_share=0.1",
    "cell-key-sums noise_share=0.2",
    "cell-key-sums noise_share=0.1 contribution_shares=1,0.5,0.3",
    "cell-key-sums noise_share=0.1 extra_noise=1 sensitive_below=3 sensitive_remainder=10",
    "abs-top-contributors",
)


def compare_sums(
    census: Census,
    specs: Sequence[TableSpec],
    candidates: Sequence[Candidate],
    *,
    within: float | None = None,
    members: int = 2,
    left_out: Sequence[tuple[str, str]] = (),
    language: str | None = None,
    progress: Progress = no_progress,
) -> SumStudy:
    """Protect every table of sums by every method, and measure all of them.

    Args:
        census: Whose tables.
        specs: The tables.
        candidates: The methods.
        within: How near an estimate of the largest contributor is that counts, in percent; 10 if
            not given.
        members: How many contributors behind the largest stand together in a coalition.
        left_out: Methods that cannot be made, each with the reason.
        language: The language of words and labels.
        progress: Called with the stage and how much of it is done.
    """
    _check(specs, candidates)
    progress("counting", 0.0)
    cubes = cubes_of(census, specs)
    return compare_sum_cubes(
        cubes,
        candidates,
        census=census.schema.census.name_in(language),
        within=WITHIN if within is None else within,
        members=members,
        left_out=left_out,
        language=language,
        progress=progress,
    )


def compare_sum_cubes(
    cubes: Sequence[Cube],
    candidates: Sequence[Candidate],
    *,
    census: str = "",
    within: float = WITHIN,
    members: int = 2,
    left_out: Sequence[tuple[str, str]] = (),
    language: str | None = None,
    progress: Progress = no_progress,
) -> SumStudy:
    """The same for tables that are tabulated already; ``census`` is what it is called."""
    _check([cube.spec for cube in cubes], candidates)
    refused: list[tuple[str, str]] = [*left_out]
    kept: list[list[SumResult]] = []
    for number, candidate in enumerate(candidates):
        progress("comparing methods", number / len(candidates))
        try:
            kept.append([_measured(cube, candidate, within, members) for cube in cubes])
        except SdcensusError as error:
            if not candidate.optional:
                raise
            refused.append((candidate.title, str(error)))
    if not kept:
        raise SpecError("\n".join(f"{title}: {reason}" for title, reason in refused[:3]))
    return SumStudy(
        census=census,
        tables=tuple(
            SumStudyTable(spec=cube.spec, results=tuple(results[at] for results in kept))
            for at, cube in enumerate(cubes)
        ),
        within=float(within),
        left_out=tuple(dict.fromkeys(refused)),
        language=language,
    )


def beside(
    cube: Cube,
    table: Table,
    method: Method,
    *,
    within: float = WITHIN,
    members: int = 2,
    language: str | None = None,
) -> SumStudy:
    """A table of sums among the same table by other methods, drawn with the same secret.

    Args:
        cube: Sums with their contributions.
        table: What is published of them.
        method: How it was made.
        within: How near an estimate of the largest contributor is that counts, in percent.
        members: How many contributors behind the largest stand together in a coalition.
        language: The language of words and labels.
    """
    secret = method.secret
    others: list[tuple[str, Method]] = [
        (f"cell-key-sums noise_share={share}", CellKeySums(noise_share=share, secret=secret))
        for share in (0.05, 0.1, 0.2)
    ]
    others.append(
        (
            f"cell-key-sums noise_share=0.1 extra_noise=1 sensitive_remainder={within:g}",
            CellKeySums(extra_noise=1, sensitive_remainder=within, secret=secret),
        )
    )
    others.append(("abs-top-contributors", AbsTopContributors(secret=secret)))
    candidates = [Candidate(name=name, method=each, optional=True) for name, each in others]
    study = compare_sum_cubes([cube], candidates, within=within, members=members, language=language)
    own = SumResult(
        candidate=Candidate(name=sentence("sums.methods.itself"), method=method),
        figures=sum_figures(cube, table, method, within=within, members=members),
    )
    tables = (replace(study.tables[0], results=(own, *study.tables[0].results)),)
    return replace(study, tables=tables)


def _measured(cube: Cube, candidate: Candidate, within: float, members: int) -> SumResult:
    method = candidate.method
    if method is None or candidate.before:
        raise SpecError(
            "A study of sums compares methods that protect tables, not changes of records."
        )
    table = _protected(cube, method)
    figures = sum_figures(cube, table, method, within=within, members=members)
    return SumResult(candidate=candidate, figures=figures)


def _protected(cube: Cube, method: Method) -> Table:
    return method.protect(cube).table.held_for("comparing methods")


def _check(specs: Sequence[TableSpec], candidates: Sequence[Candidate]) -> None:
    if not specs:
        raise SpecError("A study needs a table at least: --by AXES, or --table AXES.")
    if not candidates:
        raise SpecError("A study needs a method at least, such as cell-key-sums.")
    for spec in specs:
        if spec.amount is None:
            raise SpecError(
                f"{spec.title} is a table of counts. A study of sums has tables of sums only:"
                " --measure 'sum(income)'."
            )
    titles = [candidate.title for candidate in candidates]
    for at, title in enumerate(titles):
        if title in titles[:at]:
            raise SpecError(f"Two methods of the study are called {title!r}. Give each a name.")
