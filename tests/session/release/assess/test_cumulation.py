"""A further file against what is out: the study's two files, and what may happen between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.errors import Refused, StoreError
from sdcensus.model.release.registered import FileEvent
from sdcensus.model.secret import Secret
from sdcensus.session.release.assess.cumulation import Cumulation, cumulation
from sdcensus.session.release.opened import OpenRelease
from sdcensus.session.release.release import Release
from sdcensus.store.registered_files import read_registered
from sdcensus.testing.island import SECRET
from tests.session.release.town import (
    BANDS,
    NAMES,
    YEARS,
    P,
    document,
    opened,
    put_out,
    records_of,
    town,
)

#: 25.9 persons of 2,640: above both files alone (3.9 and 21.6) and their sum, below the union.
LEVEL = "0.0098"
TREATMENT = '\n[[treatment]]\nmethod = "pram variables=sex stay=0.8"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    town(tmp_path / "census.store")
    return tmp_path


def held(release: OpenRelease) -> Cumulation:
    return cumulation(release.plan, release.store, records_of(release))


def keys(result: Cumulation) -> list[str]:
    return [refusal.words for refusal in result.refusals]


def test_the_studys_two_files_are_accepted_alone_and_refused_together(place: Path) -> None:
    years = Release(document(place, YEARS, accepted=LEVEL), secret=SECRET)
    bands = Release(document(place, BANDS, accepted=LEVEL), secret=SECRET)
    first = years.make(place / "years")
    assert first.result.accepted
    assert held(bands.opened).refusals == ()  # as long as the other one is not out
    years.register(place / "years", names=NAMES)
    with pytest.raises(Refused, match=r"2 files together: 29\.2 expected .* accepts 25\.9"):
        bands.make(place / "bands")
    assert not (place / "bands").exists()
    made = bands.make(place / "bands", accepted_by="C. Diaz", reason="law 7")
    tables = {table.name: table.rows for table in made.result.cumulation}
    assert [row[0] for row in tables["together-files"]] == ["years", "bands", "together"]
    assert tables["together-files"][-1][2:] == (29.2, 25.9)
    bands.register(place / "bands", names=NAMES)
    assert read_registered(place / "office")[-1].reason == "C. Diaz: law 7"
    # What is measured of a file alone is what its own verdict says.
    verdict = next(each for each in made.result.verdicts if each.measure == "expected_matches")
    assert verdict.value is not None
    alone = tables["together-files"][1][2]
    assert alone == round(verdict.value * years.opened.store.rows(P), 1)


def test_the_overlap_of_samples_is_exact(place: Path) -> None:
    years, bands = (opened(document(place, file)) for file in (YEARS, BANDS))
    put_out(years)
    union = held(bands).union
    assert union is not None
    sampled = [set(records_of(each).sample.rows[P].tolist()) for each in (years, bands)]
    assert union.pairs[0].both == len(sampled[0] & sampled[1]) > 0
    assert union.persons == len(sampled[0] | sampled[1])


def test_the_same_file_again_adds_nothing_even_above_the_level(place: Path) -> None:
    put_out(opened(document(place, YEARS)))
    again = held(opened(document(place, YEARS, accepted="0.0")))
    assert again.union is not None
    assert again.union.adds == pytest.approx(0.0, abs=1e-9)
    assert again.refusals == ()


def test_what_was_withdrawn_is_still_out(place: Path) -> None:
    years = opened(document(place, YEARS, accepted=LEVEL))
    put_out(years)
    put_out(years, event=FileEvent.WITHDRAWN, reason="a mistake")
    assert keys(held(opened(document(place, BANDS, accepted=LEVEL)))) == [
        "release.together.refused"
    ]


def test_a_corrected_census_is_held_against_what_is_out(place: Path, tmp_path: Path) -> None:
    put_out(opened(document(place, YEARS)))
    before = held(opened(document(place, BANDS))).union
    corrected = tmp_path / "corrected.store"
    town(corrected, without=300, later=True, moved=True)
    result = held(opened(document(place, BANDS, store=corrected)))
    assert [note.words for note in result.notes] == [
        "release.together.gone",
        "release.together.other_version",
    ]
    assert before is not None
    assert result.union is not None
    # The code list has another order and one code more, and still says the same.
    assert result.union.files[0].records < before.files[0].records
    assert result.union.files[0].expected_alone == pytest.approx(
        before.files[0].expected_alone, rel=0.5
    )


def test_codes_of_another_order_say_the_same(place: Path, tmp_path: Path) -> None:
    put_out(opened(document(place, BANDS)))
    years = document(place, YEARS)
    expected = held(opened(years)).union
    other = tmp_path / "other.store"
    town(other, later=True, moved=True)
    union = held(opened(document(place, YEARS, store=other))).union
    assert expected is not None
    assert union is not None
    assert union.expected == pytest.approx(expected.expected)
    assert union.pairs == expected.pairs


def test_a_file_of_another_secret_cannot_be_added_up(place: Path, tmp_path: Path) -> None:
    put_out(opened(document(place, YEARS)))
    other = Secret(bytes(range(1, 33)))
    town(tmp_path / "other.store", secret=other)
    result = held(opened(document(place, BANDS, store=tmp_path / "other.store"), other))
    assert keys(result) == ["release.together.other_secret"]


def test_files_of_another_census_do_not_count(place: Path, tmp_path: Path) -> None:
    put_out(opened(document(place, YEARS, accepted="0.0")))
    town(tmp_path / "other.store", code="T2")
    result = held(opened(document(place, BANDS, accepted="0.0", store=tmp_path / "other.store")))
    assert (result.union, result.beside, result.refusals) == (None, (), ())


def test_damaged_and_lost_notes_stop_everything(place: Path) -> None:
    entry = put_out(opened(document(place, YEARS)))
    bands = opened(document(place, BANDS))
    path = place / "office" / entry.folder / entry.shown
    whole = path.read_bytes()
    for content in (whole[:-3], whole[:200] + b"x" + whole[201:], b"", b"PAR1"):
        path.write_bytes(content)
        with pytest.raises(StoreError, match=r"missing or damaged.*Restore it from a backup"):
            held(bands)
    path.unlink()
    with pytest.raises(StoreError, match="Restore it from a backup"):
        held(bands)
    path.write_bytes(whole)
    assert held(bands).union is not None


def test_two_lines_of_records_are_a_decision_by_name(place: Path) -> None:
    put_out(opened(document(place, YEARS)))
    kept = {**BANDS, "design": 'recode = { age = "ten_year" }\nkeep = ["area"]'}
    swapped = opened(document(place, kept, more=TREATMENT))
    assert keys(held(swapped)) == ["release.together.other_line"]
    # Two files of the same line are one line.
    (place / "office" / "files.json").unlink()
    put_out(swapped)
    again = {**kept, "name": "again"}
    assert keys(held(opened(document(place, again, more=TREATMENT)))) == []
    assert keys(held(opened(document(place, YEARS)))) == ["release.together.other_line"]


def test_an_intruder_knows_no_more_of_several_files_than_of_one(place: Path) -> None:
    put_out(opened(document(place, YEARS)))
    path = document(place, BANDS)
    everything = held(opened(path)).union
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[risk]\n", "[risk]\nknown_keys = 2\n"), encoding="utf-8")
    fewer = held(opened(path)).union
    assert everything is not None
    assert fewer is not None
    assert fewer.expected < everything.expected
