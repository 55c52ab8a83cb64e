"""Letters without accents: what somebody types finds what somebody else wrote."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from sdcensus.model.letters import plain_letters


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Aysén", "AYSEN"),
        ("Ñuñoa", "nunoa"),
        ("Straße", "STRASSE"),
        ("Łódź", "lodz"),
        ("ﬁn", "fin"),
    ],
)
def test_words_are_found_without_their_accents(written: str, typed: str) -> None:
    assert plain_letters(written) == plain_letters(typed)
    assert plain_letters(unicodedata.normalize("NFD", written)) == plain_letters(typed)


@given(st.text())
def test_plain_letters_stay_as_they_are(text: str) -> None:
    assert plain_letters(plain_letters(text)) == plain_letters(text)
    assert plain_letters(unicodedata.normalize("NFD", text)) == plain_letters(text)
