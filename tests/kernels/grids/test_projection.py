from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pyproj import Transformer

from sdcensus.kernels.grids.projection import laea_to_degrees

FORTH = Transformer.from_crs(4326, 3035, always_xy=True)
BACK = Transformer.from_crs(3035, 4326, always_xy=True)
#: From the Azores to Iceland and the Caspian sea, in metres.
EAST, NORTH = st.floats(800_000, 7_500_000), st.floats(700_000, 6_500_000)


def test_the_example_of_the_guidance_note() -> None:
    """EPSG guidance note 7-2, method 9820: 50 N 5 E, in metres to the centimetre."""
    (point,) = laea_to_degrees(np.array([[3_962_799.45, 2_999_718.85]]))
    assert point == pytest.approx([5.0, 50.0], abs=1e-7)


@given(points=st.lists(st.tuples(EAST, NORTH), min_size=1, max_size=20))
def test_the_projection_library_agrees(points: list[tuple[float, float]]) -> None:
    """Forth again, to a hundredth of a millimetre; its own way back is exact to two."""
    given_points = np.array(points)
    degrees = laea_to_degrees(given_points)
    again = np.column_stack(FORTH.transform(degrees[:, 0], degrees[:, 1]))
    assert np.abs(again - given_points).max() < 1e-5
    theirs = np.column_stack(BACK.transform(given_points[:, 0], given_points[:, 1]))
    assert np.abs(degrees - theirs).max() < 3e-8


def test_what_is_on_no_map_of_the_earth_is_no_number() -> None:
    far = np.array([[5e7, 0.0], [np.nan, 3e6], [4_321_000.0, 3_210_000.0]])
    degrees = laea_to_degrees(far)
    assert np.isnan(degrees[:2]).all()
    assert degrees[2] == pytest.approx([10.0, 52.0], abs=1e-12)
