"""What the office keeps of who is in a file, and reads again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.session.release.make.shown import read_shown, rows_of, shown_file, write_shown
from sdcensus.store.owner_only import is_owner_only
from tests.session.release.town import BANDS, P, document, opened, records_of, town


@pytest.mark.parametrize("left_out", [False, True])
def test_what_is_read_is_what_was_shown(tmp_path: Path, left_out: bool) -> None:
    store = town(tmp_path / "census.store", households=150)
    more = ""
    if left_out:
        named = "".join(f"{digest:016x}\n" for digest in store.digests(P)[:40].tolist())
        (tmp_path / "named.csv").write_text(f"record\n{named}", encoding="utf-8")
        more = 'delete = "named.csv"\n'
    release = opened(document(tmp_path, BANDS, more=more))
    records = records_of(release)
    shown = shown_file(records, store, "bands", 0.25)
    path = tmp_path / write_shown(shown, store, tmp_path)
    assert is_owner_only(path)
    again, gone = read_shown(path, store)
    assert gone == 0
    assert (again.name, again.accepted) == ("bands", 0.25)
    assert np.array_equal(again.rows, shown.rows)
    assert np.all(np.diff(again.rows) > 0)
    assert again.levels.keys() == shown.levels.keys()
    for name, level in shown.levels.items():
        assert again.levels[name].group == level.group
        assert np.array_equal(again.values[name], shown.values[name])
        # Also where persons were left out of the census that was sampled, it is about these.
        truth = level.group_array[store.column(P, store.schema.variable(name))[shown.rows]]
        assert np.array_equal(shown.values[name], truth)
    if left_out:
        assert not set(range(40)) & set(shown.rows.tolist())


def test_persons_are_found_by_their_digests_alone(tmp_path: Path) -> None:
    store = town(tmp_path / "census.store", households=40)
    known = store.digests(P)[slice(None)]
    asked = np.concatenate([known[::-1], np.array([1, 2], dtype=np.uint64)])
    rows, there = rows_of(store, asked)
    assert np.array_equal(rows[: known.size], np.arange(known.size)[::-1])
    assert there.tolist() == [True] * known.size + [False, False]
