"""A specification read back from plain values is the same specification."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import InputError
from sdcensus.model.spec.document import spec_from_json, spec_to_json
from sdcensus.testing.island import island

CENSUS = island(50)
AXES = ["area@parish+district", "area@district", "sex-total", "age@class+half", "age", "married"]
CONDITIONS = [None, "age > 3", "age@class == 'c1' or sex == 0", "age > 3 and area@district == 'D0'"]


@given(
    st.lists(st.sampled_from(AXES), unique_by=lambda axis: axis[:3], max_size=4),
    st.sampled_from(CONDITIONS),
    st.sampled_from(["count", "weighted"]),
)
def test_the_same_table_comes_back(by: list[str], condition: str | None, measure: str) -> None:
    spec = CENSUS.spec(*by, universe=condition, measure=measure, name="one")
    back = spec_from_json(json.loads(json.dumps(spec_to_json(spec))))
    assert back == spec
    assert back.shape == spec.shape
    assert back.name == "one"
    assert [axis.codes for axis in back.axes] == [axis.codes for axis in spec.axes]
    assert [axis.variable.codes for axis in back.axes] == [
        axis.variable.codes for axis in spec.axes
    ]
    assert spec_to_json(back) == spec_to_json(spec)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "newer version"),
        ({"of": "ghost"}, "damaged"),
        ({"axes": [{"variable": "none", "levels": [], "total": True}]}, "damaged"),
        ({"code_lists": 3}, "damaged"),
        ({"universe": {"variables": ["sex"], "leaf_belongs_to": [[0]], "holds": [1]}}, "fit"),
    ],
)
def test_a_damaged_description_is_refused(change: dict[str, Any], message: str) -> None:
    document = {**spec_to_json(CENSUS.spec("sex")), **change}
    with pytest.raises(InputError, match=message):
        spec_from_json(document, where="table.csv")
