"""Methods that search for long, and may be stopped: what is written of them, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sdcensus.session.derive import EffectQuestions, derivation, derive, effects, prepared
from sdcensus.session.derive.effects import measured_effects
from sdcensus.store.census_store import CensusStore
from sdcensus.store.writer import StoreWriter, writing
from sdcensus.testing.island import SECRET
from tests.microdata.pram.town import town

SAID = {"variables": ["ed@region", "sex", "married", "age"], "moves": 2, "exact": 0}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return town(tmp_path_factory.mktemp("town") / "store", 400)


def test_what_somebody_stopped_is_never_put_together_with_an_earlier_run(
    store: CensusStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    @contextmanager
    def watched(out: Path, *, replace: bool, resumed: str) -> Iterator[StoreWriter]:
        names.append(resumed)
        with writing(out, replace=replace, resumed=resumed) as writer:
            yield writer

    monkeypatch.setattr(derivation, "writing", watched)
    seen = [0]

    def stopping(stage: str, done: float) -> None:
        seen[0] += "largest deviation" in stage
        if seen[0] == 2 and "largest deviation" in stage:
            raise KeyboardInterrupt

    derive(store.path, tmp_path / "whole", "safe", SAID, secret=SECRET)
    report = derive(store.path, tmp_path / "cut", "safe", SAID, secret=SECRET, progress=stopping)
    assert names[0]
    assert names[1] == ""
    assert any("stopped the search" in note for note in report.notes)


@pytest.mark.parametrize(("most", "times"), [(0, 0), (10**6, effects.REPETITIONS)])
def test_a_report_repeats_a_search_for_small_censuses_only(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch, most: int, times: int
) -> None:
    monkeypatch.setattr(effects, "MOST_SEARCHED_RECORDS", most)
    step = prepared(store, "safe", SAID, secret=SECRET)
    asked: Any = EffectQuestions(tables=("ed@region,sex",))
    measured = measured_effects(step, step.run(), asked, SECRET)
    assert measured.repetitions == times
    assert measured.facts
