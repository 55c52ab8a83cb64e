"""A weighted sample: what its tables say, and what they give away."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import DocumentError, QuestionError, Refused, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Role, Variable
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.vocabulary import COUNT_MEASURES
from sdcensus.session.answer import TableService, open_service
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.census.sample import is_sample, unweighted_menu, weightings
from sdcensus.session.gate.group_risk import PlanLooks, looks_of, measures_of
from sdcensus.session.protect.table import published_spec
from sdcensus.session.publish.resolution import resolve
from sdcensus.session.publish.run import publish
from sdcensus.session.recommend.recommendation import recommend
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units, write_store

PERSON, HOUSEHOLD, DWELLING = Entity.PERSON, Entity.HOUSEHOLD, Entity.DWELLING
PEOPLE, HOMES = 1_500, 500


def codes(size: int) -> tuple[Code, ...]:
    return tuple(Code(str(at)) for at in range(1, size + 1))


@dataclass(frozen=True)
class Office:
    """A sample of persons in households with weights, and of dwellings without."""

    folder: Path
    census: Census
    weight: np.ndarray
    leaves: dict[str, np.ndarray]

    @property
    def secret(self) -> Path:
        return self.folder / "office.secret"

    def plan(self, text: str, *, head: str = "", name: str = "plan") -> Path:
        path = self.folder / f"{name}.toml"
        path.write_text(
            f'store = "census.store"\n{head}\n{text}\n[protect]\nmethod = "cell-key"\n'
            f'strength = "strong"\nsmallest_group = 20\n[output]\nfolder = "{name}"\n',
            encoding="utf-8",
        )
        return path

    def service(self, head: str = "", rules: str = "") -> TableService:
        path = self.folder / "policy.toml"
        path.write_text(f'name = "Rules"\n{head}\n{rules}', encoding="utf-8")
        method = CellKey(design_perturbation(4, 3.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))
        units = [spec.entity for spec in self.census.schema.entities]
        policy = read_policy(path, self.census.schema)
        return TableService(self.census, policy, dict.fromkeys(units, method))


def office(folder: Path, *, mean: int = 140, measure: Measure | None = None) -> Office:
    numbers = np.random.default_rng(8)
    variables = (
        Variable(name="area", entity=HOUSEHOLD, codes=codes(6), role=Role.GEOGRAPHY),
        Variable(name="sex", entity=PERSON, codes=codes(2)),
        Variable(name="age", entity=PERSON, codes=codes(9)),
        Variable(name="rare", entity=PERSON, codes=codes(3)),
        Variable(name="walls", entity=DWELLING, codes=codes(3)),
        Variable(name="factor", entity=HOUSEHOLD, role=Role.WEIGHT, continuous=True, decimals=2),
    )
    schema = Schema(
        census=CensusInfo(name="Sample", measure=measure),
        entities=(
            EntitySpec(entity=PERSON, id=("home", "n"), within=HOUSEHOLD),
            EntitySpec(entity=HOUSEHOLD, id=("home",)),
            EntitySpec(entity=DWELLING, id=("dwelling",)),
        ),
        variables=variables,
    )
    sizes = {PERSON: PEOPLE, HOUSEHOLD: HOMES, DWELLING: HOMES}
    leaves = {
        variable.name: numbers.integers(0, len(variable.codes), sizes[variable.entity])
        for variable in variables
        if variable.codes
    }
    leaves["rare"] = numbers.choice(3, PEOPLE, p=(0.976, 0.02, 0.004))
    home = numbers.integers(0, HOMES, PEOPLE)
    weight = numbers.integers(60, 140, HOMES) * mean
    keys = KeySpace().modulus
    units = {
        unit: Units(
            keys=numbers.integers(0, keys, size, dtype=np.uint64).astype(np.uint32),
            leaves={
                variable.name: leaves[variable.name]
                for variable in variables
                if variable.entity is unit and variable.codes
            },
            values={"factor": weight} if unit is HOUSEHOLD else {},
            parents={HOUSEHOLD: home} if unit is PERSON else {},
        )
        for unit, size in sizes.items()
    }
    write_store(folder / "census.store", schema, units, secret_id=SECRET.id)
    write_secret(SECRET, folder / "office.secret")
    leaves["area"] = leaves["area"][home]
    return Office(folder, open_store(folder / "census.store"), weight[home], leaves)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Office:
    return office(tmp_path_factory.mktemp("sample"))


TABLE = '[[table]]\nname = "sexes"\nrows = ["area"]\ncolumns = ["sex"]\n'


def test_weights_say_whether_records_are_a_sample(made: Office, tmp_path: Path) -> None:
    sums = {weighting.of: weighting for weighting in weightings(made.census)}
    assert set(sums) == {PERSON, HOUSEHOLD}  # dwellings have no weight
    assert sums[PERSON].weight == Fraction(int(made.weight.sum()), 100)
    assert sums[PERSON].records == PEOPLE
    assert is_sample(made.census)
    (tmp_path / "corrected").mkdir()
    assert not is_sample(office(tmp_path / "corrected", mean=1).census)


def test_a_plan_that_says_nothing_is_refused_and_each_remedy_works(
    made: Office, tmp_path: Path
) -> None:
    figures = '[[indicator]]\nname = "men"\nkind = "share"\nnumerator = "sex == 1"\n'
    silent = made.plan(TABLE + figures)
    with pytest.raises(
        Refused, match=r'sexes, men\. Write measure = "weighted" at the top'
    ) as told:
        resolve(silent, secret=made.secret)
    assert 'measure = "count"' in str(told.value)
    with pytest.raises(Refused, match="weighted sample"):
        publish(silent, secret=made.secret)
    wanted = {"weighted": Measure.WEIGHTED, "count": Measure.COUNT}
    for word, measure in wanted.items():
        plan = made.plan(TABLE + figures, head=f'measure = "{word}"')
        assert {spec.measure for spec in resolve(plan, secret=made.secret).specs()} == {measure}
    by_name = made.plan(TABLE + 'measure = "count"\n')
    assert resolve(by_name, secret=made.secret).specs()[0].measure is Measure.COUNT
    (tmp_path / "said").mkdir()
    of_schema = office(tmp_path / "said", measure=Measure.WEIGHTED)
    specs = resolve(of_schema.plan(TABLE + figures), secret=of_schema.secret).specs()
    assert {spec.measure for spec in specs} == {Measure.WEIGHTED}
    (tmp_path / "census").mkdir()
    census = office(tmp_path / "census", mean=1)
    specs = resolve(census.plan(TABLE + figures), secret=census.secret).specs()
    assert {spec.measure for spec in specs} == {Measure.COUNT}


def published(folder: Path, name: str) -> dict[tuple[str, ...], int]:
    rows = list(csv.DictReader((folder / f"{name}.csv").read_text("utf-8-sig").splitlines()))
    return {(row["area"], row["sex"]): int(row["published"]) for row in rows if row["published"]}


def test_published_weighted_counts_are_noisy_counts_times_the_mean_weight(made: Office) -> None:
    tables = {}
    for word in ("count", "weighted"):
        publish(made.plan(TABLE, head=f'measure = "{word}"', name=word), secret=made.secret)
        tables[word] = published(made.folder / word, "sexes")
    assert tables["count"].keys() == tables["weighted"].keys()
    for (area, sex), value in tables["weighted"].items():
        inside = np.ones(PEOPLE, dtype=bool)
        for name, code in (("area", area), ("sex", sex)):
            if code != "_T":
                inside &= made.leaves[name] == int(code) - 1
        total = Fraction(int(made.weight[inside].sum()), 100)
        noisy = tables["count"][area, sex]
        assert value == round(noisy * total / int(inside.sum())), (area, sex)
    # Together they say no more than one of them: the noise is that of the count.
    assert abs(tables["weighted"]["_T", "_T"] - int(made.weight.sum()) / 100) < 6 * 140


def test_units_without_a_weight_are_counted_by_name_only(made: Office) -> None:
    walls = '[[table]]\nname = "walls"\nof = "dwellings"\nrows = ["walls"]\n'
    with pytest.raises(DocumentError, match=r'no weight for dwellings.*measure = "count"'):
        resolve(made.plan(walls, head='measure = "weighted"'), secret=made.secret)
    named = made.plan(f'{walls}measure = "count"\n', head='measure = "weighted"')
    assert resolve(named, secret=made.secret).specs()[0].measure is Measure.COUNT
    weighted = made.service('measure = "weighted"')
    assert [population.of for population in weighted.catalogue.populations] == [PERSON, HOUSEHOLD]
    with pytest.raises(QuestionError, match="Tables of dwellings are not offered"):
        weighted.answer(Question(of="dwellings", by=("walls",)))
    counted = made.service('measure = "count"')
    assert DWELLING in [population.of for population in counted.catalogue.populations]


RULES = "[online]\nsmallest_group = 20\nmean_cell_size = 4\nbrackets = 12\n"


@pytest.mark.parametrize("when", ["withhold-area", "c"])
@pytest.mark.parametrize(
    ("by", "where"),
    [
        (("area", "sex"), ""),
        (("rare", "age"), ""),
        (("area", "rare"), ""),
        (("age",), "rare == 2 or area == 1"),
        (("age",), "age >= 3 and sex == 1"),
    ],
)
def test_rules_read_records_and_weights_hide_and_mark_the_same_cells(
    made: Office, by: tuple[str, ...], where: str, when: str
) -> None:
    rules = f'{RULES}when_sparse = "{when}"\n{"below = 9" if when == "c" else ""}\n'
    both = {}
    for word in ("count", "weighted"):
        service = made.service(f'measure = "{word}"', rules)
        outcome = service.answer(Question(of="persons", by=by, where=where))
        both[word] = outcome
    count, weighted = both["count"], both["weighted"]
    assert count.verdict == weighted.verdict
    assert (count.table is None) == (weighted.table is None)
    if count.table is None or weighted.table is None:
        return
    marks = [
        np.zeros(table.shape, dtype=np.uint8) if table.marks is None else table.marks
        for table in (count.table, weighted.table)
    ]
    assert marks[0].tolist() == marks[1].tolist()
    assert (weighted.table.values[marks[0] == 0] > count.table.values[marks[0] == 0]).any()
    assert weighted.table.unit.show("en") == "Persons (weighted)"
    assert "estimates from a sample" in weighted.table.notes[0].show("en")


def test_small_groups_and_brackets_do_occur(made: Office) -> None:
    """So that the test above says something."""
    service = made.service('measure = "weighted"', RULES)
    seen = set()
    for by in (("rare", "age"), ("area", "rare"), ("age", "sex")):
        table = service.answer(Question(of="persons", by=by)).table
        seen |= set() if table is None or table.marks is None else set(table.marks.ravel().tolist())
    assert {Mark.NOT_BROKEN_DOWN, Mark.LOW_RELIABILITY} <= seen


def test_a_menu_that_says_nothing_stays_closed(made: Office) -> None:
    advice = recommend(made.census, "builder")
    assert advice.facts.measure is Measure.WEIGHTED
    assert advice.facts.stand_for == round(int(made.weight.sum()) / 100)
    assert {table.table.of for table in advice.tables} == {PERSON}
    assert advice.plan.measure is advice.policy.measure is Measure.WEIGHTED
    assert advice.facts.units == PEOPLE
    path = made.folder / "silent.toml"
    path.write_text('name = "Silent"\n[limits]\ndimensions = 1\n[online]\nsmallest_group = 40\n')
    with pytest.raises(Refused, match=r'closed|measure = "weighted" at the top of the policy'):
        open_service(made.census, path, secret=made.secret)
    policy = read_policy(path, made.census.schema)
    with pytest.raises(Refused, match='measure = "weighted" at the top of the policy'):
        recommend(made.census, "builder", policy=policy)


def test_one_table_and_a_check_of_a_policy_say_it_too(made: Office) -> None:
    with pytest.raises(Refused, match=r"Say --measure weighted; or, .* --measure count"):
        published_spec(made.census, "sex")
    for measure in COUNT_MEASURES:
        assert published_spec(made.census, "sex", measure=measure).measure is measure
    silent = Policy(name="Silent", schema=made.census.schema)
    assert 'measure = "weighted" at the top of the policy' in unweighted_menu(made.census, silent)
    for measure in COUNT_MEASURES:
        assert not unweighted_menu(made.census, replace(silent, measure=measure))


FIGURES = """
[[indicator]]
name = "rare-by-area"
kind = "share"
by = ["area"]
numerator = "rare == 2"

[[indicator]]
name = "size"
kind = "average-household-size"
by = ["area"]

[[table]]
name = "share"
rows = ["sex"]
measure = "share(age == 1)"
"""


def test_figures_are_computed_from_weighted_counts_and_marked_by_records(made: Office) -> None:
    seen = {}
    for word in ("count", "weighted"):
        plan = made.plan(FIGURES, head=f'measure = "{word}"', name=f"figures-{word}")
        publish(plan, secret=made.secret)
        for name in ("rare-by-area", "size", "share"):
            with (made.folder / f"figures-{word}" / f"{name}.csv").open(
                encoding="utf-8-sig", newline=""
            ) as file:
                seen[word, name] = list(csv.DictReader(file))
    for name in ("rare-by-area", "size", "share"):
        count, weighted = seen["count", name], seen["weighted", name]
        assert count != weighted, name
        signs = [[row.get("flag", "") for row in rows] for rows in (count, weighted)]
        assert signs[0] == signs[1], name
    # A few records behind each share: in brackets, however many people they stand for.
    assert any(row.get("flag") for row in seen["weighted", "rare-by-area"])


def test_looks_and_small_groups_of_weighted_plans_are_those_of_records(made: Office) -> None:
    wide = '[[table]]\nname = "wide"\nrows = ["area", "age"]\ncolumns = ["sex", "rare"]\n'
    plans = {
        word: resolve(made.plan(TABLE + wide, head=f'measure = "{word}"'), secret=made.secret)
        for word in ("count", "weighted")
    }
    assert plans["count"].specs()[0].measure is not plans["weighted"].specs()[0].measure
    looks = [[plan_looks.sentence for plan_looks in looks_of(plan)] for plan in plans.values()]
    assert looks[0] == looks[1] != []
    shares = [[measure.share for measure in measures_of(plan)] for plan in plans.values()]
    assert shares[0] == shares[1] != []
    # The same table by both measures is one look, not two.
    both = TABLE + TABLE.replace("sexes", "again") + 'measure = "count"\n' + wide
    resolved = resolve(made.plan(both, head='measure = "weighted"'), secret=made.secret)
    assert len(resolved.specs()) == 3
    told = [
        [look.looks for look in looks_of(plan) if isinstance(look, PlanLooks)]
        for plan in (resolved, plans["count"])
    ]
    assert told[0] == told[1] != []


def test_whoever_knows_equal_weights_learns_the_noisy_count_and_no_more(made: Office) -> None:
    """The published number over the weight is what would be published without weights."""
    spec = made.census.spec("area", "rare", measure="weighted")
    method = CellKey(design_perturbation(4, 3.0), secret=SECRET)
    cube = made.census.tabulate(spec).held_for("a test")
    alike = type(cube.values)(cube.count, cube.key, cube.count * 14_037)
    equal = type(cube)(cube.spec, cube.origin, alike)
    weighted = method.protect(equal).table.whole().published
    plain = method.protect(made.census.tabulate("area", "rare")).table.whole().published
    assert np.rint(weighted / 140.37).astype(np.int64).tolist() == plain.tolist()
    assert (plain != cube.count).any()


def test_a_schema_without_weights_cannot_be_weighted(made: Office) -> None:
    path = made.folder / "policy.toml"
    path.write_text('name = "x"\nmeasure = "weighted"\n', encoding="utf-8")
    plain = Schema(
        census=made.census.schema.census,
        entities=made.census.schema.entities,
        variables=tuple(v for v in made.census.schema.variables if v.role is not Role.WEIGHT),
    )
    with pytest.raises(DocumentError, match="the schema has none"):
        read_policy(path, plain)
    with pytest.raises(SpecError, match="no weight for persons"):
        TableSpec.build(plain, ["sex"], measure="weighted")
