"""Two answers to a claim: one that is the same whatever is true, and one for the office."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import OutputError, SdcensusError, SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import true_values
from sdcensus.model.method.registry import Part, declared
from sdcensus.model.published.record_changes import RecordChange
from sdcensus.model.published.table import Mark, PublishedTable, Table
from sdcensus.model.vocabulary import Measure
from sdcensus.report.claim.answer import (
    Bracket,
    CellCase,
    MethodKind,
    PublicAnswer,
    answer_page,
    answer_text,
)
from sdcensus.report.claim.facts import facts_page, facts_text
from sdcensus.risk.combined import NO_MOVES, combined_risk, moves_by_rate, reference_prior
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.claim import ClaimFiles, answer_claim
from sdcensus.session.claim.answer import public_answer
from sdcensus.session.claim.bracket import bracket_of, case_of, chance_of_claim, kinds_of
from sdcensus.session.claim.cell import find_cell
from sdcensus.session.claim.nominal import KnownStep, nominal_moves
from sdcensus.session.publish.run import PublishOptions, publish
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.exchange import village, write_exchange

PLAN = """
store = "{store}"

[[table]]
name = "kinds"
rows = ["area@area+district"]
columns = ["kind"]

[protect]
method = "cell-key"
strength = "medium"

[output]
folder = "published-{store}"
formats = ["csv"]
date = "2026-03-01"
"""


def written_plan(folder: Path, store: str) -> Path:
    path = folder / f"plan-{store}.toml"
    path.write_text(PLAN.format(store=store), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A census, one that was derived from it, and tables of the derived one."""
    root = tmp_path_factory.mktemp("claims")
    village(root / "census.store", households=2_000, kinds=40)
    write_exchange(root / "census.store", root / "swapped.store", rate=0.3)
    write_secret(SECRET, root / "office.secret")
    for store in ("census.store", "swapped.store"):
        plan = written_plan(root, store)
        publish(plan, PublishOptions(secret=root / "office.secret", accept_risk="A", reason="b"))
    return root


def asked(
    office: Path, cell: str, out: Path, store: str = "swapped.store", **more: Any
) -> ClaimFiles:
    plan = office / f"plan-{store}.toml"
    return answer_claim(plan, "kinds", cell, out, secret=office / "office.secret", **more)


def cells_published_as(office: Path, value: int, store: str) -> Iterator[tuple[str, int]]:
    """Cells of areas and kinds with a published value, and what is true of them."""
    table = read_published(office / f"published-{store}" / "kinds.csv").table.whole()
    census = open_store(office / store)
    true = true_values(census.tabulate(table.spec))
    area, kind = table.spec.axes
    for at in np.argwhere(table.published == value).tolist():
        codes = area.codes[at[0]], kind.codes[at[1]]
        if codes[0].level == "area" and not codes[1].is_total:
            yield f"area={codes[0].code},kind={codes[1].code}", int(true[tuple(at)])


def test_cells_that_are_published_alike_have_one_public_answer(
    office: Path, tmp_path: Path
) -> None:
    by_truth: dict[int, str] = {}
    for cell, true in cells_published_as(office, 1, "swapped.store"):
        by_truth.setdefault(true, cell)
    assert len(by_truth) >= 3  # the same published 1 stands for several true counts
    texts, pages, truths = set(), set(), set()
    for true, cell in by_truth.items():
        files = asked(office, cell, tmp_path / str(true))
        names = dict(part.split("=") for part in cell.split(","))
        plain = files.public[1].read_text(encoding="utf-8")
        page = files.public[0].read_text(encoding="utf-8").split("<body>")[1]
        for code in names.values():
            plain = re.sub(rf"\b{code}\b", "CODE", plain)
            page = re.sub(rf"\b{code}\b", "CODE", page)
        texts.add(plain)
        pages.add(page)
        truths.add(files.facts.counted)
    assert truths == set(by_truth)
    assert len(texts) == len(pages) == 1


@given(
    values=st.lists(st.integers(0, 9), min_size=41, max_size=41),
    at=st.integers(0, 40),
    language=st.sampled_from(LANGUAGES),
)
@settings(deadline=None, max_examples=30)
def test_two_stores_with_equal_published_values_have_equal_answers(
    stores: tuple[Census, Census], values: list[int], at: int, language: str
) -> None:
    answers = []
    for census in stores:
        spec = census.spec("kind", of="persons")
        published = np.array(values, dtype=np.int64)
        provenance = read_published_provenance(census)
        table = PublishedTable("kinds.csv", Table(spec, published), provenance)
        claimed = find_cell(table, f"kind={spec.axes[0].codes[at].code}")
        chance = chance_of_claim(scheme("CP3(EU)"), [NO_MOVES])
        answer = public_answer(claimed, census, chance, language)
        answers.append((answer, answer_text(answer, language), answer_page(answer, language)))
    assert answers[0] == answers[1]


def read_published_provenance(census: Census) -> Any:
    from sdcensus.methods.cell_key import CellKey

    method = CellKey(scheme("CP3(EU)"), secret=SECRET)
    return method.protect(census.tabulate("kind")).provenance


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Census, Census]:
    root = tmp_path_factory.mktemp("two")
    for name, seed in (("a", 4), ("b", 5)):
        village(root / name, households=300, kinds=40, seed=seed)
    first, second = open_store(root / "a"), open_store(root / "b")
    counts = [true_values(census.tabulate("kind")) for census in (first, second)]
    assert (counts[0] != counts[1]).any()
    return first, second


def test_the_public_answer_has_no_place_for_a_true_count() -> None:
    names = {field.name: field.type for field in dataclasses.fields(PublicAnswer)}
    numbers = [name for name, kind in names.items() if "int" in str(kind) or "float" in str(kind)]
    assert numbers == ["published"]
    assert not issubclass(PublicAnswer, Confidential)


def test_the_office_is_told_what_is_true(office: Path, tmp_path: Path) -> None:
    cells = dict(cells_published_as(office, 1, "swapped.store"))
    original, swapped = open_store(office / "census.store"), open_store(office / "swapped.store")
    verdicts = set()
    for number, (cell, true) in enumerate(list(cells.items())[:25]):
        facts = asked(office, cell, tmp_path / str(number)).facts
        where = " and ".join(
            f"{name} == '{code}'" for name, code in (part.split("=") for part in cell.split(","))
        )
        before = int(true_values(original.tabulate(universe=where)).sum())
        after = int(true_values(swapped.tabulate(universe=where)).sum())
        assert (facts.counted, facts.original) == (true, before) == (after, before)
        assert facts.stayed is not None
        assert facts.arrived == after - facts.stayed
        assert facts.left == before - facts.stayed
        assert facts.deviation == 1 - after
        assert facts.single == (after == before == facts.stayed == 1)
        verdicts.add(facts.single)
        assert str(true) in facts_text(facts)
    assert verdicts == {True, False}


def test_files_of_the_office_are_for_its_eyes_and_in_five_languages(
    office: Path, tmp_path: Path
) -> None:
    cell = next(cells_published_as(office, 2, "swapped.store"))[0]
    texts = set()
    for language in LANGUAGES:
        files = asked(office, cell, tmp_path / language, language=language)
        assert all(is_owner_only(path) for path in files.office)
        assert is_owner_only(files.office[0].parent)
        texts.add(files.public[1].read_text(encoding="utf-8"))
        page = facts_page(files.facts, language)
        assert 'name="robots" content="noindex"' in page
        assert "noindex" not in files.public[0].read_text(encoding="utf-8")
    assert len(texts) == len(LANGUAGES)


def test_rates_inside_a_bracket_do_not_show(office: Path) -> None:
    prior = reference_prior()
    noise = scheme("CP3(EU)")
    chances = [
        chance_of_claim(noise, [moves_by_rate(rate, prior)]) for rate in np.linspace(0, 1, 41)
    ]
    brackets = [bracket_of(CellCase.FEW, chance) for chance in chances]
    assert brackets == sorted(brackets, key=[Bracket.HIGH, Bracket.MIDDLE, Bracket.LOW].index)
    assert len(set(chances)) == 41
    assert set(brackets) <= set(Bracket)
    assert brackets.count(Bracket.MIDDLE) > 10
    # At the edges: the end of a bracket belongs to it, on every machine.
    assert bracket_of(CellCase.FEW, 0.25) is bracket_of(CellCase.FEW, 0.25 + 1e-13) is Bracket.LOW
    assert bracket_of(CellCase.FEW, 0.75) is Bracket.MIDDLE
    assert bracket_of(CellCase.FEW, 0.2501) is Bracket.MIDDLE
    assert bracket_of(CellCase.FEW, 0.7501) is Bracket.HIGH


def test_without_protection_a_claim_is_probably_right() -> None:
    assert bracket_of(CellCase.FEW, chance_of_claim(None, [NO_MOVES])) is Bracket.HIGH
    everybody = moves_by_rate(1.0, reference_prior())
    assert bracket_of(CellCase.FEW, chance_of_claim(None, [everybody])) is Bracket.LOW


@pytest.mark.parametrize(
    ("value", "mark", "measure", "case"),
    [
        (0, Mark.NONE, Measure.COUNT, CellCase.NOBODY),
        (1, Mark.NONE, Measure.COUNT, CellCase.FEW),
        (3, Mark.NONE, Measure.COUNT, CellCase.FEW),
        (4, Mark.NONE, Measure.COUNT, CellCase.SEVERAL),
        (4, Mark.NONE, Measure.WEIGHTED, CellCase.WEIGHTED),
        (0, Mark.NONE, Measure.WEIGHTED, CellCase.NOBODY),
        (None, Mark.NOT_BROKEN_DOWN, Measure.COUNT, CellCase.NOT_SHOWN),
        (None, Mark.WITHHELD, Measure.WEIGHTED, CellCase.NOT_SHOWN),
    ],
)
def test_what_a_reader_sees(
    value: int | None, mark: Mark, measure: Measure, case: CellCase
) -> None:
    assert case_of(value, mark, measure) is case
    only_small = case in (CellCase.FEW, CellCase.WEIGHTED)
    assert bracket_of(case, 1.0) is (Bracket.HIGH if only_small else Bracket.LOW)


def test_kinds_follow_from_what_is_published(office: Path) -> None:
    table = read_published(office / "published-swapped.store" / "kinds.csv")
    assert kinds_of(table.provenance) == (RecordChange.PLACES, MethodKind.NOISE)
    assert table.provenance is not None
    line = "targeted-swap 1 aa → pram 2 bb → other-package 1 cc"
    longer = replace(table.provenance, lineage=line, smallest_group=5, method="random-rounding")
    assert kinds_of(longer) == (
        RecordChange.PLACES,
        RecordChange.PRAM,
        RecordChange.RECORDS,
        MethodKind.ROUNDING,
        MethodKind.GROUPS,
    )
    assert kinds_of(None) == ()


def test_moves_by_parameters_know_levels_and_variables(stores: tuple[Census, Census]) -> None:
    census = stores[0]
    spec, schema = census.spec("area", "kind", of="persons"), census.schema

    def leaving(method: str, level: str, **settings: Any) -> tuple[float, float]:
        moves = nominal_moves([KnownStep(method, settings)], spec, level, schema)
        return tuple(moves.leaving(np.array([1, 9])).tolist())

    assert leaving("random-swap", "area", rate=0.1) == (0.1, 0.1)
    assert leaving("random-swap", "country", rate=0.1) == (0, 0)
    assert leaving("random-swap", "district", rate=0.1, within="district") == (0, 0)
    assert leaving("random-swap", "area", rate=0.1, within="district") == (0.1, 0.1)
    assert leaving("targeted-swap", "area", rate=0.1, k=3, risk_variables=["kind"]) == (1, 0.1)
    assert leaving("targeted-swap", "district", rate=0.1, k=3, risk_variables=["kind"]) == (1, 0)
    assert leaving("targeted-swap", "area", rate=0.1, k=3, risk_variables=["colour"]) == (0.1, 0.1)
    assert leaving("pram", "country", variables=["kind"], stay=["0.75"]) == (0.25, 0.25)
    assert leaving("pram", "country", variables=["colour"], stay=["0.75"]) == (0, 0)
    # Exchanges inside a district are no exchanges between districts, whatever the region is.
    assert leaving("random-swap", "district", rate=0.1) == (0, 0)
    assert leaving("proportional-swap", "area", rate=0.1, risk_variables=["kind"]) == (0.1, 0.1)
    assert leaving("targeted-swap", "area", rate=0, k=3, risk_variables=["kind"]) == (1, 0)
    only = {"rate": 0.1, "k": 3, "risk_variables": ["kind"], "levels": ["district"]}
    assert leaving("targeted-swap", "district", **only) == (1, 0.1)
    assert leaving("targeted-swap", "area", **only) == (0.1, 0.1)  # rare in it and not elsewhere
    # What the records decide is not counted on.
    assert leaving("pram", "country", variables=["kind"], stay=["0.75"], invariant=True) == (0, 0)
    inside = {"variables": ["kind"], "stay": ["kind=0.75"], "similar": ["kind=kind@group"]}
    assert leaving("pram", "country", **inside) == (0, 0)
    assert leaving("pram", "country", variables=["kind"], matrix=["kind=m.csv"]) == (0, 0)
    assert leaving("over-imputation", "country", blank=["kind"], rate=0.5) == (0, 0)
    assert leaving("geographic-pram", "area", move=["area=0.06"]) == (0, 0)
    assert leaving("attribute-swap", "country", attributes=["kind"], rate=0.5) == (0.5, 0.5)
    assert leaving("attribute-swap", "country", attributes=["kind", "colour"], rate=0.5) == (0, 0)
    assert leaving("something-else", "area", rate=0.5) == (0, 0)


def test_parameters_are_those_that_methods_have() -> None:
    read = {
        "targeted-swap": {"rate", "k", "risk_variables", "levels", "within"},
        "random-swap": {"rate"},
        "proportional-swap": {"rate"},
        "attribute-swap": {"rate", "attributes"},
        "pram": {"variables", "stay", "similar", "matrix", "invariant"},
    }
    for name, parameters in read.items():
        takes = {parameter.name for parameter in declared(Part.PRE_TABULAR, name).takes}
        assert parameters <= takes, name


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_two_steps_and_another_method_have_a_cautious_bracket(
    stores: tuple[Census, Census], rate: float
) -> None:
    census = stores[0]
    spec = census.spec("area", "kind", of="persons")
    swap = KnownStep("random-swap", {"rate": rate})
    change = KnownStep("pram", {"variables": ["kind"], "stay": [f"{1 - rate}"]})
    other = KnownStep("their-method", {"rate": 1.0, "k": 9, "variables": 7})

    def chance(*steps: KnownStep) -> float:
        moves = nominal_moves(steps, spec, "area", census.schema)
        return chance_of_claim(None, [moves]) or 0.0

    assert chance(other) == chance() == 1.0
    assert chance(swap, other) == chance(swap)
    assert chance(swap, change) == chance(change, swap) <= chance(swap) <= 1.0
    formula = combined_risk(None, reference_prior(), moves_by_rate(rate, reference_prior()))
    assert chance(swap) == formula.worst_claim


def test_totals_and_labels_and_levels_name_cells(office: Path) -> None:
    table = read_published(office / "published-census.store" / "kinds.csv")
    everybody = find_cell(table, "")
    assert everybody.words(None) == ()
    district = find_cell(table, "area@district=D1")
    assert district.words("en") == (("area", "D1"),)
    assert find_cell(table, " kind = K3 ; area=A1").positions == (1, 3)
    assert district.value is not None


@pytest.mark.parametrize(
    ("table", "cell", "says"),
    [
        ("kind", "", "Did you mean 'kinds'"),
        ("kinds", "income=3", "There are: area, kind"),
        ("kinds", "kind=K99", "no code 'K99'"),
        ("kinds", "area@parish=A1", "no level 'parish'"),
        ("kinds", "kind=K1,kind=K2", "twice"),
        ("kinds", "my neighbour", "AXIS=CODE"),
    ],
)
def test_mistakes_are_told_with_what_to_do(
    office: Path, tmp_path: Path, table: str, cell: str, says: str
) -> None:
    plan = office / "plan-census.store.toml"
    with pytest.raises(SdcensusError, match=says):
        answer_claim(plan, table, cell, tmp_path / "out", secret=office / "office.secret")
    assert not (tmp_path / "out").exists()


def test_stores_that_do_not_belong_are_refused(office: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(SpecError, match="--store"):
        answer_claim(
            office / "published-swapped.store",
            "kinds",
            "kind=K1",
            out,
            plan=office / "plan-census.store.toml",
            secret=office / "office.secret",
        )
    with pytest.raises(SpecError, match="--plan"):
        answer_claim(office / "published-swapped.store", "kinds", "kind=K1", out)
    with pytest.raises(SpecError, match="line of"):
        asked(office, "kind=K1", out, original=office / "swapped.store")
    asked(office, "kind=K1", out)
    with pytest.raises(OutputError, match="exists"):
        asked(office, "kind=K1", out)


def test_a_step_without_report_is_asked_for(office: Path, tmp_path: Path) -> None:
    moved = tmp_path / "kept.json"
    report = office / "swapped.store.office" / "derivation.json"
    moved.write_bytes(report.read_bytes())
    content = report.read_bytes()
    report.unlink()
    try:
        with pytest.raises(SpecError, match="--derivation"):
            asked(office, "kind=K1", tmp_path / "a")
        asked(office, "kind=K1", tmp_path / "a", derivations=[moved])
    finally:
        report.write_bytes(content)
