"""What the office is told about a cell, where households exchange the dwellings that hold areas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.microdata.derived_view import DerivedView
from sdcensus.risk.combined.moves import cell_moves
from sdcensus.session.census.census import Census
from sdcensus.session.claim.truth import truth_of_cell
from sdcensus.session.derive.step import step_from_text
from sdcensus.testing.island import SECRET
from tests.microdata.settlement import settlement

SWAP = "targeted-swap k=1 rate=0.6 farther=yes"
PAIR = "attribute-swap attributes=sex classes=age rate=0.5 missing_match=yes"


@pytest.mark.parametrize("step_text", [SWAP, PAIR])
@pytest.mark.parametrize(
    ("of", "axes"),
    [("persons", ("area", "sex")), ("households", ("area", "tenure")), ("dwellings", ("area",))],
)
def test_who_stayed_came_and_left_is_right_where_links_are_exchanged(
    tmp_path: Path, step_text: str, of: str, axes: tuple[str, ...]
) -> None:
    store = settlement(tmp_path / "census.store", 3)
    step = step_from_text(store, step_text, secret=SECRET)
    view = DerivedView(step.run(), step.derivation)
    before, after = Census(store.schema, store), Census(view.schema, view)
    spec = before.spec(*(f"{axis}-total" for axis in axes), of=of)
    moved = cell_moves(store, view, spec)
    for number in range(moved.before.size):
        at = tuple(int(place) for place in np.unravel_index(number, spec.shape))
        truth = truth_of_cell(spec, at, after, before)
        assert truth.counted == moved.after[number]
        assert truth.original == moved.before[number]
        assert truth.stayed == moved.stayed[number]
        assert truth.imputed == 0
    places = step_text is SWAP
    moves = int((moved.before - moved.stayed).sum())
    if of == "dwellings":  # houses stay where they are
        assert moves == 0
    elif of == "households":
        assert (moves > 0) == places
    else:
        assert moves > 0
