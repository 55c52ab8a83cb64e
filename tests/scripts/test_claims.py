"""What the documentation claims is what the script makes."""

from __future__ import annotations

import pytest

from scripts import claims


@pytest.mark.parametrize("name", ["differences", "repetitions", "scrambled"])
def test_exact_claims_stand_in_their_pages_as_they_are_made(name: str) -> None:
    for page, text in claims.CLAIMS[name]().items():
        shown = (claims.DOCS / page).read_text(encoding="utf-8")
        assert claims.written(shown, name, text) == shown


@pytest.mark.parametrize(
    ("name", "page"), [("additivity", "methods/additivity.md"), ("study", "risk/study.md")]
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
