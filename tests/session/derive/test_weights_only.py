"""Stores whose weights were drawn publish weighted counts only, through every door."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.model.vocabulary import Measure
from sdcensus.session.answer.opening import open_service
from sdcensus.session.census.census import open_census, open_store
from sdcensus.session.census.export import export
from sdcensus.session.derive import derive, prepared
from sdcensus.session.protect.table import protect_table, published_spec
from sdcensus.session.publish.run import PublishOptions, publish
from sdcensus.session.study.candidates import scheme_candidates
from sdcensus.session.study.study import compare
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import value_column
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet
from tests.microdata.settlement import dense, settlement

WEIGHTS = {"one_in": 3, "small_strata": "accept"}
SAYS = "drawn to protect it"
STORES = ("perturbation-weights.store", "systematic-sample.store")


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    for name, said in zip(STORES, (WEIGHTS, {}), strict=True):
        derive(made.store, made.folder / name, name.removesuffix(".store"), said, secret=SECRET)
    return made


@pytest.mark.parametrize("name", STORES)
def test_methods_refuse_numbers_of_records_and_take_weighted_ones(
    hamlet: Hamlet, name: str
) -> None:
    census = open_store(hamlet.folder / name)
    assert census.schema.census.measure is Measure.WEIGHTED
    method = CellKey(scheme("CP4"), SECRET)
    for measure in ("count", None):
        spec = published_spec(census, "ed@parish", "sex", measure=measure)
        if measure is None:
            assert spec.measure is Measure.WEIGHTED
            for smallest in (None, 5):
                table = protect_table(census, spec, method, smallest_group=smallest).table
                assert table.whole().published.sum() > 0
        else:
            for smallest in (None, 5):
                with pytest.raises(Refused, match=SAYS):
                    protect_table(census, spec, method, smallest_group=smallest)
    with pytest.raises(Refused, match=SAYS):
        method.protect(census.tabulate("sex"))
    with pytest.raises(Refused, match="the store that it was derived from"):
        compare(census, [census.spec("sex")], scheme_candidates(["CP1"], secret=SECRET))
    # The original is as it was.
    assert method.protect(hamlet.census().tabulate("sex")).table.whole().published.sum()


def test_the_office_knows_who_weighs_more_or_less(tmp_path: Path) -> None:
    """Also where the census had no weight before, or records inherit the one that they had."""

    def listed(store: Path) -> dict[str, tuple[str, str]]:
        with (store.with_name(f"{store.name}.office") / "changed-records.csv").open() as file:
            lines = [line for line in csv.DictReader(file) if line["variable"]]
        return {line["record"]: (line["before"], line["after"]) for line in lines}

    settlement(tmp_path / "a", 2)
    store, sample = (tmp_path / name for name in STORES)
    derive(tmp_path / "a", store, "perturbation-weights", WEIGHTS, secret=SECRET)
    derive(tmp_path / "a", sample, "systematic-sample", {}, secret=SECRET)
    weighed = CensusStore.open(store)
    weights = weighed.raw(Entity.HOUSEHOLD, value_column("weight"))
    digests = [f"{digest:016x}" for digest in weighed.digests(Entity.HOUSEHOLD).tolist()]
    assert listed(store) == {
        digest: ("1", str(weight))
        for digest, weight in zip(digests, weights.tolist(), strict=True)
        if weight != 1
    }
    assert set(listed(sample).values()) == {("1", "3")}
    further = tmp_path / "d.store"
    said = {**WEIGHTS, "of": "persons", "level": "total", "one_in": 5}
    report = derive(store, further, "perturbation-weights", said, secret=SECRET)
    persons = listed(further)
    assert 0 < len(persons) <= report.figures["persons weighed anew"]
    assert all(before != after for before, after in persons.values())


def test_an_export_and_a_further_step_remember_it(hamlet: Hamlet, tmp_path: Path) -> None:
    store = hamlet.folder / STORES[0]
    export(store, tmp_path / "c.parquet")
    derive(store, tmp_path / "d.store", "drop-records", {"where": "age > 90"}, secret=SECRET)
    method = CellKey(scheme("CP4"), SECRET)
    trial = prepared(hamlet.store, "perturbation-weights", WEIGHTS, secret=SECRET).trial()
    further = (open_census(tmp_path / "c.parquet"), open_store(tmp_path / "d.store"), trial)
    for census in further:
        with pytest.raises(Refused, match=SAYS):
            method.protect(census.tabulate("sex"))
        weighted = method.protect(census.tabulate("sex", measure="weighted"))
        assert weighted.table.whole().published.sum()
    tried, written = (
        dense(census.tabulate("sex", measure="weighted")).weight
        for census in (trial, open_store(store))
    )
    assert tried is not None
    assert written is not None
    assert np.array_equal(tried, written)


def test_units_without_such_a_weight_are_told_what_to_do(tmp_path: Path) -> None:
    store = settlement(tmp_path / "a", 2)
    census = prepared(store, "perturbation-weights", WEIGHTS, secret=SECRET).trial()
    with pytest.raises(SpecError, match="--of dwellings"):
        census.spec("rooms", of="dwellings", measure="weighted")
    said = {**WEIGHTS, "of": "dwellings"}
    weighed = prepared(store, "perturbation-weights", said, secret=SECRET).trial()
    assert dense(weighed.tabulate("rooms", of="dwellings", measure="weighted")).count.sum()


def test_the_builder_answers_weighted_or_does_not_open(hamlet: Hamlet) -> None:
    census = open_store(hamlet.folder / STORES[0])
    limits = Limits(dimensions=1)
    policy = Policy(name="p", schema=census.schema, limits=limits, online=OnlineRules())
    options = MethodOptions(scheme="CP4")

    def opened(measure: Measure | None) -> object:
        rules = replace(policy, measure=measure)
        return open_service(census, rules, options=options, secret=SECRET)

    with pytest.raises(Refused) as refused:
        opened(Measure.COUNT)
    assert SAYS in str(refused.value)


def test_a_plan_that_counts_records_is_refused(hamlet: Hamlet) -> None:
    plan = """\
store = "STORE"
{measure}
[[table]]
name = "sexes"
rows = ["ed@parish"]
columns = ["sex"]
[protect]
method = "cell-key"
strength = "strong"
[output]
folder = "published"
date = "2026-03-01"
formats = ["csv"]
"""
    text = plan.replace("STORE", STORES[0])
    path = hamlet.write("plan.toml", text.format(measure='measure = "count"'))
    with pytest.raises(Refused, match=SAYS):
        publish(path, PublishOptions(secret=hamlet.secret))
    assert not (hamlet.folder / "published").exists()
    hamlet.write("plan.toml", text.format(measure=""))
    publish(path, PublishOptions(secret=hamlet.secret))
    shown = read_published(hamlet.folder / "published" / "sexes.csv")
    assert shown.table.spec.measure is Measure.WEIGHTED


def test_whoever_moves_persons_with_weights_is_told(tmp_path: Path) -> None:
    """Partners are alike in persons, and the weights of these may differ."""
    settlement(tmp_path / "a", 2)
    said = {**WEIGHTS, "of": "persons", "level": "total"}
    derive(tmp_path / "a", tmp_path / "b", "perturbation-weights", said, secret=SECRET)
    swap = {"rate": 0.2, "members": ["sex"]}
    notes = [
        derive(tmp_path / name, tmp_path / f"{name}.out", "random-swap", swap, secret=SECRET).notes
        for name in ("a", "b")
    ]
    assert [any("Records have weights" in note for note in remarks) for remarks in notes] == [
        False,
        True,
    ]
