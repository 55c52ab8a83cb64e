"""Make the figures that the documentation claims, over several secrets, and write them into it.

    python -m scripts.claims                   # all of them; some minutes
    python -m scripts.claims scrambled        # one of: differences, guidelines, repetitions, study

A figure stands in its page between ``<!-- claims: NAME -->`` and ``<!-- end -->``; what stands
there is made by this script and by nothing else. A figure of one secret is an accident: what a page
says is said of all secrets that were tried, with the smallest and the largest where they differ.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import statistics
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scripts.claim_texts import SECRETS, secret_of, short, table
from scripts.guideline_claims import guidelines
from scripts.safe_claims import safe
from scripts.study_claims import study
from sdcensus.demo import make_country, write_country
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.exchanges import by_exchange, distance
from sdcensus.methods.nearest_additive import by_program
from sdcensus.methods.perturbation.coupling import coupling_of
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.methods.perturbation.sources import per_unit_deviations
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk import difference_probability_of
from sdcensus.session.census.census import load, open_store
from sdcensus.solvers.solve import Solver

Int64 = npt.NDArray[np.int64]

DOCS = Path(__file__).resolve().parents[1] / "docs"
ORDERS = 200
#: Chances of the review of the ABS (2005): count, units, printed as 1 and as 1 or 2.
PRINTED_DIFFERENCES = Path(__file__).with_name("abs_differences.csv")


# ---------------------------------------------------------------- pages


def written(page: str, name: str, text: str) -> str:
    """A page with the figures of that name put into their place."""
    place = re.compile(rf"(<!-- claims: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if len(place.findall(page)) != 1:
        raise SystemExit(f"The page has no one place for the claims {name!r}.")
    lines = [
        line if line.startswith("|") else textwrap.fill(line, 110)
        for line in text.rstrip().splitlines()
    ]
    return place.sub(lambda match: "\n".join((match[1].rstrip(), *lines, match[2])), page)


# ---------------------------------------------------------------- rounding drawn anew


def share_known(base: int, remainder: int, draws: int) -> float:
    """How often the mean of that many draws is nearer to the count than to its neighbours."""
    chance = remainder / base
    return math.fsum(
        math.comb(draws, up) * chance**up * (1 - chance) ** (draws - up)
        for up in range(draws + 1)
        if 2 * abs(base * up - remainder * draws) < draws
    )


def repetitions() -> Mapping[str, str]:
    """After how many tables a count is known whose rounding is drawn anew."""
    rows = []
    for base in (3, 5, 10):
        remainders = range(1, base)
        after = [share_known(base, remainder, 70) for remainder in remainders]
        enough = next(
            draws
            for draws in range(1, 600)
            # Even and odd numbers of draws differ: several in a row must do.
            if all(
                share_known(base, remainder, draws + more) >= 0.9
                for remainder in remainders
                for more in range(base + 1)
            )
        )
        rows.append([str(base), f"{enough}", f"{100 * min(after):.1f} to {100 * max(after):.1f}"])
    head = ["base", "tables until 90 % of the counts are known", "known after 70 tables, %"]
    note = "Exact, for the remainder that hides longest, and for all remainders but 0."
    return {"methods/random-rounding.md": f"{table(head, rows)}\n\n{note}"}


# ---------------------------------------------------------------- differences of the ABS review


def differences() -> Mapping[str, str]:
    """The chances that the review of the ABS printed, beside exact ones."""
    off = []
    least = math.inf
    with PRINTED_DIFFERENCES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        count, units = int(row["count"]), int(row["units"])
        for column, observed in (("shows as 1", (1,)), ("shows as 1 or 2", (1, 2))):
            printed = float(row[column])
            exact = difference_probability_of(
                per_unit_deviations(units, largest=1000), count, observed
            )
            beyond = abs(printed - exact) - 0.005
            if beyond > 0:
                off.append(f"count {count:,} with {units} units {short(printed, 2)}")
                off[-1] += f" ({short(exact, 4)} exact)"
                # The largest number of draws whose standard error still reaches so far.
                least = min(least, exact * (1 - exact) / beyond**2)
    runs = int(least // 1000) * 1000
    text = (
        f"Of the review's {2 * len(rows)} printed chances, {len(off)} are not the exact ones"
        " rounded to"
        f" two digits: {'; '.join(off)}. That is no error if they were simulated: a simulation"
        " of up to"
        f" {runs:,} draws has a standard error as large as each of these distances."
    )
    return {"risk/probabilities.md": text}


# ---------------------------------------------------------------- look-ups


def scrambled() -> Mapping[str, str]:
    """What a gap between parts and total tells, by look-up."""
    rows = []
    spread: list[float] = []
    for name in SCHEMES:
        design = scheme(name)
        orders = [
            astuple(coupling_of(design, "scrambled", secret=secret_of(number)))
            for number in range(ORDERS)
        ]
        columns = list(zip(*orders, strict=True))
        exact = [astuple(coupling_of(design, lookup)) for lookup in ("hashed", "ascending")]
        cells = [name]
        for at, digits in enumerate((3, 3, 3, 2)):
            figures = [*(of[at] for of in exact), statistics.fmean(columns[at])]
            shown = " / ".join(short(figure, digits) for figure in figures)
            cells.append(f"{shown} ± {short(statistics.stdev(columns[at]), digits)}")
        if not name.startswith("RR"):
            spread.append(statistics.stdev(columns[0]))
        rows.append(cells)
    head = ["scheme", "no gap", "guess a part", "guess both", "bits left"]
    note = (
        "Each cell: `hashed` and `definition` / `ascending` / `scrambled`. The first two are"
        " exact. The third is"
        f" the mean over {ORDERS} orders that nobody chose, and the standard deviation between"
        " single orders: for"
        f' "no gap" {short(min(spread), 2)} to {short(max(spread), 2)}, so that an order can be'
        " much better or worse"
        " than the mean. Compute the figures of your own order before you use it."
    )
    return {"methods/look-ups.md": f"{table(head, rows)}\n\n{note}"}


# ---------------------------------------------------------------- additivity


#: Tables of the demo country that the exact way can still prove.
ADDED_UP = (
    ("age@broad", "sex", "marital_status"),
    ("ed@parish", "age@broad"),
    ("ed@parish+district", "age@broad"),
    ("ed@parish", "tenure"),
    ("age@five_year", "sex"),
)
BLOCKED = 2


def farther(spec: TableSpec, published: Int64) -> float | None:
    """By which share the fast way ends farther than the nearest table, if that can be proven."""
    fast = distance(spec, by_exchange(spec, published, blocked=BLOCKED), published)
    near = by_program(spec, published, blocked=BLOCKED, solver=Solver.CP_SAT, steps=100_000)
    if near is None:
        return None
    nearest = distance(spec, near, published)
    return fast / nearest - 1 if nearest else 0.0


def rough(spec: TableSpec, seed: int) -> Int64:
    """Counts with more noise than any scheme has; empty cells stay empty."""
    draw = np.random.default_rng(seed)
    inner = draw.poisson(draw.gamma(0.5, (4, 8, 20)[seed % 3], spec.base_shape))
    true = with_totals(spec, inner.astype(np.int64))
    values = np.where(true == 0, 0, np.maximum(true + draw.integers(-2, 3, true.shape), 0))
    raised = np.where(draw.random(true.shape) < 0.5, 0, BLOCKED + 1)
    return np.where((values > 0) & (values <= BLOCKED), raised, values)


def additivity() -> Mapping[str, str]:
    """How far the fast way is from the nearest table where ones and twos are blocked."""
    of_scheme: list[float | None] = []
    of_rough: list[float | None] = []
    with tempfile.TemporaryDirectory() as folder:
        country = make_country(3_000)
        write_country(Path(folder) / "country", country=country, file_format="parquet")
        for number in range(SECRETS):
            secret = secret_of(number)
            store = Path(folder) / f"{number}.store"
            load(Path(folder) / "country" / "schema.toml", store, secret=secret)
            census = open_store(store)
            method = CellKey(scheme("CP3(1,2)"), secret=secret, lookup=Lookup.DEFINITION)
            for at, axes in enumerate(ADDED_UP):
                spec = census.spec(*axes)
                shown = method.protect(census.tabulate(*axes)).table
                assert isinstance(shown, Table)
                of_scheme.append(farther(spec, shown.published))
                seeds = range(3 * number, 3 * number + 3)
                of_rough += [farther(spec, rough(spec, 100 * at + seed)) for seed in seeds]
            print(f"  secret {number + 1} of {SECRETS}")
    return {
        "methods/additivity.md": "With ones and twos blocked, the fast way ends farther than the"
        f" nearest table by {_farther(of_scheme)} for tables of a demo country under CP3(1,2)"
        f" and {SECRETS}"
        f" secrets, and by {_farther(of_rough)} for made-up tables of the same shapes with"
        " rougher noise."
    }


def _farther(shares: Sequence[float | None]) -> str:
    proven = [share for share in shares if share is not None]
    return (
        f"{100 * statistics.fmean(proven):.1f} % on average and {100 * max(proven):.0f} % at most"
        f" ({len(proven)} tables)"
    )


CLAIMS: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "additivity": additivity,
    "differences": differences,
    "guidelines": guidelines,
    "repetitions": repetitions,
    "safe": safe,
    "scrambled": scrambled,
    "study": study,
}


def main() -> None:
    """Make the figures that are asked for, and write them into their pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*CLAIMS, []], help="All, if none is named.")
    for name in parser.parse_args().names or CLAIMS:
        print(name)
        for page, text in CLAIMS[name]().items():
            path = DOCS / page
            path.write_text(written(path.read_text(encoding="utf-8"), name, text), encoding="utf-8")


if __name__ == "__main__":
    main()
