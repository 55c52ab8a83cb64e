from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sdcensus.errors import SpecError
from sdcensus.model.release.changes import recode_rows, recode_text, removal_rows
from sdcensus.model.release.file_variable import FileDesign, RemovalReason
from sdcensus.model.release.grouping import Grouping
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import Design, ReleasePlan, RiskRules
from sdcensus.model.release.recode import CodeGroup, GroupKind, Recode
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.model.text import LANGUAGES
from tests.model.release.countries import country

LAND = country()
HOUSELESS = country(households=False)


def resolved(
    schema: Any = LAND,
    *,
    ladder: tuple[str, ...] = (),
    roles: dict[str, Role] | None = None,
    licence: LicenceClass = LicenceClass.PUBLIC_USE,
    groupings: tuple[Grouping, ...] = (),
    **said: Any,
) -> FileDesign:
    design = Design(name="A", fraction=Fraction(1, 10), **said)
    plan = ReleasePlan(
        name="file",
        store=Path("store"),
        office=Path("office"),
        designs=(design,),
        risk=RiskRules(ladder=ladder),
        roles=roles or {},
        licence=licence,
    )
    return file_design(plan, design, schema, groupings)


def names(design: FileDesign) -> list[str]:
    return [variable.name for variable in design.variables]


def removed(design: FileDesign) -> dict[str, str]:
    return {each.variable.name: each.reason.value for each in design.removed}


def test_roles_say_what_leaves_a_public_file() -> None:
    design = resolved()
    assert names(design) == ["rooms", "tenure", "kind", "age", "sex", "occupation", "income"]
    assert removed(design) == {
        "name": "direct-identifier",
        "number": "direct-identifier",
        "ed": "geography",
        "work": "geography",
        "form": "administrative",
        "birthday": "poor-quality",
    }
    assert "factor" not in (*names(design), *removed(design))
    licensed = resolved(licence=LicenceClass.LICENSED_USE)
    assert set(names(licensed)) - set(names(design)) == {"birthday"}
    full = resolved(licence=LicenceClass.FULL_COUNT)
    assert removed(full) == removed(licensed)
    kept = resolved(keep=("form", "birthday", "ed@parish", "work@region"))
    assert set(names(kept)) - set(names(design)) == {"form", "birthday", "parish", "work_region"}


def test_the_roles_of_a_plan_go_before_those_of_the_schema() -> None:
    design = resolved(roles={"sex": Role.ADMINISTRATIVE, "form": Role.KEY, "ed": Role.KEY})
    assert removed(design)["sex"] == "administrative"
    assert "form" in names(design)
    # Areas stay areas, whatever a plan calls them.
    assert removed(design)["ed"] == "geography"
    assert [key.name for key in design.ladder] == ["form", "age"]
    assert design.not_in_file == ("ed",)


def test_variables_stand_with_households_or_with_persons() -> None:
    table = {each.name: each.entity for each in resolved(keep=("ed@parish",)).variables}
    assert table["rooms"] == table["tenure"] == table["parish"] == Entity.HOUSEHOLD
    assert table["kind"] == table["age"] == Entity.PERSON
    houseless = resolved(HOUSELESS, keep=("ed@parish",))
    assert houseless.unit is Entity.PERSON
    assert {each.entity for each in houseless.variables} == {Entity.PERSON}
    assert "rooms" in names(houseless)


def test_areas_are_kept_at_their_level_under_its_name() -> None:
    design = resolved(keep=("ed@parish",), ladder=("ed", "age"))
    (parish,) = design.geographies
    assert (parish.name, len(parish.level.codes)) == ("parish", 4)
    assert design.variable("ed@parish") is parish
    assert design.variable("parish") is parish
    # The ladder asks for more than the file tells.
    assert design.ladder[0].level == parish.level
    both = resolved(keep=("ed", "ed@parish"), ladder=("ed@parish",))
    assert [area.name for area in both.geographies] == ["ed", "parish"]
    assert len(both.ladder[0].level.codes) == 4
    assert resolved(drop=("ed@parish",)).geographies == ()


def test_keys_are_told_at_their_level_or_coarser() -> None:
    fine = resolved(ladder=("occupation@minor", "age@five_year", "work"))
    assert [len(key.level.codes) for key in fine.ladder] == [4, 19]
    assert fine.not_in_file == ("work",)
    cut = resolved(ladder=("age@five_year",), recodes=(Recode(variable="age", top=75),))
    codes = [code.code for code in cut.ladder[0].level.codes]
    assert codes == [*(f"{low}-{low + 4}" for low in range(0, 75, 5)), "75", "ns"]
    usual = resolved()
    assert [key.name for key in usual.ladder] == ["age", "sex"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"ladder": ("age", "sex", "age@five_year")}, "'age' and 'age@five_year'.*same variable"),
        ({"ladder": ("agee",)}, "The ladder: There is no variable 'agee'.*'age'"),
        ({"ladder": ("age@ten",)}, "no level 'ten'"),
        ({"ladder": ("name",)}, "cannot be told apart"),
        ({"ladder": ("income",)}, "cannot be told apart"),
        ({"keep": ("name",)}, "never in a file"),
        ({"keep": ("nam",)}, "keep: There is no variable 'nam'"),
        ({"keep": ("sex",), "drop": ("sex",)}, "keeps 'sex' and drops 'sex'"),
        ({"keep": ("ed@parish",), "drop": ("ed@parish",)}, "Decide for one"),
        ({"keep": ("ed",), "drop": ("ed@parish",)}, "Decide for one"),
        ({"drop": ("occupation@minor",)}, "recode = { occupation"),
        ({"drop": ("x",)}, "drop: There is no variable 'x'"),
        ({"recodes": (Recode(variable="ed", level="parish"),)}, "keep = ..ed@"),
        ({"recodes": (Recode(variable="form", level="x"),)}, "does not hold .administrative"),
        ({"recodes": (Recode(variable="factor", top=3),)}, "is a weight"),
        ({"recodes": (Recode(variable="income", top=3),)}, "amount without classes"),
        ({"roles": {"nobody": Role.KEY}}, r"\[roles\]: There is no variable"),
        ({"keep": ("occupation@minor", "occupation")}, "at several levels"),
    ],
)
def test_what_a_design_cannot_say_is_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        resolved(**said)


def test_dropping_a_fine_level_leaves_a_coarser_one() -> None:
    design = resolved(keep=("ed@parish",), drop=("ed@ed",))
    assert [area.name for area in design.geographies] == ["parish"]


def test_presets_apply_where_they_can_and_say_where_not() -> None:
    recodes = (
        Recode(variable="age", top=88, optional=True),
        Recode(variable="bedrooms", top=8, optional=True),
        Recode(variable="rooms", top=40, optional=True),
        Recode(variable="form", top=1, optional=True),
    )
    design = resolved(recodes=recodes)
    assert design.variable("age").level.codes[-2].label.show("en") == "88 and over"
    assert [text.split(":")[0] for text in design.not_applied] == ["bedrooms", "rooms", "form"]
    spanish = replace(
        LAND,
        variables=tuple(
            replace(each, name="edad") if each.name == "age" else each for each in LAND.variables
        ),
    )
    assert len(resolved(spanish, recodes=recodes).variable("edad").level.codes) == 90
    own = Recode(variable="edad", top=60)
    assert len(resolved(spanish, recodes=(*recodes, own)).variable("edad").level.codes) == 62


def test_approved_groups_and_drops_are_part_of_the_file() -> None:
    other = CodeGroup(code="other", members=("occupation1", "occupation4"), kind=GroupKind.OTHER)
    design = resolved(
        groupings=(
            Grouping(variable="occupation", groups=(other,), designs=("A",)),
            Grouping(variable="kind", drop=True),
            Grouping(variable="nothing here", drop=True),
        ),
        ladder=("occupation", "kind"),
    )
    assert removed(design)["kind"] == RemovalReason.THRESHOLD
    assert [code.code for code in design.variable("occupation").level.codes][-2:] == ["other", "na"]
    assert design.not_in_file == ("kind",)
    with pytest.raises(SpecError, match="no variable of the file 'kindd'"):
        resolved(groupings=(Grouping(variable="kindd", drop=True, designs=("A",)),))


def test_the_public_lists_tell_every_change_in_words() -> None:
    recodes = (Recode(variable="age", top=98), Recode(variable="occupation", level="minor"))
    design = resolved(recodes=recodes)
    reasons = {row.name: row.reason for row in removal_rows(design)}
    assert reasons["ed"].show("fr") == "Elle indique une zone."
    assert all(
        {language for language, _ in text.by_language} == set(LANGUAGES)
        for text in reasons.values()
    )
    rows = [(row.name, row.before.show("es"), row.after.show("es")) for row in recode_rows(design)]
    assert rows == [
        ("age", "98, 99", "98 y más"),
        ("occupation", "occupation0 El occupation0, occupation1 El occupation1", "x El x"),
        ("occupation", "occupation2 El occupation2, occupation3 El occupation3", "y El y"),
        ("occupation", "occupation4 El occupation4, occupation5 El occupation5", "z El z"),
    ]
    assert recode_text(design.variable("age")).show("en") == "98, 99 → 98 and over"
    assert not recode_text(design.variable("sex"))
