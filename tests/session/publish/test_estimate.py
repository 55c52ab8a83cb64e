"""What a plan will take, as its formats say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.model.published.table_format import table_format
from sdcensus.session.publish.estimate import PlanCheck, check_plan
from tests.formats.write.delivered_made import FOR_ANY_TABLE
from tests.session.publish.plans import new_office


def test_a_format_costs_what_it_declares(tmp_path: Path) -> None:
    office = new_office(tmp_path, 300)

    def checked(name: str) -> PlanCheck:
        plan = office.write_plan(formats=[name])
        return check_plan(plan, secret=office.secret, threads=1)

    least = checked("csv")
    for name in FOR_ANY_TABLE:
        declared = table_format(name)
        more = (checked(name).seconds - least.seconds) * least.workers
        assert more == pytest.approx(least.cells * declared.seconds_per_cell)
