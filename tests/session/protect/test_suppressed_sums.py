"""Suppressed sums on their way: files, audits, earlier releases, plans beside counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.formats.write import write_table
from sdcensus.methods.suppression.method import Suppression
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Table
from sdcensus.session.audit import AuditOptions, CellStatus, audit_tables, read_tables
from sdcensus.session.census.census import Census
from sdcensus.session.protect.earlier import read_earlier
from sdcensus.session.protect.table import protect_table
from sdcensus.session.publish.run import PublishReport, publish
from tests.hamlet import Hamlet, write_hamlet

AXES = ("ed@parish", "sex", "age@broad")
METHOD = Suppression(percent_rule=15, dominance="2, 85")


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    hamlet.load()
    return hamlet


@pytest.fixture(scope="module")
def census(hamlet: Hamlet) -> Census:
    return hamlet.census()


@pytest.fixture(scope="module")
def protected(census: Census) -> Protected:
    return protect_table(census, census.spec(*AXES, measure="sum(income)"), METHOD)


def written(protected: Protected, path: Path) -> Path:
    write_table(protected.table, path, provenance=protected.provenance)
    return path


@pytest.mark.parametrize("name", ["sums.csv", "sums.parquet"])
def test_sums_are_read_as_they_were_published(
    protected: Protected, tmp_path: Path, name: str
) -> None:
    table = read_published(written(protected, tmp_path / name)).table
    assert isinstance(table, Table)
    assert isinstance(protected.table, Table)
    assert table.spec.decimals == 2
    assert (table.published == protected.table.published).all()
    assert table.flags is not None
    assert protected.table.flags is not None
    assert (table.flags == protected.table.flags).all()


def test_sums_below_0_are_read(protected: Protected, tmp_path: Path) -> None:
    file = written(protected, tmp_path / "sums.csv")
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(place for place, line in enumerate(lines) if line.endswith("0.00,\n"))
    lines[at] = lines[at].replace(lines[at].split(",")[-2], "-12.5")
    file.write_text("".join(lines), encoding="utf-8")
    table = read_published(file).table
    assert isinstance(table, Table)
    assert table.published.min() == -1_250


def test_an_audit_finds_no_closed_sum(protected: Protected, census: Census, tmp_path: Path) -> None:
    tables, notes = read_tables([written(protected, tmp_path / "sums.csv")])
    findings = audit_tables(tables, AuditOptions(workers=1), notes=notes)
    assert findings.decimals == 2
    assert findings.cells
    assert not any(cell.status is CellStatus.DISCLOSED for cell in findings.cells)


def test_sums_are_not_audited_beside_counts(
    protected: Protected, census: Census, tmp_path: Path
) -> None:
    counts = protect_table(census, census.spec(*AXES), Suppression(3))
    files = [written(protected, tmp_path / "a.csv"), written(counts, tmp_path / "b.csv")]
    tables, notes = read_tables(files)
    assert [table.name for table in tables] == ["b.csv"]
    assert any("audit tables of sums by themselves" in note for note in notes)


def test_earlier_sums_stay_closed_and_open(
    protected: Protected, census: Census, tmp_path: Path
) -> None:
    before = read_earlier(written(protected, tmp_path / "sums.csv"))
    spec = census.spec("ed@parish", "sex", measure="sum(income)")
    rules = {"percent_rule": 15, "dominance": "2, 85"}
    later = protect_table(census, spec, Suppression(**rules, earlier=before)).table  # type: ignore[arg-type]
    assert isinstance(later, Table)
    assert isinstance(protected.table, Table)
    assert protected.table.flags is not None
    flags = np.zeros(later.shape) if later.flags is None else later.flags
    assert ((flags != 0) == (protected.table.flags[..., -1] != 0)).all()
    with pytest.raises(SpecError, match="open elsewhere"):
        protect_table(census, spec, Suppression(dominance="6, 50", earlier=before))
    # Counts are another measure: what is closed of sums says nothing of them.
    counts = protect_table(census, census.spec("ed@parish", "sex"), Suppression(1, earlier=before))
    assert isinstance(counts.table, Table)
    assert counts.table.flags is None or not counts.table.flags.any()


PLAN = """
store = "census.store"

[[table]]
name = "incomes"
rows = ["ed@parish"]
columns = ["sex", "age@broad"]
measure = "sum(income)"

[[table]]
name = "people"
rows = ["ed@parish"]
columns = ["sex", "age@broad"]
measure = "count"
protect = "noise"

[protect]
method = "suppression"
percent_rule = 15

[protect.noise]
method = "cell-key"
strength = "light"

[output]
folder = "OUT"
formats = ["csv"]
"""
OTHER = """
[[table]]
name = "again"
rows = ["ed@parish"]
columns = ["age@broad", "sex", "married"]
measure = "sum(income)"
protect = "other"

[protect.other]
method = "cell-key-sums"
"""


def _publish(hamlet: Hamlet, name: str, plan: str) -> PublishReport:
    file = hamlet.write(f"{name}.toml", plan.replace("OUT", name))
    return publish(file, secret=hamlet.secret, yes=True)


def test_a_plan_has_suppressed_sums_beside_counts_with_noise(hamlet: Hamlet) -> None:
    report = _publish(hamlet, "beside", PLAN)
    assert any("p % rule" in remark for remark in report.remarks)
    text = (hamlet.folder / "beside" / "incomes.csv").read_text(encoding="utf-8")
    assert ",c\n" in text
    assert ",c\n" not in (hamlet.folder / "beside" / "people.csv").read_text(encoding="utf-8")


def test_no_other_table_of_a_plan_shows_a_closed_sum(hamlet: Hamlet) -> None:
    with pytest.raises(Refused, match="again"):
        _publish(hamlet, "again", PLAN + OTHER)
