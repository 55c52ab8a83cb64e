"""Dummy files: of the structure of a real one, from published values and nothing else."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sdcensus as sc
from sdcensus.documents.release.document import read_release
from sdcensus.errors import DocumentError, InputError, OutputError, SpecError
from sdcensus.microdata.method import Draws
from sdcensus.microdata.release.publication import published
from sdcensus.microdata.release.records import records_of
from sdcensus.microdata.release.sample import drawn
from sdcensus.model.progress import no_progress
from sdcensus.model.release.plan import MicrodataFormat
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from sdcensus.session.release.dummy.drawing import dummy_file
from sdcensus.session.release.dummy.structure import (
    planned_structure,
    published_tables,
    structure_of_tables,
)
from sdcensus.session.release.dummy.writing import write_dummy
from sdcensus.store.registry import Registry
from sdcensus.testing.printed_tables import printed_spec, printed_table, printed_variable
from tests.hamlet import Hamlet, Row, rows, write_hamlet

RELEASE = """\
name = "hamlet"
title = "Hamlet, one in five"
store = "census.store"
office = "office"

[[design]]
name = "A"
households = 0.2
keep = ["ed@parish"]

[[design]]
name = "B"
households = 0.5
top_code = { age = 75 }

[make]
design = "A"
"""
TABLES = {"sex": ("sex",), "age-sex": ("age@broad", "sex"), "tenure": ("tenure",)}


def publish(hamlet: Hamlet, folder: Path) -> Path:
    """Tables of the hamlet as files."""
    census = hamlet.census()
    folder.mkdir()
    secret = sc.read_secret(hamlet.secret)
    method = sc.methods.CellKey(sc.perturbation.design(max_deviation=3, variance=1), secret=secret)
    for name, axes in TABLES.items():
        of = Entity.HOUSEHOLD if name == "tenure" else Entity.PERSON
        protected = method.protect(census.tabulate(*axes, of=of))
        sc.write_table(protected.table, folder / f"{name}.csv", provenance=protected.provenance)
    return folder


def without_links(persons: list[Row]) -> list[Row]:
    """The same numbers by sex and age: what else persons have goes to others."""
    turned = [person["only"] for person in persons[::-1]]
    return [{**person, "only": other} for person, other in zip(persons, turned, strict=True)]


def contents(folder: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet") / "first")
    hamlet.load()
    hamlet.write("release.toml", RELEASE)
    publish(hamlet, hamlet.folder / "published")
    return hamlet


def test_two_stores_with_equal_published_values_give_the_same_bytes(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    persons, households = rows()
    other = write_hamlet(tmp_path / "second", persons=without_links(persons), households=households)
    other.load()
    other.write("release.toml", RELEASE)
    publish(other, other.folder / "published")
    stores = [open_store(home.store).store for home in (hamlet, other)]
    only = [store.raw(Entity.PERSON, "only") for store in stores]
    assert (only[0] != only[1]).any()
    formats = tuple(MicrodataFormat)
    for release in (None, "release.toml"):
        written = []
        for home in (hamlet, other):
            out = tmp_path / f"{home.folder.name}-{release}"
            document = None if release is None else home.folder / release
            write_dummy(home.folder / "published", out, release=document, formats=formats)
            written.append(contents(out))
        assert written[0] == written[1]


def test_no_column_of_the_store_is_read(hamlet: Hamlet, tmp_path: Path) -> None:
    """The same bytes come out where nothing of the store is left but its code lists."""
    folder = tmp_path / "bare"
    shutil.copytree(hamlet.folder / "published", folder / "published")
    (folder / "census.store").mkdir()
    shutil.copy(hamlet.store / "schema.json", folder / "census.store" / "schema.json")
    shutil.copy(hamlet.folder / "release.toml", folder / "release.toml")
    write_dummy(
        hamlet.folder / "published", tmp_path / "one", release=hamlet.folder / "release.toml"
    )
    write_dummy(folder / "published", tmp_path / "two", release=folder / "release.toml")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.parametrize("design", ["A", "B"])
def test_the_structure_is_that_of_the_real_file(hamlet: Hamlet, design: str) -> None:
    plan = read_release(hamlet.folder / "release.toml")
    store = open_store(hamlet.store).store
    resolved = file_design(plan, plan.design(design), store.schema)
    sample = drawn(store, resolved, plan, Draws(bytes(16)), no_progress)
    real = published(records_of(store, resolved, sample), plan, Draws(bytes(16)))
    planned = planned_structure(hamlet.folder / "release.toml", design)
    dummy = dummy_file(planned.structure, published_tables(hamlet.folder / "published"))
    for ours, theirs in zip(dummy.tables, real.tables, strict=True):
        assert ours.entity is theirs.entity
        shape = [
            [
                (each.name, each.kind, each.codes, each.label, each.decimals)
                for each in table.columns
            ]
            for table in (ours, theirs)
        ]
        assert shape[0] == shape[1]
    persons, households = dummy.table(Entity.PERSON), dummy.table(Entity.HOUSEHOLD)
    assert persons.rows == 1000
    held = persons.column("household_number").values
    assert set(held.tolist()) == set(households.column("household_number").values.tolist())
    assert "Dummy data" in str(dummy.title)
    assert "no record is about a person" in str(dummy.notes[0])


def test_margins_and_pairs_are_those_that_were_published(hamlet: Hamlet) -> None:
    tables = published_tables(hamlet.folder / "published")
    planned = planned_structure(hamlet.folder / "release.toml")
    persons = dummy_file(planned.structure, tables, records=40_000).table(Entity.PERSON)
    sex, age = persons.column("sex"), persons.column("age")
    single = [table for table in tables if len(table.spec.axes) == 1]
    census = next(table for table in single if table.spec.of is Entity.PERSON)
    counts = np.array([census.whole().published[at] for at in range(len(sex.codes))])
    shares = np.bincount(sex.values, minlength=len(sex.codes)) / persons.rows
    assert shares == pytest.approx(counts / counts.sum(), abs=0.02)
    # Ages within a published band are all as likely, and all of them occur.
    assert np.unique(age.values).size > 95
    # Nothing is published about marriage: both answers come as often.
    married = np.bincount(persons.column("married").values) / persons.rows
    assert married == pytest.approx([0.5, 0.5], abs=0.02)


def test_households_have_published_sizes_and_no_person_is_lost() -> None:
    size = printed_variable("size", ["1", "2", "5"])
    size = replace(size, entity=Entity.HOUSEHOLD, counts=Entity.PERSON)
    spec = replace(printed_spec(size), of=Entity.HOUSEHOLD)
    table = printed_table(spec, [50, 0, 50, 100])
    for records in (1, 2, 3, 997):
        file = dummy_file(structure_of_tables([table]), [table], records=records)
        households = file.table(Entity.HOUSEHOLD)
        assert households.rows == records  # there is nothing about persons in it
    structure = replace(structure_of_tables([table]), persons=True)
    file = dummy_file(structure, [table], records=997)
    households, persons = file.table(Entity.HOUSEHOLD), file.table(Entity.PERSON)
    sizes = np.bincount(persons.column("household_number").values)[1:]
    assert persons.rows == 997
    assert set(sizes[:-1].tolist()) == {1, 5}
    assert (np.array([1, 2, 5])[households.column("size").values[:-1]] == sizes[:-1]).all()


def test_a_registry_serves_as_well_as_a_folder(hamlet: Hamlet, tmp_path: Path) -> None:
    tables = published_tables(hamlet.folder / "published")
    registry = Registry.create(tmp_path / "registry")
    for number, table in enumerate(tables):
        registry.add(table, name=f"table-{number}")
    write_dummy(hamlet.folder / "published", tmp_path / "one")
    write_dummy(tmp_path / "registry", tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_every_file_says_that_nobody_is_in_it(hamlet: Hamlet, tmp_path: Path) -> None:
    out = tmp_path / "out"
    written = write_dummy(
        hamlet.folder / "published", out, release=hamlet.folder / "release.toml", records=50
    )
    assert sorted(written.files) == sorted(contents(out))
    assert all("dummy" in name.lower() for name in written.files)
    for name, content in contents(out).items():
        if name.endswith((".html", ".xml", ".txt")):
            words = "ningún registro" if ".es." in name else "no record is about a person"
            assert words.encode() in content, name
    with (out / "dummy-hamlet-persons.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 50


def test_bad_input_is_told_and_nothing_is_left(hamlet: Hamlet, tmp_path: Path) -> None:
    tables = hamlet.folder / "published"
    (tmp_path / "empty").mkdir()
    (tmp_path / "there").mkdir()
    cases: tuple[tuple[type[Exception], str, dict[str, object]], ...] = (
        (InputError, "does not exist", {"published": tmp_path / "nowhere"}),
        (InputError, "empty", {"published": tmp_path / "empty"}),
        (OutputError, "already exists", {"out": tmp_path / "there"}),
        (OutputError, "does not exist", {"out": tmp_path / "no" / "folder"}),
        (SpecError, "from 1 to", {"records": 0}),
        (SpecError, "from 1 to", {"records": 10**9}),
        (SpecError, "design", {"release": hamlet.folder / "release.toml", "design": "Z"}),
        (InputError, "none.toml", {"release": tmp_path / "none.toml"}),
    )
    for kind, said, changes in cases:
        options = {"published": tables, "out": tmp_path / "out", **changes}
        with pytest.raises((kind, DocumentError), match=said):
            write_dummy(**options)  # type: ignore[arg-type]
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "there"}
