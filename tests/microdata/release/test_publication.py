"""The file that readers get: the records of the sample, with a new order and new numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.microdata.release.copies import copy_marks, holder_of, row_marks
from sdcensus.microdata.release.publication import published
from sdcensus.microdata.release.records import NO_HOLDER
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.release.file_variable import RemovalReason, RemovedVariable
from sdcensus.model.release.plan import (
    Design,
    LargeHouseholds,
    Making,
    Suppression,
    Treatment,
)
from sdcensus.model.release.recode import CodeGroup, Recode
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile, ReleaseTable
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import CodeKind, Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.store.manifest import imputed_column
from tests.microdata.release.designs import draws_of, file_of, plan_of
from tests.microdata.release.valley import H, P, valley

Integers = npt.NDArray[Any]


def lines(table: ReleaseTable, *left_out: ColumnKind) -> list[tuple[int, ...]]:
    """What each row says, without columns of some kinds."""
    columns = [column.values for column in table.columns if column.kind not in left_out]
    columns += [column.absent for column in table.columns if column.absent is not None]
    return [*zip(*(column.tolist() for column in columns), strict=True)]


def test_the_file_holds_the_records_of_the_sample_and_whole_households(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    records, file = file_of(store, plan_of("1/3", large_above=8))
    households, persons = file.table(H), file.table(P)
    for table in file.tables:
        rows = records.sample.rows[table.entity]
        assert table.rows == rows.size
        for variable in records.design.of(table.entity):
            column = table.column(variable.name)
            told = records.amounts if variable.amounts else records.codes
            own = np.where(told[variable.name] == NO_VALUE, 0, told[variable.name])
            assert Counter(column.values.tolist()) == Counter(own.tolist())
    # Households with what their members say: those of the census, and not only their parts.
    holder = records.holders[P, H]
    census = Counter(
        (int(records.codes["kind"][at]), *sorted(records.codes["age"][holder == at].tolist()))
        for at in range(households.rows)
    )
    number = persons.column("household_number").values
    age = persons.column("age").values
    assert census == Counter(
        (int(kind), *sorted(age[number == at + 1].tolist()))
        for at, kind in enumerate(households.column("kind").values)
    )
    assert Counter(number.tolist())[0] == np.count_nonzero(holder == NO_HOLDER)


def test_numbers_start_at_1_and_name_each_record_once(tmp_path: Path) -> None:
    _, file = file_of(valley(tmp_path / "valley"), plan_of("1/3"))
    persons = file.table(P)
    household = persons.column("household_number")
    pairs = [*zip(household.values.tolist(), persons.columns[0].values.tolist(), strict=True)]
    assert len(set(pairs)) == len(pairs)
    for number in {pair[0] for pair in pairs}:
        members = [pair[1] for pair in pairs if pair[0] == number]
        assert members == [*range(1, len(members) + 1)]
    # Persons without household say so; they stand among the others.
    assert household.absent is not None
    assert (household.absent == (household.values == 0)).all()
    places = np.flatnonzero(household.absent)
    assert places.size > 3
    assert np.diff(places).max() > 1


@pytest.mark.parametrize("holder", [Entity.DWELLING, H, P])
def test_the_order_of_records_in_the_store_does_not_matter(tmp_path: Path, holder: Entity) -> None:
    plan = plan_of("1/3", large_above=8, making=Making(imputation_flags=("sex", "kind")))
    files = [
        file_of(valley(tmp_path / f"{shuffled}", holder=holder, shuffled=shuffled), plan)[1]
        for shuffled in (None, 5)
    ]
    for entity in (H, P):
        assert lines(files[0].table(entity)) == lines(files[1].table(entity))


def test_each_copy_has_an_order_of_its_own_and_the_same_records(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley", households=900)
    plan = plan_of("1/2")
    copies = {name: file_of(store, plan, copy=name)[1] for name in ("", "Ann", "Bob", "Carla")}
    numbers = ColumnKind.NUMBER_OF_UNIT
    for table in (H, P):
        contents = [Counter(lines(file.table(table), numbers)) for file in copies.values()]
        assert all(content == contents[0] for content in contents)
        orders = [lines(file.table(table), numbers) for file in copies.values()]
        assert len({tuple(order) for order in orders}) == 4
    marks = {name: copy_marks(file) for name, file in copies.items()}
    for name, order in marks.items():
        assert holder_of(order, marks) == name
        assert holder_of(order[::2], marks) == name  # rows are missing
        assert holder_of([*order[:200], *order[300:]], marks) == name
        assert holder_of([1, 2, *order], marks) == name  # rows of somebody else
    assert holder_of(sorted(marks["Ann"]), marks) is None
    assert holder_of(marks["Ann"][:50], marks) is None
    assert holder_of(marks["Ann"], {name: marks[name] for name in ("", "Bob")}) is None
    assert holder_of([], {}) is None
    # The rows of persons tell as well, also where members stand in the order of a variable.
    by_relation = plan_of("1/2", making=Making(members_by="relation"))
    rows = {
        name: row_marks(file_of(store, by_relation, copy=name)[1].table(P)).tolist()
        for name in ("Ann", "Bob")
    }
    assert holder_of(rows["Ann"], rows) == "Ann"
    assert holder_of(rows["Bob"][::2], rows) == "Bob"
    assert holder_of(sorted(rows["Ann"]), rows) is None


def test_members_stand_in_the_order_of_a_variable_if_the_office_names_it(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    _, file = file_of(store, plan_of("1/3", making=Making(members_by="relation")))
    persons = file.table(P)
    household, relation = (persons.column(name).values for name in ("household_number", "relation"))
    inside = (household[1:] == household[:-1]) & (household[1:] > 0)
    assert (relation[1:] >= relation[:-1])[inside].all()
    _, drawn_order = file_of(store, plan_of("1/3"))
    persons = drawn_order.table(P)
    household, relation = (persons.column(name).values for name in ("household_number", "relation"))
    inside = (household[1:] == household[:-1]) & (household[1:] > 0)
    assert not (relation[1:] >= relation[:-1])[inside].all()
    for name in ("kind", "income", "nothing"):
        with pytest.raises(SpecError, match="is no variable of persons with codes in this file"):
            file_of(store, plan_of("1/3", making=Making(members_by=name)))


def test_imputation_flags_are_there_on_request_only(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    _, plain = file_of(store, plan_of("1/3"))
    assert not [
        column
        for table in plain.tables
        for column in table.columns
        if column.kind is ColumnKind.IMPUTATION_FLAG
    ]
    records, file = file_of(store, plan_of("1/3", making=Making(imputation_flags=("sex", "kind"))))
    for entity, name in ((P, "sex"), (H, "kind")):
        flags = file.table(entity).column(f"{name}_imputed")
        own = store.raw(entity, imputed_column(name))[records.sample.rows[entity]]
        codes = records.codes[name]
        assert Counter(zip(own.tolist(), codes.tolist(), strict=True)) == Counter(
            zip(
                flags.values.tolist(),
                file.table(entity).column(name).values.tolist(),
                strict=True,
            )
        )
        assert [code.code for code in flags.codes] == ["0", "1"]
    for name, mistake in (("age", "does not say which values"), ("x", "no variable 'x'")):
        with pytest.raises(SpecError, match=mistake):
            file_of(store, plan_of("1/3", making=Making(imputation_flags=(name,))))


def test_flags_that_would_tell_which_values_were_changed_are_refused(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    records, _ = file_of(store, plan_of("1/3"))
    step = Derivation(
        parent="a",
        method="over-imputation",
        method_version="1",
        fingerprint="b",
        secret_id="c",
    )
    store.manifest = replace(store.manifest, lineage=(step,))
    plan = plan_of("1/3", making=Making(imputation_flags=("sex",)))
    with pytest.raises(Refused, match="flags would tell which"):
        published(records, plan, draws_of(1, Purpose.COPY))


def test_what_the_file_says_of_itself_holds_no_count_but_the_rate(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    plan = plan_of(
        "0.07",
        title=Text.of({"en": "Sample of the valley", "es": "Muestra del valle"}),
        producer=Text.of("Office"),
        large_above=8,
        institutions="kind == 2",
    )
    records, _ = file_of(store, plan)
    weight = store.schema.variable("correction")
    design = replace(
        records.design, removed=(RemovedVariable(weight, RemovalReason.ADMINISTRATIVE),)
    )
    file = published(replace(records, design=design), plan, draws_of(1, Purpose.COPY))
    shares = {"en": "7 %", "es": "7 %", "fr": "7 %", "nl": "7%", "pt": "7%"}
    for language in LANGUAGES:
        said = file.sampling.show(language)
        assert shares[language].replace(" ", "") in said.replace("\N{NO-BREAK SPACE}", "").replace(
            "\N{NARROW NO-BREAK SPACE}", ""
        ).replace(" ", "")
        texts = [said, *(note.show(language) for note in file.notes)]
        digits = [sign for text in texts for sign in text if sign.isdigit()]
        assert digits == ["7"]
    assert len({file.sampling.show(language) for language in LANGUAGES}) == 5
    assert len({file.removed[0][2].show(language) for language in LANGUAGES}) == 5
    assert file.citation.show("es") == "Office. Muestra del valle. Valley. Versión 1."
    assert (file.census.show(), file.country.show(), file.languages) == (
        "Valley",
        "Land",
        ("en", "es"),
    )
    everybody = published(
        replace(records, design=replace(design, design=Design(name="A", fraction=Fraction(1)))),
        plan,
        draws_of(1, Purpose.COPY),
    )
    assert everybody.sampling.show("fr").startswith("Tous les ménages")


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({}, False),
        ({"treatments": (Treatment(method="pram variables=sex"),)}, True),
        ({"treatments": (Treatment(method="pram variables=sex", designs=("B",)),)}, False),
        ({"suppression": Suppression()}, True),
        ({"large_above": 8, "large": LargeHouseholds.PERTURB_AGES}, True),
    ],
)
def test_readers_are_told_that_values_were_changed(
    tmp_path: Path, fields: dict[str, Any], changed: bool
) -> None:
    _, file = file_of(valley(tmp_path / "valley"), plan_of("1/3", **fields))
    words = "Some values were changed or blanked to protect respondents."
    assert (words in [note.show("en") for note in file.notes]) == changed


def test_recodes_are_told_in_words(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    plan = plan_of("1/3")
    records, _ = file_of(store, plan)
    recode = Recode(variable="age", intervals="0,5,10,75+", bottom=4, top=75)
    grouped = Recode(variable="rooms", groups=(CodeGroup(code="0", members=("0", "1")),))
    told = {"age": recode, "rooms": grouped}
    variables = tuple(
        replace(each, recode=told.get(each.name)) for each in records.design.variables
    )
    changed = replace(records, design=replace(records.design, variables=variables))
    file = published(changed, plan, draws_of(1, Purpose.COPY))
    assert file.table(P).column("age").recoded.show("en") == (
        "Told in the intervals 0,5,10,75+. 4 and below are one category."
        " 75 and over are one category."
    )
    assert file.table(H).column("rooms").recoded.show("nl").startswith("Sommige categorieën")
    assert not file.table(P).column("sex").recoded


def test_columns_of_ours_never_have_the_name_of_a_variable(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    plan = plan_of("1/3")
    records, _ = file_of(store, plan)
    names = {"kind": "Household_Number", "rooms": "weight", "sex": "person_number"}
    variables = tuple(
        replace(each, name=names.get(each.name, each.name)) for each in records.design.variables
    )
    codes = {names.get(name, name): values for name, values in records.codes.items()}
    renamed = replace(records, design=replace(records.design, variables=variables), codes=codes)
    file = published(renamed, plan, draws_of(1, Purpose.COPY))
    assert [column.name for column in file.table(P).columns][:2] == [
        "person_number_2",
        "household_number_2",
    ]
    for table in file.tables:
        own = [column.name.casefold() for column in table.columns]
        assert len(set(own)) == len(own)
    assert file.table(H).columns[-1].name == "weight_2"


def test_missing_kinds_and_amounts_are_kept(tmp_path: Path) -> None:
    _, file = file_of(valley(tmp_path / "valley"), plan_of("1/3"))
    income = file.table(P).column("income")
    assert income.absent is not None
    assert 0 < income.absent.mean() < 0.5
    assert (income.values[income.absent] == 0).all()
    assert income.decimals == 2
    kinds = {code.kind for code in file.table(P).column("sex").codes}
    assert kinds == set(CodeKind)


def reachable(value: object, depth: int = 0) -> list[object]:
    """Everything that a public object holds."""
    if depth > 6 or isinstance(value, (str, int, float, bytes)):
        return [value]
    parts = []
    if isinstance(value, tuple):
        parts = [*value]
    elif hasattr(value, "__slots__"):
        parts = [getattr(value, name, None) for name in value.__slots__]
    return [value, *(part for each in parts for part in reachable(each, depth + 1))]


def test_nothing_of_the_store_can_be_reached_from_the_file(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    file: ReleaseFile = file_of(store, plan_of("1/2"))[1]
    identities = {int(number) for entity in (H, P) for number in store.digests(entity).tolist()} | {
        int(number) for entity in (H, P) for number in store.record_keys(entity).tolist()
    }
    for each in reachable(file):
        assert type(each).__module__ != "sdcensus.store.census_store"
        if isinstance(each, np.ndarray):
            assert each.base is None or not isinstance(each.base, np.memmap)
            assert not identities & set(each.tolist())


def test_members_of_large_households_stand_without_them(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley", households=150)
    plan = plan_of("1/3", large=LargeHouseholds.APART, large_above=3)
    records, file = file_of(store, plan)
    alone = records.holders[P, H] == NO_HOLDER
    assert alone.sum() > 20
    persons = file.table(P)
    # The number of the household is 0 for persons without one.
    held = persons.column("household_number").values
    assert np.count_nonzero(held == 0) == alone.sum()
    assert 0 < np.unique(held[held > 0]).size <= file.table(H).rows
    assert np.bincount(held)[1:].max() <= 3
    said = [note.show("en") for note in file.notes if "one by one" in note.show("en")]
    assert "of more than 3 persons" in said[0]
    for language in LANGUAGES:
        assert any("3" in note.show(language) for note in file.notes)
