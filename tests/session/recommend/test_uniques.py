"""What singles people out feeds the advice for a table builder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.documents.policy.document import read_policy
from sdcensus.model.cube.cube import Origin
from sdcensus.model.policy.policy import AtLevel, Policy
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Variable
from sdcensus.model.sentences import in_language
from sdcensus.session.census.census import Census
from sdcensus.session.recommend.facts import facts_of
from sdcensus.session.recommend.files import write_recommendation
from sdcensus.session.recommend.menus import first_policy
from sdcensus.session.recommend.recommendation import recommend
from sdcensus.session.recommend.uniques import unique_advice, with_coarser
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island, island_schema, island_units

PEOPLE, FAITHS = 6_000, 60


def faithful(*, groups: bool) -> Census:
    """The island with a religion of 60 codes, most of them rare; with a level of groups or not."""
    codes = tuple(Code(f"{code:02}") for code in range(FAITHS))
    coarse = tuple(0 if code < 2 else 1 for code in range(FAITHS))
    level = Level("group", (Code("many"), Code("few")), coarse)
    religion = Variable(
        name="religion", entity=Entity.PERSON, codes=codes,
        hierarchies=(Hierarchy("faith", (level,)),) if groups else (),
    )  # fmt: skip
    schema = island_schema()
    axes = (variable for variable in schema.variables if variable.is_axis)
    schema = replace(schema, variables=(*axes, religion), impossible=())
    units = island_units(PEOPLE)
    shares = np.array([40, 20, *[1] * (FAITHS - 2)]) / (60 + FAITHS - 2)
    drawn = np.random.default_rng(2).choice(FAITHS, PEOPLE, p=shares)
    leaves = {
        variable.name: units.leaves[variable.name].astype(np.uint8)
        for variable in schema.variables
        if variable.name != "religion"
    }
    leaves["religion"] = drawn.astype(np.uint8)
    records = InMemoryRecords(
        schema, Entity.PERSON, codes=leaves, keys=units.keys,
        origin=Origin(KeySpace(), SECRET.id, "island"),
    )  # fmt: skip
    return Census(schema, records)


def test_what_makes_uniques_is_offered_more_coarsely() -> None:
    census = faithful(groups=True)
    facts = facts_of(census)
    base = first_policy(census, facts, "first")
    advice = unique_advice(census, facts, base)
    assert advice is not None
    maker = next(maker for maker in advice.makers if maker.variable.name == "religion")
    assert maker.coarser is not None
    assert maker.coarser.name == "group"
    assert maker.share >= 0.25
    # Counted again, by itself: with groups so many are left.
    policy, told = with_coarser(base, facts, advice)
    assert policy.rule_of("religion").finest_level == "group"
    after = unique_advice(census, facts, policy)
    left = 0 if after is None else after.uniques
    if left:
        assert left / advice.uniques == pytest.approx(maker.left)
    line = next(line for line in told.lines if line.startswith("religion"))
    assert f"{maker.share:.0%}"[:-1] in line
    assert "religion@group" in line
    for language in ("en", "es", "fr", "nl", "pt"):
        assert "religion@group" in in_language(line, language)


def test_the_builder_that_is_proposed_uses_it_and_reads_back(tmp_path: Path) -> None:
    census = faithful(groups=True)
    proposed = recommend(census, "builder")
    assert proposed.policy.rule_of("religion").finest_level == "group" or not (
        proposed.policy.rule_of("religion").offered
    )
    assert any("religion makes" in caution for caution in proposed.cautions)
    report = recommend(census, "report")
    assert not any("religion makes" in caution for caution in report.cautions)
    for path in write_recommendation(proposed, "census.store", tmp_path / "advice"):
        if path.name == "policy.toml":
            assert read_policy(path, census.schema).rule_of("religion") == (
                proposed.policy.rule_of("religion")
            )


def test_a_policy_of_the_office_is_left_as_it_is() -> None:
    census = faithful(groups=True)
    own = Policy(name="own", schema=census.schema, limits=recommend(census, "report").policy.limits)
    proposed = recommend(census, "builder", policy=own)
    assert proposed.policy.rule_of("religion").finest_level == ""
    assert any("Offer religion@group" in caution for caution in proposed.cautions)


def test_without_a_coarser_level_the_office_is_told_what_it_could_do() -> None:
    """What the sentence says to write is accepted by the policy."""
    census = faithful(groups=False)
    facts = facts_of(census)
    base = first_policy(census, facts, "first")
    advice = unique_advice(census, facts, base)
    assert advice is not None
    maker = next(maker for maker in advice.makers if maker.variable.name == "religion")
    assert maker.coarser is None
    assert any("never_together" in line for line in advice.lines)
    policy, _ = with_coarser(base, facts, advice)
    assert policy.rule_of("religion") == base.rule_of("religion")
    forbidden = replace(base, never_together=((AtLevel("religion"), AtLevel("age")),))
    assert forbidden.never_together


def test_hardly_anybody_alone_is_no_reason_for_advice() -> None:
    census = island(40)
    facts = facts_of(census)
    assert unique_advice(census, facts, first_policy(census, facts, "first")) is None
    assert unique_advice(Census(census.schema), facts, first_policy(census, facts, "x")) is None
