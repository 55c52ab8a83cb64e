"""Files that are never loaded: the same numbers as after loading, and clear words where not."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import (
    DataProblems,
    EngineError,
    InputError,
    SecretError,
    SpecError,
)
from sdcensus.ingest.load import load_census
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.file_problems import OnProblem
from sdcensus.model.schema.grids import GridSpec, grid_codes
from sdcensus.model.schema.schema import (
    CensusFile,
    CensusInfo,
    Combine,
    HouseholdKey,
    KeyColumn,
    KeyRules,
    KeySpace,
    Schema,
)
from sdcensus.model.schema.source import FileFormat, FileSource
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    EmptyField,
    Entity,
    EntitySpec,
    Role,
    Variable,
    VariableSource,
)
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.conformance import check_engine, same_cubes, tabulate_request
from sdcensus.testing.files import write_files
from sdcensus.testing.small_census import SECRET, SmallCensus
from sdcensus.testing.strategies import TableRequest, censuses_with_tables

P, H = Entity.PERSON, Entity.HOUSEHOLD
OFFICE = Secret(SECRET)

PERSONS = """\
hh,no,sex,tenure,rel
01,1,m,own,1
01,2,f,own,2
02,1,f,rent,1
03,1, m ,rent,1
03,2,f,rent,2
"""


def variable(name: str, *codes: str, entity: Entity = P, **more: object) -> Variable:
    missing = (Code("9", kind=CodeKind.NOT_STATED),)
    return Variable(
        name=name,
        entity=entity,
        codes=(*(Code(code) for code in codes), *missing),
        source=VariableSource(file="persons", column=name),
        **more,  # type: ignore[arg-type]
    )


def csv_source(path: Path, **options: str) -> FileSource:
    return FileSource(paths=(path,), format=FileFormat.CSV, **options)  # type: ignore[arg-type]


def flat_census(path: Path, text: str = PERSONS, *, encoding: str = "utf-8") -> Schema:
    """Persons in one csv file, which also says everything about their households."""
    path.write_text(text, encoding=encoding, newline="")
    return Schema(
        census=CensusInfo(name="flat", code=("ID2021",)),
        entities=(
            EntitySpec(entity=P, id=("hh", "no"), within=H),
            EntitySpec(entity=H, id=("hh",), derived_from=P),
        ),
        variables=(
            variable("sex", "m", "f"),
            variable("tenure", "own", "rent", entity=H),
            variable("rel", "1", "2"),
        ),
        files=(CensusFile("persons", P, csv_source(path, encoding=encoding)),),
    )


def tabulate(engine: DuckdbEngine, *by: str, of: Entity = P, **more: object) -> Cube:
    spec = TableSpec.build(engine.schema, by, of=of)
    cube = engine.tabulate(Tabulate(spec=spec, **more))  # type: ignore[arg-type]
    assert isinstance(cube, Cube)
    return cube


def counts(cube: Cube) -> dict[tuple[str, ...], int]:
    return {cell.codes: cell.count for cell in cube.cells() if cell.count}


def test_a_flat_file_counts_persons_and_the_households_in_it(tmp_path: Path) -> None:
    engine = DuckdbEngine.over_files(flat_census(tmp_path / "persons.csv"), OFFICE)
    assert counts(tabulate(engine, "sex", "tenure-total")) == {
        ("m", "own"): 1,
        ("m", "rent"): 1,
        ("f", "own"): 1,
        ("f", "rent"): 2,
        ("_T", "own"): 2,
        ("_T", "rent"): 3,
    }
    assert counts(tabulate(engine, "tenure", of=H)) == {("own",): 1, ("rent",): 2, ("_T",): 3}


def test_keys_are_those_of_the_published_vectors(tmp_path: Path) -> None:
    path = tmp_path / "persons.csv"
    path.write_text("ed,hh,no\n0412,0007,01\n0412,0007,02\n0412,0007,03\n", encoding="utf-8")
    schema = Schema(
        census=CensusInfo(name="vectors", code=("TT", "2011")),
        entities=(
            EntitySpec(entity=P, id=("ed", "hh", "no"), within=H),
            EntitySpec(entity=H, id=("ed", "hh"), derived_from=P),
        ),
        variables=(),
        files=(CensusFile("persons", P, csv_source(path)),),
    )
    engine = DuckdbEngine.over_files(schema, OFFICE)
    assert tabulate(engine).key == 1888058353
    assert tabulate(engine, of=H).key == 378859623
    xor = replace(schema, keys=KeyRules(space=KeySpace(combine=Combine.XOR)))
    assert tabulate(DuckdbEngine.over_files(xor, OFFICE)).key == 2625004127


def linked_census(folder: Path) -> Schema:
    """Persons name their household, which has no file but lies in a dwelling that has one."""
    persons, dwellings = folder / "persons.csv", folder / "dwellings.csv"
    persons.write_text("hh,no,in_dw\nA,1,7\nA,2,7\nB,1,8\n,3,8\n", encoding="utf-8")
    dwellings.write_text("dw,kind\n7,house\n8,flat\n9,flat\n", encoding="utf-8")
    none = Code("none", kind=CodeKind.NOT_APPLICABLE)
    kind = Variable(
        name="kind",
        entity=Entity.DWELLING,
        codes=(Code("house"), Code("flat"), none),
        source=VariableSource(file="dwellings", column="kind"),
    )
    return Schema(
        census=CensusInfo(name="linked", code=("X",)),
        entities=(
            EntitySpec(entity=P, id=("no", "in_dw"), within=H, link=("hh",), optional=True),
            EntitySpec(
                entity=H,
                id=("hh",),
                within=Entity.DWELLING,
                link=("in_dw",),
                optional=True,
                derived_from=P,
            ),
            EntitySpec(entity=Entity.DWELLING, id=("dw",)),
        ),
        variables=(kind,),
        files=(
            CensusFile("persons", P, csv_source(persons)),
            CensusFile("dwellings", Entity.DWELLING, csv_source(dwellings)),
        ),
    )


def test_links_of_units_without_a_file_have_columns_of_their_own(tmp_path: Path) -> None:
    schema = linked_census(tmp_path)
    engine = DuckdbEngine.over_files(schema, OFFICE)
    homes = {("house",): 1, ("flat",): 1, ("_T",): 2}
    assert counts(tabulate(engine, "kind", of=H)) == homes
    people = tabulate(engine, "kind", households=True)
    assert counts(people) == {("house",): 2, ("flat",): 1, ("none",): 1, ("_T",): 4}
    first, last = people.values.first_household, people.values.last_household
    assert first is not None
    assert last is not None
    # House, flat, and the one without a household: each is one. All of them together are not.
    assert (first == last).tolist() == [True, True, True, False]
    load_census(schema, tmp_path / "s", secret=OFFICE)
    store = CensusStore.open(tmp_path / "s")
    for of in (P, H):
        spec = TableSpec.build(store.schema, ["kind"], of=of)
        stored = MemoryEngine(store).tabulate(Tabulate(spec=spec))
        assert same_cubes(stored, tabulate(engine, "kind", of=of))


def test_a_person_without_a_household_is_not_in_the_first_household(tmp_path: Path) -> None:
    schema = linked_census(tmp_path)
    (tmp_path / "persons.csv").write_text("hh,no,in_dw\nA,1,7\n,3,7\n", encoding="utf-8")
    cube = tabulate(DuckdbEngine.over_files(schema, OFFICE), households=True)
    assert cube.values.first_household == 0
    assert cube.values.last_household == 0xFFFFFFFF


# --- the same as after loading, also where files do not fit ---------------------------------------


@pytest.mark.parametrize("kind", [FileFormat.CSV, FileFormat.PARQUET])
@given(drawn=censuses_with_tables(), seed=st.integers(0, 1 << 32))
def test_spoilt_files_give_the_same_numbers_loaded_or_not(
    kind: FileFormat, drawn: tuple[SmallCensus, TableRequest], seed: int
) -> None:
    census, table = drawn
    draws = random.Random(seed)
    ids = {
        variable.source.column
        for variable in census.schema.variables
        if variable.role is Role.RECORD_ID and variable.source is not None
    }

    def spoil(entity: Entity, rows: list[dict[str, str]]) -> None:
        for row in rows:
            for column in row:
                if draws.random() < 0.1 and (column not in ids or column.startswith("in_")):
                    row[column] = draws.choice(["", "  ", "77", "?", "1e3", "-5", "0.5", "nobody"])

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        schema = write_files(folder, census, kind, spoil=spoil)
        engine = DuckdbEngine.over_files(schema, OFFICE, on_problem="missing")
        try:
            load_census(schema, folder / "s", secret=OFFICE, on_problem=OnProblem.MISSING)
        except InputError:
            return  # a link that no option makes harmless, and that this table may not need
        store = CensusStore.open(folder / "s")
        loaded = MemoryEngine(store).tabulate(tabulate_request(store.schema, table))
        unloaded = engine.tabulate(tabulate_request(engine.schema, table))
        assert loaded.spec == unloaded.spec
        if table.households:  # households are numbered in another way
            table = replace(table, households=False)
            loaded = MemoryEngine(store).tabulate(tabulate_request(store.schema, table))
            unloaded = engine.tabulate(tabulate_request(engine.schema, table))
        assert same_cubes(loaded, unloaded)
        del store


@given(drawn=censuses_with_tables())
def test_several_files_delimiters_and_decimal_commas_are_read_alike(
    drawn: tuple[SmallCensus, TableRequest],
) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as name:
        schema = write_files(
            Path(name) / "folder [1] *", census, FileFormat.CSV, delimiter=";", decimal=",", parts=3
        )
        engine = DuckdbEngine.over_files(schema, OFFICE)
        check_engine(engine, census, table, schema=engine.schema)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16", "utf-16-le"])
def test_encodings_that_duckdb_knows(tmp_path: Path, encoding: str) -> None:
    schema = flat_census(tmp_path / "p.csv", PERSONS.replace("f,", "é,"), encoding=encoding)
    renamed = replace(schema.variables[0], codes=(Code("m"), Code("é")))
    schema = replace(schema, variables=(renamed, *schema.variables[1:]))
    cube = tabulate(DuckdbEngine.over_files(schema, OFFICE), "sex")
    assert counts(cube) == {("m",): 2, ("é",): 3, ("_T",): 5}


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-be", "cp850", "no such thing"])
def test_other_encodings_are_refused_with_the_remedy(tmp_path: Path, encoding: str) -> None:
    schema = flat_census(tmp_path / "p.csv")
    file = replace(schema.files[0], source=csv_source(tmp_path / "p.csv", encoding=encoding))
    with pytest.raises(InputError, match="sdcensus load"):
        DuckdbEngine.over_files(replace(schema, files=(file,)), OFFICE)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    schema = flat_census(tmp_path / "p.csv", PERSONS.replace(",", delimiter))
    cube = tabulate(DuckdbEngine.over_files(schema, OFFICE), "sex")
    assert counts(cube) == {("m",): 2, ("f",): 3, ("_T",): 5}


def test_columns_that_differ_only_in_case_are_two_columns(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    table = {"hh": ["1", "2"], "no": ["1", "1"], "Sex": ["m", "m"], "sex": ["f", "m"]}
    pq.write_table(pa.table(table), path)
    schema = flat_census(tmp_path / "p.csv")
    source = FileSource(paths=(path,), format=FileFormat.PARQUET)
    schema = replace(
        schema, variables=schema.variables[:1], files=(CensusFile("persons", P, source),)
    )
    cube = tabulate(DuckdbEngine.over_files(schema, OFFICE), "sex")
    assert counts(cube) == {("m",): 1, ("f",): 1, ("_T",): 2}


def test_float_columns_of_data_frames_are_codes(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    table = {
        "hh": pa.array([1.0, 2.0, 2.0]),
        "no": pa.array([1, 1, 2], pa.int16()),
        "sex": pa.array([1.0, float("nan"), 2.0]),
    }
    pq.write_table(pa.table(table), path)
    schema = flat_census(tmp_path / "p.csv")
    sex = replace(
        schema.variables[0],
        codes=(Code("1"), Code("2"), Code("9", kind=CodeKind.NOT_STATED)),
        source=VariableSource(file="persons", column="sex", empty=EmptyField.NOT_STATED),
    )
    ids = tuple(
        Variable(
            name=name,
            entity=P,
            role=Role.RECORD_ID,
            source=VariableSource(file="persons", column=name, width=2),
        )
        for name in ("hh", "no")
    )
    source = FileSource(paths=(path,), format=FileFormat.PARQUET)
    schema = replace(schema, variables=(sex, *ids), files=(CensusFile("persons", P, source),))
    cube = tabulate(DuckdbEngine.over_files(schema, OFFICE), "sex")
    assert counts(cube) == {("1",): 1, ("2",): 1, ("9",): 1, ("_T",): 3}
    load_census(schema, tmp_path / "s", secret=OFFICE)
    store = CensusStore.open(tmp_path / "s")
    loaded = MemoryEngine(store).tabulate(Tabulate(spec=TableSpec.build(store.schema, ["sex"])))
    assert same_cubes(loaded, cube)


# --- keys -----------------------------------------------------------------------------------------


def with_keys(schema: Schema, **rules: object) -> Schema:
    return replace(schema, keys=KeyRules(**rules))  # type: ignore[arg-type]


def test_keys_from_a_column_of_integers_need_no_secret(tmp_path: Path) -> None:
    text = "hh,no,sex,rkey\n1,1,m,250\n1,2,f, 10 \n2,1,f,255\n"
    schema = flat_census(tmp_path / "p.csv", text)
    schema = with_keys(schema, columns=((P, KeyColumn("rkey")),), space=KeySpace(256))
    cube = tabulate(DuckdbEngine.over_files(schema, None), "sex")
    assert cube.key.tolist() == [250, (10 + 255) % 256, 0, (250 + 10 + 255) % 256]


def test_keys_from_a_column_of_decimals(tmp_path: Path) -> None:
    text = "hh,no,sex,rkey\n1,1,m,0.25\n1,2,f,1\n2,1,f,.99\n"
    schema = flat_census(tmp_path / "p.csv", text)
    schema = with_keys(schema, columns=((P, KeyColumn("rkey", 2)),), space=KeySpace(100))
    assert tabulate(DuckdbEngine.over_files(schema, None), "sex").key.tolist() == [25, 99, 0, 24]


@pytest.mark.parametrize("bad", ["256", "-1", "", "1.5", "x", "99999999999"])
def test_a_key_that_cannot_be_used_is_refused_whatever_the_option(tmp_path: Path, bad: str) -> None:
    schema = flat_census(tmp_path / "p.csv", f"hh,no,sex,rkey\n1,1,m,250\n1,2,f,{bad}\n")
    schema = with_keys(schema, columns=((P, KeyColumn("rkey")),), space=KeySpace(256))
    engine = DuckdbEngine.over_files(schema, None, on_problem="missing")
    with pytest.raises(DataProblems, match=r"rkey: key that cannot be used in 1 record \(row 3\)"):
        tabulate(engine, "sex")


def test_without_keys_or_secret_nothing_can_be_counted(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match="no keys for persons"):
        tabulate(DuckdbEngine.over_files(flat_census(tmp_path / "p.csv"), None), "sex")


def test_a_household_takes_the_key_of_its_reference_person(tmp_path: Path) -> None:
    schema = with_keys(
        flat_census(tmp_path / "p.csv"),
        household=HouseholdKey.REFERENCE_PERSON,
        reference_person="rel == 1",
    )
    engine = DuckdbEngine.over_files(schema, OFFICE)
    heads = tabulate(engine, "tenure", "rel-total")
    households = tabulate(engine, "tenure", of=H)
    assert households.key.tolist() == heads.key[:, 0].tolist()
    assert households.count.tolist() == heads.count[:, 0].tolist()


def test_a_household_without_one_reference_person_is_a_problem(tmp_path: Path) -> None:
    text = PERSONS.replace("03,2,f,rent,2", "03,2,f,rent,1")
    schema = with_keys(
        flat_census(tmp_path / "p.csv", text),
        household=HouseholdKey.REFERENCE_PERSON,
        reference_person="rel == 1",
    )
    with pytest.raises(DataProblems, match="not exactly one reference person in 1 record"):
        tabulate(DuckdbEngine.over_files(schema, OFFICE), "tenure", of=H)
    engine = DuckdbEngine.over_files(schema, OFFICE, on_problem="missing")
    load_census(schema, tmp_path / "s", secret=OFFICE, on_problem=OnProblem.MISSING)
    store = CensusStore.open(tmp_path / "s")
    spec = TableSpec.build(store.schema, ["tenure"], of=H)
    assert same_cubes(
        MemoryEngine(store).tabulate(Tabulate(spec=spec)), tabulate(engine, "tenure", of=H)
    )


# --- grids ----------------------------------------------------------------------------------------


def grid_census(path: Path, extent: tuple[int, int, int, int]) -> Schema:
    path.write_text(
        "hh,no,x,y\n1,1,1000,2000\n1,2,1999.99,2999\n2,1,2000,2000\n2,2,,2000\n3,1,1500,3500\n",
        encoding="utf-8",
    )
    cells = Variable(
        name="cell",
        entity=P,
        codes=grid_codes(3035, 1000, extent),
        source=VariableSource(file="persons", column="x", empty=EmptyField.NOT_APPLICABLE),
    )
    return Schema(
        census=CensusInfo(name="grid", code=("X",)),
        entities=(EntitySpec(entity=P, id=("hh", "no")),),
        variables=(cells,),
        grids=(GridSpec("cell", "x", "y", 3035, 1000, extent),),
        files=(CensusFile("persons", P, csv_source(path)),),
    )


@pytest.mark.parametrize("extent", [(1000, 2000, 3000, 4000), (1200, 2700, 2800, 3900)])
def test_points_fall_into_the_cells_of_a_grid(
    tmp_path: Path, extent: tuple[int, int, int, int]
) -> None:
    schema = grid_census(tmp_path / "p.csv", extent)
    cube = tabulate(DuckdbEngine.over_files(schema, OFFICE), "cell-total")
    assert counts(cube) == {
        ("CRS3035RES1000mN2000E1000",): 2,
        ("CRS3035RES1000mN2000E2000",): 1,
        ("CRS3035RES1000mN3000E1000",): 1,
        ("unallocated",): 1,
    }


def test_points_outside_the_grid_are_a_problem(tmp_path: Path) -> None:
    schema = grid_census(tmp_path / "p.csv", (1000, 2000, 2000, 4000))
    with pytest.raises(DataProblems, match=r"x: out of range in 1 record \(row 4\)"):
        tabulate(DuckdbEngine.over_files(schema, OFFICE), "cell")
    engine = DuckdbEngine.over_files(schema, OFFICE, on_problem="missing")
    assert counts(tabulate(engine, "cell-total"))["unallocated",] == 2


# --- clear words ----------------------------------------------------------------------------------


def test_problems_are_all_reported_with_rows_and_without_values(tmp_path: Path) -> None:
    text = "hh,no,sex,tenure,rel\nAnna,1,X,own,1\nAnna,1,,rent,1\nB|b,1,f,own,zz\n,1,f,own,1\n"
    engine = DuckdbEngine.over_files(flat_census(tmp_path / "p.csv", text), OFFICE)
    with pytest.raises(DataProblems) as caught:
        tabulate(engine, "sex", "tenure", "rel")
    words = str(caught.value)
    assert "p.csv: sex: unknown code in 1 record (row 2)" in words
    assert "p.csv: sex: empty field in 1 record (row 3)" in words
    assert "p.csv: rel: unknown code in 1 record (row 4)" in words
    assert "p.csv: hh + no: duplicate id in 1 record (row 3)" in words
    assert "p.csv: hh + no: empty id in 1 record (row 5)" in words
    assert "p.csv: hh + no: id that cannot be used in 1 record (row 4)" in words
    assert "p.csv: tenure: differs within the unit in 1 record (row 3)" in words
    assert "p.csv: hh: empty link in 1 record (row 5)" in words
    assert "Anna" not in words
    assert "zz" not in words


def test_only_what_a_table_needs_is_checked(tmp_path: Path) -> None:
    text = PERSONS.replace("01,1,m,own,1", "01,1,m,own,???")
    engine = DuckdbEngine.over_files(flat_census(tmp_path / "p.csv", text), OFFICE)
    assert counts(tabulate(engine, "sex"))["m",] == 2
    with pytest.raises(DataProblems, match="rel: unknown code"):
        tabulate(engine, "rel")


def test_problems_become_missing_values_where_that_is_asked_for(tmp_path: Path) -> None:
    schema = flat_census(tmp_path / "p.csv", PERSONS.replace("01,2,f", "01,2,Anna"))
    bare = replace(schema.variables[0], codes=(Code("m"), Code("f")))
    schema = replace(schema, variables=(bare, *schema.variables[1:]))
    engine = DuckdbEngine.over_files(schema, OFFICE, on_problem="missing")
    assert counts(tabulate(engine, "sex")) == {("m",): 2, ("f",): 2, ("_U",): 1, ("_T",): 5}
    with pytest.raises(SpecError, match="other codes"):
        engine.tabulate(Tabulate(spec=TableSpec.build(schema, ["sex"])))


@pytest.mark.parametrize(
    "text",
    [
        'hh,no,sex\n1,1,m\n1,"Anna,m\n',
        "hh,no,sex\n1,1,m\n1,2,Anna,3\n",
        "hh,no,sex\n1,1,m\n1,Anna\n",
        'hh,no,sex\n1,1,m\n1,"An"na,m\n',
    ],
)
def test_a_damaged_csv_file_is_named_and_not_quoted(tmp_path: Path, text: str) -> None:
    engine = DuckdbEngine.over_files(flat_census(tmp_path / "p.csv", text), OFFICE)
    with pytest.raises(InputError, match=r"p\.csv, line \d: the file cannot be read") as caught:
        tabulate(engine, "sex")
    assert "An" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"hh,no,hh\n1,1,1\n", "two columns have the same name 'hh'"),
        (b",,\n1,1,1\n", "no column names"),
        (b"hh,no\n1,1\n", "There is no column 'sex'"),
        (b"h\xffh,no,sex\n1,1,m\n", "not csv text"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    schema = flat_census(tmp_path / "p.csv")
    (tmp_path / "p.csv").write_bytes(content)
    with pytest.raises(InputError, match=words):
        tabulate(DuckdbEngine.over_files(schema, OFFICE), "sex")


def test_a_file_without_rows_has_empty_tables(tmp_path: Path) -> None:
    engine = DuckdbEngine.over_files(flat_census(tmp_path / "p.csv", "hh,no,sex\n"), OFFICE)
    assert tabulate(engine, "sex").count.tolist() == [0, 0, 0, 0]


def test_missing_and_damaged_files_are_refused(tmp_path: Path) -> None:
    schema = flat_census(tmp_path / "p.csv")

    def reading(path: Path, kind: FileFormat) -> None:
        source = FileSource(paths=(path,), format=kind)
        DuckdbEngine.over_files(replace(schema, files=(CensusFile("persons", P, source),)), OFFICE)

    with pytest.raises(InputError, match="There is no file"):
        reading(tmp_path / "none.csv", FileFormat.CSV)
    with pytest.raises(InputError, match="is a folder"):
        reading(tmp_path, FileFormat.CSV)
    with pytest.raises(InputError, match="damaged"):
        reading(tmp_path / "p.csv", FileFormat.PARQUET)
    with pytest.raises(InputError, match="cannot be read without loading"):
        reading(tmp_path / "p.csv", FileFormat.SPSS)


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    engine = DuckdbEngine.over_files(flat_census(tmp_path / "p.csv"), OFFICE)
    tabulate(engine, "sex")
    with (tmp_path / "p.csv").open("a", encoding="utf-8") as file:
        file.write("04,1,m,own,1\n")
    with pytest.raises(EngineError, match="changed"):
        tabulate(engine, "sex")


def test_a_number_as_id_needs_its_width(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"hh": [1], "no": ["1"], "sex": ["m"]}), path)
    schema = flat_census(tmp_path / "p.csv")
    source = FileSource(paths=(path,), format=FileFormat.PARQUET)
    schema = replace(schema, files=(CensusFile("persons", P, source),))
    with pytest.raises(InputError, match="'hh' holds numbers, whose text is not fixed"):
        tabulate(DuckdbEngine.over_files(schema, OFFICE), "sex")


def test_a_variable_in_a_strange_file_and_records_without_id_are_refused(tmp_path: Path) -> None:
    schema = flat_census(tmp_path / "p.csv")
    strange = variable("tenure", "own", "rent", entity=H)
    own_file = tuple(
        replace(entity, derived_from=None) if entity.entity is H else entity
        for entity in schema.entities
    )
    households = CensusFile("households", H, csv_source(tmp_path / "p.csv"))
    other = replace(
        schema,
        entities=own_file,
        variables=(strange,),
        files=(*schema.files, households),
    )
    with pytest.raises(SpecError, match="have a file of their own"):
        tabulate(DuckdbEngine.over_files(other, OFFICE), "tenure", of=H)
    nameless = (replace(schema.entities[0], id=(), from_content=True), *schema.entities[1:])
    with pytest.raises(SpecError, match="needs loading"):
        tabulate(DuckdbEngine.over_files(replace(schema, entities=nameless), OFFICE), "sex")


def test_nothing_of_the_census_shows_when_an_engine_is_printed(tmp_path: Path) -> None:
    engine = DuckdbEngine.over_files(flat_census(tmp_path / "p.csv"), OFFICE)
    tabulate(engine, "sex")
    assert f"{engine}" == repr(engine) == "<DuckdbEngine over <files of 'flat': confidential>>"


def test_options_that_are_none_are_refused(tmp_path: Path) -> None:
    schema = flat_census(tmp_path / "p.csv")
    with pytest.raises(SpecError, match="refuse, missing"):
        DuckdbEngine.over_files(schema, OFFICE, on_problem="ignore")
    with pytest.raises(SpecError, match="names no files"):
        DuckdbEngine.over_files(replace(schema, files=()), OFFICE)
    with pytest.raises(EngineError, match="4GB"):
        tabulate(DuckdbEngine.over_files(schema, OFFICE, memory_limit="a lot"), "sex")
    assert np.array_equal(
        tabulate(DuckdbEngine.over_files(schema, OFFICE, memory_limit="1GB"), "sex").count,
        [2, 3, 0, 5],
    )
