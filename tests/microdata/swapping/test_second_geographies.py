"""Second places of people who are moved: found, re-derived, or warned about with numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.microdata.method import NewValues
from sdcensus.microdata.swapping.second_geographies import (
    check_second_geographies,
    follow_places,
    second_geographies,
)
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Role, Variable
from sdcensus.model.sentences import in_language
from sdcensus.model.text import Text
from sdcensus.store.census_store import CensusStore
from tests.microdata.settlement import settlement_schema
from tests.microdata.swapping.township import H, P, township, township_schema


def moves(store: CensusStore, seed: int, share: float) -> NewValues:
    """Some households in other wards, drawn at random."""
    draw = np.random.default_rng(seed)
    wards = len(store.schema.variable("area").codes) - 1
    rows = np.flatnonzero(draw.random(store.rows(H)) < share)
    return NewValues(rows, draw.integers(0, wards, rows.size))


def code_of(variable: Variable, leaf: int) -> str:
    return variable.codes[leaf].code


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.2, 1.0]))
def test_who_named_the_own_area_names_the_new_one_and_nobody_else_changes(
    seed: int, share: float
) -> None:
    with TemporaryDirectory() as folder:
        store = township(Path(folder) / "a", seed)
        moved = moves(store, seed, share)
        followed = follow_places(store, moved, rederive=("work", "born"))
        ward_of = dict(zip(moved.rows.tolist(), moved.values.tolist(), strict=True))
        area = store.schema.variable("area")
        for name, length in (("work", 2), ("born", 3)):  # a district has two signs, a ward three
            variable = store.schema.variable(name)
            new = dict(
                zip(followed.codes[name].rows.tolist(), followed.codes[name].values, strict=True)
            )
            links = store.raw(P, "_household")
            for person, leaf in enumerate(store.raw(P, name).tolist()):
                household = int(links[person])
                before = code_of(area, int(store.raw(P, "area")[person]))
                after = code_of(area, ward_of.get(household, int(store.raw(P, "area")[person])))
                expected = code_of(variable, leaf)
                if household in ward_of and expected == before[:length]:
                    expected = after[:length]
                assert code_of(variable, int(new.get(person, leaf))) == expected
                if person in new:
                    assert new[person] != leaf
        assert not followed.notes


def test_places_that_do_not_follow_are_warned_about_by_name_with_numbers(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 1)
    moved = moves(store, 5, 0.3)
    followed = follow_places(store, moved, carry=("born",))
    derived = follow_places(store, moved, carry=("born",), rederive=("work",))
    at_home = derived.codes["work"].rows.size
    assert at_home > 20
    (note,) = followed.notes
    assert note.startswith("work names areas of district")
    assert f" {at_home} of " in note
    assert "tables of work by area" in note
    for language in ("es", "fr", "nl", "pt"):
        assert str(at_home) in in_language(note, language)
        assert in_language(note, language) != note
    (table,) = followed.facts
    assert [row[0] for row in table.rows] == ["work", "born"]
    assert [row[2] for row in table.rows] == ["left as it is", "goes with the place"]
    assert table.rows[0][4] == derived.facts[0].rows[0][5] == at_home
    assert derived.figures == {"rederived work": at_home}


def test_households_without_a_second_place_have_nothing_to_follow(tmp_path: Path) -> None:
    schema = township_schema()
    plain = [each for each in schema.variables if each.name not in ("work", "born")]
    assert second_geographies(replace(schema, variables=tuple(plain))) == ()
    assert second_geographies(settlement_schema()) == ()


def with_codes(schema: Schema, *codes: Code, role: Role | None = None) -> Schema:
    other = Variable(name="other", entity=P, codes=codes, role=role, main=False if role else None)
    return replace(schema, variables=(*schema.variables, other))


DISTRICTS = tuple(code for code in township_schema().variable("area").level("district").codes[:-1])
COUNTRIES = tuple(Code(f"X{at:02}", Text.of(f"Country {at}")) for at in range(40))


@pytest.mark.parametrize(
    ("codes", "level"),
    [
        (DISTRICTS, "district"),
        ((*DISTRICTS, *COUNTRIES), "district"),  # every district, and many countries
        (DISTRICTS[:3], "district"),  # those that occur
        (tuple(Code(f"D{c.code}", c.label) for c in DISTRICTS), "district"),  # by their labels
        (tuple(Code(c.code, Text.of(c.label.show().upper())) for c in DISTRICTS), "district"),
        (tuple(Code(f"{r}{d}{w}") for r in "12" for d in "123" for w in "012"), "ward"),
        # Small numbers that mean something else, or nothing that is known.
        (tuple(Code(c.code, Text.of(f"Tenure {c.code}")) for c in DISTRICTS), None),
        ((Code("1"), Code("2")), None),
        (COUNTRIES, None),
        ((*DISTRICTS[:1], *COUNTRIES), None),
    ],
)
def test_a_list_of_areas_is_known_by_codes_and_labels(
    codes: tuple[Code, ...], level: str | None
) -> None:
    schema = with_codes(township_schema(), *codes, Code("NA", kind=CodeKind.NOT_STATED))
    levels = {
        each.variable.name: each.level.name if each.level else None
        for each in second_geographies(schema)
    }
    assert levels.get("other") == level
    assert ("other" in levels) is (level is not None)


def test_what_cannot_be_done_is_refused_with_a_remedy() -> None:
    schema = with_codes(township_schema(), *COUNTRIES, role=Role.GEOGRAPHY)
    with pytest.raises(SpecError, match=r"'sex' is no second geography.*work, born"):
        check_second_geographies(schema, rederive=("sex",))
    with pytest.raises(SpecError, match="'area' is no second geography"):
        check_second_geographies(schema, rederive=("area",))
    with pytest.raises(SpecError, match="'work' can be carried along or re-derived, not both"):
        check_second_geographies(schema, carry=("work",), rederive=("work",))
    with pytest.raises(SpecError, match=r"name no areas of 'area'.*--carry other"):
        check_second_geographies(schema, rederive=("other",))
    with pytest.raises(SpecError, match="no variable 'wrok'"):
        check_second_geographies(schema, rederive=("wrok",))
    check_second_geographies(schema, carry=("other", "tenure"), rederive=("work", "born"))


def test_an_area_that_the_list_lacks_leaves_the_code_and_is_counted(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 2)
    area, work = store.schema.variable("area"), store.schema.variable("work")
    moved = moves(store, 3, 0.5)
    lacking = replace(work, codes=(*work.codes[:-2], Code("ZZ"), work.codes[-1]))
    assert work.codes[-2].code == "11"
    variables = tuple(lacking if each is work else each for each in store.schema.variables)
    poorer = CensusStore(store.path, store.manifest, replace(store.schema, variables=variables))
    whole = follow_places(store, moved, rederive=("work",), carry=("born",)).codes["work"]
    followed = follow_places(poorer, moved, rederive=("work",), carry=("born",))
    assert len(area.codes) - 1 == 18
    into = whole.values == len(work.codes) - 2
    from_it = store.raw(Entity.PERSON, "work")[whole.rows] == len(work.codes) - 2
    kept = set(whole.rows[~into & ~from_it].tolist())
    assert set(followed.codes["work"].rows.tolist()) == kept
    (note,) = followed.notes
    assert note.startswith(f"{int((into & ~from_it).sum())} records named their own area in work")
