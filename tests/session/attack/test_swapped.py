"""The smallest targeted swap against attacks on a plan, on a small census."""

from __future__ import annotations

import csv
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from sdcensus.errors import OutputError, SpecError
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.report.new_folder import check_new_folder
from sdcensus.session.attack.ladder import SwapRule, smallest_swap, swap_levels
from sdcensus.session.attack.swapped import (
    SwapLaboratory,
    SwappedAttacks,
    SwapTrial,
    swapped_attacks,
)
from sdcensus.session.census.census import open_store
from sdcensus.session.recommend.swap_report import lab_report, write_lab
from sdcensus.session.recommend.swapping import steps_at
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.exchange import FURTHER, village

STEP = "targeted-swap k=4 risk_variables=kind farther=yes rate={rate}"


def lab_plan(folder: Path, households: int = 700) -> Path:
    """A village and a plan whose every cell is delivered."""
    village(folder / "census.store", households=households, kinds=25)
    write_secret(SECRET, folder / "office.secret")
    tables = [("kinds", "kind"), *((name, f"kind, {name}") for name in ("colour", *FURTHER))]
    text = 'store = "census.store"\n'
    for name, axes in tables:
        columns = ", ".join(f'"{axis.strip()}"' for axis in axes.split(","))
        text += (
            f'[[table]]\nname = "{name}"\nrows = ["area@area+district"]\ncolumns = [{columns}]\n'
        )
    text += '[protect]\nmethod = "cell-key"\nstrength = "strong"\n'
    text += '[output]\nfolder = "published"\n'
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lab_plan(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def lab(plan: Path) -> SwappedAttacks:
    return swapped_attacks(
        plan,
        steps_at(STEP, (0.1, 0.6)),
        secret=plan.parent / "office.secret",
        attacks=("patterns", "zero-patterns"),
    )


def test_targeted_swapping_makes_claims_no_better_than_the_limit(lab: SwappedAttacks) -> None:
    before, *after = lab.trials
    assert before.step == ""
    share_before = before.worst("area")
    assert share_before is not None
    assert share_before > lab.limit
    assert lab.smallest in after
    assert lab.smallest is not None
    assert (lab.smallest.worst("area") or 0.0) <= lab.limit
    # All who are rare have moved: of claims about one of a kind hardly any is right.
    claims, right = lab.smallest.of("area", 1)
    claims_before, right_before = before.of("area", 1)
    assert right / max(claims, 1) < 0.5 * right_before / claims_before


def test_it_has_a_price(lab: SwappedAttacks) -> None:
    costs = [trial.mean_absolute_distance for trial in lab.trials]
    assert None not in costs
    assert costs == sorted(costs)  # type: ignore[type-var]
    assert lab.trials[-1].hellinger > lab.trials[0].hellinger  # type: ignore[operator]


def test_the_search_stops_where_it_is_enough(plan: Path, lab: SwappedAttacks) -> None:
    search = swapped_attacks(
        plan,
        steps_at(STEP, (0.1, 0.6)),
        secret=SECRET,
        attacks=("zero-patterns",),
        until_enough=True,
    )
    assert search.smallest is search.trials[-1]
    assert len(search.trials) <= len(lab.trials)


def test_mistakes_are_told_before_any_work(plan: Path) -> None:
    with pytest.raises(SpecError, match="--rates"):
        steps_at(STEP, ())
    with pytest.raises(SpecError, match="probability"):
        swapped_attacks(plan, [], secret=SECRET, limit=1.0)
    with pytest.raises(SpecError, match="No table of the plan"):
        swapped_attacks(plan, [], secret=SECRET, tables=["nothing*"])


@pytest.fixture(scope="module")
def searched(plan: Path) -> SwappedAttacks:
    laboratory = SwapLaboratory(plan, secret=SECRET, attacks=("patterns", "zero-patterns"))
    return smallest_swap(laboratory, 0.5)


def test_the_smallest_meets_the_limit_and_the_next_milder_does_not(
    searched: SwappedAttacks,
) -> None:
    smallest, milder = searched.smallest, searched.milder
    assert smallest is not None
    assert milder is not None
    assert not smallest.foreseen
    assert not milder.foreseen
    assert smallest.enough(0.5)
    assert not milder.enough(0.5)
    assert 0 < (milder.touched or 0) < (smallest.touched or 0) <= (smallest.units or 0)
    touched = [trial.touched or 0 for trial in searched.trials]
    assert touched == sorted(touched)
    # Whatever touches fewer looks worse than the one that was attacked and is not enough.
    for trial in searched.trials:
        if (trial.touched or 0) < (smallest.touched or 0):
            assert not trial.enough(0.5)


def test_what_was_found_can_be_said_as_a_step(plan: Path, searched: SwappedAttacks) -> None:
    assert searched.smallest is not None
    again = swapped_attacks(
        plan, [searched.smallest.step], secret=SECRET, attacks=("patterns", "zero-patterns")
    )
    assert again.trials[1].residents == searched.smallest.residents
    assert again.trials[1].touched == searched.smallest.touched


def test_places_do_not_help_the_country_and_answers_do(searched: SwappedAttacks) -> None:
    before, contrast = searched.trials[0], searched.contrast
    assert contrast is not None
    assert searched.smallest is not contrast
    known = before.worst("country")
    if known is not None:  # claims about the country need enough of them
        assert (contrast.worst("country") or 0.0) < known


def test_a_rule_covers_what_asks_for_less() -> None:
    rule = SwapRule(("kind", "colour"), ("district", "area"), 3)
    assert rule.covers(SwapRule(("kind",), ("district",), 2))
    assert not rule.covers(SwapRule(("kind",), ("district",), 4))
    assert not SwapRule(("kind",), ("district",), 4).covers(rule)


def test_the_report_has_every_trial_and_is_for_the_office(
    tmp_path: Path, plan: Path, searched: SwappedAttacks
) -> None:
    census = open_store(plan.parent / "census.store")
    for language in (None, *LANGUAGES):
        report = lab_report(searched, census, language)
        page, lines = write_lab(report, tmp_path / f"lab-{language}")
        assert is_owner_only(page)
        assert is_owner_only(lines)
        text = page.read_text(encoding="utf-8")
        assert "<svg" in text
        assert 'name="robots" content="noindex"' in text
        rows = list(csv.DictReader(lines.read_text(encoding="utf-8").splitlines()))
        trials = [*searched.trials, *([searched.contrast] if searched.contrast else [])]
        assert {row["change"] for row in rows} == {trial.step for trial in trials}
        assert searched.smallest is not None
        assert {row["change"] for row in rows if row["chosen"] == "yes"} == {searched.smallest.step}
        for trial in trials:
            assert escape(trial.step) in text
    with pytest.raises(OutputError, match="already exists"):
        check_new_folder(tmp_path / "lab-None")


def test_a_country_of_one_area_is_told_what_to_do(tmp_path: Path) -> None:
    census = open_store(village(tmp_path / "census.store", households=50, kinds=4).path)
    schema = census.schema
    without = replace(schema, variables=tuple(v for v in schema.variables if v.name != "area"))
    base = SwapTrial(
        step="", residents=(), tables=1, mean_absolute_distance=0, hellinger=0, levels=("country",)
    )
    with pytest.raises(SpecError, match="attribute-swap"):
        swap_levels(without, base)
