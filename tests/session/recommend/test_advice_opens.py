"""Advice that the product gives is not refused by its own commands, whatever the census is like."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings, strategies as st

from sdcensus.cli.shared.run import run
from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.vocabulary import COUNT_MEASURES
from sdcensus.session.answer import open_service
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.census.sample import fitting_measure, weightings
from sdcensus.session.policy import ask
from sdcensus.session.publish.estimate import check_plan
from sdcensus.session.publish.run import publish
from sdcensus.session.recommend.files import write_recommendation
from sdcensus.session.recommend.menus import MINIMUM_POPULATION
from sdcensus.session.recommend.recommendation import Recommendation, recommend
from sdcensus.session.recommend.swapping import SwapAdvice
from sdcensus.store.secrets import write_secret
from sdcensus.testing.conformance import small_store
from sdcensus.testing.small_census import SECRET, SmallCensus
from sdcensus.testing.stores import Units, write_store
from sdcensus.testing.strategies import small_censuses

PRODUCTS = ("report", "programme", "builder", "report,builder", "programme,builder")
TOO_SMALL = (
    *("No builder can", "too small for any table", "nothing to recommend"),
    "no units that have variables have a weight",
)
PERSON, HOUSEHOLD, DWELLING = Entity.PERSON, Entity.HOUSEHOLD, Entity.DWELLING


def advised(census: Census, product: str) -> Recommendation | None:
    """The advice; ``None`` where the census is too small for any."""
    try:
        return recommend(census, product)
    except SpecError as error:
        if any(words in str(error) for words in TOO_SMALL):
            return None
        raise


def check_swap(advice: SwapAdvice, folder: Path, plan: Path) -> None:
    """The swap that is advised can be done as it is typed, with the secret of the office."""
    store, secret = folder / "census.store", folder / "office.secret"
    out = folder / f"swapped-{plan.parent.name}.store"
    command = ["swap", str(store), *advice.swap.options, "--secret", str(secret), "--quiet"]
    assert run([*command, "--out", str(out)]) == 0
    assert open_store(out).store.manifest.lineage
    assert 0 < advice.swap.touched <= advice.swap.units


def check_unchanged(folder: Path, product: str, *, published: bool) -> bool:
    """Everything that is written passes every check as it is; whether anything was written."""
    store, secret = folder / "census.store", folder / "office.secret"
    census = open_store(store)
    found = advised(census, product)
    if found is None:
        return False
    out = folder / product.replace(",", "-")
    write_recommendation(found, store, out)
    plan = check_plan(out / "plan.toml", secret=secret)
    assert not plan.gate.risks
    fitting = fitting_measure(census.schema, weightings(census)) or Measure.COUNT
    assert {spec.measure for spec in found.plan.specs(census.schema)} == {fitting}
    assert found.policy.answers is fitting
    assert not plan.undecided
    assert not any(looks.short for looks in plan.looks)
    open_service(store, out / "policy.toml", plan=out / "plan.toml", secret=secret)
    if found.swapping is not None:
        check_swap(found.swapping, folder, out / "plan.toml")
    if published:
        publish(out / "plan.toml", secret=secret)
        # What is out keeps the builder from nothing.
        open_service(store, out / "policy.toml", plan=out / "plan.toml", secret=secret)
    return True


@settings(max_examples=12)
@given(census=small_censuses(most_units=300), product=st.sampled_from(PRODUCTS))
def test_advice_for_small_and_odd_censuses_passes_its_own_checks(
    census: SmallCensus, product: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        small_store(folder / "census.store", census)
        write_secret(Secret(SECRET), folder / "office.secret")
        check_unchanged(folder, product, published=False)


@st.composite
def national_censuses(draw: st.DrawFn) -> tuple[Schema, dict[Entity, Units]]:
    """Persons in households with areas, dwellings apart; Spanish names; small and empty areas."""
    numbers = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    people = draw(st.sampled_from((300, 2_000, 15_000)))
    homes = max(people // 3, 1)
    communes = draw(st.sampled_from((3, 14, 60)))
    province = np.sort(numbers.integers(0, max(communes // 4, 1), communes))
    province = np.unique(province, return_inverse=True)[1]
    region = np.arange(province.max() + 1) // 3
    levels = (
        Level("provincia", _codes(province.max() + 1), tuple(province.tolist())),
        Level("region", _codes(region.max() + 1), tuple(region[province].tolist())),
    )
    area = Variable(
        name="comuna",
        entity=HOUSEHOLD,
        codes=_codes(communes),
        hierarchies=(Hierarchy("dpa", levels),),
        role=Role.GEOGRAPHY,
    )
    variables = [area, Variable(name="sexo", entity=PERSON, codes=_codes(2))]
    variables.append(Variable(name="edad", entity=PERSON, codes=_codes(draw(st.integers(6, 40)))))
    for at in range(draw(st.integers(0, 7))):
        unit = draw(st.sampled_from((PERSON, HOUSEHOLD, DWELLING)))
        size = draw(st.integers(1, 12))
        role = draw(st.sampled_from((None, None, Role.SENSITIVE)))
        codes = (*_codes(size), Code("99", kind=CodeKind.NOT_STATED))
        variables.append(Variable(name=f"p{at}", entity=unit, codes=codes, role=role))
    # A sample or corrections of a census, for households and what lies in them, or for persons.
    weighted = draw(st.sampled_from((None, HOUSEHOLD, HOUSEHOLD, PERSON)))
    mean = draw(st.sampled_from((1, 3, 140)))
    if weighted is not None:
        weight = Variable(
            name="factor", entity=weighted, role=Role.WEIGHT, continuous=True, decimals=2
        )
        variables.append(weight)
    said = draw(st.sampled_from((None, *COUNT_MEASURES))) if weighted else None
    schema = Schema(
        census=CensusInfo(name="Censo", measure=said),
        entities=(
            EntitySpec(entity=PERSON, id=("hogar", "n"), within=HOUSEHOLD),
            EntitySpec(entity=HOUSEHOLD, id=("hogar",)),
            EntitySpec(entity=DWELLING, id=("vivienda",)),
        ),
        variables=tuple(variables),
    )
    skew = draw(st.sampled_from((0.2, 1.0, 5.0)))
    sizes = {DWELLING: homes + 7, HOUSEHOLD: homes, PERSON: people}
    units = {
        unit: Units(
            keys=numbers.integers(0, KeySpace().modulus, size, dtype=np.uint64).astype(np.uint32),
            leaves={
                variable.name: numbers.choice(
                    len(variable.codes),
                    size,
                    p=numbers.dirichlet(np.full(len(variable.codes), skew)),
                )
                for variable in variables
                if variable.entity is unit and variable.codes
            },
            values={"factor": numbers.integers(60, 140, size) * mean} if unit is weighted else {},
            parents={HOUSEHOLD: numbers.integers(0, homes, size)} if unit is PERSON else {},
        )
        for unit, size in sizes.items()
    }
    return schema, units


def _codes(size: int) -> tuple[Code, ...]:
    return tuple(Code(f"{at:02d}") for at in range(1, int(size) + 1))


@settings(max_examples=8)
@given(drawn=national_censuses(), product=st.sampled_from(PRODUCTS))
def test_advice_for_areas_in_households_and_dwellings_apart_is_published_and_served(
    drawn: tuple[Schema, dict[Entity, Units]], product: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        schema, units = drawn
        write_store(folder / "census.store", schema, units, secret_id=Secret(SECRET).id)
        write_secret(Secret(SECRET), folder / "office.secret")
        check_unchanged(folder, product, published=True)


@settings(max_examples=10)
@given(drawn=national_censuses(), product=st.sampled_from(PRODUCTS))
def test_areas_that_are_called_not_offered_are_in_no_table(
    drawn: tuple[Schema, dict[Entity, Units]], product: str
) -> None:
    with TemporaryDirectory() as name:
        schema, units = drawn
        write_store(Path(name) / "s", schema, units)
        census = open_store(Path(name) / "s")
        found = advised(census, product)
        if found is None:
            return
        for level in schema.variable("comuna").levels():
            cube = census.tabulate(f"comuna@{level.name}-total").held_for("a test")
            small = {
                code.code
                for code, count in zip(level.codes, cube.count.tolist(), strict=True)
                if count < MINIMUM_POPULATION
            }
            for table in found.tables:
                spec = table.table.spec(schema)
                shown = shown_codes(spec, level.name)
                withheld = {
                    code
                    for codes in ask(found.policy, spec, role="production").withheld
                    if codes.level == level.name
                    for code in codes.codes
                }
                assert not (shown & small) - withheld


def shown_codes(spec: TableSpec, level: str) -> set[str]:
    """The codes of a level of areas that stand on some axis."""
    levels = [
        shown for axis in spec.axes if axis.variable.name == "comuna" for shown in axis.levels
    ]
    return {code.code for shown in levels if shown.name == level for code in shown.codes}
