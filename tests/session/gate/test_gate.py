"""The gate before publishing and serving: what it refuses, what would do, what is kept."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.documents.policy.document import policy_text, read_policy
from sdcensus.errors import DocumentError, Refused, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.magnitude.abs_top import AbsTopContributors
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.magnitude.layered import ExperimentalLayered
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import RandomRounding
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.policy.policy import PRESETS, Limits, OnlineRules, Policy, menu_of
from sdcensus.model.policy.problems import problems_of
from sdcensus.model.published.table import Table
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.assessment.broken_down import broken_down_lines, help_line, worst_kinds
from sdcensus.risk.groups.shown_cells import kinds_of_tables
from sdcensus.risk.looks.chance import counts_that_stay
from sdcensus.session.answer.opening import open_service
from sdcensus.session.gate.broken_down import (
    broken_down_in_policy,
    group_noise,
    has_definition_keys,
    measured,
    smallest_group_text,
)
from sdcensus.session.gate.gate import AcceptedRisk, RiskCode, risks_of_menus, risks_of_tables
from sdcensus.session.gate.group_risk import PlanLooks
from sdcensus.session.policy.lock import tightened
from sdcensus.session.publish.approval import approve, read_approvals, verify
from sdcensus.session.publish.estimate import check_plan
from sdcensus.testing.island import SECRET, island, island_schema
from tests.methods.magnitude.incomes import by_hand, income_census
from tests.session.publish.plans import PROTECT, Office, new_office

#: Small groups of the island are broken down by more than two variables: four on one table.
WIDE = """
[[table]]
name = "wide"
rows = ["area", "age"]
columns = ["married", "sex"]
"""
ACCEPTED: dict[str, Any] = {"accept_risk": "Ana Ruiz", "reason": "ordered by law"}


def policy(people: int = 300, **online: Any) -> tuple[Any, Policy]:
    """A small island, and a policy that opens all of it."""
    census = island(people)
    rules = OnlineRules(recovery=0.99, **online)
    return census, Policy(
        name="open", schema=census.schema, limits=Limits(dimensions=4), online=rules
    )


def opened(people: int = 300, *, options: MethodOptions | None = None, **online: Any) -> Any:
    """A service over it."""
    census, rules = policy(people, **online)
    said = options or MethodOptions(strength="strong")
    return open_service(census, rules, options=said, secret=SECRET)


def refusal(**asked: Any) -> str:
    """Why a service is not opened; empty if it is."""
    try:
        opened(**asked)
    except Refused as error:
        return str(error)
    return ""


def test_serve_opens_with_both_remedies_and_with_neither_of_them_alone() -> None:
    assert refusal(smallest_group=12) == ""
    without = refusal()
    assert "stays closed" in without
    assert (
        "smallest_group = 17" in without
    )  # 12, as no households are known, the largest deviation, one
    assert "definition keys" not in without
    keys = refusal(smallest_group=12, options=MethodOptions(strength="strong", lookup="hashed"))
    assert "definition keys" in keys
    assert "smallest_group" not in keys
    neither = refusal(options=MethodOptions(strength="strong", lookup="ascending"))
    assert "--lookup definition" in neither
    assert "smallest_group = 17" in neither
    assert "accept" not in without + keys + neither  # there is no way around it


def test_what_the_refusal_says_would_do_does() -> None:
    said = re.search(r"smallest_group = (\d+)", refusal())
    assert said is not None
    assert refusal(smallest_group=int(said[1])) == ""
    assert refusal(smallest_group=2) != ""


@pytest.mark.parametrize("lookup", ["ascending", "scrambled", "hashed"])
def test_set_keys_are_refused_by_any_name_from_deviations_of_three_on(lookup: str) -> None:
    census, rules = policy()
    menu = menu_of(rules, census.schema)
    for name in SCHEMES:
        method = CellKey(scheme(name), SECRET, lookup=lookup)
        found = risks_of_menus(census, [menu], {Entity.PERSON: method}, smallest_group=20)
        codes = [risk.code for risk in found.risks]
        assert codes == ([RiskCode.SET_KEYS] if method.perturbation.max_deviation >= 3 else [])


def test_the_share_of_a_policy_decides() -> None:
    census, rules = policy(smallest_group=10)
    options = MethodOptions(scheme="CP4")
    weak = {"smallest_group": 6, "options": options}
    share = broken_down_in_policy(
        census,
        replace(rules, online=replace(rules.online, smallest_group=6)),
        perturbation=scheme("CP4"),
    ).share
    assert 0 < share < 1
    assert refusal(broken_down=share / 2, **weak) != ""
    assert refusal(broken_down=min(share * 1.01, 0.99), **weak) == ""


def test_a_refusal_holds_no_count_and_no_share() -> None:
    said = refusal()
    numbers = set(re.findall(r"\d+(?:\.\d+)?", said))
    assert numbers <= {"0.02", "17"}


def test_the_limit_is_a_setting_of_the_policy_that_a_lock_keeps(tmp_path: Path) -> None:
    schema = island_schema()
    path = tmp_path / "policy.toml"
    path.write_text('name = "p"\nlock = true\n[online]\nbroken_down = 0.1\n', encoding="utf-8")
    read = read_policy(path, schema)
    assert read.broken_down == 0.1
    assert Policy(name="silent", schema=schema).broken_down == 0.02
    path.write_text(policy_text(read), encoding="utf-8")
    assert read_policy(path, schema) == read
    assert tightened(read, {"online": {"broken_down": 0.05}}).broken_down == 0.05
    with pytest.raises(Refused, match=r"broken_down: 0\.2 instead of 0\.1"):
        tightened(read, {"online": {"broken_down": 0.2}})
    for wrong in ("-0.1", "1", "1.5", '"much"'):
        path.write_text(f'name = "p"\n[online]\nbroken_down = {wrong}\n', encoding="utf-8")
        with pytest.raises(DocumentError, match="broken_down"):
            read_policy(path, schema)
    assert not problems_of(read)


def test_counts_that_stay_are_found_and_rounding_has_none() -> None:
    for name in SCHEMES:
        assert not list(counts_that_stay(scheme(name))), name
    still = design_perturbation(1, 0.05, stay=0.95)
    stays = [count for count in range(1, 10) if still.stay(count) > 0.9]
    assert stays
    assert set(counts_that_stay(still)) & set(stays)
    assert not list(counts_that_stay(still, limit=0.99))


def test_noise_of_methods_is_known_to_the_gate() -> None:
    definition = CellKey(scheme("CP4"), SECRET)
    assert has_definition_keys(definition)
    assert has_definition_keys(Pipeline(definition))
    assert not has_definition_keys(CellKey(scheme("CP4"), SECRET, lookup="hashed"))
    assert not has_definition_keys(CellKey(scheme("CP2")))
    assert group_noise(definition, 8).proven == 3
    assert group_noise(RandomRounding(5, secret=SECRET), 8).proven == 3
    assert group_noise(RandomRounding(5, secret=SECRET), 7).largest_share == 1.0


def test_what_is_measured_is_said_with_what_would_help() -> None:
    census, rules = policy()
    weak = broken_down_in_policy(census, rules, perturbation=scheme("CP2"))
    text = "\n".join(broken_down_lines(weak, 0.02))
    assert "100 %" in text
    assert f"{weak.small:,}" in text
    assert "pairs" in text
    assert worst_kinds(weak)
    helps = help_line((weak,), smallest_group_text(census, weak.noise))
    assert 'lookup = "definition"' in helps
    assert "smallest_group = 15" in helps
    tight = replace(rules, online=replace(rules.online, smallest_group=20))
    strong = broken_down_in_policy(census, tight, perturbation=scheme("CP4"))
    assert strong.proven
    assert "0, by the smallest group (20)" in "\n".join(broken_down_lines(strong, 0.02))
    assert help_line((strong,), "") == ""


# Publishing ---------------------------------------------------------------------------------------


def test_publish_needs_a_name_where_groups_are_broken_down(tmp_path: Path) -> None:
    office = new_office(tmp_path, people=40, tables=WIDE)
    with pytest.raises(Refused) as caught:
        office.publish()
    message = str(caught.value)
    assert "smallest_group = 17 in [protect] of the plan" in message
    assert '--accept-risk NAME --reason "WHY"' in message
    assert not office.published.exists()
    # What the message says would do does.
    office.write_plan(WIDE, protect=f"{PROTECT}smallest_group = 8\n")
    report = office.publish()
    assert not report.unchanged
    assert report.warnings == ()


def test_an_accepted_risk_is_kept_with_the_approval_and_nowhere_in_public(tmp_path: Path) -> None:
    office = new_office(tmp_path, people=40, tables=WIDE)
    report = office.publish(**ACCEPTED)
    kept = json.loads((office.own / "published.json").read_text(encoding="utf-8"))
    assert kept["accepted_risk"] == {
        "name": "Ana Ruiz",
        "reason": "ordered by law",
        "risks": ["broken-down"],
    }
    for name, content in office.files().items():
        assert b"Ana Ruiz" not in content, name
        assert b"ordered by law" not in content, name
    found = verify(office.published, office=office.office).approvals
    assert found is not None
    assert found.accepted is not None
    assert "Ana Ruiz (broken-down): ordered by law" in found.accepted.sentence
    approve(office.published, name="Ben Okafor")
    both = approve(office.published, name="Carla Diaz")
    assert both.complete
    written = json.loads((office.own / "approval.json").read_text(encoding="utf-8"))
    assert written["accepted_risk"]["name"] == "Ana Ruiz"
    assert report.warnings == ()
    # Another reason is another thing to approve.
    kept["accepted_risk"]["reason"] = "nobody knows"
    (office.own / "published.json").write_text(json.dumps(kept), encoding="utf-8")
    assert not read_approvals(office.own, office.published).approvals


def test_publishing_the_same_again_asks_nothing(tmp_path: Path) -> None:
    office = new_office(tmp_path, people=40, tables=WIDE)
    office.publish(**ACCEPTED)
    assert office.publish().unchanged


@pytest.mark.parametrize(
    ("said", "closed"),
    [("base = 3\n", False), ("base = 5\n", True), ('base = 5\nlookup = "definition"\n', False)],
)
def test_rounding_by_who_is_counted_needs_a_name_too(
    tmp_path: Path, said: str, closed: bool
) -> None:
    office = new_office(tmp_path, protect=f'[protect]\nmethod = "random-rounding"\n{said}')
    if closed:
        with pytest.raises(Refused, match="definition keys"):
            office.publish()
        office.publish(**ACCEPTED)
    else:
        assert office.publish().warnings == ()


def test_set_keys_and_counts_that_stay_need_a_name(tmp_path: Path) -> None:
    hashed = new_office(tmp_path / "hashed", protect=f'{PROTECT}lookup = "hashed"\n')
    with pytest.raises(Refused, match="definition keys"):
        hashed.publish()
    hashed.publish(**ACCEPTED)
    still = new_office(tmp_path / "still")
    _write_noise(still, 0.95)
    protect = '[protect]\nmethod = "cell-key"\nperturbation = "noise.csv"\n'
    still.write_plan(protect=protect)
    with pytest.raises(Refused, match=r"probability above 0\.9"):
        still.publish()
    checked = check_plan(still.plan)
    assert [risk.code for risk in checked.gate.risks] == [RiskCode.STAYS]
    still.publish(**ACCEPTED)
    _write_noise(still, 0.5)
    moved = new_office(tmp_path / "moved", protect=protect)
    _write_noise(moved, 0.5)
    assert moved.publish().made


@pytest.mark.parametrize(
    ("method", "by_sets"),
    [
        (CellKeySums(secret=SECRET), False),
        (CellKeySums(key_derivation="hashed", secret=SECRET), True),
        (CellKeySums(key_derivation="rotated"), True),
        (AbsTopContributors(secret=SECRET), True),
        (ExperimentalLayered(secret=SECRET), True),
    ],
    ids=str,
)
def test_sums_with_set_keys_need_a_name(method: Method, by_sets: bool) -> None:
    """With these, who knows the rent of somebody alone works out his income, to the unit."""
    census = income_census(60)
    specs = [TableSpec.build(census.schema, ["sex"], measure="sum(income)")]
    report = risks_of_tables(census, specs, lambda _: method, smallest_group=20)
    assert [risk.code for risk in report.risks] == [RiskCode.SET_KEYS] * by_sets
    if not by_sets:
        return
    assert "equal sums tell equal groups" in report.risks[0].sentence
    if method.name == "abs-top-contributors":
        keys = [[at * 991 + 7] for at in range(9)]
        incomes, rents = ([[size * (at + 1)] for at in range(9)] for size in (30_011, 9_170))
        published = []
        for amounts in (incomes, rents):
            table = method.protect(by_hand(amounts, [1] * 9, record_keys=keys)).table
            assert isinstance(table, Table)
            published.append(table.published.reshape(-1)[:9])
        guessed = np.round(published[0] / published[1] * np.array(rents)[:, 0])
        assert np.abs(guessed / np.array(incomes)[:, 0] - 1).max() < 1e-3


def _write_noise(office: Office, stay: float) -> None:
    from sdcensus.formats.perturbation import ExchangeFormat, write_perturbation

    path = office.folder / "noise.csv"
    path.unlink(missing_ok=True)
    design = design_perturbation(1, 0.05 if stay > 0.9 else 0.5, stay=stay)
    write_perturbation(design, path, ExchangeFormat.PLAIN)


def test_plan_check_shows_what_publish_asks(tmp_path: Path) -> None:
    office = new_office(tmp_path, people=40, tables=WIDE)
    checked = check_plan(office.plan)
    assert [risk.code for risk in checked.gate.risks] == [RiskCode.BROKEN_DOWN]
    assert checked.measures[0].share == 1.0
    look = checked.looks[0]
    assert isinstance(look, PlanLooks)
    assert "looks" in look.sentence
    assert share_text(look.chance, digits=0) in look.sentence
    office.write_plan(WIDE, protect=f"{PROTECT}smallest_group = 8\n")
    again = check_plan(office.plan)
    assert not again.gate.risks
    assert again.measures[0].proven


def test_names_and_reasons_are_asked_for(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    with pytest.raises(SpecError, match="--reason"):
        office.publish(accept_risk="Ana Ruiz")
    with pytest.raises(SpecError, match="--accept-risk NAME"):
        office.publish(reason="why not")
    with pytest.raises(SpecError, match="name them"):
        office.publish(accept_risk=" ", reason="why not")
    with pytest.raises(SpecError, match="at most"):
        AcceptedRisk("Ana Ruiz", "long " * 1_000)
    report = office.publish(**ACCEPTED)
    assert any("no risk to accept" in warning for warning in report.warnings)


def test_the_evaluation_says_what_is_broken_down_and_no_public_file_does(tmp_path: Path) -> None:
    office = new_office(tmp_path, people=40, tables=WIDE)
    office.publish(**ACCEPTED)
    page = (office.own / "evaluation.html").read_text(encoding="utf-8")
    assert "All tables together: small groups" in page
    assert "What would help" in page
    for name, content in office.files().items():
        assert b"can be claimed" not in content, name


def test_a_census_that_only_an_engine_reads_is_measured_from_tables() -> None:
    census, rules = policy(300)
    exact = broken_down_in_policy(census, rules, perturbation=scheme("CP4"))
    assert exact.share == 1.0

    class OnlyEngine:
        """The same census without its records."""

        schema = census.schema
        records = None

        def tabulate(self, spec: Any) -> Any:
            return census.tabulate(spec)

    other = broken_down_in_policy(OnlyEngine(), rules, perturbation=scheme("CP4"))  # type: ignore[arg-type]
    assert other.share == 1.0
    assert other.twins is None
    # What cannot be counted does not pass as nothing.
    spec = census.spec("area", "age", "sex", "married", universe="age >= 3 or married == 0")
    kinds = kinds_of_tables([spec])
    noise = group_noise(CellKey(scheme("CP4"), SECRET), 6)
    unknown = measured(OnlyEngine(), kinds, Entity.PERSON, noise, twins=False)  # type: ignore[arg-type]
    assert not unknown.kinds
    assert unknown.share == noise.largest_share > 0
    titles = {kind.title: kind.groups for kind in exact.kinds}
    assert other.kinds
    assert all(titles[kind.title] == kind.groups for kind in other.kinds)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["CP3", "CP4"])
def test_every_preset_passes_the_gate(preset: str, name: str, tmp_path: Path) -> None:
    """And would not without its smallest group."""
    census = island(300)
    path = tmp_path / "policy.toml"
    path.write_text(
        f'name = "p"\n[limits]\ndimensions = 4\n[online]\npreset = "{preset}"\n', encoding="utf-8"
    )
    rules = read_policy(path, census.schema)
    menus = [menu_of(rules, census.schema)]
    methods = {Entity.PERSON: CellKey(scheme(name), secret=SECRET)}
    smallest = rules.online.smallest_group
    assert not risks_of_menus(census, menus, methods, smallest_group=smallest).risks
    assert risks_of_menus(census, menus, methods, smallest_group=None).risks


def test_every_unit_of_a_census_is_asked_about() -> None:
    _, rules = policy()
    found = opened(smallest_group=12).risks
    assert found is not None
    assert [share.of for share in found.shares] == [Entity.PERSON]
    assert all(share.bounded and share.share == 0 for share in found.shares)
    assert rules.broken_down == found.limit == 0.02


def test_brute_force_groups_of_a_menu() -> None:
    """Every cell of one, two or three of every table that another one divides further."""
    census, rules = policy(60)
    found = broken_down_in_policy(census, rules, perturbation=scheme("CP2"))
    names = ["area@parish", "area@district", "sex", "age", "age@class", "age@half", "married"]
    seen = 0
    for number in (1, 2, 3):
        for own in itertools.combinations(names, number):
            variables = [one.partition("@")[0] for one in own]
            if len(set(variables)) < number:
                continue
            cube = census.tabulate(*(f"{one}-total" for one in own))
            seen += int(((cube.count >= 1) & (cube.count <= 3)).sum())
    assert found.small == seen
    assert np.isclose(found.share, 1.0)
