"""One line from the first store to what readers see, with methods as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.model.method.registry import Part, built_in
from sdcensus.model.policy.policy import Limits, Policy
from sdcensus.model.policy.rules import OnlineRules
from sdcensus.model.published.provenance import lineage_text
from sdcensus.model.published.record_changes import RecordChange, notes_of_lineage, record_changes
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.session.answer.opening import open_service
from sdcensus.session.attack.attack import attack_folder
from sdcensus.session.attack.stores import stores_to_score
from sdcensus.session.census.census import open_census, open_store
from sdcensus.session.census.export import export
from sdcensus.session.derive import DerivationReport, derive, earlier_pairs
from sdcensus.session.guard.guard import read_lock
from sdcensus.session.publish.approval import verify
from sdcensus.session.publish.run import PublishOptions, PublishReport, publish
from sdcensus.store.registry import Registry
from sdcensus.testing.island import SECRET
from sdcensus.web.reading import about_page
from tests.hamlet import SCHEMA, Hamlet, rows, write_csv, write_hamlet
from tests.session.answer.services import asked

#: Fewer changed records behind a number than usual, for a small census.
MINIMUM = 2
SWAP: dict[str, Any] = {
    "rate": 0.05,
    "risk_variables": ["age@ten_year", "sex"],
    "profiles": ["persons"],
}
PRAM: dict[str, Any] = {"variables": ["tenure"], "stay": ["0.8"]}
PLAN = """
store = "{store}"

[[table]]
name = "sexes"
rows = ["ed@ed+parish"]
columns = ["sex"]

[[indicator]]
name = "men"
kind = "sex-ratio"
by = ["ed@parish"]

[protect]
method = "cell-key"
strength = "strong"

[output]
folder = "{folder}"
formats = ["csv", "xlsx", "px", "json-stat"]
languages = ["en", "es", "fr", "nl", "pt"]
date = "2026-03-01"
{more}
"""


def planned(hamlet: Hamlet, store: str, folder: str = "published", more: str = "") -> Path:
    text = PLAN.format(store=store, folder=folder, more=more)
    return hamlet.write(f"plan-{folder}.toml", text)


def published(hamlet: Hamlet, plan: Path, **options: Any) -> PublishReport:
    said = {"accept_risk": "Ana", "reason": "a test", **options}
    return publish(plan, PublishOptions(secret=hamlet.secret, **said))


def swapped(
    hamlet: Hamlet, name: str, parent: str = "census.store", **said: Any
) -> DerivationReport:
    source, out = hamlet.folder / parent, hamlet.folder / name
    return derive(source, out, "targeted-swap", {**SWAP, **said}, secret=SECRET)


@pytest.fixture
def hamlet(tmp_path: Path) -> Hamlet:
    persons, households = rows(900)
    spoken = SCHEMA.replace('["en", "es"]', str([*LANGUAGES]).replace("'", '"'))
    census = write_hamlet(
        tmp_path / "hamlet", schema=spoken, persons=persons, households=households
    )
    census.load()
    return census


# -------------------------------------------------------------------------- what readers are told


def test_every_method_of_this_package_has_words_of_its_own() -> None:
    named = {name: record_changes(f"{name} 1 00") for name in built_in(Part.PRE_TABULAR)}
    general = [name for name, kinds in named.items() if kinds == (RecordChange.RECORDS,)]
    assert general == ["drop-records"]
    assert record_changes("of-another-package 3 00") == (RecordChange.RECORDS,)
    for change in RecordChange:
        note = Text.named(f"notes.before.{change.value}")
        said = {note.show(language) for language in LANGUAGES}
        assert len(said) == len(LANGUAGES)
        assert not any(re.search(r"\d|%|\{", text) for text in said)


def test_readers_learn_the_kind_of_method_and_nothing_of_its_parameters(hamlet: Hamlet) -> None:
    texts: list[dict[str, str]] = []
    lines: list[DerivationReport] = []
    for number, rate in enumerate((0.03, 0.1)):
        lines.append(swapped(hamlet, f"swapped-{number}.store", rate=rate))
        published(hamlet, planned(hamlet, f"swapped-{number}.store", f"out-{number}"))
        folder = hamlet.folder / f"out-{number}"
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        notes = {
            table["name"]: json.dumps(
                [note for note in table["notes"] if "Example" not in note["en"]]
            )
            for table in manifest["tables"]
        }
        about = json.loads((folder / "sexes.about.json").read_text(encoding="utf-8"))
        made = {
            name: value
            for name, value in about["provenance"].items()
            if name not in ("data_version", "lineage")
        }
        texts.append({**notes, "provenance": json.dumps(made)})
        for language in LANGUAGES:
            told = notes_of_lineage(lines[-1].lineage)[0].show(language)
            page = (folder / f"notes.{language}.html").read_text(encoding="utf-8")
            assert told.replace("'", "&#x27;") in page or told in page
            for table in manifest["tables"]:
                assert told in [note[language] for note in table["notes"]]
        # Whoever opens a single file reads it there.
        told = notes_of_lineage(lines[-1].lineage)[0].show("en")
        beside = [
            path
            for path in folder.iterdir()
            if path.name.startswith(("sexes.", "men.")) and path.suffix == ".json"
        ]
        assert len(beside) >= 4
        for path in beside:
            language = next((each for each in LANGUAGES if f".{each}." in path.name), "en")
            told_there = notes_of_lineage(lines[-1].lineage)[0].show(language)
            content = json.dumps(json.loads(path.read_text(encoding="utf-8")), ensure_ascii=False)
            assert told_there in content, path.name
    # Another rate has the same words; only the keyed fingerprint and the data tell them apart.
    assert texts[0] == texts[1]
    assert lines[0].lineage != lines[1].lineage
    assert re.fullmatch(r"targeted-swap \d+ [0-9a-f]{32}", lines[0].lineage)
    # Tables of the original store say nothing of it.
    published(hamlet, planned(hamlet, "census.store", "out-original"))
    for path in (hamlet.folder / "out-original").iterdir():
        assert told.encode() not in path.read_bytes(), path.name


def test_a_builder_says_it_in_answers_and_on_its_page(hamlet: Hamlet) -> None:
    report = swapped(hamlet, "swapped.store")
    census = open_store(hamlet.folder / "swapped.store")
    policy = Policy(
        name="test",
        schema=census.schema,
        limits=Limits(dimensions=1),
        online=OnlineRules(recovery=0.99),
    )
    said: dict[str, tuple[bool, bool]] = {}
    (told,) = notes_of_lineage(report.lineage)
    for name in ("census.store", "swapped.store"):
        service = open_service(hamlet.folder / name, policy, secret=hamlet.secret)
        answer = service.answer(asked("sex")).table
        assert answer is not None
        page = json.dumps(
            about_page(service.reading, "fr", lambda key, **_: key), ensure_ascii=False
        )
        said[name] = (told in answer.notes, told.show("fr") in page)
    assert said == {"census.store": (False, False), "swapped.store": (True, True)}


# ------------------------------------------------------------------------------- the whole line


def test_a_store_of_a_derived_store_keeps_its_line_everywhere(hamlet: Hamlet) -> None:
    first = swapped(hamlet, "swapped.store")
    twice = hamlet.folder / "twice.store"
    second = derive(hamlet.folder / "swapped.store", twice, "pram", PRAM, secret=SECRET)
    assert second.lineage.startswith(f"{first.lineage} → pram ")
    manifest = open_store(twice).store.manifest
    assert lineage_text(manifest.lineage) == second.lineage
    original = open_store(hamlet.store).store.manifest.data_version
    assert [step.parent for step in manifest.lineage] == [original, first.data_version]
    export(twice, hamlet.folder / "twice.parquet")
    exported = open_census(hamlet.folder / "twice.parquet")
    assert exported.origin.lineage == second.lineage
    published(hamlet, planned(hamlet, "twice.store"))
    office = hamlet.folder / "published.office"
    lock = read_lock(office)
    assert {lock.making(table).lineage for table in lock.tables} == {second.lineage}
    entries = Registry.open(office / "registry").entries()
    assert {entry.provenance.lineage for entry in entries if entry.provenance} == {second.lineage}
    assert verify(hamlet.folder / "published").lines == (f"a derived store ({second.lineage})",)
    public = json.loads((hamlet.folder / "published" / "manifest.json").read_text(encoding="utf-8"))
    notes = [note["en"] for table in public["tables"] for note in table["notes"]]
    for told in notes_of_lineage(second.lineage):
        assert notes.count(told.show("en")) == len(public["tables"])
    assert len(notes_of_lineage(second.lineage)) == 2
    # A part of the line is another line.
    with pytest.raises(Refused, match="made from a derived store"):
        published(hamlet, planned(hamlet, "swapped.store"))


def corrected(hamlet: Hamlet, people: int) -> None:
    """The same census with another sex and age of some people of one area."""
    persons = [dict(person) for person in hamlet.persons]
    wrong = [person for person in persons if (person["ed"], person["sex"]) == ("E1", "1")]
    for person in wrong[:people]:
        person["sex"], person["age"] = "2", "50"
    write_csv(hamlet.folder / "persons.csv", persons)
    hamlet.load()


def test_a_corrected_census_that_keeps_its_pairs_is_a_revision_of_the_same_line(
    hamlet: Hamlet,
) -> None:
    said: dict[str, Any] = {"k": 5, "rate": 0.1}
    first = swapped(hamlet, "swapped.store", **said)
    published(hamlet, planned(hamlet, "swapped.store"))
    corrected(hamlet, 60)
    pairs = earlier_pairs("targeted-swap", hamlet.folder / "swapped.store")
    kept = swapped(hamlet, "kept.store", earlier=pairs, **said)
    anew = swapped(hamlet, "anew.store", **said)
    # The same parameters are the same line, whatever pairs go on from.
    assert first.lineage == kept.lineage == anew.lineage
    assert len({first.data_version, kept.data_version, anew.data_version}) == 3
    with pytest.raises(Refused, match="the data have changed"):
        published(hamlet, planned(hamlet, "kept.store"))
    few: dict[str, int] = {}
    for store in ("kept.store", "anew.store"):
        with pytest.raises(Refused, match="would show who was corrected") as caught:
            published(hamlet, planned(hamlet, store), revision="corrected")
        few[store] = int(re.findall(r"behind (\d+) changed", str(caught.value))[0])
    # Pairs that were drawn anew have moved others as well, a few here and there; with kept ones
    # only the corrected are compared: too few are those who are counted in another area.
    assert few["kept.store"] < few["anew.store"]
    notes = published(
        hamlet, planned(hamlet, "kept.store"), revision="corrected", revision_minimum=MINIMUM
    ).warnings
    assert not any("no longer from" in note for note in notes)
    lock = read_lock(hamlet.folder / "published.office")
    assert {lock.making(table).lineage for table in lock.tables} == {first.lineage}
    published(hamlet, planned(hamlet, "kept.store"))


def test_one_correction_is_refused_as_in_an_original_store(hamlet: Hamlet) -> None:
    swapped(hamlet, "swapped.store")
    published(hamlet, planned(hamlet, "swapped.store"))
    corrected(hamlet, 1)
    pairs = earlier_pairs("targeted-swap", hamlet.folder / "swapped.store")
    swapped(hamlet, "kept.store", earlier=pairs)
    with pytest.raises(Refused, match="would show who was corrected") as caught:
        published(hamlet, planned(hamlet, "kept.store"), revision="corrected")
    # Nobody but the corrected person: the other areas are compared, and are as they were.
    assert "ed E1, parish P1." in str(caught.value)


# ------------------------------------------------------------------------------ nothing is mixed


def test_tables_of_two_lines_in_one_folder_are_named_and_not_scored(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    swapped(hamlet, "swapped.store")
    both = tmp_path / "both"
    both.mkdir()
    for store, folder in (("census.store", "a"), ("swapped.store", "b")):
        published(hamlet, planned(hamlet, store, folder))
        for ending in (".csv", ".about.json"):
            content = (hamlet.folder / folder / f"sexes{ending}").read_bytes()
            content = content.replace(b'"sexes.csv"', f'"sexes-{folder}.csv"'.encode())
            (both / f"sexes-{folder}{ending}").write_bytes(content)
    attack = attack_folder(both)
    assert any("several lines of records" in note for note in attack.notes)
    assert not any("several lines" in note for note in attack_folder(hamlet.folder / "b").notes)
    with pytest.raises(SpecError, match="Score the tables of each line by themselves"):
        stores_to_score(attack.tables, hamlet.store)


def test_the_original_of_an_evaluation_is_of_the_line(hamlet: Hamlet) -> None:
    swapped(hamlet, "swapped.store")
    swapped(hamlet, "other.store", rate=0.1)
    derive(hamlet.folder / "swapped.store", hamlet.folder / "twice", "pram", PRAM, secret=SECRET)

    def evaluated(store: str, original: str) -> PublishReport:
        more = f'evaluation = true\noriginal_store = "{original}"'
        plan = planned(hamlet, store, f"{store}-{original}".replace(".store", ""), more)
        return published(hamlet, plan)

    for original in ("other.store", "twice", "swapped.store"):
        with pytest.raises(SpecError, match="is not the store from which that of the plan"):
            evaluated("swapped.store", original)
    with pytest.raises(SpecError, match="is not the store from which that of the plan"):
        evaluated("census.store", "swapped.store")
    evaluated("swapped.store", "census.store")
    evaluated("twice", "swapped.store")
