"""The list of methods is what they declare, and each parameter is declared once."""

from __future__ import annotations

import tomllib
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from runpy import run_path

import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.method import Method, Step
from sdcensus.methods.perturbation.schemes import SCHEMES, STRENGTHS
from sdcensus.model.method.parameter import Declaration, MethodOptions, ValueKind
from sdcensus.model.method.registry import (
    LIST,
    TABULAR,
    Part,
    built_in,
    checked_options,
    load,
    owners_of,
    parsed_settings,
    takers_of,
)
from sdcensus.model.perturbation.table import Lookup

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = run_path(str(ROOT / "scripts" / "methods.py"))
EVERY = [
    pytest.param(part, taker, id=taker.name) for part in Part for taker in built_in(part).values()
]


def test_the_list_is_what_the_entry_points_declare() -> None:
    """Write it anew with: python scripts/methods.py"""
    assert LIST.read_text(encoding="utf-8") == SCRIPT["listing"]()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = project["entry-points"]
    assert set(groups) == set(Part)
    for part in Part:
        assert list(built_in(part)) == list(groups[part])


def test_the_documentation_is_what_they_declare() -> None:
    """Write it anew with: python scripts/methods.py"""
    assert (ROOT / "docs" / "methods" / "parameters.md").read_text(encoding="utf-8") == SCRIPT[
        "methods_page"
    ]()


@pytest.mark.parametrize(("part", "taker"), EVERY)
def test_what_is_read_from_the_list_is_what_is_declared(part: Part, taker: Declaration) -> None:
    kind = load(part, taker.name)
    if part is Part.PRE_TABULAR:
        assert callable(kind.derive)
        assert is_dataclass(kind)
    else:
        assert issubclass(kind, Method if part is Part.METHOD else Step)
    assert (kind.name, kind.summary) == (taker.name, taker.summary)
    assert kind.takes == taker.takes
    assert taker.summary.endswith(".")


@pytest.mark.parametrize(("part", "taker"), EVERY)
def test_defaults_are_those_of_the_method(part: Part, taker: Declaration) -> None:
    own = {field.name: field.default for field in fields(load(part, taker.name))}
    for parameter in taker.takes:
        default = own.get(parameter.name)
        if parameter.default is not None:
            assert parameter.default == default
        elif parameter.name in own:
            # Nothing can be written for it: what is taken depends on other parameters.
            assert default is MISSING or not default or parameter.name == "lookup"


@pytest.mark.parametrize(("part", "taker"), EVERY)
def test_a_parameter_is_whole(part: Part, taker: Declaration) -> None:
    names = [one.name for one in taker.takes]
    assert len(set(names)) == len(names)
    for parameter in taker.takes:
        assert parameter.name.isidentifier()
        assert parameter.sentence().endswith(".")
        assert bool(parameter.words) is (parameter.kind in (ValueKind.WORD, ValueKind.NAME))
        needed = [text.partition("=")[0] for text in (*parameter.needs, *parameter.excludes)]
        assert set(needed) <= set(names)
        if parameter.default is not None:
            assert parameter.value(parameter.default) == parameter.default
    assert (taker.name in owners_of(names[0])) is (part in TABULAR)


def test_one_name_means_one_kind_of_value() -> None:
    kinds: dict[str, set[ValueKind]] = {}
    for part in Part:
        for taker in built_in(part).values():
            for parameter in taker.takes:
                kinds.setdefault(parameter.name, set()).add(parameter.kind)
    assert all(len(values) == 1 for values in kinds.values())


def test_words_are_those_of_schemes_strengths_and_look_ups() -> None:
    cell_key = built_in(Part.METHOD)["cell-key"]
    words = {one.name: one.words for one in cell_key.takes}
    assert words["scheme"] == tuple(SCHEMES)
    assert words["strength"] == tuple(STRENGTHS)
    assert words["lookup"] == tuple(Lookup)


def test_values_are_checked_once_and_in_the_order_of_the_declaration() -> None:
    said = MethodOptions(key_version=2, strength="Strong", below=3)
    values = checked_options("cell-key", ["withhold-sparse-areas"], said)
    assert list(values.items()) == [("strength", "Strong"), ("key_version", 2), ("below", 3)]
    assert repr(said) == "<MethodOptions: key_version, strength, below>"


@pytest.mark.parametrize(
    ("method", "said", "why"),
    [
        ("random-rounding", {"base": 2.5}, "--base should be a whole number"),
        ("random-rounding", {"base": True}, "--base should be a whole number"),
        ("random-rounding", {"base": 101}, "--base should be a number from 2 to 100"),
        ("random-rounding", {"lookup": "scrambled"}, "There is no look-up 'scrambled'"),
        ("cell-key", {"key_version": 0}, "--key-version should be at least 1"),
        ("cell-key", {"exempt": ("",)}, "For the grand total, name a table that has it"),
        ("cell-key", {"perturbation": "a\nb.csv"}, "cannot be shown"),
        ("cell-key", {"perturbation": "a.csv", "scheme": "CP3"}, "cannot be said together"),
        ("cell-key", {"zero_share": float("nan"), "zeros": "perturb"}, "should be a number"),
        ("semi-controlled-rounding", {"area": "ed"}, "--area needs --to areas"),
        ("semi-controlled-rounding", {"area": "ed", "to": "grand-total"}, "--to areas"),
        ("random-rounding", {"bsae": 3}, "There is no setting 'bsae'. Did you mean 'base'?"),
    ],
)
def test_what_is_wrong_is_said(method: str, said: dict[str, object], why: str) -> None:
    with pytest.raises(SpecError) as caught:
        checked_options(method, (), MethodOptions(**said))  # type: ignore[arg-type]
    assert why in str(caught.value)


def test_an_area_of_a_step_needs_no_controlled_totals() -> None:
    said = MethodOptions(area="ed")
    for method in ("semi-controlled-rounding", "cell-key"):
        assert checked_options(method, ["withhold-sparse-areas"], said) == {"area": "ed"}


def test_texts_are_read_as_their_parameters_take_them() -> None:
    texts = ["allow-bias=yes", "repeat=2", "exempt=ed@district; sex, age", "zero_share=0.25"]
    assert parsed_settings(texts, takers_of("cell-key")) == {
        "allow_bias": True,
        "repeat": 2,
        "exempt": ("ed@district", "sex, age"),
        "zero_share": 0.25,
    }
    for wrong in ("repeat", "repeat=few", "allow_bias=perhaps"):
        with pytest.raises(SpecError):
            parsed_settings([wrong], takers_of("cell-key"))
    with pytest.raises(SpecError, match="each name once"):
        parsed_settings(["repeat=2"], takers_of("cell-key"), said={"repeat": 3})
