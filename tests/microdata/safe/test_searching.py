"""A search for small deviations never loses what it had, whoever ends it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdcensus.microdata.safe.combinations import combinations_of
from sdcensus.microdata.safe.controls import control_tables
from sdcensus.microdata.safe.layers import layers_of
from sdcensus.microdata.safe.method import Safe
from sdcensus.microdata.safe.problem import Problem, problem_of
from sdcensus.microdata.safe.rule_classes import rule_classes
from sdcensus.microdata.safe.searching import Effort, Ended, Found, Watch, searched, settled
from sdcensus.microdata.safe.variables import listed_variables
from sdcensus.model.progress import no_progress
from sdcensus.store.census_store import CensusStore
from tests.microdata.pram.town import town
from tests.microdata.safe.small_place import DRAWS, counted, made_safe

LISTED = ("ed@parish", "sex", "married", "age")
PIECE = "sdcensus.microdata.safe.searching._PIECE"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return town(tmp_path_factory.mktemp("town") / "store", 700)


def problem(store: CensusStore) -> Problem:
    listed = listed_variables(store.schema, LISTED)
    found = combinations_of(store, listed, DRAWS)
    layers = layers_of(found, control_tables(store.schema, listed, ()))
    return problem_of(found, layers, rule_classes(store, found), 3)


def search(store: CensusStore, monkeypatch: pytest.MonkeyPatch, **said: Any) -> Found:
    monkeypatch.setattr(PIECE, 2_000)
    clock = said.pop("clock", lambda: 0.0)
    progress = said.pop("progress", no_progress)
    asked = problem(store)
    return searched(asked, DRAWS, Watch(Effort(**said), 1, progress, clock))


def is_safe(store: CensusStore, found: Found) -> bool:
    counts = np.bincount(found.cells)
    return bool((counts[counts > 0] >= 3).all())


@pytest.mark.parametrize("restarts", [0, 2])
def test_the_best_never_gets_worse_and_more_work_finds_no_worse(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch, restarts: int
) -> None:
    short = search(store, monkeypatch, moves=20_000, restarts=0)
    long = search(store, monkeypatch, moves=60_000, restarts=restarts)
    for found in (short, long):
        assert is_safe(store, found)
        assert found.ended is Ended.WORK
        assert found.score <= found.scores[-1]
    if not restarts:
        assert list(long.scores) == sorted(long.scores, reverse=True)
        assert long.score < long.scores[0]
    else:  # the last part goes on with the best of all runs
        last = [score for score in long.scores if score <= min(long.scores)]
        assert long.score <= min(long.scores)
        assert last


def test_the_score_is_that_of_the_solution(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = search(store, monkeypatch, moves=30_000)
    asked = problem(store)
    counts = np.bincount(found.cells, minlength=asked.found.counts.size)
    deviations = asked.layers.totals(counts - asked.found.counts)
    worst = int(np.abs(deviations).max())
    assert found.score.worst == worst
    assert found.score.ties == int((np.abs(deviations) == worst).sum())
    assert found.score.squares == int(np.square(deviations).sum())


def test_the_clock_ends_a_search_with_the_best_so_far(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(10**9))
    found = search(store, monkeypatch, moves=10**9, seconds=12.0, clock=lambda: next(ticks))
    assert found.ended is Ended.CLOCK
    assert not found.repeatable
    assert is_safe(store, found)
    assert found.score <= found.scores[-1]


@pytest.mark.parametrize("moment", [3, 8])
def test_an_interruption_keeps_the_best_so_far(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    told: list[str] = []

    def progress(stage: str, done: float) -> None:
        told.append(stage)
        if sum("largest deviation" in stage for stage in told) == moment:
            raise KeyboardInterrupt

    found = search(store, monkeypatch, moves=10**9, progress=progress)
    assert found.ended is Ended.STOPPED
    assert is_safe(store, found)
    assert told[-1].startswith("largest deviation so far ")


def test_an_interruption_before_anything_was_found_ends_everything(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def progress(stage: str, done: float) -> None:
        if stage == "a first solution":
            raise KeyboardInterrupt

    monkeypatch.setattr("sdcensus.microdata.safe.searching._REPAIRED", 1)
    with pytest.raises(KeyboardInterrupt):
        search(store, monkeypatch, moves=10**9, progress=progress)


def test_what_a_person_stopped_is_told_and_not_gone_on_with(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PIECE, 500)
    seen = [0]

    def progress(stage: str, done: float) -> None:
        seen[0] += "largest" in stage
        if seen[0] == 4 and "largest" in stage:
            raise KeyboardInterrupt

    changes = Safe(variables=LISTED).derive(store, DRAWS, progress)
    assert not changes.repeatable
    assert any("stopped" in note for note in changes.notes)
    assert min(counted(store, changes, LISTED).values()) >= 3
    assert made_safe(store, variables=LISTED).repeatable


def test_settling_keeps_counts_and_brings_units_home(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = problem(store)
    found = search(store, monkeypatch, moves=30_000)
    nobody = np.zeros(found.cells.size, dtype=bool)
    cells = settled(asked, found.cells, nobody, asked.found.codes)
    assert (np.bincount(cells) == np.bincount(found.cells)).all()
    assert (cells != asked.found.homes).sum() <= (found.cells != asked.found.homes).sum()
    changed = [
        int((asked.found.codes[each] != asked.found.codes[asked.found.homes]).sum())
        for each in (found.cells, cells)
    ]
    assert changed[1] <= changed[0]
    blocks = asked.found.blocks
    assert (blocks[cells] == blocks[asked.found.homes]).all()
