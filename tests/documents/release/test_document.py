from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.documents.release.document import read_release, release_from_document
from sdcensus.documents.release.preset_files import preset_text, presets
from sdcensus.documents.release.text import release_text
from sdcensus.documents.toml.lines import parse_toml
from sdcensus.errors import DocumentError, UnknownName
from sdcensus.model.release.licence import ACCEPTANCE, LicenceClass
from sdcensus.model.release.plan import (
    Blanks,
    Design,
    Documentation,
    Extract,
    IntruderRules,
    LargeHouseholds,
    Layout,
    Making,
    MicrodataFormat,
    MissingValues,
    ModelQuestion,
    ReleasePlan,
    RiskRules,
    SmallOther,
    Suppression,
    Survey,
    Thresholds,
    Treatment,
)
from sdcensus.model.release.recode import CodeGroup, GroupKind, Recode
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.variable import Role
from sdcensus.model.text import Text
from tests.model.release.countries import country

HEAD = 'store = "census.store"\n'
DESIGN = '[[design]]\nname = "A"\nhouseholds = 0.1\n'
LAND = country()


def read(text: str, *, checked: bool = False) -> ReleasePlan:
    schema_of = (lambda _: LAND) if checked else None
    return release_from_document(parse_toml(Path("folder/release.toml"), text), schema_of)


def mistakes(text: str, *, checked: bool = False) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read(text, checked=checked)
    return [str(mistake) for mistake in caught.value.mistakes]


#: The sketch that the format began with.
SKETCH = """\
store = "census.store"
licence = "public-use"                        # or "licensed-use"

[risk]
ladder = ["age", "sex", "ed@parish", "occupation@minor"]
k = 3
missing = "adjust"

[[design]]
name = "A"
households = 0.10
drop = ["ed@parish"]
top_code = { age = 75 }

[[design]]
name = "B"
households = 0.20
drop = ["ed@parish"]
recode = { age = "five_year" }

[[design]]
name = "C"
households = 0.10
keep = ["ed@parish"]
top_code = { age = 90 }

[thresholds]
persons = 250
households = 60
exempt = ["rooms", "kind"]

[large_households]
above = 10
treatment = "draw-again"

[swap]                                        # for design C
rate_by = "household-risk"
share = 0.03
match = ["size", "children_by_sex", "adults_by_sex", "older_by_sex"]

[make]
design = "B"
formats = ["csv", "sav", "dta", "parquet"]
documentation = ["ddi", "html"]
"""


@pytest.mark.parametrize("checked", [False, True])
def test_the_sketch_of_the_format_is_read(checked: bool) -> None:
    plan = read(SKETCH, checked=checked)
    assert plan.name == "release"
    assert (plan.store, plan.office) == (Path("folder/census.store"), Path("folder/office"))
    assert [design.fraction for design in plan.designs] == [
        Fraction(1, 10),
        Fraction(1, 5),
        Fraction(1, 10),
    ]
    (swap,) = plan.treatments
    assert swap.designs == ("C",)
    assert swap.method == (
        "proportional-swap risk_variables=age,sex,ed@parish,occupation@minor rate=0.03"
        " members=sex,age:15:65"
    )
    assert plan.design().name == "B"
    assert plan.thresholds.exempt == (("rooms", ""), ("kind", ""))
    assert plan.cautions == (
        "[thresholds] exempts rooms, kind without a reason."
        ' Write exempt = { rooms = "the reason" }.',
    )
    assert plan.making.formats == tuple(
        MicrodataFormat(word) for word in ["csv", "sav", "dta", "parquet"]
    )
    for design in plan.designs:
        assert bool(file_design(plan, design, LAND).geographies) == (design.name == "C")


@pytest.mark.parametrize(
    ("written", "share"),
    [
        ("0.1", "1/10"),
        ('"1/3"', "1/3"),
        ("0.07", "7/100"),
        ("1", "1"),
        ("1.0", "1"),
        ("5e-2", "1/20"),
    ],
)
def test_shares_are_exact(written: str, share: str) -> None:
    for setting in ("households", "persons"):
        plan = read(f'{HEAD}[[design]]\nname = "A"\n{setting} = {written}\n')
        assert plan.designs[0].fraction == Fraction(share)
        assert bool(plan.cautions) == (share == "1")
    full = read(f'licence = "full-count"\n{HEAD}[[design]]\nname = "A"\nhouseholds = {written}\n')
    assert full.cautions == ()


@pytest.mark.parametrize(
    "written", ["0", "-0.1", "1.1", "nan", "inf", '"1/0"', '"a"', "true", "[1]", '"3/2"', '""']
)
def test_shares_that_are_none_are_refused_with_their_line(written: str) -> None:
    (told,) = mistakes(f'{HEAD}[[design]]\nname = "A"\nhouseholds = {written}\n')
    assert told.startswith("line 4: design (number 1): 'households': should be a share above 0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DESIGN, "'store' is missing"),
        (HEAD, "There is no design"),
        (f"{HEAD}[desing]\n", r"no setting or table 'desing'. Did you mean 'design'"),
        (f"{HEAD}{DESIGN}topcode = {{ age = 3 }}", r"line 5.*'topcode'. Did you mean 'top_code'"),
        (f"{HEAD}{DESIGN}{DESIGN}", "line 6.*two are called 'A'"),
        (f'{HEAD}{DESIGN}[make]\ndesign = "B"', "line 6: make: There is no design 'B'"),
        (f'{HEAD}{DESIGN}[make]\nformats = ["csv", "sas"]', "no format 'sas'"),
        (f'{HEAD}{DESIGN}[make]\nformats = ["csv", "csv"]', "stands twice"),
        (f'licence = "public"\n{HEAD}{DESIGN}', "line 1.*'public'. Did you mean 'public-use'"),
        (f'{HEAD}{DESIGN}[risk]\nladder = ["age", "age"]', "'age' stands twice"),
        (f'{HEAD}{DESIGN}[risk]\nladder = ["age", "age@x"]', "line 6.*same variable"),
        (f"{HEAD}{DESIGN}[risk]\nk = 0", "'k' should be at least 1"),
        (f'{HEAD}{DESIGN}[risk]\nladder = ["a"]\nknown_keys = 2', "the ladder has 1"),
        (f'{HEAD}{DESIGN}[roles]\nage = "kee"', "line 6: roles: There is no role 'kee'.*'key'"),
        (f"{HEAD}{DESIGN}top_code = {{ age = 1.5 }}", "'age': should be a whole number"),
        (f"{HEAD}{DESIGN}top_code = {{ a = 1 }}\nbottom_code = {{ a = 1 }}", "does not lie above"),
        (f'{HEAD}{DESIGN}recode = {{ age = "0,5,3+" }}', "line 5.*bounds must ascend"),
        (f'{HEAD}{DESIGN}recode = {{ "age@x" = "y" }}', "name the variable alone"),
        (
            f'{HEAD}{DESIGN}merge = {{ a = {{ x = ["1"], y = ["1"] }} }}',
            "'1' stands in 'x' already",
        ),
        (f"{HEAD}{DESIGN}merge = {{ a = {{ x = [] }} }}", "should be a list of codes"),
        (f'{HEAD}{DESIGN}optional = ["age"]', "line 5.*nothing is said about it"),
        (f"{HEAD}{DESIGN}persons = 0.1", "say the share once"),
        (f'{HEAD}[[design]]\nname = "A"', "share of households is missing"),
        (f'{HEAD}{DESIGN}[thresholds]\ngroupings = "g.csv"', "approved_by"),
        (f'{HEAD}{DESIGN}[thresholds]\napproved_by = "A"', "groupings = "),
        (f"{HEAD}{DESIGN}[thresholds]\npersons = -1", "at least 0"),
        (f"{HEAD}{DESIGN}[acceptance]\nexpected_matches = 2", "between 0 and 1"),
        (f'preset = "granada"\n{HEAD}', "line 1.*'granada'. Did you mean 'grenada'"),
        (
            f'{HEAD}{DESIGN}[risk]\nladder=["a"]\n[swap]\nshare=0.1',
            "no design keeps a geography.*keep =",
        ),
        (f"{HEAD}{DESIGN}keep=['e@p']\n[swap]\nshare=0.1", "risk. ladder"),
        (f'{HEAD}{DESIGN}[[treatment]]\nmethod = "prim x=1"', "method 'prim'. Did you mean 'pram'"),
        (f'{HEAD}{DESIGN}[[treatment]]\nmethod = "random-swap rate=0.1"', "keeps a geography"),
        (
            f'{HEAD}{DESIGN}[[treatment]]\nmethod = "pram variables=age"\ndesigns = ["Z"]',
            "line 7.*no design 'Z'",
        ),
        (f'{HEAD}{DESIGN}[suppress]\ndesigns = ["Z"]', "no design 'Z'"),
        (f'{HEAD}{DESIGN}[suppress]\nblanks = "all"', "no way to count companions 'all'"),
        (f"{HEAD}{DESIGN}[suppress]\nimportance = {{ age = 0 }}", "number above 0"),
        (f'{HEAD}[design]\nname = "A"', r"two pairs of brackets: \[\[design\]\]"),
        (f'{HEAD}{DESIGN}[large_households]\nabove = 3\ntreatment = "drop"', "treatment 'drop'"),
    ],
)
def test_mistakes_are_told_with_line_and_remedy(text: str, words: str) -> None:
    told = mistakes(text)
    assert len(told) == 1, told
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(told[0])


def test_all_mistakes_are_told_at_once() -> None:
    text = f'licence = "x"\n{HEAD}[[design]]\nname = "A"\nhouseholds = 2\n[risk]\nk = "3"\n[mak]\n'
    assert [told.split(":")[0] for told in mistakes(text)] == [
        "line 1",
        "line 5",
        "line 7",
        "line 8",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[risk]\nladder = ["age", "seks"]', "line 6: risk: There is no variable 'seks'"),
        ('[risk]\nladder = ["age", "occupation@mino"]', "line 6.*no level 'mino'"),
        ('[risk]\nladder = ["age", "name"]', "line 6.*cannot be told apart"),
        ('drop = ["seks"]', "line 5: design .*no variable 'seks'"),
        ("top_code = { age = 400 }", "line 5.*lies above every code"),
        ('[roles]\nagge = "key"', "line 6: roles: There is no variable 'agge'"),
        ('[thresholds]\nexempt = ["hours"]', "line 6.*no variable 'hours'"),
        ('[institutions]\nwhere = "kindd == 1"', "line 6.*no variable 'kindd'"),
        ('[[extract]]\nname = "x"\nvariables = ["y"]', "line 7.*no variable 'y'"),
        (
            'keep = ["form"]\n[risk]\nladder=["age"]\n[swap]\nshare = 0.1',
            "no design keeps a geography",
        ),
    ],
)
def test_what_the_census_does_not_have_is_told_with_its_line(text: str, words: str) -> None:
    told = mistakes(f"{HEAD}{DESIGN}{text}", checked=True)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(told[0])


def test_levels_bounds_ends_and_groups_are_one_recode_for_each_variable() -> None:
    plan = read(
        f"{HEAD}{DESIGN}"
        'recode = { age = "0,5,...,85+", job = "minor", rank = { level = "a", intervals = "0,5+"'
        " } }\n"
        "top_code = { rooms = 8 }\nbottom_code = { rooms = 1 }\n"
        'merge = { faith = { other = [17, "18"], "01" = { codes = ["02", ""], label = "One" } } }\n'
    )
    assert plan.designs[0].recodes == (
        Recode(variable="age", intervals="0,5,...,85+"),
        Recode(
            variable="faith",
            groups=(
                CodeGroup(code="other", members=("17", "18"), kind=GroupKind.OTHER),
                CodeGroup(code="01", members=("02", ""), label=Text.of("One")),
            ),
        ),
        Recode(variable="job", level="minor"),
        Recode(variable="rank", level="a", intervals="0,5+"),
        Recode(variable="rooms", top=8, bottom=1),
    )


# ---------------------------------------------------------------------------------- presets


def test_presets_name_their_source_and_are_complete_plans() -> None:
    assert presets() == ("us-virgin-islands", "ipums", "grenada", "trinidad-and-tobago")
    with pytest.raises(UnknownName, match="'granada'"):
        preset_text("granada")
    designs = {}
    for name in presets():
        assert "# Source: " in preset_text(name)
        plan = read(f'preset = "{name}"\n{HEAD}')
        designs[name] = [
            (str(design.fraction), next((r.intervals or r.top for r in design.recodes), None))
            for design in plan.designs
        ]
        assert plan.design().keep == ()
        for design in plan.designs:
            resolved = file_design(plan, design, LAND)
            assert resolved.geographies == ()
            missing = {text.split(":")[0] for text in resolved.not_applied}
            assert missing <= {"bedrooms", "age_at_first_birth", "children_ever_born"}
    assert designs == {
        "us-virgin-islands": [("1/10", 88)],
        "ipums": [("1/10", None)],
        "grenada": [("1/10", 75), ("1/5", "0,5,...,90+")],
        "trinidad-and-tobago": [("1/20", 90), ("1/10", "0,5,...,95+")],
    }


def test_a_document_starts_from_a_preset_and_says_what_differs() -> None:
    plan = read(
        f'preset = "grenada"\nlicence = "licensed-use"\n{HEAD}[thresholds]\npersons = 100\n'
        '[[design]]\nname = "bands"\nhouseholds = "1/3"\ntop_code = { rooms = 9 }\n'
        '[[design]]\nname = "own"\nhouseholds = 0.5\n'
    )
    assert [design.name for design in plan.designs] == ["single-years", "bands", "own"]
    bands = plan.design("bands")
    assert bands.fraction == Fraction(1, 3)
    by_name = {recode.variable: recode for recode in bands.recodes}
    assert by_name["rooms"] == Recode(variable="rooms", top=9)
    assert by_name["age"] == Recode(variable="age", intervals="0,5,...,90+", optional=True)
    assert (plan.thresholds.persons, plan.thresholds.households) == (100, 60)
    assert plan.acceptance == ACCEPTANCE[LicenceClass.LICENSED_USE]


# ---------------------------------------------------------------------------------- text

words = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=6)
names = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,5}", fullmatch=True)
listed = st.lists(names, max_size=3, unique=True).map(tuple)
texts = st.dictionaries(st.sampled_from(["en", "es"]), words, max_size=2).map(Text.of)
shares = st.fractions(Fraction(1, 100), 1, max_denominator=1000)
levels = st.floats(0, 1)
files = st.one_of(st.none(), names.map(lambda name: Path("folder") / f"{name}.csv"))


@st.composite
def recodes(draw: Any) -> tuple[Recode, ...]:
    every = []
    for name in sorted(draw(listed)):
        bottom = draw(st.one_of(st.none(), st.integers(0, 9)))
        top = draw(st.one_of(st.none(), st.integers(10, 99)))
        members = draw(st.lists(words, max_size=4, unique=True))
        groups = tuple(
            CodeGroup(
                code=f"g{at}" if at else "other",
                members=(member,),
                label=draw(texts),
                kind=draw(st.sampled_from(GroupKind)),
            )
            for at, member in enumerate(members)
        )
        recode = Recode(
            variable=name,
            level=draw(st.sampled_from(["", "five", "12", "1,2"])),
            intervals=draw(st.sampled_from(["", "0,5+", "3+", "0..9,10+"])),
            bottom=bottom,
            top=top,
            groups=groups,
            optional=draw(st.booleans()),
        )
        if replace(recode, optional=False) != Recode(variable=name):
            every.append(recode)
    return tuple(every)


designs = st.builds(
    Design, name=st.just(""), fraction=shares, keep=listed, drop=listed, recodes=recodes()
)


@st.composite
def plans(draw: Any) -> ReleasePlan:
    listed_designs = draw(st.lists(designs, min_size=1, max_size=3))
    every = tuple(replace(each, name=f"D{at}") for at, each in enumerate(listed_designs))
    licence = draw(st.sampled_from(LicenceClass))
    ladder = draw(listed)
    chosen = st.lists(st.sampled_from([each.name for each in every]), max_size=2, unique=True)
    groupings = draw(files)
    plan: ReleasePlan = draw(
        st.builds(
            ReleasePlan,
            name=names,
            store=names.map(lambda name: Path("folder") / name),
            office=st.just(Path("/elsewhere/office")),
            designs=st.just(every),
            licence=st.just(licence),
            acceptance=st.builds(
                replace,
                st.just(ACCEPTANCE[licence]),
                expected_matches=levels,
                household_risk=levels,
            ),
            title=texts,
            abstract=texts,
            producer=texts,
            contact=st.one_of(st.just(""), words),
            risk=st.builds(
                RiskRules,
                ladder=st.just(ladder),
                k=st.integers(1, 99),
                missing=st.sampled_from(MissingValues),
                composition=listed,
                sensitive=listed,
                closeness=levels,
                diversity=st.integers(1, 9),
            ),
            thresholds=st.builds(
                Thresholds,
                persons=st.integers(0, 999),
                households=st.integers(0, 999),
                exempt=st.dictionaries(names, words, max_size=2).map(lambda d: tuple(d.items())),
                small_other=st.sampled_from(SmallOther),
                groupings=st.just(groupings),
                approved_by=words if groupings else st.just(""),
            ),
            roles=st.dictionaries(names, st.sampled_from(Role), max_size=3),
            institutions=st.one_of(st.just(""), words),
            large_above=st.integers(1, 30),
            large=st.sampled_from(LargeHouseholds),
            treatments=st.lists(
                st.builds(
                    Treatment, method=st.just("pram variables=sex"), designs=chosen.map(tuple)
                ),
                max_size=2,
            ).map(tuple),
            suppression=st.one_of(
                st.none(),
                st.builds(
                    Suppression,
                    k=st.integers(1, 9),
                    keys=listed,
                    importance=st.dictionaries(names, st.floats(0.5, 9), max_size=2),
                    strata=st.one_of(st.just(""), names),
                    designs=chosen.map(tuple),
                    blanks=st.sampled_from(Blanks),
                ),
            ),
            surveys=st.lists(
                st.builds(Survey, name=words, households=st.integers(0, 9)),
                max_size=2,
                unique_by=lambda survey: survey.name.casefold(),
            ).map(tuple),
            intruder=st.lists(
                st.builds(
                    IntruderRules,
                    keys=listed,
                    coverage=st.floats(0.1, 1),
                    file_errors=st.dictionaries(names, levels, max_size=2),
                    years=st.integers(-3, 9),
                    designs=chosen.map(tuple),
                ),
                max_size=1,
            ).map(tuple),
            models=st.lists(
                st.builds(ModelQuestion, name=words, formula=words, where=words), max_size=1
            ).map(tuple),
            extracts=st.lists(st.builds(Extract, name=names, variables=listed), max_size=1).map(
                tuple
            ),
            making=st.builds(
                Making,
                design=st.sampled_from(["", *(each.name for each in every)]),
                formats=st.lists(
                    st.sampled_from(MicrodataFormat), min_size=1, max_size=3, unique=True
                ).map(tuple),
                documentation=st.just((Documentation.NADA,)),
                layout=st.sampled_from(Layout),
                imputation_flags=listed,
                weight_classes=st.integers(1, 99),
                delete=files,
                harmonisation=files,
                languages=st.sampled_from([(), ("en",), ("es", "en")]),
            ),
        )
    )
    return plan


@settings(max_examples=40)
@given(plans())
def test_a_plan_that_is_written_reads_back_equal(plan: ReleasePlan) -> None:
    document = parse_toml(Path("folder/other.toml"), release_text(plan, Path("folder")))
    back = release_from_document(document)
    assert replace(back, cautions=()) == plan


@pytest.mark.parametrize("name", presets())
def test_a_plan_from_a_preset_reads_back_equal(name: str, tmp_path: Path) -> None:
    first, second = tmp_path / "release.toml", tmp_path / "again.toml"
    first.write_text(
        f'preset = "{name}"\nname = "x"\n{HEAD}[[design]]\nname = "bands"\nhouseholds = 0.07\n'
        'keep = ["ed"]\ntop_code = { age = 60 }\n[acceptance]\nnot_anonymous = 0.5\n',
        encoding="utf-8",
    )
    plan = read_release(first)
    second.write_text(release_text(plan, tmp_path), encoding="utf-8")
    assert read_release(second) == plan


def test_everything_that_a_design_gets_wrong_is_told_at_once() -> None:
    told = mistakes(
        f'{HEAD}{DESIGN}drop = ["seks", "agge"]\ntop_code = {{ age = 400 }}\n'
        '[risk]\nladder = ["age", "age@five_year"]\n',
        checked=True,
    )
    text = str(told)
    for words in ("'seks'", "'agge'", "lies above every code", "the same variable"):
        assert text.count(words) == 1, text
