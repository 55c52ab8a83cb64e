from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.documents.release.groupings import groupings_text, read_groupings
from sdcensus.errors import DocumentError, Refused
from sdcensus.microdata.release.groupings import (
    GroupingProposal,
    category_counts,
    check_thresholds,
    small_categories,
)
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.grouping import Grouping
from sdcensus.model.release.plan import Design, ReleasePlan, SmallOther, Thresholds
from sdcensus.model.release.recode import Recode
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.number_codes import range_codes
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Variable,
)
from sdcensus.model.text import Text
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.stores import Units, write_store
from tests.model.release.countries import NA, NS

P, H = Entity.PERSON, Entity.HOUSEHOLD
#: Nine jobs in three branches.
JOBS = (*(Code(f"0{at}", Text.of(f"Job {at}")) for at in range(9)), NA, NS)
BRANCHES = Level(
    "branch",
    (*(Code(f"0{at}", Text.of(f"Branch {at}")) for at in range(3)), NA, NS),
    (0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 4),
)
VARIABLES = (
    Variable(name="job", entity=P, codes=JOBS, hierarchies=(Hierarchy("branch", (BRANCHES,)),)),
    Variable(name="age", entity=P, codes=(*range_codes(0, 9), NS)),
    Variable(name="faith", entity=P, codes=tuple(Code(sign) for sign in ("a", "b", "c", "", "="))),
    Variable(name="roof", entity=H, codes=(*(Code(str(at)) for at in range(4)), NA)),
    Variable(name="one", entity=P, codes=(Code("1"), NS)),
)
SCHEMA = Schema(
    census=CensusInfo(name="Land", code=("L",), languages=("en", "fr")),
    entities=(EntitySpec(entity=P, id=("p",), within=H), EntitySpec(entity=H, id=("h",))),
    variables=VARIABLES,
)
PLAN = ReleasePlan(name="file", store=Path("s"), office=Path("o"), designs=())


def store_of(folder: str, counts: dict[str, list[int]]) -> CensusStore:
    """A store in which each code has the given number of units, in a mixed order."""
    draw = np.random.default_rng(1)
    sizes = {
        entity: max(sum(counts[each.name]) for each in VARIABLES if each.entity is entity)
        for entity in (P, H)
    }

    def column(variable: Variable) -> np.ndarray:
        # What is not counted has no value; the last code is one of those in most variables.
        last = len(variable.codes) - 1
        leaves = np.repeat(np.arange(len(counts[variable.name])), counts[variable.name])
        rest = np.full(sizes[variable.entity] - leaves.size, last)
        return draw.permutation(np.concatenate([leaves, rest]))

    def units(entity: Entity, **more: object) -> Units:
        leaves = {each.name: column(each) for each in VARIABLES if each.entity is entity}
        return Units(keys=np.arange(sizes[entity]), leaves=leaves, **more)  # type: ignore[arg-type]

    persons = units(P, parents={H: draw.integers(0, sizes[H], sizes[P])})
    return write_store(Path(folder) / "store", SCHEMA, {H: units(H), P: persons})


def resolved(*groupings: Grouping, **said: object) -> FileDesign:
    design = Design(name="A", fraction=Fraction(1, 10), **said)  # type: ignore[arg-type]
    return file_design(PLAN, design, SCHEMA, groupings)


def proposed(proposal: GroupingProposal) -> dict[str, dict[str, tuple[str, ...]] | str]:
    return {
        each.variable: "drop" if each.drop else {g.code: g.members for g in each.groups}
        for each in proposal.groupings
    }


counts_of = st.fixed_dictionaries(
    {
        variable.name: st.lists(
            st.integers(0, 40),
            min_size=sum(not code.is_missing for code in variable.codes),
            max_size=sum(not code.is_missing for code in variable.codes),
        )
        for variable in VARIABLES
    }
)


@settings(max_examples=15, deadline=None)
@given(counts_of, st.integers(0, 60), st.integers(0, 40), st.sampled_from(SmallOther))
def test_after_the_proposal_every_category_is_large_enough(
    counts: dict[str, list[int]], persons: int, households: int, rule: SmallOther
) -> None:
    counts["age"][0] += 1
    counts["roof"][0] += 1
    thresholds = Thresholds(
        persons=persons,
        households=households,
        small_other=rule,
        exempt=(("one", "has one code only"),),
    )
    with tempfile.TemporaryDirectory() as folder:
        store = store_of(folder, counts)
        design = resolved(recodes=(Recode(variable="age", top=8),))
        proposal = small_categories(store, design, thresholds)
        after = resolved(*proposal.groupings, recodes=(Recode(variable="age", top=8),))
        check_thresholds(store, after, thresholds)
        # Counted without the program that is tested.
        for variable in after.variables:
            column = store.column(variable.entity, variable.source)[slice(None)]
            told = variable.level.group_array[column]
            least = households if variable.entity is H else persons
            for at, code in enumerate(variable.level.codes):
                if code.kind is CodeKind.VALID and variable.name != "one":
                    assert int((told == at).sum()) >= least
            assert category_counts(store, variable).sum() == column.size
        assert "one" in [variable.name for variable in after.variables]
        # Only what is too small, and what it needs, is merged.
        for sizes in proposal.variables:
            if not sizes.small:
                assert sizes.grouping is None
        path = Path(folder) / "groupings.csv"
        path.write_text(groupings_text(proposal.rows(), ("en", "fr")), encoding="utf-8")
        back = read_groupings(path, [design])
        again = resolved(*back, recodes=(Recode(variable="age", top=8),))
        assert [each.level for each in again.variables] == [each.level for each in after.variables]


LARGE = {
    "job": [100, 100, 100, 100, 100, 100, 100, 100, 100],
    "age": [90] * 10,
    "faith": [200, 200, 200, 200, 100],
    "roof": [50, 50, 50, 50],
    "one": [900],
}


def proposal_for(tmp_path: Path, thresholds: Thresholds, **counts: list[int]) -> GroupingProposal:
    return small_categories(store_of(str(tmp_path), LARGE | counts), resolved(), thresholds)


def test_siblings_go_together_first_then_other(tmp_path: Path) -> None:
    thresholds = Thresholds(persons=50, households=50)
    counts = [30, 30, 100, 20, 100, 60, 5, 5, 5]
    proposal = proposal_for(tmp_path, thresholds, job=counts)
    # 0 and 1 are enough together; 3 needs the next smallest of its branch; branch 2 is too small
    # as a whole, so it becomes other with the smallest of the rest.
    assert proposed(proposal) == {
        "job": {"00-other": ("00", "01"), "01-other": ("03", "05"), "other": ("00", "01")}
        | {"other": ("00", "01", "06", "07", "08")}
    } or proposed(proposal)["job"] == {
        "other": ("00", "01", "06", "07", "08"),
        "01-other": ("03", "05"),
    }


def test_numbers_go_to_their_neighbours(tmp_path: Path) -> None:
    thresholds = Thresholds(persons=50, households=0)
    ages = [90, 90, 90, 90, 90, 90, 90, 40, 20, 5]
    proposal = proposal_for(tmp_path, thresholds, age=ages)
    assert proposed(proposal) == {"age": {"7": ("7", "8", "9")}}
    level = resolved(*proposal.groupings).variable("age").level
    top = level.codes[7]
    assert (top.code, top.label.show("fr"), top.lower, top.upper) == ("7", "7 à 9", 7, 9)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (SmallOther.MERGE_NEXT, {"other": ("b", "")}),
        (SmallOther.NOT_STATED, {"not_stated": ("b",)}),
        (SmallOther.DROP, "drop"),
    ],
)
def test_a_rest_that_is_too_small_follows_the_rule(
    tmp_path: Path, rule: SmallOther, expected: object
) -> None:
    thresholds = Thresholds(persons=50, households=0, small_other=rule)
    faith = [200, 3, 200, 100, 300]
    proposal = proposal_for(tmp_path, thresholds, faith=faith)
    assert proposed(proposal) == {"faith": expected}
    after = resolved(*proposal.groupings)
    if rule is SmallOther.NOT_STATED:
        assert after.variable("faith").level.codes[-1].kind is CodeKind.NOT_STATED


def test_exempt_variables_stay_and_a_threshold_for_nobody_is_refused(tmp_path: Path) -> None:
    few = Thresholds(persons=150, households=0, exempt=(("job", "known"), ("age", "known")))
    proposal = proposal_for(tmp_path, few)
    assert set(proposed(proposal)) == {"faith"}
    assert {each.variable.name: each.exempt for each in proposal.variables if each.exempt} == {
        "job": "known",
        "age": "known",
    }
    with pytest.raises(Refused, match="nothing would be left"):
        small_categories(
            CensusStore.open(tmp_path / "store"),
            resolved(),
            Thresholds(persons=10**6, households=10**6),
        )


def test_what_an_office_approves_is_checked_again(tmp_path: Path) -> None:
    thresholds = Thresholds(persons=150, households=0)
    proposal = proposal_for(tmp_path, thresholds)
    store = CensusStore.open(tmp_path / "store")
    text = groupings_text(proposal.rows(), ("en",))
    path = tmp_path / "groupings.csv"
    edited = "\n".join(
        line.replace(",other,", ",,").replace(",Other", ",") for line in text.splitlines()
    )
    path.write_text(edited, encoding="utf-8")
    after = resolved(*read_groupings(path, [resolved()]))
    with pytest.raises(Refused, match=r"faith: '='(.|\n)*exempt = ") as caught:
        check_thresholds(store, after, thresholds)
    assert "100" not in str(caught.value)
    check_thresholds(
        store, after, Thresholds(persons=150, households=0, exempt=(("faith", "asked of all"),))
    )


def test_sizes_stand_in_the_copy_of_the_office_only(tmp_path: Path) -> None:
    proposal = proposal_for(tmp_path, Thresholds(persons=91, households=0), age=[97] * 9 + [13])
    public = groupings_text(proposal.rows(), ("en",))
    assert "97" not in public
    assert "13" not in public
    sizes = {("A", *key): size for key, size in proposal.sizes().items()}
    office = groupings_text(proposal.rows(), ("en",), sizes)
    assert "A,age,9,9,8,,13" in office.splitlines()
    path = tmp_path / "office.csv"
    path.write_text(office, encoding="utf-8")
    assert read_groupings(path, [resolved()]) == proposal.groupings
    assert "confidential" in repr(proposal)


HEADER = "design,variable,code,label,into,group_label_en\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("variable,code\nx,y\n", "column 'into' is missing"),
        ("variable,code,into,colour\n", "no column 'colour'"),
        (f"{HEADER}Z,job,00,,x,\n", "line 2: There is no design 'Z'"),
        (f"{HEADER}A,jobb,00,,x,\n", "line 2: .*no variable of the file 'jobb'.*'job'"),
        (f"{HEADER}A,job,77,,x,\n", "line 2: 'job' of design 'A': There is no code '77'"),
        (f"{HEADER}A,job,00,,x,\nA,job,00,,y,\n", "line 3: .*'00'.*in row 2 already"),
        (f"{HEADER}A,job,00,,(drop),\nA,job,01,,,\n", "line 3: Row 2 leaves"),
        (f"{HEADER}A,job,00,,x,One\nA,job,01,,x,Two\n", "line 2: .*several labels"),
        (f"{HEADER}A,job,00,,02,\nA,job,01,,02,\n", "a code outside"),
    ],
)
def test_mistakes_in_an_edited_file_are_told_with_their_row(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "groupings.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError, match=words):
        read_groupings(path, [resolved()])


def test_a_row_without_a_design_is_about_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "groupings.csv"
    path.write_text("variable,code,into\njob,00,x\njob,01,x\nage,3,(drop)\n", encoding="utf-8")
    (job, age) = read_groupings(path, [resolved()])
    assert job.groups[0].members == ("00", "01")
    assert age.drop
