"""Perturbation tables as commands and Python see them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import InputError, OutputError, SecretError, SpecError
from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import DeviationRow, PerturbationTable, Tail
from sdcensus.model.secret import Secret
from sdcensus.report.perturbation.rows import (
    first_and_last,
    large_counts,
    multiples_of,
    rows_of,
    tail_sentence,
)
from sdcensus.report.perturbation.words import in_words
from sdcensus.session import perturbation
from sdcensus.store.owner_only import is_owner_only

SECRET = Secret(bytes(range(32)))
STILL = DesignRow((0,), (1.0,))
COIN = DesignRow((-1, 1), (0.5, 0.5))
WIDE = DesignRow((-2, 0, 2), (0.25, 0.5, 0.25))


# ---------------------------------------------------------------- rows in words


def words(rows: tuple[DesignRow, ...], tail: Tail) -> list[str]:
    return [row.counts for row in rows_of(PerturbationDesign(rows, tail))]


def test_rows_are_named_by_the_counts_that_they_serve() -> None:
    assert words((STILL, COIN, WIDE), Tail(2)) == ["0", "1", "2 and more"]


def test_neighbouring_rows_that_do_the_same_are_one_row() -> None:
    assert words((STILL, COIN, COIN, WIDE, WIDE), Tail(4)) == ["0", "1 to 2", "3 and more"]
    assert words((STILL, STILL, STILL), Tail(2)) == ["0", "1 and more"]


def test_rows_that_take_turns_are_named_by_their_first_counts() -> None:
    assert words((STILL, COIN, WIDE), Tail(0, 3)) == ["0, 3, 6 ...", "1, 4, 7 ...", "2, 5, 8 ..."]
    assert words((STILL, COIN, WIDE, WIDE, COIN), Tail(1, 4)) == [
        "0",
        "1, 5, 9 ...",
        "2 to 3, again every 4",
        "4, 8, 12 ...",
    ]


@pytest.mark.parametrize("name", perturbation.SCHEMES)
def test_the_tail_is_told(name: str) -> None:
    design = perturbation.scheme(name)
    sentence = tail_sentence(design)
    if name.startswith("RR"):
        assert sentence.startswith(f"Counts go by their remainder after division by {name[2:]}")
    else:
        assert sentence == f"All counts from {design.tail.start} on are treated alike."


rows_in_turn = st.lists(st.sampled_from([STILL, COIN, WIDE]), min_size=1, max_size=5)


@given(st.lists(st.sampled_from([STILL, COIN, WIDE]), max_size=4), rows_in_turn)
def test_every_row_is_shown_once_with_its_own_probabilities(
    own: list[DesignRow], turns: list[DesignRow]
) -> None:
    # Row 0 must not become negative, nor row 1.
    rows = [STILL, STILL, *own, *turns]
    design = PerturbationDesign(tuple(rows), Tail(2 + len(own), len(turns)))
    shown = rows_of(design)
    starts = [row.count for row in shown]
    assert starts == sorted(set(starts))
    assert starts[0] == 0
    for count in range(len(rows)):
        last = [row for row in shown if row.count <= count][-1]
        expected = dict(zip(design.deviations(count), design.probabilities(count), strict=True))
        assert dict(last.chances) == expected
        assert last.stay == design.stay(count)


def test_large_counts_of_rounding_are_taken_together() -> None:
    """Mean size (b*b-1)/(3b) and variance (b*b-1)/6, known of random rounding to a base b."""
    for base in (3, 5):
        large = large_counts(perturbation.scheme(f"RR{base}"))
        assert large.size == pytest.approx((base**2 - 1) / (3 * base))
        assert large.variance == pytest.approx((base**2 - 1) / 6)
        assert math.fsum(large.chances.values()) == pytest.approx(1)


def test_rounding_is_recognised_and_nothing_else() -> None:
    bases = {name: multiples_of(perturbation.scheme(name)) for name in perturbation.SCHEMES}
    assert {name: base for name, base in bases.items() if base} == {"RR3": 3, "RR5": 5}
    # From 2 on, everything changes by two: odd counts stay odd.
    still, even = DeviationRow((0,), (2,)), DeviationRow((-2, 2), (1, 1))
    assert multiples_of(PerturbationTable(2, (still, still, even), Tail(2))) == 0


def test_of_many_rows_the_first_and_the_last_are_shown() -> None:
    rows = rows_of(perturbation.per_unit_deviations(2, largest=30))
    shown = first_and_last(rows, 5)
    assert [row.counts for row in shown] == ["0", "1", "2", "3", "30 and more"]
    assert first_and_last(shown, 5) == shown


# ---------------------------------------------------------------- summaries


@pytest.mark.parametrize(
    ("name", "delta"),
    [
        ("CP1", 0.25),
        ("CP2", 0.119),
        ("CP3(EU)", 0.140),
        ("CP3", 0.046),
        ("CP3(1,2)", 0.044),
        ("RR3", 1 / 3),
        ("RR5", 0.2),
    ],
)
def test_a_summary_tells_how_well_counts_are_told_apart(name: str, delta: float) -> None:
    design = perturbation.scheme(name)
    summary = perturbation.summarise(design, lookups=False)
    assert summary.distinction.large == pytest.approx(delta, abs=0.0006)
    # Zeros stay, so a count of one that does not become 0 is told from an empty cell.
    assert summary.distinction.empty >= 1 - design.becomes_zero(1) - 1e-12
    assert summary.lookups == ()


@pytest.mark.parametrize("name", perturbation.SCHEMES)
def test_a_summary_has_one_default_look_up_and_its_reason(name: str) -> None:
    summary = perturbation.summarise(perturbation.scheme(name))
    assert [risk.lookup for risk in summary.lookups] == list(perturbation.Lookup)
    [chosen] = [risk for risk in summary.lookups if risk.is_default]
    large = name in ("CP3(EU)", "CP3", "CP4", "CP3(1,2)")
    assert chosen.name == summary.default_lookup == ("definition" if large else "ascending")
    reason = "Changes reach 3" if large else "Rows take" if name[0] == "R" else "Changes stay"
    assert summary.why_default.startswith(reason)


def test_the_scrambled_order_is_that_of_the_secret_if_it_is_given() -> None:
    table = perturbation.scheme("CP3").table()
    mean = perturbation.summarise(table)
    own = perturbation.summarise(table, secret=SECRET)
    assert (mean.own_order, own.own_order) == (False, True)
    expected = perturbation.coupling_of(table, "scrambled", secret=SECRET)
    assert [risk.coupling for risk in own.lookups if risk.name == "scrambled"] == [expected]
    assert [risk.coupling for risk in mean.lookups if risk.name == "scrambled"] != [expected]


def test_a_table_in_another_order_is_looked_up_as_it_stands() -> None:
    table = perturbation.scrambled(perturbation.scheme("CP2").table(), SECRET)
    summary = perturbation.summarise(table)
    names = [risk.name for risk in summary.lookups]
    assert names == ["as it stands", "scrambled", "hashed", "definition"]
    assert summary.default_lookup == "as it stands"


def test_summaries_show_nothing_when_they_are_printed() -> None:
    summary = perturbation.summarise(perturbation.scheme("CP3"))
    parts = [summary, summary.large, summary.distinction, *summary.rows, *summary.lookups]
    for part in parts:
        for text in (repr(part), str(part), f"{part}"):
            assert "confidential" in text
            assert "0." not in text


@pytest.mark.parametrize(
    ("design", "said"),
    [
        (
            perturbation.scheme("CP3"),
            "A large count changes by at most 3 and by 0.87 on average; 40.0 % stay as they are."
            " Of the ones, 38.0 % are published as 0. Empty cells stay empty. On average, no count"
            " grows or shrinks.",
        ),
        (perturbation.scheme("CP3(1,2)"), "Counts of 1 and 2 are never published."),
        (perturbation.scheme("RR5"), "Only multiples of 5 are published."),
        (perturbation.truncated_normal(2.0), "counts change by up to +0.966 (counts 1, 2, 3, 4)."),
        (perturbation.per_unit_deviations(2), "at most 44 (nearly always by at most 8)"),
        (perturbation.scheme("CP3").with_perturbed_zeros({1: 0.02}), "Empty cells can grow."),
    ],
    ids=["CP3", "blocked", "rounding", "biased", "long tails", "zeros"],
)
def test_a_perturbation_is_told_in_words(design: PerturbationDesign, said: str) -> None:
    assert said in in_words(perturbation.summarise(design, lookups=False))


def test_a_bias_that_whole_keys_cannot_avoid_is_told_as_that() -> None:
    table = perturbation.scheme("RR3").table()
    summary = perturbation.summarise(table, lookups=False)
    assert [row.bias for row in summary.biased] == [-1 / 2**32, 1 / 2**32]
    assert "which whole numbers of keys cannot avoid" in in_words(summary)


# ---------------------------------------------------------------- by name or from a file


@pytest.mark.parametrize("name", ["CP3", "cp3", "CP3(EU)", "cp3-eu", "medium", "no-ones-and-twos"])
def test_schemes_and_strengths_are_found_by_name(name: str) -> None:
    found = perturbation.find(name)
    assert found.perturbation.name
    assert found.perturbation.name in found.title
    assert "confidential" in repr(found)


def test_a_file_that_is_called_like_a_scheme_is_found_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    perturbation.write(perturbation.scheme("CP4"), "CP3")
    assert perturbation.find("CP3").perturbation.max_deviation == 3
    assert perturbation.find("./CP3").perturbation.max_deviation == 4
    assert perturbation.find(Path("CP3")).perturbation.max_deviation == 4


def test_what_is_said_about_a_file_does_not_fit_a_scheme() -> None:
    for said in ({"format": "sas"}, {"repeat": 3}):
        with pytest.raises(SpecError, match=r"is the name of a scheme.*\./CP3"):
            perturbation.find("CP3", **said)


@pytest.mark.parametrize(
    ("what", "hint"), [("mediun", "Did you mean 'medium'?"), ("none.csv", "does not exist")]
)
def test_what_is_neither_a_name_nor_a_file_is_refused(what: str, hint: str) -> None:
    with pytest.raises(InputError, match=hint.replace("?", r"\?")):
        perturbation.find(what)


# ---------------------------------------------------------------- written, and read again


@pytest.mark.parametrize("kind", perturbation.ExchangeFormat)
def test_what_is_written_is_read_again_and_belongs_to_its_owner(
    kind: perturbation.ExchangeFormat, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    design = perturbation.scheme("CP1")
    written = perturbation.write(design, path, kind)
    assert is_owner_only(path)
    assert [one.name for one in tmp_path.iterdir()] == ["table.csv"]
    # A quarter and a half are whole numbers of keys everywhere.
    assert written.moved.largest == 0
    again = perturbation.read(path)
    assert again.modulus == written.keys
    for count in range(5):
        assert again.probabilities(count).tolist() == design.probabilities(count).tolist()


def test_how_far_probabilities_move_is_told(tmp_path: Path) -> None:
    design = perturbation.scheme("CP3")
    written = perturbation.write(design, tmp_path / "matrix.csv", "abs")
    again = perturbation.read(tmp_path / "matrix.csv")
    largest = {
        count: max(abs(again.probabilities(count) - design.probabilities(count)))
        for count in range(4)
    }
    assert written.moved.largest == max(largest.values())
    assert written.moved.count == max(largest, key=lambda count: largest[count])
    assert 1 / 256 < written.moved.largest < 13 / 256


def test_a_loss_that_was_not_asked_for_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    perturbation.write(perturbation.scheme("CP3"), table)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SpecError, match=r"probabilities move by up to 0\.017 .*--lossy"):
        perturbation.convert(table, tmp_path / "matrix.csv", "abs")
    assert sorted(tmp_path.iterdir()) == before
    assert perturbation.convert(table, tmp_path / "matrix.csv", "abs", lossy=True).keys == 256


def test_a_conversion_tells_whether_keys_add_the_same(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    assert perturbation.write(perturbation.scheme("CP3"), table).moved.same_keys is None
    same = perturbation.convert(table, tmp_path / "same.csv", "sas")
    assert (same.moved.same_keys, same.moved.largest) == (True, 0)
    other = perturbation.convert(table, tmp_path / "other.csv", "sas", scramble=True, secret=SECRET)
    assert perturbation.read(tmp_path / "other.csv").ascending is False
    assert (other.moved.same_keys, other.moved.largest) == (False, 0)


@pytest.mark.parametrize("kind", ["argus", "ptable", "sas", "abs", "ons", "cantabular"])
def test_a_scrambled_order_keeps_every_probability(kind: str, tmp_path: Path) -> None:
    design = perturbation.scheme("CP3")
    plain = perturbation.write(design, tmp_path / "plain.csv", kind)
    perturbation.write(design, tmp_path / "own.csv", kind, scramble=True, secret=SECRET)
    straight, own = (perturbation.read(tmp_path / name) for name in ("plain.csv", "own.csv"))
    assert straight.ascending
    assert not own.ascending
    assert own.modulus == plain.keys
    for count in range(8):
        assert own.distribution(own.tail.row(count)) == straight.distribution(
            straight.tail.row(count)
        )


@pytest.mark.parametrize("name", ["RR3", "RR5"])
def test_rows_in_turn_come_back_with_their_number(name: str, tmp_path: Path) -> None:
    path, design = tmp_path / "rounding.csv", perturbation.scheme(name)
    written = perturbation.write(design, path, "plain")
    assert written.repeat == int(name[2:])
    again = perturbation.read(path, repeat=written.repeat)
    for count in range(20):
        assert again.targets(count).tolist() == design.targets(count).tolist()
    with pytest.raises(SpecError, match=r"has . rows"):
        perturbation.read(path, repeat=9)


def test_rows_in_turn_are_refused_where_the_format_has_another_rule(tmp_path: Path) -> None:
    for kind in ("argus", "abs", "ons", "cantabular"):
        with pytest.raises(SpecError, match=r"3 rows serve larger counts in turn.*--repeat 3"):
            perturbation.write(perturbation.scheme("RR3"), tmp_path / "x.csv", kind)
    # Ten columns that are used again hold the five rows of base 5 twice.
    written = perturbation.write(perturbation.scheme("RR5"), tmp_path / "matrix.csv", "abs")
    assert written.repeat is None
    again = perturbation.read(tmp_path / "matrix.csv", allow_bias=True)
    assert again.targets(13).tolist() == [10, 15]


def test_a_scrambled_order_needs_the_secret_and_an_order(tmp_path: Path) -> None:
    design = perturbation.scheme("CP3")
    with pytest.raises(SecretError, match="--secret FILE"):
        perturbation.write(design, tmp_path / "x.csv", scramble=True)
    with pytest.raises(SpecError, match="no order of keys"):
        perturbation.write(design, tmp_path / "x.csv", "plain", scramble=True, secret=SECRET)


def test_files_are_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("mine", encoding="utf-8", newline="\n")
    with pytest.raises(OutputError, match="already exists"):
        perturbation.write(perturbation.scheme("CP3"), path)
    with pytest.raises(OutputError, match="already exists"):
        perturbation.convert("CP3", path, "sas")
    assert path.read_text(encoding="utf-8") == "mine"
    with pytest.raises(OutputError, match="does not exist"):
        perturbation.write(perturbation.scheme("CP3"), tmp_path / "none" / "table.csv")
