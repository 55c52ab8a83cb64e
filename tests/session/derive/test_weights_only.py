"""Stores whose weights were drawn publish weighted counts only, through every door."""

from __future__ import annotations

import pytest

from sdcensus.session.derive import derive
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet

WEIGHTS = {"one_in": 3, "small": "accept"}


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    for method, said in (("perturbation-weights", WEIGHTS), ("systematic-sample", {})):
        derive(made.store, made.folder / f"{method}.store", method, said, secret=SECRET)
    return made
