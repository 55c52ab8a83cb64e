from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sdcensus.documents.mapping.document import mapping_from_document, read_mapping
from sdcensus.documents.toml.lines import parse_toml
from sdcensus.errors import DocumentError, InputError
from sdcensus.model.plan.mapping import OUTSIDE, Mapping
from sdcensus.model.schema.grids import GridSpec, grid_hierarchies, leaf_codes
from sdcensus.model.schema.schema import CensusInfo, Schema
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
from sdcensus.model.text import Text
from sdcensus.programmes import load_programme

EU = load_programme("eu-2021")
PERSON, HOUSEHOLD = Entity.PERSON, Entity.HOUSEHOLD


def _codes(text: str) -> tuple[Code, ...]:
    return tuple(Code(one, Text.of(f"code {one}")) for one in text.split())


def _number(at: int) -> Code:
    return Code(str(at), lower=at, upper=at)


SCHEMA = Schema(
    census=CensusInfo(name="Census", country="Land"),
    entities=(
        EntitySpec(entity=HOUSEHOLD, id=("household",)),
        EntitySpec(entity=PERSON, id=("person",), within=HOUSEHOLD, link=("household",)),
    ),
    variables=(
        Variable(
            name="place",
            entity=HOUSEHOLD,
            role=Role.GEOGRAPHY,
            leaf_level="town",
            codes=_codes("T1 T2 T3 T4 T5"),
            hierarchies=(
                Hierarchy("areas", (Level("county", _codes("C1 C2 C3"), (0, 0, 1, 1, 2)),)),
                Hierarchy("school", (Level("school", _codes("S1 S2"), (0, 1, 0, 1, 0)),)),
            ),
        ),
        Variable(
            name="kind",
            entity=HOUSEHOLD,
            codes=_codes("private hotel"),
        ),
        Variable(name="sex", entity=PERSON, codes=_codes("1 2")),
        Variable(name="gender", entity=PERSON, codes=_codes("m f x")),
        Variable(
            name="age",
            entity=PERSON,
            codes=(*map(_number, range(111)), Code("999", kind=CodeKind.NOT_STATED)),
        ),
        Variable(
            name="marital",
            entity=PERSON,
            codes=_codes("s m p w d u"),
            hierarchies=(
                Hierarchy("union", (Level("union", _codes("alone both"), (0, 1, 1, 0, 0, 0)),)),
            ),
        ),
        Variable(name="work", entity=PERSON, codes=_codes("C1 C2 C3 HERE AWAY NONE U")),
        Variable(name="tenure", entity=HOUSEHOLD, codes=_codes("1 2 3 4 8")),
        Variable(name="bed", entity=PERSON, codes=_codes("1 2 3 4 5")),
        Variable(name="income", entity=PERSON, continuous=True),
    ),
)
HEAD = 'programme = "eu-2021"\ncountry = "LA"\n'
GEOGRAPHY = '[geography]\nnuts2 = "county"\nlau = "town"\n'
SEX = '[breakdown.SEX]\nvariable = "sex"\n'


def _read(text: str, *, folder: Path = Path(), head: str = HEAD) -> Mapping:
    document = parse_toml(folder / "eu-mapping.toml", head + text, what="mapping")
    return mapping_from_document(document, EU, SCHEMA)


def _mistakes(text: str, *, folder: Path = Path(), head: str = HEAD) -> list[tuple[int, str]]:
    with pytest.raises(DocumentError) as caught:
        _read(text, folder=folder, head=head)
    assert "eu-mapping.toml" in str(caught.value)
    return [(mistake.line, mistake.text) for mistake in caught.value.mistakes]


def _one(text: str, *, folder: Path = Path(), head: str = HEAD) -> str:
    ((_, said),) = _mistakes(text, folder=folder, head=head)
    return said


AGES = '"0-99" = "1.1.1..6.3.5"\n"100+" = "6.4"\n999 = "outside"\n'


def test_codes_ranges_and_groups_become_leaves_of_a_breakdown() -> None:
    mapping = _read(
        SEX
        + '[breakdown.AGE]\nvariable = "age"\n[breakdown.AGE.codes]\n'
        + AGES
        + '[breakdown."LMS.H"]\nvariable = "marital"\n'
        + 'codes = { s = "1", both = "2.1", w = "3", "d" = 4, u = "5" }\n'
    )
    sex, age, marital = (mapping.breakdown(name) for name in ("SEX", "AGE.H", "LMS.H"))
    assert sex is not None
    assert age is not None
    assert marital is not None
    assert sex.leaves == ("1", "2")
    years = [leaf.code for leaf in EU.breakdown("AGE.H").leaves]
    assert list(age.leaves) == [*years[:100], *["6.4"] * 11, OUTSIDE]
    assert marital.leaves == ("1", "2.1", "2.1", "3", "4", "5")
    assert age.inside.sum() == 111


def test_coarser_breakdowns_follow_and_finer_ones_do_not() -> None:
    mapping = _read(
        '[breakdown.AGE.M]\nvariable = "age"\n[breakdown.AGE.M.codes]\n'
        + "\n".join(
            f'"{at * 5}..{at * 5 + 4}" = "{leaf.code}"'
            for at, leaf in enumerate(EU.breakdown("AGE.M").leaves[:20])
        )
        + '\n"100..110" = "6.4"\n999 = ""\n'
    )
    assert mapping.breakdown("AGE.H") is None
    ages = mapping.breakdown("AGE.L")
    grid = mapping.breakdown("AGE.G")
    assert ages is not None
    assert grid is not None
    assert [ages.leaves[at] for at in (14, 15, 29, 30, 49, 64, 65, 84, 85, 110, 111)] == [
        "1", "2", "2", "3", "3", "4", "5", "5", "6", "6", OUTSIDE,
    ]  # fmt: skip
    assert [grid.leaves[at] for at in (14, 15, 64, 65, 111)] == ["1", "2", "2", "3", OUTSIDE]


def test_codes_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("note;code;to\nmen;m;1\n;f;2\n;x;\n", encoding="utf-8")
    path = tmp_path / "eu-mapping.toml"
    text = HEAD + '[breakdown.SEX]\nvariable = "gender"\ncodes = "sex.csv"\n'
    path.write_text(text, encoding="utf-8")
    mapped = read_mapping(path, EU, SCHEMA).breakdown("SEX")
    assert mapped is not None
    assert mapped.leaves == ("1", "2", OUTSIDE)
    assert [len(level.codes) for level in mapped.levels()] == [3]


def test_mistakes_in_a_file_of_codes_are_named_by_its_lines(tmp_path: Path) -> None:
    text = '[breakdown.SEX]\nvariable = "gender"\ncodes = "sex.csv"\n'
    (tmp_path / "sex.csv").write_text("code,to\nm,1\nz,2\nm,2\n,2\n", encoding="utf-8")
    assert "line 5: the code is missing" in _one(text, folder=tmp_path)
    (tmp_path / "sex.csv").write_text("code,to\nm,1\nz,2\nm,2\n", encoding="utf-8")
    found = [said for _, said in _mistakes(text, folder=tmp_path)]
    assert "sex.csv, line 3: There is no code of 'gender' 'z'" in found[0]
    assert (
        "sex.csv, line 4: the code 'm' of 'gender' was mapped before: sex.csv, line 2" in found[1]
    )
    (tmp_path / "sex.csv").write_text("m,1\nf,2\n", encoding="utf-8")
    assert "'code' for the codes of the census and 'to'" in _one(text, folder=tmp_path)
    assert "does not exist" in _one(text.replace("sex.csv", "none.csv"), folder=tmp_path)
    assert "neither the name of a csv file" in _one(text.replace("sex.csv", "identical"))


def test_the_same_codes_need_not_be_written_and_others_may_be_outside() -> None:
    mapped = _read('[breakdown.TSH]\nvariable = "tenure"\noutside = [8]\n').breakdown("TSH")
    assert mapped is not None
    assert mapped.leaves == ("1", "2", "3", "4", OUTSIDE)


def test_a_level_may_say_where_codes_are_meant() -> None:
    mapping = _read(
        '[breakdown.HST.L]\nvariable = "marital"\nlevel = "union"\n'
        'codes = { alone = "1", both = "2" }\n'
    )
    mapped = mapping.breakdown("HST.L")
    assert mapped is not None
    assert mapped.leaves == ("1", "2", "2", "1", "1", "1")
    said = _one('[breakdown.HST.L]\nvariable = "marital"\nlevel = "onion"\n')
    assert "no level 'onion'. Did you mean 'union'" in said


def test_places_of_work_are_areas_of_the_country() -> None:
    work = (
        '[breakdown.LPW.L]\nvariable = "work"\n[breakdown.LPW.L.codes]\n"C1..C3" = "C1..C3"\n'
        'HERE = "1.unknown"\nAWAY = "2"\nNONE = "5"\nU = "4"\n'
    )
    mapping = _read(GEOGRAPHY + work)
    fine, coarse = mapping.breakdown("LPW.L"), mapping.breakdown("LPW.N")
    assert fine is not None
    assert coarse is not None
    codes = [code.code for code in fine.breakdown.codes]
    assert codes == ["0", "1", "C1", "C2", "C3", "1.unknown", "2", "3", "4", "5"]
    assert fine.leaves == ("C1", "C2", "C3", "1.unknown", "2", "5", "4")
    assert coarse.leaves == ("1", "1", "1", "1", "2", "5", "4")
    assert "so [geography] is needed" in _one(work)


def test_areas_follow_the_areas_that_hold_them() -> None:
    mapping = _read(GEOGRAPHY + SEX)
    assert mapping.geography is not None
    areas = mapping.geography.areas(("nuts1", "nuts2", "nuts3", "lau"), "LA")
    assert [(area.code, area.parent, level) for area, level in areas] == [
        ("C1", "LA", "nuts2"), ("T1", "C1", "lau"), ("T2", "C1", "lau"),
        ("C2", "LA", "nuts2"), ("T3", "C2", "lau"), ("T4", "C2", "lau"),
        ("C3", "LA", "nuts2"), ("T5", "C3", "lau"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[breakdown.SEXX]\nvariable = "sex"\n', 3, "no breakdown 'SEXX'. Did you mean 'SEX'"),
        ('[breakdown.AGE.X]\nvariable = "age"\n', 3, "There is no breakdown 'AGE.X'"),
        ('[breakdown.GEO.M]\nvariable = "place"\n', 3, "areas are mapped by [geography]"),
        ('[breakdown.SEX]\nvariable = "sexe"\n', 4, "no variable 'sexe'. Did you mean 'sex'"),
        ('[breakdown.SEX]\ncodes = "same"\n', 3, "the setting 'variable' is missing"),
        ('[breakdown.SEX]\nvariable = "income"\n', 4, "it has no codes"),
        ('[breakdown.TSH]\nvariable = "bed"\n', 4, "cannot be used to count households"),
        (SEX + 'codes = { 1 = "1", 3 = "2" }\n', 5, "SEX: There is no code of 'sex' '3'"),
        (SEX + 'codes = { 1 = "1", 2 = "5" }\n', 5, "SEX: There is no code of SEX '5'"),
        (SEX + 'codes = { 1 = "1" }\n', 5, "SEX: '2' of 'sex' is not mapped. Give each a code"),
        (SEX + "codes = 1\n", 5, "should be a table such as"),
        (SEX + "codes = { 1 = true, 2 = 2 }\n", 5, "write the code of the programme"),
        (SEX + 'code = { 1 = "1" }\n', 5, "no setting 'code'. Did you mean 'codes'"),
        (
            '[breakdown.LMS.H]\nvariable = "marital"\n'
            'codes = { both = "2", s = "1", w = "3", d = "4", u = "5" }\n',
            5,
            "'2' is a group of LMS.H, and records need one of its parts: '2.1', '2.2'",
        ),
        (
            '[breakdown.LMS.L]\nvariable = "marital"\n'
            'codes = { both = "2", s = "1", p = "3", w = "3", d = "4", u = "5" }\n',
            5,
            "the code 'p' of 'marital' was mapped before: line 5, in 'both'",
        ),
        (
            '[breakdown.AGE.H]\nvariable = "age"\n'
            'codes = { "0..100" = "1.1.1..6.3.5", "101+" = "6.4", 999 = "" }\n',
            5,
            "'0..100' stands for 101 codes and '1.1.1..6.3.5' for 100",
        ),
        (
            '[breakdown.AGE.H]\nvariable = "age"\n'
            'codes = { "99..0" = "1.1.1..6.3.5", "100+" = "6.4", 999 = "" }\n',
            5,
            "runs backwards",
        ),
        (SEX + '[grid]\nvariable = "place"\n', 6, "are no cells of 1 km² of LA"),
        (SEX + '[geography]\nnuts1 = "shire"\n', 6, "no level 'shire'"),
        (SEX + '[geography]\nnuts4 = "town"\n', 6, "no setting 'nuts4'"),
        (SEX + '[geography]\nnuts1 = "county"\nnuts2 = "county"\n', 7, "is the level of nuts1"),
        (SEX + '[geography]\nnuts1 = "school"\nnuts2 = "county"\n', 7, "do not lie within"),
        (SEX + '[geography]\nvariable = "plac"\n', 6, "no variable 'plac'"),
        (SEX + "[units.homes]\n", 5, "There is no unit 'homes'"),
        (SEX + "[units.families]\n", 5, "the census has no families"),
        (SEX + '[units.private_households]\ncondition = "kind == 1"\n', 6, "no code '1'"),
        (SEX + '[units.private_households]\ncondition = "sex == 1"\n', 6, "describes persons"),
        (SEX + '[units.private_households]\nof = "hotels"\n', 6, "no kind of unit 'hotels'"),
        ("[breakdwn.SEX]\n", 3, "no setting or table 'breakdwn'"),
        ("", 0, "No breakdown is mapped"),
        (
            SEX + '[breakdown."SEX "]\nvariable = "sex"\n',
            5,
            "There is no breakdown 'SEX '. Did you mean 'SEX'",
        ),
        (
            '[breakdown.LMS.H]\nvariable = "marital"\n'
            'codes = { both = "2.1", s = "1", w = "3", d = "4", u = "5" }\n'
            '[breakdown.LMS.L]\nvariable = "marital"\n',
            6,
            "LMS.L follows from LMS.H, which is mapped on line 3",
        ),
        (
            '[breakdown.HST]\nvariable = "bed"\n[breakdown."HST.H"]\nvariable = "bed"\n',
            5,
            "HST.H is mapped on line 3 already",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_a_remedy(text: str, line: int, said: str) -> None:
    found = _mistakes(text)
    assert any(at == line and said in one for at, one in found), found


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ('country = "LA"\n', "the setting 'programme' is missing"),
        ('programme = "eu-2021"\n', "the setting 'country' is missing"),
        ('programme = "eu-2021"\ncountry = "Land"\n', "two capital letters"),
        ('programme = "eu-2031"\ncountry = "LA"\n', "for the programme 'eu-2031'"),
    ],
)
def test_the_head_says_the_programme_and_the_country(head: str, said: str) -> None:
    assert said in _one(SEX, head=head)


def test_all_mistakes_are_listed_at_once() -> None:
    lines = [line for line, _ in _mistakes(
        '[breakdown.SEX]\nvariable = "gender"\n[breakdown.LOC]\nvariable = "none"\n'
        "[units.homes]\n[geography]\nnuts1 = 1\n"
    )]  # fmt: skip
    assert lines == [3, 3, 3, 6, 7, 9]


def test_areas_of_all_levels_need_codes_of_their_own() -> None:
    variables = [
        replace(variable, codes=_codes("C1 T2 T3 T4 T5")) for variable in SCHEMA.variables[:1]
    ]
    schema = replace(SCHEMA, variables=(*variables, *SCHEMA.variables[1:]))
    document = parse_toml(Path("eu-mapping.toml"), HEAD + GEOGRAPHY + SEX, what="mapping")
    with pytest.raises(DocumentError, match="'C1' is a code of nuts2 as well as of lau") as caught:
        mapping_from_document(document, EU, schema)
    assert [mistake.line for mistake in caught.value.mistakes] == [5]


def test_a_mapping_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml does not exist"):
        read_mapping(tmp_path / "none.toml", EU, SCHEMA)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("code,to,to\nm,1,2\nf,2,1\nx,,\n", "the first row of sex.csv names the columns"),
        ("code,eu\nm,1\n", "'to' for those of the programme, each once"),
        ("code,to\nm,1\nf,2,1\nx,\n", "sex.csv, line 3: there are more fields than columns"),
        ('code,to\nm,1\n"f,2\nx,\n', "sex.csv, line 3: This line cannot be read as csv"),
        ("code,to\nm,\nf,outside\nx,Outside\n", "all codes of 'gender' are outside"),
        ("code,to\nm,1\nf,2\n", "'x' of 'gender' is not mapped"),
    ],
)
def test_strange_files_of_codes_are_refused(tmp_path: Path, rows: str, said: str) -> None:
    (tmp_path / "sex.csv").write_text(rows, encoding="utf-8")
    text = '[breakdown.SEX]\nvariable = "gender"\ncodes = "sex.csv"\n'
    assert said in _one(text, folder=tmp_path)


def test_files_of_codes_with_marks_of_other_systems_are_read(tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_bytes("\ufeffCode;To\r\nm;1\r\nf;2\r\nx;\r\n\r\n".encode())
    text = HEAD + '# codes\r\n[breakdown.SEX]\nvariable = "gender"\ncodes = "sex.csv"\n'
    path = tmp_path / "eu-mapping.toml"
    path.write_bytes(("\ufeff" + text).replace("\n", "\r\n").replace("\r\r", "\r").encode())
    mapped = read_mapping(path, EU, SCHEMA).breakdown("SEX")
    assert mapped is not None
    assert mapped.leaves == ("1", "2", OUTSIDE)


def test_a_code_with_a_point_needs_quotes() -> None:
    said = _one('[breakdown.SEX]\nvariable = "sex"\n[breakdown.SEX.codes]\n1.1 = "1"\n')
    assert "'1': write codes that have a point in double quotes" in said
    assert "Did you mean 'SEX'" in _one('[breakdown.sex]\nvariable = "sex"\n')


CELL = "CRS3035RES1000mN2689000E4337000"


def _with_cells(*codes: Code) -> Schema:
    cell = Variable(name="cell", entity=PERSON, codes=codes)
    return replace(SCHEMA, variables=(*SCHEMA.variables, cell))


@pytest.mark.parametrize(
    "none", [Code("LA_unallocated"), Code("unallocated"), Code("9", kind=CodeKind.NOT_STATED)]
)
@pytest.mark.parametrize("cell", [CELL, f"LA_{CELL}"])
def test_cells_have_the_country_in_front_once_and_one_is_none(cell: str, none: Code) -> None:
    document = parse_toml(Path("m.toml"), HEAD + SEX + '[grid]\nvariable = "cell"\n')
    mapping = mapping_from_document(document, EU, _with_cells(Code(cell), none))
    assert mapping.grid is not None
    level = mapping.variable(mapping.grid).level("GEO_G")
    assert [code.code for code in level.codes] == [f"LA_{CELL}", "LA_unallocated"]
    assert level.group == (0, 1)


def test_of_a_grid_of_several_sizes_the_squares_of_1_km_are_taken() -> None:
    grid = GridSpec("cell", "x", "y", 3035, 500, (0, 0, 2000, 500), coarser=(1000, 2000))
    squares = Variable(
        name="cell",
        entity=Entity.PERSON,
        codes=leaf_codes(grid),
        hierarchies=grid_hierarchies(grid),
        leaf_level="500m",
    )
    document = parse_toml(Path("m.toml"), HEAD + SEX + '[grid]\nvariable = "cell"\n')
    schema = replace(SCHEMA, variables=(*SCHEMA.variables, squares))
    with pytest.raises(DocumentError, match="are no cells of 1 km²"):  # N0 is no cell of Europe
        mapping_from_document(document, EU, schema)
    north = GridSpec("cell", "x", "y", 3035, 500, (9000, 9000, 11000, 9500), coarser=(1000,))
    squares = replace(squares, codes=leaf_codes(north), hierarchies=grid_hierarchies(north))
    schema = replace(SCHEMA, variables=(*SCHEMA.variables, squares))
    mapping = mapping_from_document(document, EU, schema)
    assert mapping.grid is not None
    level = mapping.variable(mapping.grid).level("GEO_G")
    assert [code.code for code in level.codes] == [
        "LA_CRS3035RES1000mN9000E9000",
        "LA_CRS3035RES1000mN9000E10000",
        "LA_unallocated",
    ]
    assert level.group == (0, 0, 1, 1, 2)


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ([f"NL_{CELL}"], f"'NL_{CELL}' of 'cell' are no cells of 1 km² of LA"),
        ([CELL.replace("9000", "9123")], "no cells of 1 km²"),
        ([CELL, f"LA_{CELL}"], "are the same cell"),
    ],
)
def test_cells_of_others_and_cells_that_stand_twice_are_refused(
    codes: list[str], said: str
) -> None:
    document = parse_toml(Path("m.toml"), HEAD + SEX + '[grid]\nvariable = "cell"\n')
    with pytest.raises(DocumentError, match=said):
        mapping_from_document(document, EU, _with_cells(*map(Code, codes)))
