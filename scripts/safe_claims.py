"""A census that was published by SAFE and again under cell keys: figures for the documentation."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scripts.claim_texts import SECRETS, secret_of, table
from sdcensus.demo import Country, make_country, write_country
from sdcensus.model.cube.constraints import interior
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.study.figures import combined_figures, measures
from sdcensus.session.census.census import Census, load, open_store
from sdcensus.session.derive.step import prepared
from sdcensus.session.protect.table import build_method
from sdcensus.session.study.candidates import method_candidates
from sdcensus.session.study.study import compare
from sdcensus.session.study.tables import cubes_of

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

LISTED = ("ed@parish", "sex", "age@five_year", "marital_status", "religion@faith")
TABLES = ("ed@parish,marital_status", "age@five_year,religion@faith", "ed@parish,sex,age@five_year")
SAFE = f"safe variables={','.join(LISTED)}"
METHODS = (SAFE, "cell-key", f"{SAFE} | cell-key")
_NAMES = {SAFE: "SAFE", "cell-key": "cell keys, medium", f"{SAFE} | cell-key": "both in one line"}


@dataclass(frozen=True, slots=True)
class TwoLooks:
    """What an intruder learns about the cells of a table from each publication, and from both.

    Attributes:
        table: The table.
        bounds: The largest deviation of SAFE in this table, and that of cell keys.
        counts: How many counts are possible for a cell on average: by SAFE, by cell keys, by both.
        known: The share of cells of one and two for which one count is left: the same three.
        errors: The root of the mean square error of SAFE, of cell keys, and of the best mean.
        looks: How many looks at cell keys both together are worth.
    """

    table: str
    bounds: tuple[int, int]
    counts: tuple[float, float, float]
    known: tuple[float, float, float]
    errors: tuple[float, float, float]
    looks: float


@dataclass(frozen=True, slots=True)
class SafeRun:
    """One secret: what SAFE reached, what ``compare`` says, and what two publications say.

    Attributes:
        worst, bound: The largest deviation in control tables, and what none is below.
        changed: The share of records with another combination.
        compared: For each table and method the measures of ``compare``.
        looks: For each table what two publications say.
    """

    worst: float
    bound: float
    changed: float
    compared: Mapping[tuple[str, str], Mapping[str, float | None]]
    looks: tuple[TwoLooks, ...]


def looks_of(name: str, truth: Int64, safe: Int64, keyed: Int64, limit: int) -> TwoLooks:
    """Compare two publications of the same cells, as somebody does who knows both limits.

    Args:
        name: The table.
        truth: The true counts of the cells that hold anybody.
        safe: What SAFE publishes.
        keyed: What cell keys publish.
        limit: The largest deviation of cell keys.
    """
    widest = int(np.abs(safe - truth).max())
    by_safe = np.maximum(safe - widest, 0), safe + widest
    # Cells without records are published as 0 by cell keys: what is published above 0 holds some.
    by_keys = np.maximum(keyed - limit, (keyed > 0).astype(np.int64)), keyed + limit
    by_both = np.maximum(by_safe[0], by_keys[0]), np.minimum(by_safe[1], by_keys[1])
    small = truth <= 2
    possible = [high - low + 1 for low, high in (by_safe, by_keys, by_both)]
    errors = [float(np.square(each - truth).mean()) for each in (safe, keyed)]
    weight = errors[1] / sum(errors)
    mean = weight * safe + (1 - weight) * keyed
    errors.append(float(np.square(mean - truth).mean()))
    return TwoLooks(
        table=name,
        bounds=(widest, limit),
        counts=_three([float(each.mean()) for each in possible]),
        known=_three(
            [float((each[small] == 1).mean()) if small.any() else 0.0 for each in possible]
        ),
        errors=_three([float(np.sqrt(error)) for error in errors]),
        looks=errors[1] / errors[2],
    )


def _three(values: Sequence[float]) -> tuple[float, float, float]:
    first, second, third = values
    return first, second, third


def run_of(schema: Path, folder: Path, number: int) -> SafeRun:
    """Load a country under one secret, publish it twice and compare."""
    secret = secret_of(number)
    load(schema, folder / f"{number}.store", secret=secret)
    census = open_store(folder / f"{number}.store")
    step = prepared(census.store, "safe", {"variables": list(LISTED)}, secret=secret)
    derived = step.run()
    facts = {
        getattr(row[0], "words", ""): row[1]
        for each in derived.changes.facts
        if each.name == "safe-reached"
        for row in each.rows
    }
    specs = [TableSpec.build(census.schema, text.split(",")) for text in TABLES]
    looks = two_publications(census, step.census_of(derived), specs, number)
    candidates = method_candidates(census, METHODS, of="persons", secret=secret)
    study = compare(
        census, specs, candidates, secret=secret, generator=np.random.default_rng(number)
    )
    compared = {
        (text, method): {**measures(result), **combined_figures(result)}
        for text, each in zip(TABLES, study.tables, strict=True)
        for method, result in zip(METHODS, study.mains(each), strict=True)
    }
    changed = next(iter(derived.changes.figures.values())) / sum(
        rows for entity, rows in census.store.manifest.rows.items() if entity.value == "person"
    )
    return SafeRun(
        worst=float(facts["safe.rows.worst"] or 0),
        bound=float(facts["safe.rows.bound"] or 0),
        changed=changed,
        compared=compared,
        looks=looks,
    )


def two_publications(
    census: Census, derived: Census, specs: Sequence[TableSpec], number: int
) -> tuple[TwoLooks, ...]:
    """Tables of the changed records as they are, and of the original ones under cell keys."""
    secret = secret_of(number)
    looks = []
    before, after = cubes_of(census, specs), cubes_of(derived, specs)
    for text, spec, true, changed in zip(TABLES, specs, before, after, strict=True):
        method = build_method(
            "cell-key", census, of="persons", options=MethodOptions(), secret=secret
        )
        published = method.protect(true).table.published
        inner = interior(spec)
        truth = true.count[inner].reshape(-1)
        held = truth > 0
        assert method.noise is not None
        looks.append(
            looks_of(
                text,
                truth[held],
                changed.count[inner].reshape(-1)[held],
                published[inner].reshape(-1)[held],
                method.noise.max_deviation,
            )
        )
    return tuple(looks)


def runs_of(country: Country, secrets: int) -> tuple[SafeRun, ...]:
    """The same country under several secrets."""
    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_country(folder / "country", country=country, file_format="parquet")
        for number in range(secrets):
            runs.append(run_of(folder / "country" / "schema.toml", folder, number))
            print(f"  secret {number + 1} of {secrets}")
    return tuple(runs)


def safe() -> Mapping[str, str]:
    """What SAFE and cell keys do to the same tables, and what both publications say together."""
    return {"microdata/safe.md": text_of(runs_of(make_country("small-island"), SECRETS))}


def text_of(runs: Sequence[SafeRun]) -> str:
    """The figures as the page says them, each from the smallest to the largest of all secrets."""
    reached = (
        f"Under {len(runs)} secrets SAFE changes {_span([100 * run.changed for run in runs], 1)} %"
        f" of the persons; the largest deviation of a control cell is"
        f" {_span([run.worst for run in runs], 0)}, and no solution is below"
        f" {_span([run.bound for run in runs], 0)}."
    )
    shown = (
        ("mean_absolute_distance", "mean change", 2),
        ("hellinger", "Hellinger", 3),
        ("R", "risk R", 3),
        ("claim_measured_pct", "claims right, %", 0),
    )
    rows = []
    for text in TABLES:
        for method in METHODS:
            figures = [run.compared[text, method] for run in runs]
            cells = [
                _span([value for each in figures if (value := each[name]) is not None], digits)
                for name, _, digits in shown
            ]
            rows.append([f"`{text}`", _NAMES[method], *cells])
    heads = ["table", "method", *(head for _, head, _ in shown)]
    looked = []
    for at, text in enumerate(TABLES):
        looks = [run.looks[at] for run in runs]
        looked.append(
            [
                f"`{text}`",
                " / ".join(_span([each.bounds[which] for each in looks], 0) for which in (0, 1)),
                " / ".join(_span([each.counts[which] for each in looks], 1) for which in range(3)),
                " / ".join(
                    _span([100 * each.known[which] for each in looks], 1) for which in range(3)
                ),
                " / ".join(_span([each.errors[which] for each in looks], 2) for which in range(3)),
                _span([each.looks for each in looks], 2),
            ]
        )
    return "\n\n".join(
        (
            reached,
            table(heads, rows),
            "Both publications in one hand (SAFE / cell keys / both):",
            table(
                [
                    *("table", "largest deviation", "possible counts of a cell"),
                    *("ones and twos with one count left, %", "root mean square error", "looks"),
                ],
                looked,
            ),
        )
    )


def _span(values: Sequence[float], digits: int) -> str:
    """The smallest and the largest, once where they are the same; a dash for none."""
    if not values:
        return "–"
    least, most = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return least if least == most else f"{least}–{most}"
