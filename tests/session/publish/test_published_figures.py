"""Figures of a published folder follow from the counts that lie beside them, and from no others."""

from __future__ import annotations

import csv
from fractions import Fraction

import pytest

from sdcensus.model.published.figures import DEFAULT_LIMITS
from tests.session.publish.plans import Office, new_office

PLAN = """
[[table]]
name = "counts"
rows = ["area@parish"]
columns = ["married", "sex"]

[[table]]
name = "ages"
rows = ["area@parish"]
columns = ["age"]

[[table]]
name = "wed"
rows = ["area@parish"]
columns = ["sex"]
measure = "share(married == '1')"

[[indicator]]
name = "men"
kind = "sex-ratio"
by = ["area@parish"]

[[indicator]]
name = "classes"
kind = "distribution"
variable = "age"
by = ["area@parish"]

[[indicator]]
name = "middle"
kind = "median-age"
by = ["area@parish"]
decimals = 2

[[indicator]]
name = "young"
kind = "share"
numerator = "age < 3"
by = ["area@parish"]
"""
Cells = dict[tuple[str, ...], tuple[str, str]]


@pytest.fixture(scope="module", params=[60, 900])
def office(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Office:
    """Few people, so that published counts are small and noise is large beside them; or more."""
    made = new_office(tmp_path_factory.mktemp("figures"), people=request.param, tables=PLAN)
    made.publish()
    return made


def cells(office: Office, name: str) -> Cells:
    """Value and flag by codes."""
    with (office.published / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    axes = [one for one in rows[0] if one in ("area", "married", "sex", "age")]
    return {
        tuple(row[axis] for axis in axes): (
            row.get("published", row.get("value", "")),
            row.get("flag", ""),
        )
        for row in rows
    }


def counts(office: Office, name: str) -> dict[tuple[str, ...], int]:
    return {codes: int(value) for codes, (value, _) in cells(office, name).items()}


def check(
    figure: tuple[str, str],
    above: int,
    below: int,
    *,
    scale: int,
    share: bool = False,
) -> None:
    """A figure is what the two published counts say, marked as the fixed limits say."""
    value, flag = figure
    if below < DEFAULT_LIMITS.none_below:
        assert (value, flag) == ("", ":")
        return
    expected = round(Fraction(above * scale, below))
    if share:
        expected = min(expected, scale)
    assert value == f"{expected // 10}.{expected % 10}"
    assert flag == ("( )" if min(above, below) < DEFAULT_LIMITS.low_below else "")


def test_shares(office: Office) -> None:
    known = counts(office, "counts")
    shown = cells(office, "wed")
    assert shown
    for (area, sex), figure in shown.items():
        check(figure, known[area, "1", sex], known[area, "_T", sex], scale=1000, share=True)


def test_ratios(office: Office) -> None:
    known = counts(office, "counts")
    for (area,), figure in cells(office, "men").items():
        check(figure, known[area, "_T", "0"], known[area, "_T", "1"], scale=1000)


def test_distributions(office: Office) -> None:
    known = counts(office, "ages")
    for (area, age), figure in cells(office, "classes").items():
        check(figure, known[area, age], known[area, "_T"], scale=1000, share=True)


def test_nothing_is_above_a_hundred_percent(office: Office) -> None:
    for name in ("wed", "classes", "young"):
        values = [Fraction(value) for value, _ in cells(office, name).values() if value]
        assert values
        assert all(0 <= value <= 100 for value in values)


def test_medians(office: Office) -> None:
    known = counts(office, "ages")
    for (area,), (value, flag) in cells(office, "middle").items():
        ages = [known[area, str(age)] for age in range(10)]
        total, before = sum(ages), 0
        if total < DEFAULT_LIMITS.none_below:
            assert (value, flag) == ("", ":")
            continue
        for age, one in enumerate(ages):
            if 2 * (before + one) >= total:
                middle = age + (Fraction(total, 2) - before) / one
                break
            before += one
        assert abs(Fraction(value) - middle) <= Fraction(1, 200)


def test_small_counts_stand_in_brackets(office: Office) -> None:
    flags = {flag for _, flag in cells(office, "wed").values()}
    assert "( )" in flags
    page = (office.published / "notes.html").read_text(encoding="utf-8")
    assert "of low reliability" in page
