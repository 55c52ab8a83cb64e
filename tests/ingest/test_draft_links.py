"""Drafts of linked files: which units they hold, how they name each other, in which form."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.schema.document import read_schema
from sdcensus.ingest.draft import DraftOptions, draft_schema
from sdcensus.ingest.load import LoadReport, load_census
from sdcensus.model.schema.id_forms import IdForm, LinkRule, plain_id
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.model.secret import Secret

P, H, D = Entity.PERSON, Entity.HOUSEHOLD, Entity.DWELLING
SECRET = Secret(bytes(range(32)))
Rows = Sequence[Mapping[str, Any]]


def write(path: Path, rows: Rows, *, delimiter: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        pq.write_table(pa.table(columns), path)
        return path
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        table.writeheader()
        table.writerows(rows)
    return path


def drafted(folder: Path, *paths: Path) -> tuple[Schema, str]:
    text = draft_schema(paths, folder / "draft", DraftOptions(language="es")).text
    return read_schema(folder / "draft" / "schema.toml"), text


def loaded(schema: Schema, folder: Path) -> LoadReport:
    return load_census(schema, folder / "store", secret=SECRET)


def matches(report: LoadReport) -> dict[tuple[Entity, Entity], dict[LinkRule, int]]:
    return {
        (link.child, link.parent): {rule: count for rule, count in link.matches if count}
        for link in report.links
    }


def census(draws: random.Random, dwellings: int = 120) -> tuple[list[Any], list[Any], list[Any]]:
    """Three kinds of units; some dwellings are empty, and some households."""
    homes, families, people = [], [], []
    for dwelling in range(1, dwellings + 1):
        homes.append((dwelling, draws.choice([1101, 1107, 11101, 13101]), draws.choice([1, 2])))
        for household in range(1, draws.choice([1, 1, 1, 2, 3])):
            families.append((dwelling, household, draws.choice([1, 2])))
            for person in range(1, draws.choice([1, 2, 3, 5])):
                sex, age = draws.choice([1, 2]), draws.choice([7, 40])
                people.append((dwelling, household, person, sex, age))
    return homes, families, people


def test_three_files_with_other_names_and_widths_load_without_a_stumble(tmp_path: Path) -> None:
    homes, families, people = census(random.Random(1))
    paths = [
        write(
            tmp_path / "viviendas.csv",
            [{"ID_VIV": f"{d:010d}", "comuna": c, "p2_tipo_vivienda": t} for d, c, t in homes],
        ),
        write(
            tmp_path / "hogares.csv",
            [{"id_vivienda": d, "id_hogar": h, "p14_telefono": t} for d, h, t in families],
            delimiter=";",
        ),
        write(
            tmp_path / "personas.parquet",
            [
                {
                    "idviv": float(d),
                    "idhog": h,
                    "nper": p,
                    "sexo": s,
                    "edad": a,
                    "parentesco_jefe_hogar": min(p, 3),
                    "nombre": f"Nadie {draw}",
                    "comuna_nacimiento": 1101 + draw % 2,
                }
                for draw, (d, h, p, s, a) in enumerate(people)
            ],
        ),
    ]
    schema, text = drafted(tmp_path, *paths)
    specs = [schema.entity(entity) for entity in (D, H, P)]
    assert [(spec.id, spec.within, spec.link) for spec in specs] == [
        (("ID_VIV",), None, ()),
        (("id_vivienda", "id_hogar"), D, ("id_vivienda",)),
        (("idviv", "idhog", "nper"), H, ("idviv", "idhog")),
    ]
    assert schema.entity(D).form == IdForm((10,))
    assert "guessed: files write this id in different ways" in text
    geography = schema.geography
    assert geography is not None
    assert (geography.name, geography.entity) == ("comuna", D)
    roles = {one.source.column: one.role for one in schema.variables if one.source}
    assert roles["nombre"] is Role.DIRECT_IDENTIFIER
    assert roles["parentesco_jefe_hogar"] is roles["p14_telefono"] is None
    report = loaded(schema, tmp_path)
    assert report.rows == {D: len(homes), H: len(families), P: len(people)}
    assert matches(report) == {
        (H, D): {LinkRule.ZEROS: len(families)},
        (P, H): {LinkRule.AS_WRITTEN: len(people)},
    }
    alone = {link.parent: link.alone for link in report.links}
    assert alone[H] == len(families) - len({(d, h) for d, h, *_ in people})


def test_links_are_found_by_values_where_names_say_nothing(tmp_path: Path) -> None:
    draws = random.Random(2)
    keys = draws.sample(range(100_000, 999_999), 80)
    homes = [{"k1": key, "distrito": f"{1 + key % 3:02d}"} for key in keys]
    links = [draws.choice(keys[:60]) for _ in range(300)]
    people = [
        {"v7": "" if at < 9 else key, "v8": at % 5, "sexo": "f", "edad": at % 90}
        for at, key in enumerate(links)
    ]
    paths = [write(tmp_path / "t1.csv", homes), write(tmp_path / "t2.csv", people)]
    schema, text = drafted(tmp_path, *paths)
    assert (schema.entity(P).within, schema.entity(P).link) == (H, ("v7",))
    assert schema.entity(P).optional
    assert "guessed: the link, from names and values" in text
    report = loaded(schema, tmp_path)
    (link,) = report.links
    assert (sum(count for _, count in link.matches), link.unnamed, link.unmatched) == (291, 9, 0)
    assert link.alone == 80 - len(set(links[9:]))


def test_ages_are_no_links_to_small_numbers(tmp_path: Path) -> None:
    homes = [{"hogar": number, "tenencia": 1 + number % 2} for number in range(1, 31)]
    people = [{"q3": 1 + at % 30, "q4": at % 2, "sexo": 1 + at % 2} for at in range(200)]
    paths = [write(tmp_path / "hogares.csv", homes), write(tmp_path / "personas.csv", people)]
    assert drafted(tmp_path, *paths)[0].entity(P).within is None


def test_a_form_that_would_make_two_records_one_is_not_proposed(tmp_path: Path) -> None:
    homes = [{"id_hogar": key, "luz": 1} for key in ("01", "1", *map(str, range(2, 60)))]
    people = [{"id_hogar": f"{at:03d}", "no": 1, "sexo": 1} for at in range(2, 60)]
    paths = [write(tmp_path / "hogares.csv", homes), write(tmp_path / "personas.csv", people)]
    schema, text = drafted(tmp_path, *paths)
    assert not schema.entity(H).form.declared
    assert "in one form, two would be one. Correct the files." in text


@given(
    numbers=st.lists(st.integers(1, 10**6), min_size=3, max_size=30, unique=True),
    spellings=st.tuples(*[st.sampled_from(["{}", "{:07d}", "{:09d}", " {} ", "{}.0"])] * 2),
    kinds=st.tuples(*[st.sampled_from(["csv", "parquet"])] * 2),
    missing=st.integers(0, 2),
)
def test_what_a_draft_declares_links_what_plain_python_links(
    tmp_path_factory: pytest.TempPathFactory,
    numbers: list[int],
    spellings: tuple[str, str],
    kinds: tuple[str, str],
    missing: int,
) -> None:
    folder = tmp_path_factory.mktemp("links")
    texts = [[spelling.format(number) for number in numbers] for spelling in spellings]
    ids: list[list[Any]] = [
        [int(float(text)) for text in own] if kind == "parquet" and spelling == "{}" else own
        for own, kind, spelling in zip(texts, kinds, spellings, strict=True)
    ]
    homes = [{"id_hogar": key, "luz": 1 + at % 2} for at, key in enumerate(ids[0])]
    people = [
        {"ID_HOG": key, "nper": member, "sexo": 1, "edad": 30}
        for key in ids[1][missing:]
        for member in (1, 2)
    ]
    schema, _ = drafted(
        folder,
        write(folder / f"hogares.{kinds[0]}", homes),
        write(folder / f"personas.{kinds[1]}", people),
    )
    assert schema.entity(P).link == ("ID_HOG",)
    report = loaded(schema, folder)
    (link,) = report.links
    width = max([len(str(number)) for number in numbers] + [9])
    known = {plain_id(str(key), width) for key in ids[0]}
    expected = [row for row in people if plain_id(str(row["ID_HOG"]), width) in known]
    assert sum(count for _, count in link.matches) == len(expected) == len(people)
    assert report.rows == {H: len(numbers), P: len(people)}
    assert link.alone == missing


def test_the_id_of_households_is_the_one_that_persons_name(tmp_path: Path) -> None:
    """Households have a number in their dwelling, and one of their own that persons name."""
    dwellings = [{"ID_VIVIENDA": at + 1, "P01": 1} for at in range(45)]
    households: list[Any] = []
    persons: list[Any] = []
    for at in range(90):
        dwelling, number = at // 2 + 1, at % 2 + 1
        own = f"{dwelling:08d}{number:02d}"
        row = {"ID_VIVIENDA": dwelling, "NHOGAR": number, "ID_HOGAR": own, "P11": 1}
        households.append(row)
        persons += [{"ID_HOGAR": int(own), "NPER": no, "P08": no, "P09": at} for no in (1, 2)]
    schema, _ = drafted(
        tmp_path,
        write(tmp_path / "viviendas.csv", dwellings),
        write(tmp_path / "hogares.csv", households),
        write(tmp_path / "personas.csv", persons),
    )
    household = next(unit for unit in schema.entities if unit.entity is Entity.HOUSEHOLD)
    assert household.id == ("ID_HOGAR",)
    assert household.within is Entity.DWELLING
    report = loaded(schema, tmp_path)
    assert sum(matches(report)[Entity.PERSON, Entity.HOUSEHOLD].values()) == 180
