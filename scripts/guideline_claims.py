"""The guidelines' table of methods: measured on the demo country where that can be measured.

The guidelines of the project STACE (2024) hold methods against each other by criteria. What can be
counted is counted here, over several secrets: how many cells change, whether the same cell has the
same number in two tables, whether totals are sums, how large the largest difference is, how long
it takes. What cannot is a judgement of ours, and marked as one.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scripts.claim_texts import secret_of, table
from sdcensus.demo import make_country, write_country
from sdcensus.errors import SdcensusError
from sdcensus.methods.linked import LinkedMethod
from sdcensus.model.cube.constraints import constraints
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.secret import Secret
from sdcensus.model.spec.shared_cells import shared_cells
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.study.results import Candidate
from sdcensus.session.census.census import Census, load, open_store
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.session.study.derived import Records, derived_records, original_records
from sdcensus.session.study.every_method import every_candidate
from sdcensus.session.study.tables import cubes_of

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Under how many secrets methods are measured.
RUNS = 3
#: Two tables of one product, with cells in common: parishes by sex, for all ages.
TABLES = ("ed@parish+district,sex,age@five_year", "ed@parish+district,sex,marital_status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is said of a method that nobody can count.

    Attributes:
        execute: How simple it is to run, for an office that has this system.
        explain: How simple it is to explain to readers.
        scope: For which products.
        flexibility: Whether tables that nobody planned can follow.
        cost: What it costs besides time.
        allowed_for: Whether an analyst can allow for it.
        differencing: Whether it protects against differences between tables.
    """

    execute: str
    explain: str
    scope: str
    flexibility: str
    cost: str
    allowed_for: str
    differencing: str


#: The methods in the order of the table.
JUDGEMENTS: Mapping[str, Judgement] = {
    "cell-key": Judgement(
        execute="simple, once keys are made",
        explain="hard: totals do not add up",
        scope="any table",
        flexibility="full",
        cost="low",
        allowed_for="yes: the variance can be told",
        differencing="yes, with own noise for each question",
    ),
    "random-rounding": Judgement(
        execute="simple",
        explain="simple",
        scope="any table",
        flexibility="full",
        cost="low",
        allowed_for="yes: the rule is public",
        differencing="partly",
    ),
    "semi-controlled-rounding": Judgement(
        execute="simple",
        explain="fair",
        scope="one table",
        flexibility="some",
        cost="low",
        allowed_for="mostly",
        differencing="partly",
    ),
    "conventional-rounding": Judgement(
        execute="simple",
        explain="simple",
        scope="presentation",
        flexibility="full",
        cost="low",
        allowed_for="yes",
        differencing="no",
    ),
    "small-cell-adjustment": Judgement(
        execute="simple",
        explain="simple",
        scope="one table",
        flexibility="some",
        cost="low",
        allowed_for="partly: totals drift",
        differencing="no",
    ),
    "per-unit-deviations": Judgement(
        execute="simple",
        explain="hard",
        scope="any table",
        flexibility="full",
        cost="low",
        allowed_for="yes",
        differencing="yes",
    ),
    "light-touch": Judgement(
        execute="simple",
        explain="fair",
        scope="after swapping",
        flexibility="some",
        cost="low",
        allowed_for="partly",
        differencing="only with swapping",
    ),
    "threshold-and-rounding": Judgement(
        execute="simple",
        explain="simple",
        scope="any table",
        flexibility="some",
        cost="low",
        allowed_for="no: gaps are not random",
        differencing="partly",
    ),
    "suppression": Judgement(
        execute="fair: rules to be chosen",
        explain="simple",
        scope="planned tables together",
        flexibility="none",
        cost="staff time",
        allowed_for="no: gaps are not random",
        differencing="only between tables protected together",
    ),
    "controlled-rounding": Judgement(
        execute="fair",
        explain="simple",
        scope="planned tables",
        flexibility="little",
        cost="a solver",
        allowed_for="mostly",
        differencing="no",
    ),
    "controlled-random-rounding": Judgement(
        execute="fair",
        explain="simple",
        scope="two-way tables",
        flexibility="little",
        cost="low",
        allowed_for="yes: unbiased",
        differencing="no",
    ),
    "tabular-adjustment": Judgement(
        execute="fair: cells and levels to be chosen",
        explain="hard",
        scope="planned tables",
        flexibility="none",
        cost="a solver",
        allowed_for="no: what moved is not told",
        differencing="no",
    ),
    "coarsening": Judgement(
        execute="simple",
        explain="simple",
        scope="planned tables",
        flexibility="none",
        cost="detail",
        allowed_for="yes: exact",
        differencing="no",
    ),
    "small-count-rounding": Judgement(
        execute="simple",
        explain="fair",
        scope="listed tables together",
        flexibility="little",
        cost="low",
        allowed_for="mostly",
        differencing="for listed tables",
    ),
    "targeted-swap": Judgement(
        execute="fair: risk to be defined",
        explain="fair",
        scope="any table",
        flexibility="full",
        cost="low",
        allowed_for="no: the rate is secret",
        differencing="yes, below the level of swapping",
    ),
    "safe": Judgement(
        execute="fair: variables to be listed",
        explain="fair",
        scope="any table of listed variables",
        flexibility="full",
        cost="time once",
        allowed_for="partly: the largest deviation is told",
        differencing="yes, for listed variables",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a method did to the two tables under one secret.

    Attributes:
        changed: The share of non-empty cells with another number, of those that have one.
        mean_change: Their mean change, all non-empty cells with a number taken.
        withheld: The share of non-empty cells without a number.
        same: The share of common cells with the same number, or none, in both tables.
        adds_up: The share of sums of which all parts are shown that are right.
        largest: The largest change of a cell.
        largest_gap: The largest difference between a total and the sum of its parts.
        small: The share of shown cells that are published as 1 or 2.
        small_true: Of these the share that is the true count.
        seconds: How long both tables took.
    """

    changed: float
    mean_change: float
    withheld: float
    same: float
    adds_up: float
    largest: int
    largest_gap: int
    small: float
    small_true: float
    seconds: float


def measured(counts: Sequence[Int64], tables: Sequence[Table], seconds: float) -> Measured:
    """Count what a method did.

    Args:
        counts: True counts of the tables.
        tables: What is published of them.
        seconds: How long it took.
    """
    shown = [_shown(published) for published in tables]
    there = [count > 0 for count in counts]
    change = np.concatenate(
        [
            np.abs(published.published - count)[seen & full]
            for count, published, seen, full in zip(counts, tables, shown, there, strict=True)
        ]
    )
    full = sum(int(mask.sum()) for mask in there)
    hidden = sum(int((mask & ~seen).sum()) for mask, seen in zip(there, shown, strict=True))
    gaps = np.concatenate(
        [_gaps(published, seen) for published, seen in zip(tables, shown, strict=True)]
    )
    small, right, seen_cells = 0, 0, 0
    for count, published, seen in zip(counts, tables, shown, strict=True):
        few = seen & (published.published > 0) & (published.published <= 2)
        small += int(few.sum())
        right += int((few & (published.published == count)).sum())
        seen_cells += int(seen.sum())
    return Measured(
        changed=float((change != 0).mean()) if change.size else 0.0,
        mean_change=float(change.mean()) if change.size else 0.0,
        withheld=hidden / full if full else 0.0,
        same=_same(tables, shown),
        adds_up=float((gaps == 0).mean()) if gaps.size else 1.0,
        largest=int(change.max(initial=0)),
        largest_gap=int(gaps.max(initial=0)),
        small=small / seen_cells if seen_cells else 0.0,
        small_true=right / small if small else 0.0,
        seconds=seconds,
    )


def _shown(published: Table) -> Mask:
    if published.flags is None:
        return np.ones(published.shape, dtype=bool)
    return np.isin(published.flags, [mark for mark in Mark if mark.has_number])


def _gaps(published: Table, shown: Mask) -> Int64:
    """By how much totals differ from the sums of their parts, where all of them are shown."""
    sums = constraints(published.spec)
    held = np.ones(sums.shape[0], dtype=bool)
    np.logical_and.at(held, sums.rows, shown.reshape(-1)[sums.columns])
    return np.abs(sums.times(published.published.reshape(-1)))[held]


def _same(tables: Sequence[Table], shown: Sequence[Mask]) -> float:
    first, second = tables
    common = shared_cells(first.spec, second.spec)
    if common is None:
        return 1.0
    mine, theirs = (numbers.astype(np.int64) for numbers in common.all())
    values = [
        np.where(seen, published.published, -1).reshape(-1)
        for published, seen in zip(tables, shown, strict=True)
    ]
    return float((values[0][mine] == values[1][theirs]).mean())


def run(census: Census, secret: Secret) -> dict[str, Measured | str]:
    """Every method on the two tables; for those that cannot, why."""
    specs = tuple(census.spec(*text.split(",")) for text in TABLES)
    cubes = cubes_of(census, specs)
    counts = [cube.count for cube in cubes]
    candidates, left_out = every_candidate(census, specs, of="persons", secret=secret)
    results: dict[str, Measured | str] = {text.split(" ")[0]: why for text, why in left_out}
    original = original_records(census, specs, cubes, specs)
    for candidate in candidates:
        name = candidate.name.split(" ")[0]
        begun = time.perf_counter()
        try:
            tables = _tables(census, specs, original, candidate, secret)
        except SdcensusError as error:
            results[name] = str(error)
            continue
        results[name] = measured(counts, tables, time.perf_counter() - begun)
    return results


def _tables(
    census: Census,
    specs: Sequence[TableSpec],
    original: Records,
    candidate: Candidate,
    secret: Secret,
) -> tuple[Table, ...]:
    records, rule = original, GroupRule(None)
    if candidate.before:
        records = derived_records(census, candidate.before, specs, specs, secret=secret)
    if isinstance(candidate.method, LinkedMethod):
        together = records.protect_together(specs, candidate, rule)
        assert together is not None
        return together
    return tuple(
        records.protect(spec, cube, candidate, rule)
        for spec, cube in zip(specs, records.cubes, strict=True)
    )


def runs() -> list[dict[str, Measured | str]]:
    """The demo country under several secrets."""
    results = []
    with tempfile.TemporaryDirectory() as name:
        write_country(Path(name) / "country", country=make_country(), file_format="parquet")
        for number in range(RUNS):
            store = Path(name) / f"{number}.store"
            secret = secret_of(number)
            load(Path(name) / "country" / "schema.toml", store, secret=secret)
            results.append(run(open_store(store), secret))
    return results


# ---------------------------------------------------------------- words

_HEAD = (
    "method",
    "simple to execute *",
    "simple to explain *",
    "data perturbation",
    "consistency",
    "additivity",
    "large differences",
    "timeliness",
    "scope *",
    "flexibility *",
    "cost *",
)


def guidelines(results: Sequence[Mapping[str, Measured | str]] | None = None) -> Mapping[str, str]:
    """The table of methods, for its page."""
    every = runs() if results is None else results
    rows = []
    for name, judged in JUDGEMENTS.items():
        figures = [result[name] for result in every if name in result]
        known = [figure for figure in figures if isinstance(figure, Measured)]
        if not figures:
            continue
        measured_words = _words(known) if known else ("cannot do these tables",) + ("–",) * 4
        rows.append(
            (
                _link(name),
                judged.execute,
                judged.explain,
                *measured_words,
                judged.scope,
                judged.flexibility,
                judged.cost,
            )
        )
    return {"methods/choosing.md": f"{table(_HEAD, rows)}\n\n{_asked_by_users(every)}"}


_USERS_HEAD = (
    "method",
    "tables add up",
    "one number in every table",
    "near the true counts (mean change)",
    "easy to understand *",
    "can be allowed for *",
    "1s and 2s are seen, and true",
    "protects differences *",
)


def _asked_by_users(every: Sequence[Mapping[str, Measured | str]]) -> str:
    """What users of the British census were asked about, beside what we measured."""
    rows = []
    for name, judged in JUDGEMENTS.items():
        results = [result[name] for result in every if name in result]
        known = [result for result in results if isinstance(result, Measured)]
        if not known:
            continue
        seen = "none is seen"
        if any(figure.small for figure in known):
            shown = _range(known, lambda figure: figure.small, _percent)
            true = _range(known, lambda figure: figure.small_true, _percent)
            seen = f"{shown} of cells, {true} of them true"
        rows.append(
            (
                _link(name),
                _yes(known, lambda figure: figure.adds_up),
                _yes(known, lambda figure: figure.same),
                _range(known, lambda figure: figure.mean_change, lambda value: f"{value:.2f}"),
                judged.explain,
                judged.allowed_for,
                seen,
                judged.differencing,
            )
        )
    return table(_USERS_HEAD, rows)


def _yes(figures: Sequence[Measured], take: Callable[[Measured], float]) -> str:
    shares = [take(figure) for figure in figures]
    return "yes" if min(shares) == 1 else "no" if max(shares) < 0.999 else "nearly"


def _link(name: str) -> str:
    pages = {
        "targeted-swap": "../microdata/swapping.md",
        "safe": "../microdata/safe.md",
        "controlled-random-rounding": "controlled-rounding.md",
    }
    return f"[{name}]({pages.get(name, f'{name}.md')})"


def _words(figures: Sequence[Measured]) -> tuple[str, str, str, str, str]:
    changed = _range(figures, lambda figure: figure.changed, _percent)
    mean = _range(figures, lambda figure: figure.mean_change, lambda value: f"{value:.2f}")
    hidden = _range(figures, lambda figure: figure.withheld, _percent)
    perturbs = f"{changed} of cells, {mean} on average"
    if all(figure.changed == 0 for figure in figures):
        perturbs = "none"
    if any(figure.withheld for figure in figures):
        perturbs += f"; {hidden} withheld"
    same = _range(figures, lambda figure: figure.same, _percent)
    adds = _range(figures, lambda figure: figure.adds_up, _percent)
    largest = _range(figures, lambda figure: figure.largest, str)
    gap = _range(figures, lambda figure: figure.largest_gap, str)
    differences = f"cell {largest}, total against parts {gap}"
    return perturbs, f"{same} of common cells", f"{adds} of sums", differences, _pace(figures)


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %" if value in (0, 1) or value >= 0.1 else f"{100 * value:.1f} %"


def _range(
    figures: Sequence[Measured],
    take: Callable[[Measured], float],
    say: Callable[[float], str],
) -> str:
    """One figure where all secrets agree, else the smallest and the largest."""
    values = [take(figure) for figure in figures]
    low, high = say(min(values)), say(max(values))
    return low if low == high else f"{low} to {high}"


def _pace(figures: Sequence[Measured]) -> str:
    """How long it takes, in words that another machine says as well."""
    slowest = max(figure.seconds for figure in figures)
    for limit, words in ((3.0, "at once"), (30.0, "seconds"), (300.0, "minutes")):
        if slowest < limit:
            return words
    return "longer"
