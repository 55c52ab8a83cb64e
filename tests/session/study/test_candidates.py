"""Any method takes part in a study: changes of records, alone and before another one; grids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import SpecError, UnknownName
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.variable import Entity
from sdcensus.report.study.results import Study, StudyResult
from sdcensus.report.study.words import Verdict, sentences, verdicts
from sdcensus.session.census.census import Census
from sdcensus.session.derive.step import step_from_text
from sdcensus.session.perturbation import write as write_perturbation
from sdcensus.session.study.candidates import method_candidates, parsed_method, scheme_candidates
from sdcensus.session.study.derived import with_unit_weights
from sdcensus.session.study.grid import check_points, grid_candidates, read_grid
from sdcensus.session.study.study import compare, compare_cubes
from sdcensus.session.study.tables import prefixes
from sdcensus.testing.island import SECRET, island, island_store
from tests.hamlet import write_hamlet

DROP = "drop-records where='age >= 8'"


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return island_store(tmp_path_factory.mktemp("island") / "i.store", 900)


def cube_of(census: Census, *by: str) -> Cube:
    return census.tabulate(*by).held_for("a test")


def studied(census: Census, *texts: str, by: tuple[str, ...] = ("area", "age")) -> Study:
    candidates = method_candidates(census, texts, of="persons", secret=SECRET)
    return compare(census, prefixes(census, by), candidates, secret=SECRET)


def result_of(study: Study, at: int = 0) -> StudyResult:
    return study.tables[-1].results[at]


def test_a_change_of_records_is_compared_with_the_original(census: Census) -> None:
    """Without a method behind it, counts of the changed records are published as they are."""
    study = studied(census, DROP, f"{DROP} | cell-key scheme=CP3 lookup=ascending")
    true = cube_of(census, "area", "age").count
    trial = step_from_text(census.store, DROP, secret=SECRET).trial()
    derived = cube_of(trial, "area", "age").count
    alone, both = study.tables[-1].results
    change = np.abs(derived - true)[true > 0]
    assert alone.utility.mean_absolute_distance == pytest.approx(change.mean())
    noisy = method_candidates(census, ["cell-key scheme=CP3 lookup=ascending"], of="persons")
    assert noisy[0].method is not None
    table = noisy[0].method.protect(cube_of(trial, "area", "age")).table.held_for("a test")
    change = np.abs(table.published - true)[true > 0]
    assert both.utility.mean_absolute_distance == pytest.approx(change.mean())
    # What is true of published ones and twos, and who is untouched, cell by cell.
    inside = interior(table.spec)
    old, new, shown = true[inside], derived[inside], table.published[inside]
    assert alone.further is not None
    assert both.further is not None
    few = (new > 0) & (new < 3)
    assert alone.further.claims_right == pytest.approx((old[few] == new[few]).mean())
    few = (shown > 0) & (shown < 3)
    assert both.further.claims_right == pytest.approx((old[few] == shown[few]).mean())
    small = (old > 0) & (old < 3)
    kept = small & (shown == new)
    untouched = both.further.unperturbed
    assert untouched.unchanged_records == new[kept].sum()  # nobody came in, some are gone
    assert untouched.unchanged_cells == (kept & (new == old)).sum()
    assert (untouched.cells, untouched.records) == (small.sum(), old[small].sum())


def test_sums_do_not_judge_changed_records(census: Census) -> None:
    study = studied(census, f"{DROP} | cell-key scheme=CP1 lookup=ascending")
    result = result_of(study)
    assert (result.share, result.small_share, result.given_away) == (None, None, ())
    assert result.risk is not None
    assert [*verdicts(study).values()] == [Verdict.UNJUDGED]
    heads = [head for head, _ in sentences(study)]
    assert "Records changed before they are counted." in heads


def test_two_changes_follow_each_other(census: Census) -> None:
    study = studied(census, f"{DROP} | drop-records where='sex == 0'", by=("age", "sex"))
    true = cube_of(census, "age", "sex").count
    left = true.copy()
    left[[8, 9], :] = 0
    left[:, 0] = 0
    left[:, 2] = left[:, 1]
    left[10] = left[:10].sum(axis=0)
    change = np.abs(left - true)[true > 0]
    assert result_of(study).utility.mean_absolute_distance == pytest.approx(change.mean())


def test_weights_are_compared_with_counts(tmp_path: Path) -> None:
    """The hamlet has weights of its own; what a method multiplies them with is what counts."""
    census = write_hamlet(tmp_path).load()
    text = "perturbation-weights one_in=3 small_strata=accept"
    unit = with_unit_weights(census.store)
    weight = census.schema.weight(Entity.PERSON)
    assert weight is not None
    one = 10**weight.decimals
    people = census.store.rows(Entity.PERSON)
    assert (unit.values(Entity.PERSON, weight)[0:people] == one).all()
    assert (census.store.values(Entity.PERSON, weight)[0:people] != one).any()
    derived = step_from_text(census.store, text, secret=SECRET).trial()
    sums = derived.tabulate("ed", "sex", measure="weighted").held_for("a test").weight
    own = census.tabulate("ed", "sex", measure="weighted").held_for("a test").weight
    assert sums is not None
    assert own is not None
    assert (sums != own).any()
    study = studied(census, text, f"{text} | cell-key strength=light", by=("ed", "sex"))
    alone, noisy = study.tables[-1].results
    trial = step_from_text(unit, text, secret=SECRET).trial()
    factors = trial.tabulate("ed", "sex", measure="weighted").held_for("a test").weight
    assert factors is not None
    true = cube_of(census, "ed", "sex").count
    change = np.abs(factors / one - true)[true > 0]
    assert alone.utility.mean_absolute_distance == pytest.approx(change.mean())
    assert noisy.utility.mean_absolute_distance is not None
    assert alone.further is not None
    untouched = alone.further.unperturbed.share_of_records
    assert untouched is None or 0.3 < untouched < 1


def test_every_other_method_takes_part(census: Census, tmp_path: Path) -> None:
    """Small cell adjustment, light touch, per-unit deviations, perturbation files."""
    file = tmp_path / "noise.csv"
    write_perturbation(scheme("CP3"), file)
    texts = (
        "small-cell-adjustment",
        "light-touch",
        "per-unit-deviations units=2",
        "per-unit-deviations units=2 totals=own",
        f"cell-key perturbation={file.as_posix()} lookup=hashed",
        "threshold-and-rounding",
        "cell-key strength=light then=additivity",
    )
    study = studied(census, *texts, by=("area@district", "sex", "age@class"))
    for result in study.tables[-1].results:
        assert result.share is not None
        assert result.further is not None
        assert result.further.rank_change is not None
        assert result.further.information_gain is not None
    gains = [
        result.further.information_gain for result in study.tables[-1].results if result.further
    ]
    assert all(gain is None or 0 <= gain <= 1 for gain in gains)


def test_a_census_without_a_store_changes_no_records() -> None:
    with pytest.raises(SpecError, match="sdcensus load"):
        method_candidates(island(300), [DROP], of="persons", secret=SECRET)
    census = island(300)
    study = compare(census, prefixes(census, ["area", "sex"]), scheme_candidates(["CP1"]))
    further = study.tables[-1].results[0].further
    assert further is not None
    assert further.constellation_share is not None
    cubes = [cube_of(census, "area", "sex")]
    assert compare_cubes(cubes, scheme_candidates(["CP1"])).tables[0].results[0].further is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "written by its name"),
        ("cell-key |", "written by its name"),
        ("| cell-key", "written by its name"),
        ("cell-key | drop-records where=age>1", "changes of records first"),
        ("cell-key | random-rounding", "changes of records first"),
        ("cell-key 'strength=light", "quotation mark"),
        ("nothing | cell-key", "There is no method 'nothing'"),
    ],
)
def test_mistakes_in_a_method_are_explained(text: str, said: str) -> None:
    with pytest.raises((SpecError, UnknownName), match=said):
        parsed_method(text)


def test_the_smallest_group_needs_a_method(census: Census) -> None:
    candidates = method_candidates(census, [DROP], of="persons", secret=SECRET)
    with pytest.raises(SpecError, match="cell-key"):
        compare(
            census, prefixes(census, ["area", "sex"]), candidates, smallest_group=5, secret=SECRET
        )
    both = method_candidates(census, [f"{DROP} | cell-key scheme=CP3"], of="persons", secret=SECRET)
    study = compare(
        census, prefixes(census, ["area", "age"]), both, smallest_group=8, secret=SECRET
    )
    assert result_of(study).utility.withheld > 0


# ---------------------------------------------------------------- grids


def test_every_combination_is_a_point(census: Census) -> None:
    grid = read_grid(["max_deviation=2,3 variance=1,2", "blocked=0,1"])
    assert grid.points == 8
    points, left_out = grid_candidates(census, grid, of="persons", secret=SECRET)
    assert len(points) + len(left_out) == 8
    assert left_out
    numbers = [candidate.point or 0 for candidate in points]
    assert numbers == sorted(set(numbers))
    for candidate in points:
        assert candidate.method is not None
        noise = candidate.method.noise
        assert noise is not None
        words = dict(word.split("=") for word in candidate.name.split(" ")[1:])
        assert noise.max_deviation == int(words["max_deviation"])
        assert noise.blocked == int(words["blocked"])
    study = compare(census, prefixes(census, ["area", "age"]), points, left_out=left_out)
    assert any("cannot be made" in text for _, text in sentences(study))


def test_records_are_changed_once_for_all_points_that_share_it(census: Census) -> None:
    grid = read_grid(["variance=1,2,3"])
    text = f"{DROP} | cell-key"
    points, _ = grid_candidates(census, grid, [text], of="persons", secret=SECRET)
    assert len({candidate.before for candidate in points}) == 1
    grid = read_grid(["drop-records.where=age==1,age==2"])
    points, _ = grid_candidates(
        census, grid, ["drop-records where=age==9 | random-rounding"], of="persons", secret=SECRET
    )
    assert [candidate.before for candidate in points] == [
        ("drop-records where=age==1",),
        ("drop-records where=age==2",),
    ]


@pytest.mark.parametrize(
    ("grid", "texts", "said"),
    [
        ("variance", (), "NAME=VALUE"),
        ("variance=", (), "NAME=VALUE"),
        ("variance=1 variance=2", (), "each name once"),
        ("nothing=1", (), "parameter of the grid 'nothing'"),
        ("variance=x", (), "takes numbers"),
        ("max_deviation=2.5", (), "whole numbers"),
        ("variance=1", (DROP,), "cell-key"),
        ("variance=1", ("random-rounding",), "no method that takes it"),
        ("variance=1", ("cell-key scheme=CP1",), "names another one"),
        ("base=1,3", ("random-rounding",), "base"),
        ("random-rounding.rate=1", ("random-rounding",), "parameter of the grid"),
        ("key_version=1,2", (), ""),
        ("variance=9 max_deviation=1", (), "No point of the grid can be made"),
    ],
)
def test_mistakes_in_a_grid_are_explained(
    census: Census, grid: str, texts: tuple[str, ...], said: str
) -> None:
    if not said:
        points, _ = grid_candidates(census, read_grid([grid]), texts, of="persons", secret=SECRET)
        assert len(points) == 2
        return
    with pytest.raises((SpecError, UnknownName), match=said):
        grid_candidates(census, read_grid([grid]), texts, of="persons", secret=SECRET)


def test_points_whose_records_cannot_be_made_are_left_out(census: Census) -> None:
    """A change that would leave nobody is refused by the method, and only by it."""
    grid = read_grid(["where=age==3,age>=0"])
    points, _ = grid_candidates(census, grid, [DROP], of="persons", secret=SECRET)
    specs = prefixes(census, ["area", "sex"])
    study = compare(census, specs, points, secret=SECRET)
    assert [candidate.point for candidate in study.candidates] == [1]
    assert [title for title, _ in study.left_out] == ["P2 where=age>=0"]
    assert "leaves no persons" in study.left_out[0][1]
    with pytest.raises(SpecError, match="leaves no persons"):
        compare(census, specs, points[1:], secret=SECRET)


def test_many_points_need_a_word() -> None:
    check_points(100, agreed=False)
    check_points(101, agreed=True)
    with pytest.raises(SpecError, match="101 points"):
        check_points(101, agreed=False)


@pytest.mark.parametrize(
    ("text", "before", "name"),
    [
        ("small-count-rounding base=5", (), "small-count-rounding"),
        ("small-count-rounding tables='sex;age' base=5", ("small-count-rounding",), ""),
        (
            "small-count-rounding tables=sex | small-count-rounding",
            ("small-count-rounding",),
            "small-count-rounding",
        ),
        ("small-count-rounding tables=sex | cell-key", ("small-count-rounding",), "cell-key"),
    ],
)
def test_a_name_of_two_methods_is_told_apart_by_what_is_said(
    text: str, before: tuple[str, ...], name: str
) -> None:
    asked = parsed_method(text)
    assert (tuple(words[0] for words in asked.before), asked.name) == (before, name)


def test_safe_stands_beside_cell_keys_and_before_them(census: Census) -> None:
    safe = "safe variables=area@district,sex,age control_table=sex,age=2;age moves=1 exact=0"
    study = studied(census, safe, "cell-key", f"{safe} | cell-key")
    alone, keyed, both = study.tables[-1].results
    trial = step_from_text(census.store, safe, secret=SECRET).trial()
    true, derived = cube_of(census, "area", "age").count, cube_of(trial, "area", "age").count
    change = np.abs(derived - true)[true > 0]
    assert alone.utility.mean_absolute_distance == pytest.approx(change.mean())
    for result in (alone, keyed, both):
        assert result.risk is not None
    by_all = cube_of(trial, "area@district-total", "sex-total", "age-total").count
    assert not ((by_all > 0) & (by_all < 3)).any()
