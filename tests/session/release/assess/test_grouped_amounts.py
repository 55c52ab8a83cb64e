"""What a treatment of amounts promises holds in the written file, or the file is refused."""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.holders import holder_rows
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.sentences import in_language
from sdcensus.session.derive import derive
from sdcensus.session.release.assess.grouped_amounts import grouped_amounts
from sdcensus.session.release.designed import designed
from sdcensus.session.release.release import Release
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import write_store
from tests.hamlet import SCHEMA, Hamlet, rows, write_hamlet
from tests.microdata.settlement import settlement_schema, settlement_units

DOCUMENT = """
store = "{store}"
name = "file"
office = "office"
licence = "{licence}"

[risk]
ladder = ["sex"]

[acceptance]
expected_matches = 1
population_uniques = 1
not_anonymous = 1
household_risk = 1
composition_uniques = 1
expected_matches_of_file = 1
population_uniques_of_file = 1
not_anonymous_of_file = 1
composition_uniques_of_file = 1

[thresholds]
persons = 0
households = 0

[[design]]
name = "A"
households = {share}
{design}

{more}

[make]
formats = ["csv"]
documentation = ["ddi"]
"""
PENSION = """
[variable.pension]
file = "person"
label = "Pension"
continuous = true
decimals = 2
empty = "not_applicable"
not_stated = [99999]

[variable.serial]
file = "person"
label = "Serial number"
continuous = true
decimals = 2
"""
MISSING = ("", "99999")
INCOME = "microaggregation variables=income"


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    """People give round incomes: many have none, a few owe, a few do not say."""
    draw = random.Random(5)
    persons, households = rows(700)
    for at, person in enumerate(persons):
        person["serial"] = str(at)
        if person["income"] not in MISSING:
            grain = draw.choice([1, 50, 100, 100, 500, 500, 500])
            amount = round(draw.gauss(1200, 700) / grain) * grain
            person["income"] = str(0 if draw.random() < 0.2 else amount)
        pension = draw.choice(["", "99999", "0", str(draw.randrange(300, 900))])
        person["pension"] = str(draw.randrange(700, 999)) if draw.random() < 0.6 else pension
    place = write_hamlet(
        tmp_path_factory.mktemp("round"),
        schema=SCHEMA.replace('"0,1000,2500+"', '"-9999,0,1000,2500+"') + PENSION,
        persons=persons,
        households=households,
    )
    place.load()
    return place


def released(
    hamlet: Hamlet,
    *methods: str,
    design: str = "",
    more: str = "",
    share: str = "0.3",
    licence: str = "public-use",
    store: str = "census.store",
) -> Release:
    treatments = "\n".join(f"[[treatment]]\nmethod = '{method}'" for method in methods)
    said = {"design": design, "share": share, "licence": licence, "store": store}
    path = hamlet.write("release.toml", DOCUMENT.format(more=f"{treatments}\n{more}", **said))
    return Release(path, secret=SECRET)


def told(folder: Path, hamlet: Hamlet, name: str = "income") -> list[tuple[float, float]]:
    """What the written file tells of an amount, beside the true one of the same person."""
    with (folder / "file-persons.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    truth: Mapping[str, str] = {
        str(person["serial"]): str(person[name]) for person in hamlet.persons
    }
    pairs = [(line[name], truth[str(int(float(line["serial"])))]) for line in lines]
    return [(float(own), float(true)) for own, true in pairs if own and true not in MISSING]


def still_true(pairs: list[tuple[float, float]]) -> float:
    some = [own == true for own, true in pairs if true]
    return sum(some) / len(some)


def fewest(folder: Path, name: str = "income") -> int:
    """By how many households of the written file the rarest amount is shared."""
    with (folder / "file-persons.csv").open(encoding="utf-8", newline="") as file:
        homes = {(line[name], line["household_number"]) for line in csv.DictReader(file)}
    return min(Counter(amount for amount, _ in homes if amount and float(amount)).values())


@pytest.mark.parametrize(
    "method",
    [
        f"{INCOME} group=5",
        f"{INCOME} group=5 leave_zeros=true",
        f"{INCOME} group=7 grouping=each",
        f"{INCOME} group=6 strata=sex",
    ],
)
def test_each_amount_of_the_written_file_is_shared_as_promised(
    hamlet: Hamlet, method: str, tmp_path: Path
) -> None:
    group = int(method.partition("group=")[2].split()[0])
    made = released(hamlet, method, licence="full-count").make(tmp_path / "out")
    pairs = told(tmp_path / "out", hamlet)
    assert fewest(tmp_path / "out") >= group
    (counts,) = (table for table in made.result.further if table.name == "true-amounts")
    (line,) = counts.rows
    some = [(own, true) for own, true in pairs if true]
    equal = sum(own == true for own, true in some)
    assert line[1:4] == (len(some), equal, round(100 * equal / len(some), 1))
    assert line[-2:] == (0, group)
    assert any("still the true ones" in note for note in made.result.notes)


def remedies(message: str) -> dict[str, str]:
    """What a refusal offers: another method, without the amount, in classes."""
    patterns = {
        "method": r'It passes with method = "([^"]*)"',
        "drop": r"It passes without the amount: (drop = \[[^\]]*\])",
        "recode": r"Or tell it in classes: (recode = \{[^}]*\})",
    }
    found = {name: re.search(pattern, message) for name, pattern in patterns.items()}
    return {name: match[1] for name, match in found.items() if match}


@pytest.mark.parametrize(
    ("methods", "words", "offers"),
    [
        ([f"{INCOME} group=2"], "the amounts in the file are still the true ones", 3),
        ([f"{INCOME} group=5 value=median leave_zeros=true"], "still the true ones after", 3),
        (
            ["microaggregation variables=income,pension group=3"],
            r"different amounts in the file are shared by fewer than 3",
            3,
        ),
        ([f"{INCOME} group=40 strata=sex,age"], "shared by fewer than 40", 3),
        (["rank-swap variables=income ranks=0.01"], "still the true ones after rank-swap", 2),
        ([f"{INCOME} group=2", f"{INCOME} group=2 leave_zeros=true"], "still the true ones", 2),
    ],
)
def test_what_a_refusal_offers_makes_the_file_pass(
    hamlet: Hamlet, methods: list[str], words: str, offers: int, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match=words) as refusal:
        released(hamlet, *methods).make(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    offered = remedies(str(refusal.value))
    assert len(offered) == offers
    other = [offered.pop("method", "")]
    if other != [""]:
        made = released(hamlet, *other, design="drop = []").make(tmp_path / "method")
        (counts,) = (table for table in made.result.further if table.name == "true-amounts")
        assert len(counts.rows) == len(other[0].split("variables=")[1].split()[0].split(","))
        pairs = told(tmp_path / "method", hamlet)
        assert still_true(pairs) <= 0.25
        assert fewest(tmp_path / "method") >= int(other[0].partition("group=")[2].split()[0])
    if "pension" in methods[0]:
        # Each of the amounts is refused on its own: without one of them the other still is.
        assert str(refusal.value).count("drop = ") == 2
        offered = {"drop": 'drop = ["income", "pension"]'}
    for place, setting in offered.items():
        released(hamlet, *methods, design=setting).make(tmp_path / place)
        assert (tmp_path / place / "file-persons.csv").is_file()


def test_the_refusal_is_said_in_every_language(hamlet: Hamlet) -> None:
    assessed = released(hamlet, f"{INCOME} group=2").assess()
    (design,) = assessed.designs
    assert not design.accepted
    english, *others = (
        [in_language(text, language) for text in (*design.refusals, *design.notes)]
        for language in LANGUAGES
    )
    for other in others:
        assert len(other) == len(english)
        assert all(own != first for own, first in zip(other, english, strict=True))
        assert any("unchanged_amounts" in own for own in other)
        assert any(f'method = "{INCOME} group=' in own for own in other)


def test_an_extract_of_grouped_amounts_is_refused_until_it_leaves_them_out(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    parts = '[[extract]]\nname = "old"\nwhere = "age >= 60"\n'
    method = f"{INCOME} group=8"
    with pytest.raises(Refused, match="name the other variables") as refusal:
        released(hamlet, method, more=parts).make(tmp_path / "out", extract="old")
    assert "shared by fewer than 8" in str(refusal.value)
    named = f'{parts}variables = ["sex", "age", "tenure"]\n'
    made = released(hamlet, method, more=named).make(tmp_path / "out", extract="old")
    assert made.result.accepted


def test_somebody_may_accept_by_name_and_levels_are_of_the_class(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    method = f"{INCOME} group=2"
    release = released(hamlet, method)
    release.make(tmp_path / "out", accepted_by="A. Ruiz", reason="a trial")
    assert still_true(told(tmp_path / "out", hamlet)) > 0.25
    levels = {"public-use": 0.25, "licensed-use": 0.5, "full-count": 1.0}
    for licence, level in levels.items():
        assert released(hamlet, method, licence=licence).plan.acceptance.unchanged_amounts == level


def test_a_blanked_amount_and_amounts_of_households_count_once(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    method = "microaggregation variables=rent group=4"
    more = "[make]\nlayout = 'flat'\nformats = ['csv']\n"
    release = released(hamlet, method, licence="full-count")
    text = (hamlet.folder / "release.toml").read_text(encoding="utf-8")
    flat = text[: text.index("[make]")] + more
    hamlet.write("release.toml", flat)
    made = Release(hamlet.folder / "release.toml", secret=SECRET).make(tmp_path / "flat")
    (counts,) = (table for table in made.result.further if table.name == "true-amounts")
    with (tmp_path / "flat" / "file.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    by_home = {line["household_number"]: line["rent"] for line in lines if line["rent"]}
    assert min(Counter(by_home.values()).values()) >= 4
    assert counts.rows[0][4] == len(set(by_home.values()))
    assert release.plan.name == made.file.name


def test_what_was_changed_before_the_census_is_said_to_be_unknown(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    store = hamlet.folder / "grouped.store"
    derive(hamlet.store, store, "microaggregation", {"variables": ["income"]}, secret=SECRET)
    (design,) = released(hamlet, store="grouped.store").assess().designs
    assert any("which amounts were true before is not known" in note for note in design.notes)


def test_members_of_a_household_do_not_hide_each_other(tmp_path: Path) -> None:
    """An income of the household that each of its members tells is shared by its members alone."""
    draw = random.Random(7)
    persons, households = rows(700)
    income = {house["house"]: draw.randrange(300, 9000) for house in households}
    for at, person in enumerate(persons):
        person["income"] = str(income[str(person["house"])])
        person["serial"] = str(at)
        person["pension"] = ""
    place = write_hamlet(tmp_path, schema=SCHEMA + PENSION, persons=persons, households=households)
    place.load()
    made = released(place, f"{INCOME} group=4").make(tmp_path / "out")
    assert made.result.accepted
    assert fewest(tmp_path / "out") >= 4
    assert still_true(told(tmp_path / "out", place)) < 0.1


def test_amounts_of_dwellings_and_families_count_by_what_they_are_about(tmp_path: Path) -> None:
    """Two households tell the value of their dwelling, and members the benefit of their family."""
    draw = np.random.default_rng(3)
    schema, units = settlement_schema(), settlement_units(11, 900)
    added = {
        "value": (Entity.DWELLING, 10**6 * draw.integers(1, 300, units[Entity.DWELLING].keys.size)),
        "benefit": (Entity.FAMILY, 10**4 * draw.integers(1, 60, units[Entity.FAMILY].keys.size)),
    }
    variables = list(schema.variables)
    for name, (entity, amounts) in added.items():
        variables.append(Variable(name=name, entity=entity, continuous=True, decimals=2))
        units[entity] = replace(units[entity], values={name: amounts})
    write_store(
        tmp_path / "census.store",
        replace(schema, variables=tuple(variables)),
        units,
        secret_id=SECRET.id,
    )
    methods = [f"microaggregation variables={name} group=5" for name in added]
    place = Hamlet(tmp_path, [], [])
    opened = released(place, *methods, licence="full-count", share="0.2").opened
    records = designed(opened, opened.designs()[0])
    counted = {each.variable.name: each for each in grouped_amounts(opened, records)}
    assert set(counted) == set(added)
    for name, (entity, _) in added.items():
        told_by = Entity.PERSON if entity is Entity.FAMILY else Entity.HOUSEHOLD
        rows_told = records.records.sample.rows[told_by]
        unit = holder_rows(records.records.store, told_by, entity)[rows_told]
        stated = unit != NO_ROW
        own = records.records.amounts[name]
        pairs = {(at, int(own[row])) for row, at in enumerate(unit.tolist()) if stated[row]}
        # Each unit tells one amount, and is counted once.
        assert len(pairs) == len({at for at, _ in pairs}) == counted[name].units
        shared = Counter(amount for _, amount in pairs)
        assert len(shared) == counted[name].values
        assert min(shared.values()) >= 5
        assert counted[name].shared_by_few == 0
