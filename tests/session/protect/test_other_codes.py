"""What is published and served has the codes that are asked for."""

from __future__ import annotations

import pytest

from sdcensus.errors import Refused
from sdcensus.methods.coarsening.method import Coarsening
from sdcensus.methods.rounding import ConventionalRounding
from sdcensus.session.protect.table import check_methods, protect_table
from sdcensus.testing.island import island

ISLAND = island(60)


def test_a_method_that_chooses_codes_is_refused_where_codes_are_promised() -> None:
    spec = ISLAND.spec("area", "sex")
    with pytest.raises(Refused, match="declare them as a level"):
        check_methods([spec], ISLAND.origin, lambda of: Coarsening(3))
    check_methods([spec], ISLAND.origin, lambda of: ConventionalRounding(3))


def test_a_single_table_is_coarsened_with_notes_and_provenance() -> None:
    protected = protect_table(ISLAND, ISLAND.spec("area", "age@class"), Coarsening(6))
    assert protected.provenance.method == "coarsening"
    assert protected.provenance.spec_hash == protected.table.spec.hash()
