from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.release.recode import CodeGroup, GroupKind, Recode
from sdcensus.model.release.recoding import coarser_of, joined_recode, recoded
from sdcensus.model.schema.number_codes import (
    interval_level,
    nested_hierarchies,
    parse_bounds,
    range_codes,
)
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Level, Variable
from sdcensus.model.text import LANGUAGES, Text

NA = Code("na", Text.of("Not applicable"), CodeKind.NOT_APPLICABLE)
NS = Code("999", Text.of("Not stated"), CodeKind.NOT_STATED)
AGES = (*range_codes(0, 99), NA, NS)
AGE = Variable(
    name="age",
    entity=Entity.PERSON,
    codes=AGES,
    hierarchies=nested_hierarchies("age", [interval_level("five_year", "0,5,...,85+", AGES)]),
)
RELIGION = Variable(
    name="religion",
    entity=Entity.PERSON,
    codes=(
        *(Code(f"0{at}", Text.of({"en": f"Faith {at}", "fr": f"Foi {at}"})) for at in range(6)),
        Code("", Text.of("None")),
        NS,
    ),
)


def told(level: Level, variable: Variable) -> dict[str, str]:
    """The code of the file by the code of the census."""
    return {
        leaf.code: level.codes[at].code
        for leaf, at in zip(variable.codes, level.group, strict=True)
    }


def recode(variable: Variable = AGE, **said: object) -> Level:
    return recoded(variable, Recode(variable=variable.name, **said))  # type: ignore[arg-type]


def group(code: str, *members: str, kind: GroupKind = GroupKind.CODE) -> CodeGroup:
    return CodeGroup(code=code, members=members, kind=kind)


def test_a_variable_of_which_nothing_is_said_is_told_as_it_is() -> None:
    assert recoded(AGE, None) == AGE.level()
    amount = Variable(name="rent", entity=Entity.HOUSEHOLD, continuous=True)
    assert recoded(amount, None).codes == ()
    with pytest.raises(SpecError, match="amount without classes"):
        recode(amount, top=3)


def test_level_intervals_bottom_top_and_groups_follow_each_other() -> None:
    level = recode(level="five_year", bottom=9, top=80, groups=(group("mid", "10-14", "15-19"),))
    by_code = told(level, AGE)
    assert {by_code[str(age)] for age in range(10)} == {"9-"}
    assert {by_code[str(age)] for age in range(10, 20)} == {"mid"}
    assert {by_code[str(age)] for age in range(80, 100)} == {"80+"}
    assert by_code["20"] == "20-24"
    assert (by_code["na"], by_code["999"]) == ("na", "999")
    assert [code.kind for code in level.codes[-2:]] == [NA.kind, NS.kind]
    bands = recode(intervals="0,5,...,90+")
    assert told(bands, AGE)["93"] == "90+"
    # The figure of the study for Grenada: 19 bands of five years.
    assert sum(not code.is_missing for code in bands.codes) == 19


def test_ends_of_single_numbers_keep_their_number_and_are_called_in_every_language() -> None:
    level = recode(top=75, bottom=1)
    top = next(code for code in level.codes if code.code == "75")
    assert {language: top.label.show(language) for language in LANGUAGES} == {
        "en": "75 and over",
        "es": "75 y más",
        "fr": "75 et plus",
        "nl": "75 en meer",
        "pt": "75 e mais",
    }
    assert (top.lower, top.upper) == (75, None)
    # The study's: 0 to 75 and over are 76 codes.
    assert sum(not code.is_missing for code in recode(top=75).codes) == 76
    zeros = Variable(
        name="rooms", entity=Entity.HOUSEHOLD, codes=tuple(Code(f"{at:03}") for at in range(1, 20))
    )
    assert told(recode(zeros, top=12), zeros)["015"] == "012"


@given(
    st.integers(0, 99),
    st.integers(0, 99),
    st.sampled_from(["", "0,5,...,85+", "0,1,2,3,15,40+"]),
)
def test_every_number_has_its_place_and_missing_codes_none_of_them(
    bottom: int, top: int, intervals: str
) -> None:
    lows = parse_bounds(intervals).lows if intervals else list(range(100))
    fits = top in lows and (bottom + 1 in lows or bottom == 99)
    if not fits or top <= bottom:
        with pytest.raises(SpecError, match=r"above the bottom|cuts through|above every|below"):
            recode(bottom=bottom, top=top, intervals=intervals)
        return
    level = recode(bottom=bottom, top=top, intervals=intervals)
    for age in range(100):
        code = level.codes[level.group[age]]
        assert code.lower is not None
        assert code.lower <= age
        assert code.upper is None or age <= code.upper
        assert (code.lower == top) == (age >= top)
        assert (code.upper == bottom) == (age <= bottom)
    assert [level.codes[at].kind for at in level.group[-2:]] == [NA.kind, NS.kind]


def test_groups_keep_kinds_unless_they_say_otherwise() -> None:
    other = group("other", "00", "03", kind=GroupKind.OTHER)
    blank = group("999", "01", kind=GroupKind.NOT_STATED)
    level = recode(RELIGION, groups=(other, blank))
    assert [code.code for code in level.codes] == ["02", "04", "05", "", "other", "999"]
    assert level.codes[-2].label.show("nl") == "Overige"
    assert told(level, RELIGION)["01"] == "999"
    assert level.codes[-1].kind is CodeKind.NOT_STATED
    named = recode(RELIGION, groups=(group("x", "04", "999"),))
    at = told(named, RELIGION)
    assert at["999"] == at["04"] == "x"
    assert next(code for code in named.codes if code.code == "x").kind is CodeKind.VALID
    joined = recode(RELIGION, groups=(group("new", "04", "05"),))
    label = next(code for code in joined.codes if code.code == "new").label
    assert (label.show("en"), label.show("fr")) == ("Faith 4, Faith 5", "Foi 4, Foi 5")
    blanks = recode(groups=(group("none", "na", "999"),))
    assert blanks.codes[-1].kind is CodeKind.NOT_STATED


@pytest.mark.parametrize(
    ("variable", "said", "words"),
    [
        (AGE, {"level": "ten_year"}, "no level 'ten_year'.*five_year"),
        (AGE, {"top": 10, "bottom": 10}, "does not lie above the bottom"),
        (AGE, {"top": 100}, "lies above every code .*99"),
        (AGE, {"bottom": -1}, "lies below every code"),
        (AGE, {"bottom": 98, "top": 99, "level": "five_year"}, "cuts through|one code"),
        (AGE, {"level": "five_year", "top": 77}, "cuts through the code '75-79'"),
        (AGE, {"top": 0}, "everything becomes one code.*drop"),
        (AGE, {"intervals": "5,10+"}, "first bound is 5"),
        (RELIGION, {"intervals": "0,3+"}, "'' is no whole number"),
        (RELIGION, {"top": 3}, "'' which is no whole|code ''"),
        (RELIGION, {"groups": (group("x", "7"),)}, "no code '7'"),
        (RELIGION, {"groups": (group("x", "01"), group("y", "01"))}, "two groups, 'x' and 'y'"),
        (RELIGION, {"groups": (group("x", "01", "01"),)}, "twice in one group"),
        (RELIGION, {"groups": (group("02", "01"),)}, "a code outside"),
        (RELIGION, {"groups": (group("x"),)}, "has no codes"),
        (RELIGION, {"groups": (group("x", "01"), group("x", "02"))}, "two groups are called"),
        (
            RELIGION,
            {"groups": (group("x", "00", "01", "02", "03", "04", "05", ""),)},
            "everything becomes one code",
        ),
    ],
)
def test_what_cannot_be_done_or_does_nothing_is_refused(
    variable: Variable, said: dict[str, object], words: str
) -> None:
    with pytest.raises(SpecError, match=words):
        recode(variable, **said)


def test_groups_of_groups_are_one_recode() -> None:
    first = Recode(variable="religion", groups=(group("a", "00", "01"), group("b", "02", "03")))
    both = joined_recode(first, "religion", (group("c", "a", "04"),))
    by_code = told(recoded(RELIGION, both), RELIGION)
    assert {code for code, to in by_code.items() if to == "c"} == {"00", "01", "04"}
    assert {code for code, to in by_code.items() if to == "b"} == {"02", "03"}


@given(
    st.lists(st.integers(0, 4), min_size=8, max_size=8),
    st.lists(st.integers(0, 4), min_size=8, max_size=8),
)
def test_what_two_levels_both_tell_is_the_finest_that_both_refine(
    first: list[int], second: list[int]
) -> None:
    codes = tuple(Code(str(at)) for at in range(5))
    left, right = Level("l", codes, tuple(first)), Level("r", codes, tuple(second))
    both = coarser_of(left, right)
    assert left.refines(both)
    assert right.refines(both)
    # Nothing goes together that no chain of common groups joins.
    together = {frozenset([at]) for at in range(8)}
    for group_of in (first, second):
        for value in set(group_of):
            inside = {at for at in range(8) if group_of[at] == value}
            touched = {part for part in together if part & inside}
            together = (together - touched) | {frozenset().union(*touched)}
    told_together = {frozenset(at for at in range(8) if both.group[at] == to) for to in both.group}
    assert told_together == together
