"""Swapping in proportion to risk: exactly so many, each with its probability, partners alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.kernels.swapping.selection import PARTS, certain
from sdcensus.microdata.method import Changes, Draws
from sdcensus.microdata.swapping.proportional import (
    ProportionalSwap,
    select_units,
    unit_risks,
)
from sdcensus.microdata.swapping.units import unit_table
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.stores import Units, write_store
from tests.microdata.settlement import by_identity
from tests.microdata.swapping.test_random import (
    DRAWS,
    _nothing_else_changed,
    households,
    pairs_of,
    view,
)
from tests.microdata.swapping.township import H, P, township, township_schema, township_units
from tests.microdata.swapping.villages import Village

RISK = ("sex", "religion", "age@broad", "area@district")


def swapped(store: CensusStore, **parameters: Any) -> Changes:
    given: dict[str, Any] = {
        "members": ("sex", "age:3:12"),
        "rate": 0.05,
        "risk_variables": RISK,
    } | parameters
    return ProportionalSwap(**given).derive(store, DRAWS, no_progress)


def test_the_risk_of_a_household_comes_from_its_rarest_members(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 3)
    units = unit_table(store)
    district = store.schema.variable("area").level("district").group_array
    broad = store.schema.variable("age").level("broad").group_array
    columns = (
        store.raw(P, "sex"),
        store.raw(P, "religion"),
        broad[store.raw(P, "age")],
        district[store.raw(P, "area")],
    )
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    counts = Counter(keys)
    kept = [Fraction(1)] * store.rows(H)
    for household, key in zip(store.raw(P, "_household").tolist(), keys, strict=True):
        if household < store.rows(H):
            kept[household] *= 1 - Fraction(1, counts[key])
    risks = unit_risks(units, RISK)
    for row, risk in zip(units.rows.tolist(), risks.tolist(), strict=True):
        assert risk / PARTS == pytest.approx(float(1 - kept[row]), abs=1e-8)


def test_exactly_so_many_are_selected_and_each_with_its_probability(tmp_path: Path) -> None:
    """Over many keys the truth is accepted, and a probability that is one fifth off is not."""
    store = township(tmp_path / "a", 4, households=120)
    units = unit_table(store)
    risks = unit_risks(units, ("religion", "sex"))
    keys, number = 1500, 18  # 15 % of 120
    hits = np.zeros(len(units))
    for key in range(keys):
        selected = select_units(units, risks, 0.15, Draws(key.to_bytes(16, "little")))
        assert selected.size == len(set(selected.tolist())) == number
        hits[selected] += 1
    sure = certain(risks, number)
    left = number - sure.sum()
    wanted = np.where(sure, 1.0, risks * left / risks[~sure].sum())
    assert (hits[sure] == keys).all()
    drawn = ~sure & (wanted > 0)

    freedom = int(drawn.sum())
    assert _statistic(hits, keys, wanted, drawn) < freedom + 5 * np.sqrt(2 * freedom)
    even = np.full(len(units), number / len(units))
    assert _statistic(hits, keys, even, drawn) > freedom + 50 * np.sqrt(2 * freedom)
    near = np.minimum(wanted * np.where(np.arange(len(units)) % 2, 1.2, 0.8), 0.99)
    assert _statistic(hits, keys, near, drawn) > freedom + 5 * np.sqrt(2 * freedom)
    assert not hits[risks == 0].any()


def _statistic(hits: Any, keys: int, chances: Any, among: Any) -> float:
    expected = keys * chances[among]
    gaps = (hits[among] - expected) ** 2 / (expected * (1 - chances[among]))
    return float(gaps.sum())


def test_households_beyond_one_are_selected_for_certain(tmp_path: Path) -> None:
    """Four unique households and many common ones: the four are always selected."""
    store = township(tmp_path / "a", 5)
    units = unit_table(store)
    risks = np.ones(len(units), dtype=np.int64)
    risks[[3, 50, 100, 200]] = PARTS
    for key in range(20):
        selected = select_units(units, risks, 6 / 240, Draws(key.to_bytes(16, "big")))
        assert selected.size == 6
        assert {3, 50, 100, 200} <= set(selected.tolist())


@pytest.mark.parametrize("seed", range(4))
def test_partners_are_alike_and_live_in_another_area(tmp_path: Path, seed: int) -> None:
    store = township(tmp_path / "a", seed, households=500)
    changes = swapped(store)
    after = view(store, changes)
    before, now = households(store), households(after)
    pairs = pairs_of(changes)
    touched = [digest for pair in pairs for digest in pair]
    assert len(set(touched)) == len(touched)
    units = unit_table(store)
    chosen = select_units(units, unit_risks(units, RISK), 0.05, DRAWS)
    selected = set(units.digests[chosen].tolist())
    assert len(selected) == 25 == changes.figures["households selected"]
    assert {one for one, _ in pairs} <= selected
    for one, other in pairs:
        assert before[one][0] != before[other][0]
        assert before[one][1] == before[other][1]
        assert (now[one][0], now[other][0]) == (before[other][0], before[one][0])
    failures = [fact for fact in changes.facts if fact.name == "swap-failures"]
    failed = sum(int(str(row[-1])) for fact in failures for row in fact.rows)
    assert len(selected & set(touched)) + failed == 25
    assert sorted(store.raw(H, "area").tolist()) == sorted(after.raw(H, "area").tolist())
    _nothing_else_changed(store, after, {"area"})


def test_the_order_of_records_does_not_matter(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 6)
    mixed = township(tmp_path / "b", 6, shuffled=1)
    options: dict[str, Any] = {"rederive": ("work", "born"), "within": "region"}
    one, other = (view(each, swapped(each, **options)) for each in (store, mixed))
    assert by_identity(one) == by_identity(other)


def without_areas(path: Path) -> CensusStore:
    """The township as a census that has no geography at all."""
    schema, units = township_schema(), township_units(1)
    names = {"area", "work", "born"}
    bare: Schema = replace(
        schema, variables=tuple(each for each in schema.variables if each.name not in names)
    )
    kept: dict[Entity, Units] = {
        entity: replace(
            own, leaves={name: leaf for name, leaf in own.leaves.items() if name not in names}
        )
        for entity, own in units.items()
    }
    return write_store(path, bare, kept)


def test_without_areas_it_is_refused_with_an_alternative(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"no geography.*--how attributes"):
        swapped(without_areas(tmp_path / "a"), risk_variables=("sex",))
    one = Village(1, levels=2, top=1, fan=1).write(tmp_path / "b")
    with pytest.raises(SpecError, match=r"one area.*--how attributes"):
        swapped(one, members=("sex",), risk_variables=("sex",))


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"risk_variables": ("tenrue",)}, "tenrue"),
        ({"risk_variables": ("income",)}, "no codes"),
        ({"rate": 0.0}, "No households would be exchanged"),
        ({"members": ("age:7:x",)}, "cannot be read"),
        ({"within": "ward"}, "No level is finer"),
    ],
)
def test_what_cannot_be_done_is_refused(
    tmp_path: Path, parameters: dict[str, Any], problem: str
) -> None:
    store = township(tmp_path / "a", 1)
    with pytest.raises(SdcensusError, match=problem):
        swapped(store, **parameters)


def test_everybody_can_be_selected(tmp_path: Path) -> None:
    """A rate of 1 selects all with members; who finds nobody is reported with area and reason."""
    store = township(tmp_path / "a", 2)
    changes = swapped(store, rate=1.0)
    whole = sum(bool(each[1]) for each in households(store).values())
    assert changes.figures["households selected"] == whole
    tables = ProportionalSwap(risk_variables=RISK, members=("sex",)).foresee(
        store, DRAWS, no_progress
    )
    assert {table.name for table in tables} >= {"swap-units", "swap-donors"}


def test_a_plan_and_its_outcome_say_the_same_about_the_rate(tmp_path: Path) -> None:
    """How many are asked for, whoever of them finds a partner; and nothing about a risk."""
    store = township(tmp_path / "a", 2)
    (foreseen, *_) = ProportionalSwap(risk_variables=RISK, members=("sex",), rate=0.2).foresee(
        store, DRAWS, no_progress
    )
    (outcome, *_) = swapped(store, members=("sex",), rate=0.2).facts
    lines = {row[0]: row[1] for row in outcome.rows}
    assert outcome.rows[: len(foreseen.rows)] == foreseen.rows
    assert lines["selected, with a partner for each"] == 2 * int(str(lines["selected"]))
    assert not any("at risk" in str(line) for line in lines)


def test_pairs_of_another_census_are_told(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 2)
    pairs = tmp_path / "pairs.csv"
    lines = [f"{number:016x},{number + 9:016x},ed,1,anywhere" for number in range(3)]
    pairs.write_text("\n".join(["initiator,partner,level,profile,region", *lines]) + "\n")
    changes = swapped(store, earlier=pairs)
    assert any("No earlier pair is kept" in note for note in changes.notes)
