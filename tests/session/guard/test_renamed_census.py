"""A census under another code: the same people, all numbers drawn anew, one more look."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.guard.guard import read_lock
from sdcensus.testing.island import SECRET, island_schema
from sdcensus.testing.stores import Units, write_store
from tests.session.publish.publications import corrected, people, publish


def coded(path: Path, units: Units, code: str, *, date: str = "2021-05-09") -> Census:
    """A store of these people, whose keys come from their identity under a code."""
    keys = np.random.default_rng(sum(code.encode())).integers(0, 2**32, units.keys.size)
    info = CensusInfo(name="Island", code=(code,), reference_date=date)
    schema = replace(island_schema(), census=info)
    own = replace(units, keys=keys.astype(np.uint32))
    write_store(path, schema, {Entity.PERSON: own}, secret_id=SECRET.id)
    return open_store(path)


def test_the_same_records_under_another_code_need_a_named_event(tmp_path: Path) -> None:
    office, units = tmp_path / "office", people()
    publish(office, coded(tmp_path / "a.store", units, "ISL2021"))
    renamed = coded(tmp_path / "b.store", units, "ISL2021B")
    with pytest.raises(Refused, match=r"'ISL2021B' are those that were published as 'ISL2021'"):
        publish(office, renamed)
    with pytest.raises(Refused, match=r"--revision NAME --rekey.*one more look"):
        publish(office, renamed, revision="corrections")
    assert read_lock(office).looks == 1
    done = publish(office, renamed, revision="new-code", rekey=True)
    assert any("drawn 2 times" in note for note in done.notes)
    assert read_lock(office).looks == 2
    publish(office, renamed)  # and it goes on under the new name


def test_few_corrections_do_not_make_other_people_of_them(tmp_path: Path) -> None:
    office, units = tmp_path / "office", people()
    publish(office, coded(tmp_path / "a.store", units, "A"))
    sex = units.leaves["sex"].copy()
    sex[:50] = 1 - sex[:50]
    with pytest.raises(Refused, match="published as 'A'"):
        publish(office, coded(tmp_path / "b.store", corrected(units, sex=sex), "B"))


def test_another_census_is_another_one(tmp_path: Path) -> None:
    office = tmp_path / "office"
    publish(office, coded(tmp_path / "a.store", people(), "A"))
    publish(office, coded(tmp_path / "b.store", people(seed=8), "B", date="2031-05-09"))
    publish(office, coded(tmp_path / "c.store", people(seed=9), "C"))
    assert read_lock(office).looks == 1


def test_a_lock_of_an_older_version_is_helped_by_its_store(tmp_path: Path) -> None:
    office, units = tmp_path / "office", people()
    publish(office, coded(tmp_path / "a.store", units, "A"))
    path = office / "publication.lock"
    content = json.loads(path.read_text(encoding="utf-8"))
    for one in content["makings"]:
        del one["people"]
    path.write_text(json.dumps({**content, "version": 1}), encoding="utf-8", newline="\n")
    with pytest.raises(Refused, match="published as 'A'"):
        publish(office, coded(tmp_path / "b.store", units, "B"))
