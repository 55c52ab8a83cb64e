"""One table assessed: every figure is the measured one, whatever the method and the table."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from sdcensus import methods
from sdcensus.errors import Refused, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.pipeline import Pipeline
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.published.table import Table
from sdcensus.report.assessment.results import COMPARED, Assessment
from sdcensus.report.assessment.words import conclusions, lead
from sdcensus.risk.composite import RiskBeforeAndAfter
from sdcensus.risk.detection.detectors import detect
from sdcensus.risk.detection.findings import FindingKind
from sdcensus.risk.exempt import ExemptCells
from sdcensus.risk.feasibility import How, feasibility
from sdcensus.risk.looks.budget import NOT_COVERED, look_budget_of_tables
from sdcensus.risk.looks.chance import recovery_with
from sdcensus.risk.posterior import perceived_disclosure
from sdcensus.session.assess.assessment import EXACT_UP_TO, assess, assess_counts
from sdcensus.session.assess.options import AssessOptions
from sdcensus.testing.island import SECRET, island, island_cube
from sdcensus.utility.distances import utility_of
from tests.session.assess.assessed_methods import METHODS, cell_key, method_of, protected_by


def assessed(name: str, **options: Any) -> Assessment:
    protected = protected_by(name)
    options = {"schema": island().schema, "compare": False, **options}
    return assess_counts(
        protected.audit.cube, protected, AssessOptions(method=method_of(name), **options)
    )


def numbers_in(made: object, seen: set[int] | None = None) -> list[float]:
    """Every number that hangs on a result."""
    seen = set() if seen is None else seen
    if id(made) in seen or made is None or isinstance(made, str | bytes | bool):
        return []
    seen.add(id(made))
    if isinstance(made, int | float):
        return [float(made)]
    if isinstance(made, np.ndarray):
        return [] if made.dtype.kind not in "iuf" else np.ravel(made).astype(float).tolist()
    if isinstance(made, tuple | list):
        return [one for each in made for one in numbers_in(each, seen)]
    if hasattr(made, "__dataclass_fields__"):
        found = [getattr(made, field.name, None) for field in fields(made)]  # type: ignore[arg-type]
        return [one for each in found for one in numbers_in(each, seen)]
    return []


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_assessed(name: str) -> None:
    made = assessed(name, compare=name in ("cell key", "withheld"))
    assert all(map(math.isfinite, numbers_in(made)))
    assert made.main is not None
    assert made.left_out == ()
    assert lead(made)
    assert [part for part, _ in made.utility] == [
        *(TablePart.INTERIOR, TablePart.MARGINS, TablePart.ALL)
    ]
    assert "confidential" in repr(made)


def test_every_figure_is_the_measured_one() -> None:
    made = assessed("cell key")
    protected = protected_by("cell key")
    cube, table = protected.audit.cube, protected.table
    assert isinstance(cube, Cube)
    assert isinstance(table, Table)
    noise = scheme("CP3(EU)")
    known = Knowledge(max_deviation=noise.max_deviation)
    assert [(interval.knowledge, interval.how) for interval in made.intervals] == [
        (replace(known, zeros_known=False), How.SHUTTLE),
        (known, How.SHUTTLE),
        (known, How.LINEAR),
        (replace(Knowledge.of(noise), blocked=0), How.LINEAR),
    ]
    for interval in made.intervals:
        again = feasibility(cube, table, interval.knowledge, how=interval.how)
        assert (interval.disclosed, interval.cells) == (again.disclosed, again.cells)
        assert (interval.small_disclosed, interval.small_cells) == (
            again.small_disclosed,
            again.small_cells,
        )
    assert made.main is made.intervals[2]
    assert made.sharpest is made.intervals[3]
    for part, distances in made.utility:
        assert distances == utility_of(cube, table, part)
    assert [counts.perceived for counts in made.counted] == [
        perceived_disclosure(cube, table, part=part) for part, _ in made.utility
    ]
    expected = detect(cube, coalition=1)
    assert {finding.kind: finding.count for finding in made.findings} == {
        one.kind: one.count for one in expected if one
    }
    inside = cube.count[:7, :2, :3]
    assert made.population == int(inside.sum()) == 260
    interior = made.counted_in(TablePart.INTERIOR)
    assert interior is not None
    assert (interior.cells, interior.empty) == (42, int((inside == 0).sum()))
    assert interior.small.cells == int(((inside == 1) | (inside == 2)).sum())


def test_small_tables_are_gone_through_exactly() -> None:
    assert [interval.how for interval in assessed("cell key", exact=False).intervals] == [
        How.SHUTTLE
    ] * 3
    cube = island_cube("area@parish+district", "age@age+class+half", "sex", "married")
    assert cube.spec.cells > EXACT_UP_TO
    made = assess_counts(
        cube, cell_key().protect(cube), AssessOptions(method=cell_key(), compare=False)
    )
    assert {interval.how for interval in made.intervals} == {How.SHUTTLE}


def test_every_method_and_step_is_among_them() -> None:
    made = [method_of(name) for name in METHODS]
    steps = [step for one in made if isinstance(one, Pipeline) for step in one.steps]
    seen = {type(one).__name__ for one in (*made, *steps)}
    offered = {name: getattr(methods, name) for name in methods.__all__}
    sums = {name for name, one in offered.items() if getattr(one, "for_sums", False)}
    sums |= {name for name, one in offered.items() if getattr(one, "for_samples", False)}
    assert seen == set(methods.__all__) - {"BuildingBlocks"} - sums  # which groups published values


def test_a_knowledge_that_is_not_true_is_said_and_nothing_is_concluded_from_it() -> None:
    made = assessed("cell key", knowledge=Knowledge(max_deviation=0))
    assert made.intervals == ()
    assert made.main is None
    assert any("does not fit what the intruder is taken to know" in one for one in made.left_out)
    assert "could not be measured" in lead(made)


# ---------------------------------------------------------------- conclusions and their scope


@pytest.mark.parametrize("name", METHODS)
def test_conclusions_name_their_scope_and_never_promise(name: str) -> None:
    made = assessed(name)
    said = lead(made)
    assert said.startswith("Taken alone, this table gives ")
    assert f"no count was changed by more than {made.known.max_deviation}" in said
    assert "together with other tables was not measured" in said
    for text in (said, *conclusions(made)):
        assert "safe" not in text.replace("unsafe", "")
        assert "cannot be deduced" not in text
        assert "None" not in text


def test_what_a_weak_method_gives_away_is_said() -> None:
    made = assessed("cell key CP1")
    assert made.main is not None
    assert made.main.disclosed > 0
    assert f"gives {made.main.disclosed} counts away" in lead(made)
    assert conclusions(made)[0].startswith("Counts can be worked out of this table alone.")
    assert made.given_away
    for one in made.given_away:
        assert one.true in (1, 2)
        assert one.lower is not None
        assert one.upper is not None
        assert one.lower <= one.true <= one.upper
        assert (one.lower, one.upper) == (0, 1) or one.lower == one.upper


def test_exempt_cells_are_named_and_not_counted() -> None:
    made = assessed("cell key, exempt")
    cube = protected_by("cell key, exempt").audit.cube
    assert isinstance(cube, Cube)
    nonempty = int((cube.count > 0).sum())
    assert made.result(ExemptCells) == ExemptCells(5, 0, nonempty)
    assert made.main is not None
    assert made.main.cells == nonempty - 5
    assert "5 exempt cells are not among these cells" in lead(made)
    tiny = island_cube("area", "age", people=40)
    method = CellKey(scheme("CP3"), secret=SECRET, exempt=[island().spec("area", "age")])
    all_exact = assess_counts(
        tiny, method.protect(tiny), AssessOptions(method=method, compare=False)
    )
    assert "Every cell that holds anyone is exempt" in lead(all_exact)
    exempt = all_exact.result(ExemptCells)
    assert exempt is not None
    assert exempt.small == int(((tiny.count == 1) | (tiny.count == 2)).sum())
    assert any(
        "exempt cells hold one or two persons" in conclusion
        for conclusion in conclusions(all_exact)
    )
    assert all_exact.given_away == ()


def test_withheld_values_that_follow_are_told() -> None:
    made = assessed("added up and withheld")
    assert made.withheld is not None
    assert made.withheld.kind is FindingKind.WITHHELD
    assert any("withheld value" in conclusion for conclusion in conclusions(made))
    assert assessed("cell key").withheld is None


# ---------------------------------------------------------------- together with other tables


def test_the_look_budget_of_other_tables() -> None:
    census = island()
    others = [census.spec("area", "age"), census.spec("area@district", "married")]
    made = assessed("cell key", others=others, tabulate=census.tabulate, recovery_limit=0.05)
    specs = [protected_by("cell key").table.spec, *others]
    [expected] = look_budget_of_tables(specs)
    assert [budget.levels for budget in made.budgets] == [expected.levels]
    found = made.worst_looks
    assert found is not None
    assert made.variance is not None
    assert made.noise is not None
    assert NOT_COVERED in lead(made)
    assert found[1] == expected.asked
    assert found[2] == recovery_with(expected.asked.looks, made.noise)
    assert "This table and 2 others of persons" in lead(made)
    assert "above the limit of 0.05" in lead(made)
    assert any(
        "variance of the noise has to be at least" in conclusion for conclusion in conclusions(made)
    )
    unknown = assessed("light touch", others=others)
    assert "is not known for this method" in lead(unknown)


def test_differences_between_true_tables_are_found() -> None:
    """Everybody, and everybody but those of the last age: what is left is that age."""
    census = island(60)
    cube = census.tabulate("area", "sex")
    assert isinstance(cube, Cube)
    other = census.spec("area", "sex", universe="age != 9")
    made = assess_counts(
        cube,
        cell_key().protect(cube),
        AssessOptions(method=cell_key(), others=[other], tabulate=census.tabulate, compare=False),
    )
    smaller = census.tabulate(other)
    assert isinstance(smaller, Cube)
    left = cube.count - smaller.count
    assert (
        sum(difference.count for difference in made.differences)
        >= int(((left == 1) | (left == 2)).sum())
        > 0
    )
    assert any(
        "Only noise in both tables protects them" in conclusion for conclusion in conclusions(made)
    )


def test_levels_that_do_not_nest_are_subtracted_within_one_table() -> None:
    cube = island_cube("age@class+half", "area", people=40)
    made = assess_counts(
        cube, cell_key().protect(cube), AssessOptions(method=cell_key(), compare=False)
    )
    assert made.differences
    assert made.others == 0


def test_other_tables_that_cannot_be_counted_are_named() -> None:
    finer = island().spec("area", "age", "sex")
    made = assessed("cell key", others=[finer])
    assert [one for one in made.left_out if "Differences with persons by area, age, sex" in one]


# ---------------------------------------------------------------- beside other methods


def test_a_scheme_stands_in_its_own_place_with_its_own_figures() -> None:
    made = assessed("cell key", compare=True)
    assert made.compared is not None
    results = made.compared.tables[0].results
    assert [result.candidate.name for result in results] == list(COMPARED)
    [own] = [result for result in results if result.candidate.name == made.chosen == "CP3(EU)"]
    assert own.utility == made.utility_in(TablePart.ALL)
    risk = made.result(RiskBeforeAndAfter)
    assert risk is not None
    assert own.risk == risk.after.value
    assert (own.disclosed, own.cells) == (made.intervals[1].disclosed, made.intervals[1].cells)


@pytest.mark.parametrize("name", ["light touch", "withheld", "cell key, exempt", "per unit"])
def test_another_method_is_one_row_more(name: str) -> None:
    made = assessed(name, compare=True)
    assert made.compared is not None
    results = made.compared.tables[0].results
    assert [result.candidate.name for result in results] == [*COMPARED, "this table"]
    assert made.chosen == "this table"
    assert results[-1].utility == made.utility_in(TablePart.ALL)


def test_which_methods_are_a_scheme_and_nothing_more() -> None:
    assert cell_key("CP4").scheme == "CP4"
    assert method_of("random rounding").scheme == "RR3"
    for name in ("random rounding to 7", "light touch", "withheld", "cell key, exempt"):
        assert method_of(name).scheme is None


def test_a_table_alone_is_assessed_by_its_largest_change() -> None:
    protected = protected_by("cell key CP1")
    made = assess_counts(protected.audit.cube, protected.table)
    assert made.method == "method not named"
    assert made.chosen == "this table"
    assert made.known == Knowledge(max_deviation=1)
    assert made.variance is None
    assert made.public.promises == ()


# ---------------------------------------------------------------- bad input


def changed(cube: Cube, published: Any = None) -> Table:
    return Table(cube.spec, cube.count.copy() if published is None else published)


def counted(cube: Cube, count: Any) -> Cube:
    values = np.broadcast_to(np.asarray(count, dtype=np.int64), cube.shape).copy()
    return Cube(cube.spec, cube.origin, Accumulators(values, cube.key.copy()))


def test_an_empty_table() -> None:
    empty = counted(island_cube("area", "sex"), 0)
    made = assess_counts(empty, changed(empty), AssessOptions(method=cell_key()))
    assert lead(made).startswith("The table is empty: there is nobody in it")
    assert made.population == 0
    assert made.findings == ()
    whole = made.utility_in(TablePart.ALL)
    assert whole is not None
    assert whole.mean_absolute_distance is None
    assert whole.reason("mean_absolute_distance") == "no cell is non-empty"
    assert all(map(math.isfinite, numbers_in(made)))


@pytest.mark.parametrize("people", [0, 1, 400])
def test_a_table_of_one_cell(people: int) -> None:
    one = counted(island_cube(), people)
    assert one.shape == ()
    made = assess_counts(one, cell_key().protect(one), AssessOptions(method=cell_key()))
    assert made.population == people
    assert made.levels == ()
    assert made.rows is None
    assert all(map(math.isfinite, numbers_in(made)))


@pytest.mark.parametrize("by", [("area-total", "sex-total"), ("area-total",), ("sex-total", "age")])
def test_tables_without_margins(by: tuple[str, ...]) -> None:
    cube = island_cube(*by)
    made = assess_counts(cube, cell_key().protect(cube), AssessOptions(method=cell_key()))
    assert made.main is not None
    assert made.main.cells == int((cube.count > 0).sum())
    assert all(map(math.isfinite, numbers_in(made)))


def test_a_table_without_interior() -> None:
    """Classes and halves of the age: neither is made of the other."""
    cube = island_cube("age@class+half", "sex")
    made = assess_counts(cube, cell_key().protect(cube), AssessOptions(method=cell_key()))
    assert [counts.part for counts in made.counted] == [TablePart.ALL]
    assert made.population == 400
    assert [part for part, _ in made.utility] == [TablePart.ALL]
    assert made.compared is None
    assert any(one.startswith("Other methods: ") for one in made.left_out)
    bare = island_cube("age@class+half-total", "sex")
    assert assess_counts(bare, changed(bare)).population is None


def test_a_hierarchy_with_one_child() -> None:
    """The last district is its only parish, so that their values are the same cell twice."""
    cube = island_cube("area@parish+district", "sex")
    made = assess_counts(cube, cell_key().protect(cube), AssessOptions(method=cell_key()))
    assert made.left_out == ()
    assert [level.level for level in made.levels] == ["parish", "district", "_T"]


def test_a_table_that_was_not_changed_gives_everything_away() -> None:
    cube = island_cube("area", "sex")
    made = assess_counts(cube, changed(cube))
    assert made.main is not None
    assert made.main.share == 1.0


def test_a_table_of_which_everything_is_withheld() -> None:
    cube = island_cube("area", "sex")
    flags = np.ones(cube.shape, dtype=np.uint8)
    made = assess_counts(cube, Table(cube.spec, np.zeros(cube.shape, dtype=np.int64), flags))
    assert made.main is not None
    assert made.main.disclosed == 0
    assert all(map(math.isfinite, numbers_in(made)))


def test_what_does_not_belong_together_is_refused() -> None:
    cube = island_cube("area", "sex")
    other = island_cube("area", "age")
    with pytest.raises(SpecError, match="Assess a table with the cube that it was made from"):
        assess_counts(cube, changed(other))
    with pytest.raises(SpecError, match="compares a cube with the table made from it"):
        assess_counts(changed(cube), cube)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="whole numbers, 0 or more"):
        assess_counts(cube, changed(cube, np.full(cube.shape, -1)))
    with pytest.raises(SpecError, match="whole numbers"):
        assess_counts(cube, changed(cube, np.full(cube.shape, 1.5)))
    with pytest.raises(SpecError, match="lies between 0 and 1"):
        assess_counts(cube, changed(cube), AssessOptions(recovery_limit=1.5))


def test_weighted_tables_are_refused() -> None:
    cube = island_cube("area", "sex", measure="weighted")
    protected = cell_key().protect(cube)
    with pytest.raises(SpecError, match="weighted counts are not assessed"):
        assess_counts(cube, protected, AssessOptions(method=cell_key()))


def test_sparse_tables_are_refused(sparse: SparseCube) -> None:
    with pytest.raises(SpecError, match="too large to be assessed whole"):
        assess_counts(sparse, cell_key().protect(sparse), AssessOptions(method=cell_key()))


@pytest.fixture
def sparse() -> SparseCube:
    cube = island_cube("area", "sex")
    inside = cube.count[:7, :2].reshape(-1)
    there = np.flatnonzero(inside)
    sums = {"count": inside[there], "key": cube.key[:7, :2].reshape(-1)[there].astype(np.uint64)}
    made = assemble(cube.spec, cube.origin, there.astype(np.uint64), sums, largest_dense=1)
    assert isinstance(made, SparseCube)
    return made


def test_an_assessment_is_not_copied_or_pickled() -> None:
    made = assessed("cell key")
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Refused):
            way(made)


def test_groups_that_can_still_be_read_are_counted_and_told() -> None:
    cube = island_cube("area", "age", "sex", people=60)
    true = sum(one.count for one in detect(cube) if one.kind is FindingKind.GROUP_ATTRIBUTE)
    assert true > 0
    exact = assess_counts(cube, Table(cube.spec, cube.count.copy()), AssessOptions(compare=False))
    assert exact.groups_readable == true
    assert any(f"Of {true:,} groups" in conclusion for conclusion in conclusions(exact))
    # Where no cell is published as 0, nobody can tell that a category is empty.
    filled = assess_counts(cube, Table(cube.spec, cube.count + 1), AssessOptions(compare=False))
    assert filled.groups_readable == 0
    assert not any("groups in which" in conclusion for conclusion in conclusions(filled))


def test_settings_may_be_said_by_name() -> None:
    protected = protected_by("cell key")
    method = method_of("cell key")
    by_name = assess(
        protected.audit.cube, protected, method=method, compare=False, exact=False, coalition=2
    )
    options = AssessOptions(method=method, compare=False, exact=False, coalition=2)
    whole = assess(protected.audit.cube, protected, options)
    assert by_name.conclusions == whole.conclusions
    assert by_name.of_counts.compared is None
    with pytest.raises(SpecError, match=r"There is no setting 'exakt'.*exact"):
        assess(protected.audit.cube, protected, exakt=True)
