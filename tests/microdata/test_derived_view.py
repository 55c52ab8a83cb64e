"""A derived store that is never written is the one that would be written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.session.census.census import open_store
from sdcensus.session.derive import derive, prepared, step_from_text
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet
from tests.microdata.settlement import dense


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    written = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    written.load()
    return written


def test_a_trial_has_the_columns_and_tables_of_the_store_on_disk(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    derive(hamlet.store, tmp_path / "b", "drop-records", {"where": "age > 60"}, secret=SECRET)
    written = CensusStore.open(tmp_path / "b")
    step = prepared(hamlet.store, "drop-records", {"where": "age > 60"}, secret=SECRET)
    trial = step.trial()
    for entity, columns in written.manifest.columns.items():
        assert trial.store.rows(entity) == written.rows(entity)
        for name in columns:
            assert np.array_equal(trial.store.raw(entity, name), written.raw(entity, name))
    assert trial.origin.lineage == written.origin.lineage
    cubes = [dense(census.tabulate("ed", "sex")) for census in (trial, open_store(tmp_path / "b"))]
    assert (cubes[0].count == cubes[1].count).all()
    assert (cubes[0].key == cubes[1].key).all()


def test_a_step_is_the_same_in_one_line(hamlet: Hamlet) -> None:
    step = step_from_text(hamlet.store, "drop-records 'where=age > 60'", secret=SECRET)
    same = prepared(hamlet.store, "drop-records", {"where": "age > 60"}, secret=SECRET)
    assert step.derivation == same.derivation
    assert step.settings == {"where": "age > 60", "of": ""}
    assert step.foresee() == ()
