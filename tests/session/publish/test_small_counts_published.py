"""Tables of a plan that are rounded together: no small counts, and one number for a common cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sdcensus.formats.read.tables import read_published
from sdcensus.session.derive import derive
from sdcensus.session.publish.run import PublishOptions, publish
from sdcensus.testing.island import SECRET
from tests.hamlet import write_hamlet

PLAN = """\
store = "{store}"
[[table]]
name = "ages"
rows = ["ed"]
columns = ["sex", "age@ten_year"]
[[table]]
name = "homes"
rows = ["ed@parish+ed"]
columns = ["sex", "tenure"]
[[table]]
name = "classes"
rows = ["age@ten_year+broad"]
columns = ["married"]
[protect]
method = "small-count-rounding"
base = 5
[output]
folder = "{folder}"
office_folder = "{folder}.office"
date = 2026-03-01
formats = ["csv"]
"""


def test_tables_of_a_plan_agree_and_equal_those_of_a_store(tmp_path: Path) -> None:
    hamlet = write_hamlet(tmp_path)
    hamlet.load()
    said = {
        "tables": ["ed,sex,age@ten_year", "ed@parish+ed,sex,tenure", "age@ten_year+broad,married"],
        "base": 5,
    }
    derive(hamlet.store, tmp_path / "rounded.store", "small-count-rounding", said, secret=SECRET)
    shown = []
    for store, folder in (("census.store", "one"), ("rounded.store", "two")):
        plan = hamlet.write(f"{folder}.toml", PLAN.format(store=store, folder=folder))
        publish(plan, PublishOptions(secret=hamlet.secret))
        shown.append(
            {
                name: read_published(tmp_path / folder / f"{name}.csv").table.whole().published
                for name in ("ages", "homes", "classes")
            }
        )
    for tables in shown:
        for values in tables.values():
            assert not ((values > 0) & (values < 5)).any()
        ages, homes, classes = (tables[name] for name in ("ages", "homes", "classes"))
        assert ages[-1, -1, -1] == homes[-1, -1, -1] == classes[-1, -1]
        assert (ages[-1, -1, :-1] == classes[: ages.shape[2] - 1, -1]).all()
        assert (ages[-1, :, -1] == homes[-1, :, -1]).all()
    for name, values in shown[0].items():
        assert np.array_equal(values, shown[1][name]), name
