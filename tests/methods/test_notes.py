"""Notes are true of the table that they explain, and tell nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.methods.notes import find_example, notes_for
from sdcensus.model.cube.constraints import adds_up, with_totals
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Table
from sdcensus.model.text import LANGUAGES
from tests.formats.made import sparse, spec, table

CELL_BY_CELL = Claims(unbiased=True, zeros_kept=True, consistent=True)
ADDITIVE = Claims(additive=True, zeros_kept=True)


def note(one: Table, claims: Claims = CELL_BY_CELL, *, about: str, language: str = "en") -> str:
    said = [text.show(language) for text in notes_for(one, claims)]
    found = [text for text in said if about in text]
    assert len(found) == 1, said
    return found[0]


def test_the_example_names_parts_sum_and_total_as_they_are_published() -> None:
    one = table("sex", values=[12, 8, 24])
    assert note(one, about="Totals") == (
        "Totals are not always the sums of their parts. Example: the published values for Male (12)"
        " and Female (8) add up to 20, while the published total is 24. Each value was changed on"
        " its own; none of them is a mistake. Use the published total rather than a sum of your"
        " own."
    )
    assert note(one, about="totales", language="es") == (
        "Los totales no siempre son la suma de sus partes. Ejemplo: los valores publicados de"
        " Hombre (12) y Mujer (8) suman 20, mientras que el total publicado es 24. Cada valor se"
        " modificó por separado; ninguno es un error. Use el total publicado en lugar de una suma"
        " propia."
    )


def test_the_example_says_where_it_is() -> None:
    one = table("area@parish-total", "sex", values=[10, 20, 30, 1, 2, 4])
    assert "Example (Area (parish): South): the published values for Male (1) and" in note(
        one, about="Totals"
    )
    assert "Ejemplo (Zona (parish): Sur): los valores" in note(one, about="totales", language="es")


def test_a_subtotal_is_named() -> None:
    one = table("area+parish", values=[5, 6, 7, 8, 11, 16, 26])
    text = note(one, about="Totals")
    assert (
        '=HYPERLINK("x") (7) and -1 (8) add up to 15, while the published value for South is 16'
        in (text)
    )


def test_more_than_eight_parts_are_not_listed() -> None:
    one = table("age", values=[*range(101), 7])
    assert "the 101 published values by Age add up to 5,050, while the published total is 7" in (
        note(one, about="Totals")
    )
    spanish = note(one, about="totales", language="es")
    assert "suman 5.050, mientras" in spanish


def test_an_example_with_few_parts_at_totals_is_preferred() -> None:
    """Two sexes of everybody, not two sexes of one area, not four areas, not 101 ages."""
    one = table("age", "area", "sex", values=[1] * (102 * 5 * 3))
    example = find_example(one)
    assert example is not None
    assert (example.axis.variable.name, len(example.parts), example.place) == ("sex", 2, ())


def test_where_a_total_adds_up_another_place_is_found() -> None:
    values = np.ones((102, 3), dtype=np.int64)
    values[:, 2] = 2
    values[17, 1] = 3
    values[-1] = values[:-1].sum(axis=0)
    values[-1, 2] = values[-1, 0] + values[-1, 1]
    one = table("age", "sex", values=values.reshape(-1).tolist())
    example = find_example(one)
    assert example is not None
    assert [code.code for _, code in example.place] == ["17"]
    assert (example.sum, example.total) == (4, 2)


def test_cells_without_a_number_are_no_example() -> None:
    assert find_example(table("sex", values=[12, 8, 24], withheld=[0])) is None
    assert find_example(table("sex", values=[12, 8, 24], withheld=[2])) is None
    one = table("area@parish", "sex", values=[1, 1, 9, 1, 1, 9, 2, 2, 9], withheld=[8, 2])
    example = find_example(one)
    assert example is not None
    assert [code.code for _, code in example.place] == ["P2"]


@given(
    st.sampled_from(
        [("sex",), ("area+parish", "sex"), ("area@parish-total", "sex"), ("sex-total",)]
    ),
    st.data(),
)
def test_every_example_is_true_and_there_is_one_unless_everything_adds_up(
    by: Sequence[str], data: st.DataObject
) -> None:
    one = spec(*by)
    small = st.integers(0, 2)
    values = data.draw(st.lists(small, min_size=one.cells, max_size=one.cells))
    flags = data.draw(
        st.lists(st.sampled_from([0, 0, 0, 1]), min_size=one.cells, max_size=one.cells)
    )
    withheld = np.array(flags, dtype=np.uint8).reshape(one.shape)
    numbers = np.array(values, dtype=np.int64).reshape(one.shape)
    made = Table(one, np.where(withheld, 0, numbers), withheld)
    example = find_example(made)
    assert example == find_example(made)
    if example is None:
        assert made.flags is not None or adds_up(one, made.published)
        return
    assert example.sum != example.total
    where = {axis.variable.name: (code.code, code.level) for axis, code in example.place}

    def published(code: str, level: str) -> int:
        at = []
        for axis in one.axes:
            name = axis.variable.name
            here = (code, level) if name == example.axis.variable.name else where.get(name)
            at.append(axis.position(*(here or ("_T",))))
        assert made.flags is None or not made.flags[tuple(at)]
        return int(made.published[tuple(at)])

    for code, value in (*example.parts, (example.whole, example.total)):
        assert published(code.code, code.level) == value


def test_tables_that_add_up_say_so() -> None:
    one = spec("area+parish", "sex")
    inner = np.arange(8, dtype=np.int64).reshape(4, 2)
    made = Table(one, with_totals(one, inner))
    assert find_example(made) is None
    assert note(made, ADDITIVE, about="sum") == "In this table every total is the sum of its parts."
    assert "happens to be the sum" in note(made, about="sum of")
    assert "slightly different published values" in note(made, ADDITIVE, about="same group")
    assert "the same published value in every table" in note(made, about="same question")


def test_a_table_without_totals_has_no_example_and_a_warning() -> None:
    assert "not always the sums" in note(table("sex-total"), about="Totals")
    assert not any("sum" in str(one) for one in notes_for(table("sex-total"), ADDITIVE))


def test_zeros_are_explained_where_there_are_some() -> None:
    one = table("sex", values=[0, 8, 8])
    assert note(one, about="0 can") == "A published 0 can mean none, or a small number."
    grows = replace(CELL_BY_CELL, zeros_kept=False, grows_empty_cells=True)
    full = table("sex", values=[3, 8, 11])  # also where every empty cell has grown
    for shown in (one, full):
        assert note(shown, grows, about="0 can").endswith("a small published value can mean none.")
    true = replace(CELL_BY_CELL, zeros_are_true=True)
    assert note(one, true, about="published 0") == "A published 0 means none."
    without = table("sex", values=[1, 8, 9], withheld=[0])
    assert not any("0 can" in str(one) for one in notes_for(without, CELL_BY_CELL))


def test_signs_have_a_legend() -> None:
    one = table("sex", values=[1, 8, 9], withheld=[0], below=1)
    assert note(one, about="=") == "c = confidential: withheld; .. = too small to be published."
    assert note(one, about="=", language="es").startswith("c = confidencial")


def test_sparse_tables_have_the_same_example_at_totals() -> None:
    values = [0, 0, 0, 3, 2, 4, 3, 2, 4]
    dense = table("area@parish", "sex", values=values)
    held = sparse(dense)
    assert find_example(held) == find_example(dense)
    assert notes_for(held, CELL_BY_CELL) == notes_for(dense, CELL_BY_CELL)
    nothing = sparse(table("sex", values=[0, 0, 0]))
    assert find_example(nothing) is None
    assert any("not always the sums" in str(one) for one in notes_for(nothing, CELL_BY_CELL))


@pytest.mark.parametrize("claims", [CELL_BY_CELL, ADDITIVE, Claims()])
def test_notes_are_in_every_language_and_name_no_parameter(claims: Claims) -> None:
    for one in (table("sex", values=[0, 4, 9]), table("sex", values=[0, 4, 4], withheld=[0])):
        for text in notes_for(one, claims):
            assert [language for language, _ in text.by_language] == list(LANGUAGES)
            for word in text.by_language:
                assert set(re.findall(r"\d+", word[1])) <= {"0", "4", "9"}
