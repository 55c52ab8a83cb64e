"""What the documentation claims is what the script makes."""

from __future__ import annotations

import numpy as np
import pytest

from scripts import claims
from scripts.safe_claims import METHODS, TABLES, looks_of, runs_of, text_of
from sdcensus.demo import make_country


@pytest.mark.parametrize("name", ["differences", "repetitions", "scrambled"])
def test_exact_claims_stand_in_their_pages_as_they_are_made(name: str) -> None:
    for page, text in claims.CLAIMS[name]().items():
        shown = (claims.DOCS / page).read_text(encoding="utf-8")
        assert claims.written(shown, name, text) == shown


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("additivity", "methods/additivity.md"),
        ("guidelines", "methods/choosing.md"),
        ("study", "risk/study.md"),
    ],
)
def test_claims_that_take_minutes_have_their_place(name: str, page: str) -> None:
    shown = (claims.DOCS / page).read_text(encoding="utf-8")
    changed = claims.written(shown, name, "Other figures.")
    assert changed != shown
    assert "Other figures." in changed


def test_a_page_without_the_place_is_refused() -> None:
    with pytest.raises(SystemExit, match="no one place"):
        claims.written("A page.", "study", "Figures.")


def test_repetitions_are_those_of_a_draw_by_draw_count() -> None:
    """Base 3, remainder 1, two draws: the mean is 0, 1.5 or 3, and never nearest to 1 alone."""
    assert claims.share_known(3, 1, 2) == 0
    assert claims.share_known(3, 1, 3) == pytest.approx(3 * (1 / 3) * (2 / 3) ** 2)


def test_a_census_that_is_published_twice_is_measured() -> None:
    (run,) = runs_of(make_country(1200), 1)
    assert set(run.compared) == {(text, method) for text in TABLES for method in METHODS}
    controlled = [looks for looks in run.looks if looks.table.count(",") == 1]
    for looks in run.looks:
        assert looks.counts[2] <= min(looks.counts[:2])
        assert looks.errors[2] <= min(looks.errors[:2]) * 1.2
    assert all(looks.bounds[0] <= run.worst for looks in controlled)
    assert run.worst >= run.bound
    text = text_of([run])
    assert all(f"`{name}`" in text for name in TABLES)


def test_two_limits_leave_what_both_allow() -> None:
    """Three cells of 1, 2 and 10: SAFE is off by at most 1, cell keys by at most 2."""
    looks = looks_of("t", np.array([1, 2, 10]), np.array([0, 3, 10]), np.array([3, 0, 11]), 2)
    assert looks.bounds == (1, 2)
    # By SAFE 0–1, 2–4, 9–11; by cell keys 1–5, 0–2, 9–13; by both 1, 2, 9–11.
    assert looks.counts == pytest.approx(((2 + 3 + 3) / 3, (5 + 3 + 5) / 3, (1 + 1 + 3) / 3))
    assert looks.known == (0.0, 0.0, 1.0)
