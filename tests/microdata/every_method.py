"""What every method changes in a small country, and a file of it, as one digest each: a program.

Run by a test in interpreters with other hash seeds, without compiled kernels, and with one thread.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from sdcensus.microdata.continuous.microaggregation import Microaggregation
from sdcensus.microdata.continuous.rank_swap import RankSwap
from sdcensus.microdata.imputation.over_imputation import OverImputation
from sdcensus.microdata.method import Changes, PreTabularMethod
from sdcensus.microdata.pram.geographic import GeographicPram
from sdcensus.microdata.pram.method import Pram
from sdcensus.microdata.release.large_households import ages_moved
from sdcensus.microdata.release.publication import published
from sdcensus.microdata.safe.method import Safe
from sdcensus.microdata.small_counts.small_count_rounding import RoundedRecords
from sdcensus.microdata.swapping.attributes import AttributeSwap
from sdcensus.microdata.swapping.proportional import ProportionalSwap
from sdcensus.microdata.swapping.random import RandomSwap
from sdcensus.microdata.swapping.targeted import TargetedSwap
from sdcensus.microdata.weights.perturbation_weights import PerturbationWeights
from sdcensus.model.progress import no_progress
from sdcensus.model.release.plan import LargeHouseholds
from sdcensus.model.release.release_file import ReleaseFile
from tests.microdata.release.designs import file_of, plan_of
from tests.microdata.swapping.test_targeted import DRAWS
from tests.microdata.swapping.villages import Village

METHODS: tuple[PreTabularMethod, ...] = (
    TargetedSwap(
        risk_variables=("sex", "age"),
        profiles=("persons~1",),
        max_distance=3000,
        farther=True,
        rate=0.1,
    ),
    RandomSwap(members=("sex",), tables=("ed,sex",), within="anywhere"),
    ProportionalSwap(risk_variables=("sex", "age"), members=("sex",), rate=0.1),
    AttributeSwap(attributes=("faith",), classes=("sex",), rate=0.1),
    Pram(variables=("faith",), stay=("0.7",)),
    GeographicPram(move=("ed=0.2",)),
    OverImputation(blank=("faith",), match=("sex",), rate=0.2),
    PerturbationWeights(one_in=4, level="total", small_strata="accept"),
    Microaggregation(variables=("risk",)),
    Microaggregation(variables=("risk",), grouping="each", value="median"),
    RankSwap(variables=("risk",)),
    Safe(variables=("sex", "age", "faith"), moves=1, exact=20),
    RoundedRecords(tables=("ed,sex", "age,faith"), base=4),
)


def digest_of(changes: Changes) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for name, column, new in changes.columns():
        digest.update(f"{name} {column} {new.rows.tolist()} {new.values.tolist()}".encode())
    for variable, values in changes.added:
        digest.update(f"{variable.name} {values.tolist()}".encode())
    for file in changes.files:
        digest.update(repr([column.tolist() for column in file.columns.values()]).encode())
    digest.update(repr([(table.name, table.rows) for table in changes.facts]).encode())
    return digest.hexdigest()


def digest_of_file(file: ReleaseFile) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for table in file.tables:
        for column in table.columns:
            digest.update(f"{column.name} {column.values.tolist()}".encode())
    return digest.hexdigest()


def main(folder: Path) -> None:
    store = Village(5, households=90, grid=True).write(folder)
    for method in METHODS:
        changes = method.derive(store, DRAWS, no_progress)
        sys.stdout.write(f"{method.name} {digest_of(changes)}\n")
    plan = plan_of("2/7", large_above=3, large=LargeHouseholds.PERTURB_AGES)
    records, _ = file_of(store, plan)
    file = published(ages_moved(records, plan, DRAWS), plan, DRAWS, "copy")
    sys.stdout.write(f"file {digest_of_file(file)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
