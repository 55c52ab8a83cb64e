"""The evaluation of what is published from a derived store measures against the original one."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.session.derive import derive
from sdcensus.session.publish.run import PublishReport, publish
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, rows, write_hamlet

PLAN = """
store = "{store}"
{top}
[[table]]
name = "sexes"
rows = ["ed@ed+parish"]
columns = ["sex"]

[protect]
method = "cell-key"
strength = "light"

[output]
folder = "{folder}"
formats = ["csv"]
evaluation = true
"""
#: Steps with their settings.
STEPS: dict[str, dict[str, Any]] = {
    "targeted-swap": {
        "rate": 0.2,
        "risk_variables": ["age@ten_year", "sex"],
        "profiles": ["persons"],
    },
    "pram": {"variables": ["sex"], "stay": ["0.8"]},
    "over-imputation": {"blank": ["sex"], "rate": 0.3, "match": ["married"]},
    "drop-records": {"where": "age >= 40"},
}
AREAS = {"E1": "P1", "E2": "P1", "E3": "P2", "E4": "P2", "E5": "P3"}


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    persons, households = rows(300)
    made = write_hamlet(
        tmp_path_factory.mktemp("evaluated") / "hamlet", persons=persons, households=households
    )
    made.load()
    return made


def counted(hamlet: Hamlet, *, weighted: bool = False) -> dict[tuple[str, str], int]:
    """How many live in each area by sex, from the files of the census."""
    homes = {(home["ed"], home["house"]): Decimal(home["weight"]) for home in hamlet.households}
    counts: dict[tuple[str, str], Decimal] = {}
    for person in hamlet.persons:
        stands_for = homes[person["ed"], person["house"]] if weighted else Decimal(1)
        for area in ("_T", person["ed"], AREAS[person["ed"]]):
            for sex in ("_T", person["sex"]):
                counts[area, sex] = counts.get((area, sex), Decimal(0)) + stands_for
    return {cell: round(count) for cell, count in counts.items()}


def published(hamlet: Hamlet, store: str, folder: str, top: str = "") -> PublishReport:
    text = PLAN.format(store=store, folder=folder, top=top)
    plan = hamlet.write(f"plan-{folder}.toml", text)
    return publish(plan, secret=hamlet.secret, accept_risk="Ana", reason="a test")


def sheet_of(report: PublishReport) -> tuple[list[str], dict[str, float]]:
    """The stages on the sheet, and the figures of the published stage with margins."""
    book = CalamineWorkbook.from_path(report.office / "evaluation.xlsx")
    lines = book.get_sheet_by_name("With margins").to_python(skip_empty_area=False)
    stages = [str(cell) for cell in lines[2] if cell]
    names, line = [str(name) for name in lines[3]], lines[4]
    last = max(at for at, name in enumerate(names) if name == "withheld")
    return (
        stages,
        {
            name: float(value)
            for name, value in zip(names[last:], line[last:], strict=True)
            if isinstance(value, int | float)
        },
    )


def changes(report: PublishReport, counts: dict[tuple[str, str], int]) -> list[int]:
    """How far each published number is from a count."""
    path = report.published / "sexes.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [
            abs(int(row["published"]) - counts.get((row["ed"], row["sex"]), 0))
            for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize("step", STEPS)
def test_changes_are_those_from_the_original_census(hamlet: Hamlet, step: str) -> None:
    store = f"{step}.store"
    derive(hamlet.store, hamlet.folder / store, step, STEPS[step], secret=SECRET)
    report = published(hamlet, store, step)
    stages, figures = sheet_of(report)
    changed = "after swap" if step == "targeted-swap" else "records changed"
    assert stages == ["original", changed, "published"]
    assert changed in (report.office / "evaluation.html").read_text(encoding="utf-8")
    by_hand = changes(report, counted(hamlet))
    assert figures["mean change, empty cells included"] == pytest.approx(
        sum(by_hand) / len(by_hand)
    )
    assert figures["largest change"] == max(by_hand)
    assert not any("derived store" in caution for caution in report.cautions)
    # Two steps from the census, the evaluation still goes back to the census.
    if step == "pram":
        again = hamlet.folder / "twice.store"
        derive(hamlet.folder / store, again, "targeted-swap", STEPS["targeted-swap"], secret=SECRET)
        report = published(hamlet, "twice.store", "twice")
        by_hand = changes(report, counted(hamlet))
        assert sheet_of(report)[1]["largest change"] == max(by_hand)


def test_without_the_original_the_evaluation_says_what_it_measures_against(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    (tmp_path / "alone").mkdir()
    derive(
        hamlet.store,
        tmp_path / "alone" / "derived.store",
        "drop-records",
        STEPS["drop-records"],
        secret=SECRET,
    )
    store = (tmp_path / "alone" / "derived.store").as_posix()
    report = published(hamlet, store, "alone")
    (caution,) = (caution for caution in report.cautions if "derived store" in caution)
    assert "original_store in [output]" in caution
    page = (report.office / "evaluation.html").read_text(encoding="utf-8")
    assert "so all figures compare with the derived store" in page
    stages, figures = sheet_of(report)
    assert stages == ["records changed", "published"]
    kept = [person for person in hamlet.persons if not 40 <= int(person["age"]) <= 99]
    by_hand = changes(report, counted(Hamlet(hamlet.folder, kept, hamlet.households)))
    assert figures["largest change"] == max(by_hand)
    # An original store says nothing of the kind.
    report = published(hamlet, "census.store", "first")
    assert not any("derived store" in caution for caution in report.cautions)
    assert sheet_of(report)[0] == ["original", "published"]


def test_weights_that_were_drawn_are_measured_against_those_of_before(hamlet: Hamlet) -> None:
    out, said = hamlet.folder / "weighed.store", {"one_in": 5, "small_strata": "accept"}
    derive(hamlet.store, out, "perturbation-weights", said, secret=SECRET)
    report = published(hamlet, "weighed.store", "weighed", 'measure = "weighted"')
    by_hand = changes(report, counted(hamlet, weighted=True))
    stages, figures = sheet_of(report)
    assert stages == ["original", "records changed", "published"]
    assert figures["largest change"] == max(by_hand)
