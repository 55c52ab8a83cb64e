from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.policy.document import policy_from_document, policy_text, read_policy
from sdcensus.documents.toml.lines import parse_toml
from sdcensus.errors import DocumentError, InputError
from sdcensus.model.policy.policy import (
    AtLevel,
    Decided,
    DesignRules,
    Detail,
    DetailOf,
    Limits,
    NotOffered,
    OnlineRules,
    Policy,
    RecordSet,
    RoleRules,
    UserRole,
    VariableRule,
    WhenSparse,
)
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role, Variable
from sdcensus.model.text import Text
from sdcensus.testing.island import island_schema

ISLAND = island_schema()
#: Everything that a policy can say, about the island.
FULL = """
name = "Public table builder"
lock = true

[limits]
dimensions = 5
cells = 100_000

[online]
mean_cell_size = 2
when_sparse = "withhold-area"
mean_cell_size_of_table = 0.5
exclude_structural_zeros = true
ones = 0.25
ones_and_twos = 0.50
minimum_population = 20
recovery = 0.10

[design]
minimum_population = 100
minimum_population_at = { "area@parish" = 50 }
minimum_category = 5

[[design.detail]]
population = 0
levels = { age = "class" }

[[design.detail]]
population = 5000
levels = { age = "age" }

[exempt]
record_sets = ["usual residents by district", { by = ["sex"], where = "age >= 3" }]

[variable.age]
finest_area = "area@district"
as_filter = false
finest_level = "class"

[never_together]
combinations = [["sex", "area@parish"], ["married", "age@class", "area"]]

[role.public]
cells_per_hour = 200_000
tables_per_day = 500

[role.production]
dimensions = 9
cells = 5_000_000
jobs = 2
online = "off"

[[decided.not_offered]]
at = "area@parish"
codes = ["P5", "P6"]

[[decided.detail]]
areas = "area@district"
codes = ["D2"]
levels = { age = "class" }
"""


def read(text: str) -> Policy:
    return policy_from_document(parse_toml(Path("policy.toml"), text), ISLAND)


def mistakes(text: str) -> dict[int, str]:
    """The mistakes of a document by line; one for each line."""
    with pytest.raises(DocumentError) as found:
        read(text)
    lines = [mistake.line for mistake in found.value.mistakes]
    assert len(lines) == len(set(lines))
    return {mistake.line: mistake.text for mistake in found.value.mistakes}


def test_every_setting_is_read() -> None:
    made = read(FULL)
    assert (made.name, made.lock) == ("Public table builder", True)
    assert made.limits == Limits(dimensions=5, cells=100_000)
    assert made.online == OnlineRules(
        mean_cell_size=2,
        mean_cell_size_of_table=0.5,
        exclude_structural_zeros=True,
        ones=0.25,
        ones_and_twos=0.5,
        minimum_population=20,
        recovery=0.1,
    )
    assert made.design.minimum_population_at == ((AtLevel("area", "parish"), 50),)
    assert [one.population for one in made.design.detail] == [0, 5000]
    assert [one.spec(ISLAND).shape for one in made.exempt] == [(4,), (3,)]
    assert made.rule_of("age") == VariableRule(
        variable="age",
        as_filter=False,
        finest_level="class",
        finest_area=AtLevel("area", "district"),
    )
    assert made.never_together[1] == (AtLevel("married"), AtLevel("age", "class"), AtLevel("area"))
    assert not made.role("production").online
    assert made.role("public").tables_per_day == 500
    assert made.decided.not_offered == (NotOffered(AtLevel("area", "parish"), ("P5", "P6")),)


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(FULL, encoding="utf-8", newline="\n")
    assert read_policy(path, ISLAND) == read(FULL)
    with pytest.raises(InputError, match="does not exist"):
        read_policy(tmp_path / "other.toml", ISLAND)


def test_what_is_written_is_read_back() -> None:
    made = read(FULL)
    assert read(policy_text(made)) == made
    assert policy_text(read(policy_text(made))) == policy_text(made)


def test_the_least_policy_says_its_name() -> None:
    made = read('name = "open"')
    assert made == Policy(name="open", schema=ISLAND)
    assert read(policy_text(made)) == made


@pytest.mark.parametrize(
    ("preset", "size", "of_table", "action"),
    [("NZ", 2, None, "c"), ("uk", None, 1, "withhold-area"), ("US", None, 3, "withhold-area")],
)
def test_presets_can_be_named_and_overridden(
    preset: str, size: float | None, of_table: float | None, action: str
) -> None:
    made = read(f'name = "x"\n[online]\npreset = "{preset}"').online
    assert (made.mean_cell_size, made.mean_cell_size_of_table) == (size, of_table)
    assert made.when_sparse == action
    other = read(f'name = "x"\n[online]\npreset = "{preset}"\nmean_cell_size = 7').online
    assert other.mean_cell_size == 7


# -------------------------------------------------------------------------------------- mistakes


def test_every_mistake_is_listed_with_its_line() -> None:
    found = mistakes(
        """
name = "x"
lock = "yes"
locked = true
[limits]
dimension = 5
cells = 1.5
[online]
mean_cell_size = "two"
when_sparse = "hide"
ones = nan
[variable.age]
finest_area = 3
[never_together]
combinations = [["sex", 3]]
[role.publik]
[role.staff]
online = true
[design]
one_household_cells = "ignore"
[[design.detail]]
levels = { age = "class" }
[[decided.not_offered]]
at = "area@parish"
"""
    )
    assert "should be true or false" in found[3]
    assert "There is no setting or table 'locked'. Did you mean 'lock'" in found[4]
    assert "There is no setting 'dimension'. Did you mean 'dimensions'?" in found[6]
    assert "'cells' should be a whole number" in found[7]
    assert "'mean_cell_size': should be a number" in found[9]
    assert "There is no action for sparse areas 'hide'" in found[10]
    assert "'ones': should be a number" in found[11]
    assert 'should be a text such as "ed@district"' in found[13]
    assert 'should be a text such as "ed@district"' in found[15]
    assert "There is no role 'publik'. Did you mean 'public'?" in found[16]
    assert 'should be "on" or "off"' in found[18]
    assert "There is no action for cells of one household 'ignore'" in found[20]
    assert "the setting 'population' is missing" in found[21]
    assert "the setting 'codes' is missing" in found[23]


def test_names_that_the_census_does_not_have_are_found_with_the_nearest_ones() -> None:
    found = mistakes(
        """
name = "x"
[variable.sx]
offered = false
[variable.age]
finest_level = "clas"
[variable.sex]
finest_area = "area@distrit"
[variable.married]
finest_area = "age@class"
[never_together]
combinations = [
  ["sex", "area@parsh"],
  ["sex", "merried"],
]
[design]
minimum_population_at = { "area@ward" = 10 }
[[decided.not_offered]]
at = "area@parish"
codes = ["P1", "P77"]
"""
    )
    assert "Did you mean 'sex'" in found[3]
    assert "Did you mean 'class'" in found[6]
    assert "Did you mean 'district'" in found[8]
    assert "There is no geography 'age@class'" in found[10]
    assert "Did you mean 'parish'" in found[13]
    assert "Did you mean 'married'" in found[14]
    assert "There is no level 'ward'" in found[17]
    assert "There is no code 'P77'" in found[20]


def test_rules_against_each_other_are_found() -> None:
    found = mistakes(
        """
name = "x"
[online]
mean_cell_size = 2
when_sparse = "c"
recovery = 1.0
ones = -0.1
[exempt]
record_sets = ["residents by district"]
[role.registered]
online = "off"
"""
    )
    assert "'c' cannot go with totals that are published exactly" in found[5]
    assert "above 0 and below 1" in found[6]
    assert "from 0 to 1" in found[7]
    assert "cannot be off for the role 'registered'" in found[11]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('[online]\nwhen_sparse = "refuse-table"', 3, "say from when on, by mean_cell_size"),
        ("[online]\nmean_cell_size = 2\nbelow = 6", 4, "is for when_sparse"),
        ('[online]\npreset = "France"', 3, "There is no preset 'France'"),
        ('[exempt]\nrecord_sets = ["residents by distrct"]', 3, "Did you mean 'district'"),
        ("[exempt]\nrecord_sets = [7]", 3, 'should be a text such as "persons by'),
        ('[exempt]\nrecord_sets = [{ of = "person" }]', 3, "the setting 'by' is missing"),
        ("[variable.age]\nfinest_level = 'sex@sex'", 3, "a level of 'age' itself"),
        ("[role]\npublic = 3", 3, "should be a table: [role.public]"),
        ("[design]\ndetail = 3", 3, "write it with two pairs of brackets: [[design.detail]]"),
        ("[never_together]\ncombinations = ['sex']", 3, "should be a list, such as"),
        ("limits = 3", 2, "should be a table: [limits]"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(text: str, line: int, message: str) -> None:
    found = mistakes(f'name = "x"\n{text}')
    assert message in found[line]


def test_a_policy_without_a_name_is_refused() -> None:
    with pytest.raises(DocumentError, match="the setting 'name' is missing"):
        read("lock = true")


# --------------------------------------------------------------------------- writing and reading

AREA = st.sampled_from([AtLevel("area", "parish"), AtLevel("area", "district"), AtLevel("area")])
AT_LEVEL = st.one_of(
    AREA, st.sampled_from([AtLevel("age", "class"), AtLevel("age"), AtLevel("sex")])
)
SHARE = st.none() | st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 1.0])
SIZE = st.none() | st.integers(1, 10**9)
RULES = st.builds(
    VariableRule,
    variable=st.sampled_from(["age", "sex", "area", "married"]),
    offered=st.booleans(),
    as_filter=st.booleans(),
    finest_level=st.just(""),
    finest_area=st.none() | AREA,
)
ROLES = st.builds(
    RoleRules,
    role=st.sampled_from([UserRole.STAFF, UserRole.PRODUCTION]),
    dimensions=SIZE,
    cells=SIZE,
    cells_per_hour=SIZE,
    online=st.booleans(),
)
SETS = st.sampled_from(
    [
        RecordSet("", Entity.PERSON, ("sex",), "age < 3"),
        RecordSet('a "name" with \\ and ñ', Entity.PERSON, ("area@district", "sex")),
        RecordSet("people by parish", Entity.PERSON, ("area@parish",)),
    ]
)
POLICIES = st.builds(
    Policy,
    name=st.sampled_from(["x", 'quote " and \\', "ñandú", "a # b"]),
    schema=st.just(ISLAND),
    lock=st.booleans(),
    limits=st.builds(Limits, dimensions=SIZE, cells=SIZE),
    online=st.builds(
        OnlineRules,
        mean_cell_size=st.sampled_from([0, 0.1, 2, 3.75]),
        when_sparse=st.sampled_from([WhenSparse.WITHHOLD_AREA, WhenSparse.REFUSE_TABLE]),
        mean_cell_size_of_table=st.none() | st.sampled_from([1, 2.5]),
        exclude_structural_zeros=st.booleans(),
        ones=SHARE,
        ones_and_twos=SHARE,
        minimum_population=SIZE,
        recovery=st.none() | st.sampled_from([0.1, 0.9]),
    ),
    design=st.builds(
        DesignRules,
        minimum_population=SIZE,
        minimum_population_at=st.sampled_from([(), ((AtLevel("area", "parish"), 3),)]),
        minimum_category=SIZE,
        detail=st.sampled_from([(), (Detail(population=9, levels=(AtLevel("age", "age"),)),)]),
    ),
    exempt=st.lists(SETS, max_size=2).map(tuple),
    variables=st.lists(RULES, max_size=3, unique_by=lambda one: one.variable).map(tuple),
    never_together=st.lists(
        st.lists(AT_LEVEL, min_size=2, max_size=3, unique_by=lambda one: one.variable).map(tuple),
        max_size=2,
    ).map(tuple),
    roles=st.lists(ROLES, max_size=2, unique_by=lambda one: one.role).map(tuple),
    decided=st.sampled_from(
        [
            Decided(),
            Decided(
                not_offered=(NotOffered(AtLevel("area", "parish"), ("P1",)),),
                detail=(
                    DetailOf(AtLevel("area", "district"), ("D0",), (AtLevel("age", "class"),)),
                ),
            ),
        ]
    ),
)


@given(POLICIES)
def test_any_policy_that_is_written_is_read_back_the_same(made: Policy) -> None:
    assert read(policy_text(made)) == made


def test_a_policy_with_c_is_written_with_its_limit() -> None:
    rules = OnlineRules(mean_cell_size=2, when_sparse=WhenSparse.C, below=9)
    made = Policy(name="x", schema=ISLAND, online=rules)
    assert read(policy_text(made)) == made


def test_names_of_variables_need_not_be_plain() -> None:
    """Names with letters of other alphabets stand in quotes."""
    size = Variable(
        name="tamaño",
        entity=Entity.PERSON,
        role=Role.KEY,
        label=Text.of("Size"),
        codes=(Code("1"), Code("2")),
        hierarchies=(Hierarchy("all", (Level("todo", (Code("x"),), (0, 0)),)),),
    )
    schema = replace(ISLAND, variables=(*ISLAND.variables, size))
    made = Policy(
        name="x",
        schema=schema,
        variables=(VariableRule(variable="tamaño", finest_level="todo"),),
        design=DesignRules(detail=(Detail(population=4, levels=(AtLevel("tamaño", "tamaño"),)),)),
    )
    document = parse_toml(Path("policy.toml"), policy_text(made))
    assert policy_from_document(document, schema) == made
