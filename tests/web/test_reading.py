"""The page about the figures says what holds for policy and method in force, and no more."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.model.cube.cube import Cube
from sdcensus.model.method.registry import Part, built_in, load
from sdcensus.model.policy.policy import OnlineRules
from sdcensus.model.policy.rules import WhenSparse
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, catalogue
from sdcensus.session.answer import TableService
from sdcensus.testing.island import SECRET, island
from sdcensus.web.languages import text, texts
from sdcensus.web.reading import about_page
from tests.session.answer.services import asked, service

LOOKUP = SECRET.sub_secret(Purpose.LOOKUP, 1)
CENSUS = island(900)
BY = ("area", "sex", "age", "married")
STRONG = design_perturbation(8, 12.0)
#: Every way to protect that the table builder opens with: cell keys, by any perturbation.
METHODS = {
    **{name: CellKey(scheme(name), secret=LOOKUP) for name in SCHEMES},
    "strong": CellKey(STRONG, secret=LOOKUP),
    "zeros grow": CellKey(
        STRONG.with_perturbed_zeros({1: 0.1}),
        secret=LOOKUP,
        zeros="perturb",
        schema=CENSUS.schema,
    ),
    "exact totals": CellKey(
        STRONG, secret=LOOKUP, exempt=TableSpec.build(CENSUS.schema, ("area@district",))
    ),
}


def page_of(served: TableService, language: str = "en") -> str:
    """Everything that the page says besides its headings."""
    told = about_page(served.reading, language, partial(text, language))
    parts, short, signs = told["parts"], told["short"], told["signs"]
    assert isinstance(parts, list)
    assert isinstance(short, list)
    assert isinstance(signs, list)
    paragraphs = [paragraph for _, texts in parts for paragraph in texts]
    return "\n".join([*short, *paragraphs, *(f"{sign}: {meaning}" for sign, meaning in signs)])


def deviations(method: CellKey) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Cube, Table]:
    """By how much every cell of a table was changed, in the office."""
    cube = CENSUS.tabulate(TableSpec.build(CENSUS.schema, BY))
    assert isinstance(cube, Cube)
    table = method.protect(cube).table
    assert isinstance(table, Table)
    return (table.published - cube.count).ravel(), cube, table


@pytest.mark.parametrize("name", METHODS)
def test_every_sentence_is_true_of_the_method(name: str) -> None:
    method = METHODS[name]
    changes, cube, table = deviations(method)
    said, words = page_of(service(method=method)), texts("en")
    published, true = table.published.ravel(), cube.count.ravel()
    # What a 0 can mean, and what a small figure can.
    notes = catalogue("notes", "en")
    hidden = bool(((published == 0) & (true > 0)).any())
    grown = bool(((published > 0) & (true == 0)).any())
    assert (notes["zeros_grow"] in said) == grown
    assert (notes["zeros"] in said) == (hidden and not grown)
    assert (notes["true_zeros"] in said) == (not hidden and not grown)
    # Totals that are exact are named, and only where there are some.
    assert (words["pages.about.protected_exact"] in said) == bool(method.exempt_tables)
    # On average nothing, where that is so: far within five standard errors.
    assert method.claims().unbiased == (words["pages.about.protected_mean"] in said)
    if method.claims().unbiased:
        above = true > (method.largest_deviation or 0)
        error = changes[above].std() / np.sqrt(above.sum())
        assert abs(changes[above].mean()) <= 5 * error + 1e-9
    # "More, fewer, or none": all three happen. Totals are not the sums of their parts.
    assert changes.min() < 0 < changes.max()
    assert (changes == 0).any()
    assert not method.claims().additive
    assert method.claims().consistent


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_parameter_of_the_noise_is_told(name: str, language: str) -> None:
    """All methods with the same claims have the same page, however large their noise is."""
    said = page_of(service(method=METHODS[name]), language)
    made_up = texts(language)["pages.about.totals_3"]
    numbers = set(re.findall(r"\d+", said.replace(made_up, "")))
    assert numbers <= {"0", "10", "100"}  # a sign, the limit for brackets, a hundred percent
    assert not re.search(r"±|varian|RR\d|CP\d|{", said)
    same = [
        page_of(service(method=other), language)
        for other in METHODS.values()
        if other.claims().unbiased == METHODS[name].claims().unbiased
        and other.zeros == METHODS[name].zeros
        and bool(other.exempt) == bool(METHODS[name].exempt)
    ]
    assert set(same) == {said}


def test_no_other_method_is_served() -> None:
    """What is tried above is all that there is: other methods have no noise of their own."""
    served = {
        name
        for name in built_in(Part.METHOD)
        if load(Part.METHOD, name).has_own_noise is not Method.has_own_noise
    }
    assert served == {"cell-key"}
    assert all(method.has_own_noise for method in METHODS.values())


def test_rules_of_the_policy_are_told_where_they_hold() -> None:
    words = texts("en")

    def said(**rules: object) -> str:
        return page_of(service(online=OnlineRules(**rules)))  # type: ignore[arg-type]

    nothing = said()
    assert not re.search(r"withheld|not broken down|dot", nothing)
    assert "short_4" not in nothing
    assert words["pages.about.short_4"] not in nothing
    grouped = said(smallest_group=24)
    assert "Groups of fewer than 24 are not broken down further." in grouped
    assert f"{Mark.NOT_BROKEN_DOWN.sign}: " in grouped
    for when, key, sign in (
        (WhenSparse.WITHHOLD_AREA, "withheld_withhold_area", Mark.REFUSED),
        (WhenSparse.C, "withheld_c", Mark.WITHHELD),
        (WhenSparse.REFUSE_TABLE, "withheld_refuse_table", None),
    ):
        sparse = said(mean_cell_size=2, when_sparse=when)
        assert words[f"pages.about.{key}"] in sparse
        for mark in (Mark.REFUSED, Mark.WITHHELD):
            assert (f"\n{mark.sign}: " in sparse) == (mark is sign)
    populated = said(minimum_population=50)
    assert words["pages.about.withheld_population"] in populated
    assert words["pages.about.withheld_2"] not in populated
    bracketed = said(brackets=20)
    assert "Figures below 20 stand in brackets" in bracketed
    assert "rest on figures below 20" in bracketed
    assert "Figures below" not in nothing
    assert "rest on figures below 10" in nothing


def test_what_the_page_says_of_brackets_is_what_tables_have() -> None:
    """Counts and sums of them, by the rule of figures, with the number of the policy."""
    served = service(online=OnlineRules(brackets=20))
    groups = {"age": [{"label": "own", "codes": ["0", "4", "7", "9"]}]}
    answer = served.answer(asked("area", "sex", "age", groups=groups))
    table, parts = answer.table, answer.parts
    assert table is not None
    assert parts is not None
    assert table.marks is not None
    assert table.support is not None
    few = table.values < 20 * np.sqrt(parts)
    mostly = 2 * table.support.small >= table.values
    low = (table.values > 0) & (few | mostly)
    np.testing.assert_array_equal(table.marks == Mark.LOW_RELIABILITY, low)
    assert (low & ~few).any()
