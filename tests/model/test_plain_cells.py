from __future__ import annotations

import re

from hypothesis import given, strategies as st

from sdcensus.model.text import DANGEROUS, NUMBER, plain_cell, text_of_cell

TEXTS = st.text(st.sampled_from("=+-@\t\r\n'10.,%aZ \"\u00e9"), max_size=8)


@given(TEXTS)
def test_no_cell_begins_with_a_formula_and_every_text_comes_back(text: str) -> None:
    cell = plain_cell(text)
    assert len(cell) < 2 or cell[0] not in "=@\t\r\n"
    assert len(cell) < 2 or cell[0] not in "+-" or re.fullmatch(r"[+-]\d[\d.,]*%?", cell)
    assert cell in (text, f"'{text}")
    assert text_of_cell(cell) == text


@given(TEXTS)
def test_the_expressions_for_columns_say_the_same(text: str) -> None:
    dangerous = re.match(DANGEROUS, text) is not None and re.fullmatch(NUMBER, text) is None
    assert (plain_cell(text) != text) is dangerous


def test_names_with_an_apostrophe_stay() -> None:
    assert text_of_cell("'t Zand") == plain_cell("'t Zand") == "'t Zand"
    assert [plain_cell(one) for one in ("-", "-5", "+1,5", "-12.5%")] == [
        "-",
        "-5",
        "+1,5",
        "-12.5%",
    ]
