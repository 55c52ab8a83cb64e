"""The registry keeps what is closed, and refuses what gives it away: both directions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused, StoreError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.closing import Closing
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Mark, Table
from sdcensus.store import registry_files
from sdcensus.store.registry import Registry
from sdcensus.testing.island import island

ISLAND = island(200)


def made(method: str) -> Provenance:
    return Provenance(
        method=method,
        method_version="1",
        fingerprint="f" * 32,
        data_version="island",
        key_version=1,
        secret_id="s",
        package_version="0",
        spec_hash="",
    )


def table(*by: str, closed: tuple[tuple[int, ...], ...] = (), shift: int = 0) -> Table:
    cube = ISLAND.tabulate(*by)
    assert isinstance(cube, Cube)
    flags = np.zeros(cube.shape, dtype=np.uint8)
    for place in closed:
        flags[place] = Mark.WITHHELD
    return Table(cube.spec, np.where(flags != 0, 0, cube.count + shift), flags)


CLOSED = ((0, 0), (0, 1), (1, 0), (1, 1))


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry.create(tmp_path / "registry")


@pytest.fixture
def closed(registry: Registry) -> Registry:
    legal = table("area@district", "sex", closed=CLOSED)
    registry.add(legal, provenance=made("m"), name="legal", closes=Closing.SUMS)
    return Registry.open(registry.path)


def test_what_is_closed_is_kept_and_older_programs_stop(closed: Registry) -> None:
    (entry,) = closed.entries()
    assert entry.closes is Closing.SUMS
    (product,) = closed.products([entry])
    assert product.closed is not None
    assert product.closed.sum() == 4
    (path,) = (closed.path / "published").glob("*.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["version"] == registry_files.CLOSING_VERSION
    content["closes"] = "everything"
    path.write_text(json.dumps(content), encoding="utf-8", newline="\n")
    with pytest.raises(StoreError, match="damaged"):
        Registry.open(closed.path).entries()


def test_entries_that_close_nothing_stay_as_they_were(registry: Registry) -> None:
    registry.add(table("sex"), provenance=made("cell-key"), name="counts")
    (path,) = (registry.path / "published").glob("*.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["version"] == registry_files.FORMAT_VERSION
    assert "closes" not in content


@pytest.mark.parametrize(
    "by",
    [
        ("sex", "area@district", "married"),
        ("area@parish-total", "sex-total"),
        ("area@parish", "sex", "age"),
    ],
)
def test_a_table_that_gives_closed_cells_away_is_refused(
    closed: Registry, by: tuple[str, ...]
) -> None:
    with pytest.raises(Refused, match="Cells that one product closes would be given away") as said:
        closed.add(table(*by), provenance=made("cell-key"))
    assert "legal closes" in str(said.value)
    assert len(closed.entries()) == 1


def test_numbers_that_are_changed_give_them_away_as_well(closed: Registry) -> None:
    """One more in every cell is as good as the truth: the conflict is told after this."""
    with pytest.raises(Refused, match="would be given away"):
        closed.add(table("area@district", "sex", shift=1), provenance=made("cell-key"))


def test_what_gives_nothing_away_is_added(closed: Registry) -> None:
    closed.add(table("sex", "married"), provenance=made("cell-key"))
    closed.add(table("area@district", "married"), provenance=made("cell-key"))
    again = table("sex", "area@district", closed=tuple((b, a) for a, b in CLOSED))
    closed.add(again, provenance=made("m"), closes=Closing.SUMS)


def test_to_close_what_is_out_is_refused(registry: Registry) -> None:
    registry.add(table("area", "sex"), provenance=made("cell-key"), name="counts")
    legal = table("area@district", "sex", closed=CLOSED)
    with pytest.raises(Refused, match="It hides nothing") as said:
        registry.add(legal, provenance=made("m"), closes=Closing.SUMS)
    assert "counts" in str(said.value)
    registry.add(legal, provenance=made("m"), closes=Closing.SUMS, allow_conflicts=True)


def test_a_method_of_this_package_is_known_by_its_name(registry: Registry) -> None:
    """Small counts that 'threshold-and-rounding' withholds: none of them is shown elsewhere."""
    flagged = table("area@district", "sex", closed=CLOSED)
    registry.add(flagged, provenance=made("threshold-and-rounding"), name="small")
    (entry,) = registry.entries()
    assert entry.closes is Closing.CELLS
    with pytest.raises(Refused, match="would be given away"):
        registry.add(table("area@district", "sex", "married"), provenance=made("cell-key"))
    registry.add(table("area@parish-total", "sex-total"), provenance=made("cell-key"))


def test_tables_of_which_only_a_digest_is_kept_show_all_their_cells(registry: Registry) -> None:
    batch = registry.batch()
    spec = ISLAND.spec("area", "sex", "age")
    batch.add_digest(spec, "0" * 32, provenance=made("cell-key"), name="streamed")
    batch.commit("streamed")
    legal = table("area@district", "sex", closed=CLOSED)
    with pytest.raises(Refused, match="It hides nothing"):
        registry.add(legal, provenance=made("m"), closes=Closing.SUMS)
