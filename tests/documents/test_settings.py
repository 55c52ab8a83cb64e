"""Every setting of every document changes the result; one that does nothing is an error."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.plan.text import plan_text
from sdcensus.documents.plan.workbook_form import plan_workbook
from sdcensus.documents.policy.document import policy_text, read_policy
from sdcensus.documents.schema.document import read_schema
from sdcensus.documents.schema.sections import Section
from sdcensus.errors import DocumentError
from sdcensus.model.method.registry import TABULAR, Part, built_in
from sdcensus.model.plan.plan import Plan
from sdcensus.model.plan.vocabulary import INDICATOR_KINDS
from tests.documents import (
    effects_of_plans,
    effects_of_policies,
    effects_of_rounding,
    effects_of_samples,
    effects_of_schemas,
    effects_of_searches,
    effects_of_sums,
)
from tests.documents.effects import Effect, Files, Way, declared, edited, sections
from tests.hamlet import SCHEMA, write_hamlet

#: Where settings of each document are declared, and what each changes.
DOCUMENTS: dict[tuple[str, ...], dict[str, Effect]] = {
    ("schema.sections",): effects_of_schemas.EFFECTS,
    ("plan.sections",): effects_of_plans.EFFECTS,
    ("policy.sections",): effects_of_policies.EFFECTS,
}
#: What is said about methods and steps, each for itself.
OF_METHODS = (
    effects_of_plans.OF_METHODS
    | effects_of_searches.OF_METHODS
    | effects_of_rounding.OF_METHODS
    | effects_of_samples.OF_METHODS
    | effects_of_sums.OF_METHODS
)
#: The settings of each method and step.
SETTINGS = {
    taker.name: [parameter.name for parameter in taker.takes]
    for part in TABULAR
    for taker in built_in(part).values()
}
EVERY = {
    name: effect for table in DOCUMENTS.values() for name, effect in table.items()
} | OF_METHODS


@pytest.mark.parametrize("modules", DOCUMENTS)
def test_every_setting_has_an_effect_and_every_effect_a_setting(modules: tuple[str, ...]) -> None:
    """A new setting: see ``tests/documents/effects.py`` for what to write for it."""
    settings, shown = set(declared(*modules)), set(DOCUMENTS[modules])
    assert not settings - shown, f"settings without an effect: {sorted(settings - shown)}"
    assert not shown - settings, f"effects without a setting: {sorted(shown - settings)}"


def test_every_setting_of_every_method_and_step_has_an_effect() -> None:
    assert set(OF_METHODS) == {
        f"{method}.{name}" for method, names in SETTINGS.items() for name in names
    }


@pytest.fixture(scope="module")
def see(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Way, Files], object]:
    """What is seen of documents; of the same ones once. All folders have names of one length."""
    seen: dict[object, object] = {}
    number = itertools.count()

    def look(way: Way, files: Files) -> object:
        key = (way, tuple(sorted(files.items())))
        if key not in seen:
            folder = tmp_path_factory.getbasetemp() / f"settings-{next(number):04}"
            folder.mkdir()
            seen[key] = way(files, folder)
        return seen[key]

    return look


@pytest.mark.parametrize("setting", EVERY)
def test_a_setting_changes_the_result(setting: str, see: Callable[[Way, Files], object]) -> None:
    effect = EVERY[setting]
    without, given = see(effect.way, effect.without), see(effect.way, effect.given)
    for version, seen in (("without", without), ("given", given)):
        assert isinstance(seen, str) == (effect.refused in (version, "both")), f"{version}: {seen}"[
            :2000
        ]
    assert without != given, f"{setting} changes nothing: {without}"[:2000]


# ------------------------------------------------------------------------ unknown and unused ones


@pytest.mark.parametrize("section", sections())
def test_a_setting_that_no_section_has_is_refused(section: type[Section]) -> None:
    with pytest.raises(ValidationError) as error:
        section.model_validate({"no_such_setting": 1})
    assert "extra_forbidden" in {one["type"] for one in error.value.errors()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("schema.toml", SCHEMA),
        ("plan.toml", effects_of_plans.PLAN),
        ("policy.toml", 'name = "Rules"\n'),
    ],
)
def test_a_table_that_no_document_has_is_refused(name: str, text: str, tmp_path: Path) -> None:
    schema = read_schema(write_hamlet(tmp_path).schema)
    path = tmp_path / f"with-{name}"
    for more in ("[no_such_table]\nx = 1\n", "[[no_such_table]]\nx = 1\n"):
        path.write_text(f"{text}\n{more}", encoding="utf-8", newline="\n")
        readers: dict[str, Callable[[], object]] = {
            "schema.toml": lambda: read_schema(path),
            "plan.toml": lambda: read_plan(path),
            "policy.toml": lambda: read_policy(path, schema),
        }
        with pytest.raises(DocumentError, match="no_such_table"):
            readers[name]()


def read(folder: Path, text: str) -> Plan:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8", newline="\n")
    return read_plan(path)


VALUES = {
    **{"numerator": '"sex == 2"', "denominator": '"age > 9"', "variable": '"age"', "per": "7"},
    **{"perturbation": '"noise.csv"', "scheme": '"CP3"', "strength": '"light"', "base": "3"},
    **{"lookup": '"hashed"', "key_version": "2", "allow_bias": "true", "repeat": "2"},
    **{"zeros": '"keep"', "zero_share": "0.1", "exempt": '["ed"]', "threshold": "3", "units": "2"},
    **{"totals": '"own"', "to": '"areas"', "area": '"ed"', "mode": '"fast"'},
    **{"mean_cell_size": "2", "below": "3"},
    **{"force": "true", "inner_check": '"none"'},
    **{"minimum": "3", "group": "0", "group_axes": '["sex"]', "households": "true"},
    **{"population": "9", "secondary": '"elimination"', "singles": '"none"', "width": "2"},
    **{"order": '"zeros-first"', "earlier_release": '"before"', "contradictions": '"close"'},
    **{"lower_protection": "1", "upper_protection": "1", "new_small_counts": '"allow"'},
    **{"kept_totals": '"total"', "fixed": '["ed"]', "largest_change": "2", "weights": '"equal"'},
    **{"cells": '"cells.csv"', "senses": '"best"', "effort": '"fast"', "work": "1"},
    **{"seconds": "1", "gap": "0.1", "small_share": "0.1", "area_population": "9"},
    **{"whole_groups": '"avoid"', "collapse": '"levels"', "ordered": '["ed"]'},
    **{"extra_steps": "1", "protect_below": "4", "infeasible": '"widen"'},
    **{"only": '["ed"]', "finest": '"information"', "known_within": "50"},
    **{"percent_protection": "50", "extra_steps": "1", "protect_below": "3"},
    **{"infeasible": '"widen"', "minimum_cases": "3", "moderate_above": "0.05"},
    **{"brackets_above": "0.1", "withheld_above": "0.15"},
    **{"measured_by": '"mean"', "contribution_shares": '"1"', "noise_share": "0.1"},
    **{"large_share": "0.01", "flex_point": "9", "power": "2", "max_deviation": "3"},
    **{"table_variance": "1", "step": "4", "anchors": '"1, 3"', "odd_variance": "2"},
    **{"small_values": "true", "small_deviation": "3", "small_variance": "1", "small_unit": "1"},
    **{"extra_noise": "1", "sensitive_below": "3", "sensitive_remainder": "10"},
    **{"sensitive_dominance": '"2, 85"', "key_derivation": '"hashed"', "same_key": "true"},
    **{"zeros_in_key": "true", "magnitudes": '"0.6"', "few_contributors": "8"},
    **{"small_spread": "0.3", "large_spread": "0.7", "layer_shares": '"0.3"'},
    **{"rounded_to": "100", "percent": "90", "first": '"sex == 1"', "second": '"sex == 2"'},
    **{"layer_spread": "0.5", "dominance": '"2, 85"', "percent_rule": "10", "pq_rule": '"10, 80"'},
}


@pytest.mark.parametrize("kind", INDICATOR_KINDS)
def test_a_setting_that_a_figure_does_not_use_is_refused(kind: str, tmp_path: Path) -> None:
    needed = "".join(f"{name} = {VALUES[name]}\n" for name in INDICATOR_KINDS[kind].needs)
    figure = f'kind = "{kind}"\n{needed}'
    plain = effects_of_plans.FIGURE
    read(tmp_path, edited(effects_of_plans.PLAN, (plain, figure)))
    for name in ("numerator", "denominator", "variable", "per"):
        if name not in INDICATOR_KINDS[kind].settings:
            unused = f"{figure}{name} = {VALUES[name]}\n"
            with pytest.raises(DocumentError, match=name):
                read(tmp_path, edited(effects_of_plans.PLAN, (plain, unused)))


@pytest.mark.parametrize("method", built_in(Part.METHOD))
def test_a_setting_that_a_method_does_not_use_is_refused(method: str, tmp_path: Path) -> None:
    every = {name for names in SETTINGS.values() for name in names}
    plain = effects_of_plans.CELL_KEY
    read(tmp_path, edited(effects_of_plans.PLAN, (plain, f'method = "{method}"')))
    for name in sorted(every - set(SETTINGS[method])):
        unused = f'method = "{method}"\n{name} = {VALUES[name]}'
        with pytest.raises(DocumentError, match=name):
            read(tmp_path, edited(effects_of_plans.PLAN, (plain, unused)))


@pytest.mark.parametrize(
    "unused",
    [
        'method = "semi-controlled-rounding"\narea = "ed"',
        'method = "semi-controlled-rounding"\nto = "grand-total"\narea = "ed"',
        'method = "cell-key"\nstrength = "light"\nzero_share = 0.5',
        'method = "cell-key"\nstrength = "light"\nrepeat = 2',
        'method = "cell-key"\nstrength = "light"\nscheme = "CP3"',
        'method = "cell-key"\n\n[output]\noriginal_store = "swapped.store"',
        'method = "cell-key"\n\n[output]\nlabels = true',
    ],
)
def test_a_setting_of_a_plan_that_needs_another_is_refused_without_it(
    unused: str, tmp_path: Path
) -> None:
    changes = [(effects_of_plans.CELL_KEY, unused), ('"csv"', '"px"')]
    if "[output]" in unused:
        changes.append(("\n\n[output]\nfolder", "\nfolder"))
    with pytest.raises(DocumentError):
        read(tmp_path, edited(effects_of_plans.PLAN, *changes))


@pytest.mark.parametrize(
    "unused",
    [
        "[online]\nexclude_structural_zeros = true\n",
        "[online]\nbelow = 3\n",
        '[online]\nwhen_sparse = "c"\n',
    ],
)
def test_a_setting_of_a_policy_that_needs_another_is_refused_without_it(
    unused: str, tmp_path: Path
) -> None:
    schema = read_schema(write_hamlet(tmp_path).schema)
    path = tmp_path / "policy.toml"
    path.write_text(f'name = "Rules"\n{unused}', encoding="utf-8", newline="\n")
    with pytest.raises(DocumentError):
        read_policy(path, schema)


@pytest.mark.parametrize(
    ("form", "option"),
    [
        *[("csv", one) for one in ("sheet", "layout", "dictionary", "record")],
        *[("parquet", one) for one in ("encoding", "delimiter", "decimal", "sheet")],
        *[("excel", one) for one in ("encoding", "delimiter", "decimal", "layout")],
        *[("fixed", one) for one in ("delimiter", "sheet", "record")],
    ],
)
def test_what_says_nothing_about_a_file_of_its_format_is_refused(
    form: str, option: str, tmp_path: Path
) -> None:
    values = {"encoding": "latin-1", "delimiter": ";", "decimal": ","}
    said = f'format = "{form}"\n{option} = "{values.get(option, "areas.csv")}"\n'
    said += 'layout = "areas.csv"\n' if form == "fixed" else ""
    schema = edited(SCHEMA, ('entity = "person"\n', f'entity = "person"\n{said}'))
    with pytest.raises(DocumentError, match=f"'{option}' says nothing about a file of format"):
        read_schema(write_hamlet(tmp_path, schema=schema).schema)


# ------------------------------------------------------------------------------- other ways to say


@pytest.mark.parametrize("setting", [*effects_of_plans.EFFECTS, *OF_METHODS])
def test_what_a_plan_says_can_be_said_in_a_workbook(setting: str, tmp_path: Path) -> None:
    """Every setting survives being written as text and as a workbook, with the same meaning."""
    for name, text in EVERY[setting].given.items():
        if not name.startswith("plan"):
            continue
        assert isinstance(text, str)
        plan = read(tmp_path, text)
        assert read(tmp_path, plan_text(plan)) == plan
        book = tmp_path / "plan.xlsx"
        book.write_bytes(plan_workbook(plan))
        assert read_plan(book) == plan


@pytest.mark.parametrize("setting", effects_of_policies.EFFECTS)
def test_what_a_policy_says_survives_being_written(setting: str, tmp_path: Path) -> None:
    schema = read_schema(write_hamlet(tmp_path).schema)
    path = tmp_path / "policy.toml"
    text = EVERY[setting].given["policy.toml"]
    assert isinstance(text, str)
    path.write_text(text, encoding="utf-8", newline="\n")
    policy = read_policy(path, schema)
    path.write_text(policy_text(policy), encoding="utf-8", newline="\n")
    assert read_policy(path, schema) == policy
