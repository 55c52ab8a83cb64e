"""Every declared parameter of every method does something: each has a case in which it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import SdcensusError
from sdcensus.microdata.method import Changes, Foreseeing
from sdcensus.model.method.registry import Part, built_in
from sdcensus.session.derive.office_files import write_office_file
from sdcensus.session.derive.step import prepared
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from tests.microdata.swapping.villages import D, H, P, Village, write_units

#: Where parameters are tried that need files, or places that this country does not have.
ELSEWHERE = {
    ("drop-records", "of"): "tests/session/derive/test_derivation.py",
    **{
        ("over-imputation", parameter): "tests/microdata/imputation/test_over_imputation.py"
        for parameter in ("agree", "uses", "risk")
    },
    ("returned-imputation", "file"): "tests/session/derive/test_blanks.py",
    ("returned-imputation", "note"): "tests/session/derive/test_blanks.py",
    **{
        (method, parameter): "tests/microdata/continuous/test_amounts.py"
        for method in ("microaggregation", "rank-swap")
        for parameter in ("variables", "leave_zeros")
    },
    **{
        ("multilevel-grid", parameter): "tests/microdata/test_multilevel_grid.py"
        for parameter in ("variable", "at_least", "counted", "rule", "level")
    },
    ("safe", "seconds"): "tests/microdata/safe/test_searching.py",
    ("pram", "matrix"): "tests/microdata/pram/test_pram.py",
    ("pram", "publish_matrix"): "tests/session/derive/test_public_papers.py",
    ("pram", "publish_frequencies"): "tests/session/derive/test_public_papers.py",
    ("pram", "edit_rules"): "tests/microdata/pram/test_pram.py",
    ("geographic-pram", "edit_rules"): "tests/microdata/pram/test_geographic.py",
    **{
        (method, "rederive"): "tests/microdata/swapping/test_second_geographies.py"
        for method in ("geographic-pram", "random-swap", "proportional-swap", "targeted-swap")
    },
}
RANDOM: dict[str, Any] = {"members": ["sex"], "within": "anywhere", "rate": 0.2}
FLAGGED = RANDOM | {"tables": ["ed,faith,age"]}
SELECTED: dict[str, Any] = {"risk_variables": ["sex", "age"], "members": ["sex"], "rate": 0.1}
ATTRIBUTE: dict[str, Any] = {"attributes": ["faith"], "classes": ["sex"], "rate": 0.1}
RARE = ATTRIBUTE | {"risk_variables": ["age", "faith"], "classes": ["sex,age"]}
TARGETED: dict[str, Any] = {"risk_variables": ["sex", "age"], "k": 3, "rate": 0.2}
GIVEN: dict[str, Any] = {"risks": ["risk"], "risk_above": 0.95, "rate": 0.0, "farther": True}
ALIKE = {"profiles": ["persons,heating"], "rate": 0.0}
IMPUTED: dict[str, Any] = {"blank": ["faith"], "match": ["sex", "age"], "rate": 0.1}
WEIGHED: dict[str, Any] = {"one_in": 4, "level": "total", "small_strata": "accept"}
CHANGED: dict[str, Any] = {"variables": ["faith"], "stay": ["0.6"]}
AMOUNTS: dict[str, Any] = {"variables": ["risk"]}
SAFE: dict[str, Any] = {"variables": ["sex", "age", "faith", "ed@district"], "moves": 3, "exact": 0}
MOVED: dict[str, Any] = {"move": ["ed=0.3"]}
LISTED: dict[str, Any] = {"tables": ["ed,sex", "age,faith"], "base": 4}

#: For each method and parameter what is said without it, and what is said then.
CASES: dict[str, dict[str, tuple[dict[str, Any], Any]]] = {
    "drop-records": {
        "where": ({"where": "age == 1"}, "age == 2"),
    },
    "over-imputation": {
        "blank": (IMPUTED | {"match": ["age"]}, ["faith", "sex"]),
        "rate": (IMPUTED, 0.2),
        "where": (IMPUTED, "age == 1"),
        "k": (IMPUTED | {"risk": ["age", "sex"]}, 60),
        "match": (IMPUTED, ["age"]),
        "donor_areas": (IMPUTED, ["total"]),
        "skip_imputed": (IMPUTED, True),
    },
    "perturbation-weights": {
        "one_in": (WEIGHED, 3),
        "changed": ({"level": "total", "small_strata": "accept", "changed": 3}, 5),
        "of": (WEIGHED, "dwellings"),
        "level": ({"changed": 3, "level": "total", "small_strata": "accept"}, "district"),
        "sizes": ({"changed": 3, "level": "total", "small_strata": "accept"}, "1,2+"),
        "weights": (WEIGHED, "0,1,3"),
        "small_strata": ({"one_in": 30, "level": "parish"}, "accept"),
    },
    "systematic-sample": {
        "every": ({"every": 3}, 4),
        "of": ({"every": 3}, "dwellings"),
        "level": ({"every": 3}, "total"),
    },
    "pram": {
        "variables": (CHANGED, ["sex"]),
        "together": (CHANGED, ["sex,age"]),
        "stay": (CHANGED, ["0.5"]),
        "similar": (CHANGED, ["neighbours"]),
        "change_missing": ({"variables": ["tenure"], "stay": ["0.6"]}, True),
        "invariant": (CHANGED, True),
        "alpha": (CHANGED | {"invariant": True}, 0.5),
        "ratio_limit": (CHANGED, 1000),
    },
    "small-count-rounding": {
        "tables": (LISTED, ["ed,sex,age"]),
        "of": ({"tables": ["ed,heating"], "base": 4}, "households"),
        "where": (LISTED, "age == 1"),
        "base": (LISTED, 5),
        "threshold": (LISTED, 9),
        "force": (LISTED, True),
        "inner_check": ({"tables": ["ed,age", "ed@district,age,faith"]}, "none"),
    },
    "geographic-pram": {"move": (MOVED, ["ed=0.4"]), "ratio_limit": (MOVED, 1000)},
    "safe": {
        "variables": (SAFE, ["sex", "age", "ed@district"]),
        "control_table": (SAFE, ["sex,age=3", "faith"]),
        "minimum": (SAFE, 5),
        "unchanged": (SAFE, ["sex"]),
        "moves": (SAFE, 1),
        "restarts": (SAFE, 2),
        "exact": (SAFE | {"moves": 1}, 30),
    },
    "random-swap": {
        "rate": (RANDOM, 0.1),
        "members": (RANDOM, ["sex", "age:3"]),
        "stratum": (RANDOM, ["heating"]),
        "within": (RANDOM, "district"),
        "between": (RANDOM, "district"),
        "farther": (RANDOM | {"within": "parish", "members": ["sex", "age:3"], "rate": 0.4}, True),
        "tables": (RANDOM, ["ed,faith,age"]),
        "small": (FLAGGED, 1),
        "control": (FLAGGED, "anybody"),
        "allocation": (FLAGGED, "size-and-risk"),
        "carry": (RANDOM, ["heating"]),
        "earlier": (RANDOM, None),
        "missing_match": (RANDOM | {"stratum": ["tenure"], "rate": 0.1}, True),
        "of": (RANDOM, "dwellings"),
        "leave_out_imputed": (RANDOM, True),
    },
    "proportional-swap": {
        "risk_variables": (SELECTED, ["faith", "age"]),
        "rate": (SELECTED, 0.2),
        "members": (SELECTED, ["sex", "age:3"]),
        "within": (SELECTED, "district"),
        "between": (SELECTED | {"within": "anywhere"}, "district"),
        "farther": (SELECTED | {"within": "parish", "members": ["sex", "age:3"]}, True),
        "carry": (SELECTED, ["heating"]),
        "earlier": (SELECTED, None),
        "of": (SELECTED, "dwellings"),
        "leave_out_imputed": (SELECTED, True),
    },
    "attribute-swap": {
        "attributes": (ATTRIBUTE, ["age"]),
        "classes": (ATTRIBUTE, ["sex,age"]),
        "risk_variables": (ATTRIBUTE, ["age", "faith"]),
        "k": (RARE, 2),
        "rate": (ATTRIBUTE, 0.2),
        "levels": (RARE, ["district"]),
        "reach": (RARE, ["ed:anywhere"]),
        "within": (ATTRIBUTE, "district"),
        "farther": (RARE | {"rate": 0.9, "classes": ["sex,age"]}, True),
        "earlier": (ATTRIBUTE, None),
        "missing_match": (ATTRIBUTE | {"classes": ["sex,tenure"]}, True),
        "leave_out_imputed": (ATTRIBUTE, True),
    },
    "microaggregation": {
        "group": (AMOUNTS, 5),
        "grouping": (AMOUNTS, "each"),
        "value": (AMOUNTS, "median"),
        "strata": (AMOUNTS, ["ed@district"]),
        "block": (AMOUNTS, 20),
    },
    "rank-swap": {
        "ranks": (AMOUNTS, 0.2),
        "strata": (AMOUNTS, ["ed@district"]),
    },
    "targeted-swap": {
        "risk_variables": (TARGETED, ["faith", "age"]),
        "k": (TARGETED, 2),
        "risks": (GIVEN, ["risk", "risk", "risk"]),
        "risk_above": (GIVEN, 0.9),
        "levels": (TARGETED, ["district"]),
        "profiles": (TARGETED, ["persons,heating"]),
        "rate": (TARGETED, 0.6),
        "reach": (TARGETED, ["ed:district"]),
        "within": (TARGETED, "district"),
        "farther": (TARGETED | ALIKE, True),
        "max_distance": (TARGETED, 1000),
        "carry": (TARGETED, ["heating"]),
        "missing_match": (TARGETED | {"profiles": ["persons,tenure"]}, True),
        "of": (TARGETED, "dwellings"),
        "leave_out_imputed": (TARGETED, True),
        "earlier": (TARGETED, None),
    },
}


def test_every_parameter_has_a_case() -> None:
    declared = {
        (name, parameter.name)
        for name, method in built_in(Part.PRE_TABULAR).items()
        for parameter in method.takes
    }
    cases = {(name, parameter) for name, own in CASES.items() for parameter in own}
    assert cases | set(ELSEWHERE) == declared
    assert not cases & set(ELSEWHERE)
    root = Path(__file__).parents[2]
    for (_, parameter), file in ELSEWHERE.items():
        assert parameter in (root / file).read_text(encoding="utf-8"), (parameter, file)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    """A country with imputed values, missing ones, and a grid."""
    village = Village(6, households=150, grid=True)
    units = village.units()
    flags = np.zeros(units[P].keys.size, dtype=np.int64)
    flags[::9] = 1
    units[P] = replace(units[P], imputed={"faith": flags})
    units[H].leaves["tenure"][:5] = 2
    return write_units(tmp_path_factory.mktemp("store") / "a", village.schema(), units)


def result(store: CensusStore, name: str, said: dict[str, Any]) -> Any:
    """Everything that a method says or does; its words where it refuses."""
    try:
        step = prepared(store, name, said, secret=SECRET)
        changes = step.run().changes
    except SdcensusError as error:
        return str(error)
    assert isinstance(changes, Changes)
    foreseen = step.foresee() if isinstance(step.method, Foreseeing) else ()
    return (
        [(*at, new.rows.tolist(), new.values.tolist()) for *at, new in changes.columns()],
        [(kinds, new.rows.tolist(), new.values.tolist()) for kinds, new in changes.links.items()],
        [values.tolist() for _, values in changes.added],
        {kind: rows.tolist() for kind, rows in changes.dropped.items()},
        [[column.tolist() for column in file.columns.values()] for file in changes.files],
        [str(table.note) for table in (*changes.facts, *foreseen)],
    )


@pytest.fixture(scope="module")
def dwellings(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    """A country in which dwellings have the areas."""
    return Village(8, holder=D, households=150).write(tmp_path_factory.mktemp("store") / "b")


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, parameter) for name in CASES for parameter in CASES[name]]
)
def test_every_parameter_changes_the_result(
    store: CensusStore, dwellings: CensusStore, tmp_path: Path, name: str, parameter: str
) -> None:
    base, value = CASES[name][parameter]
    if parameter == "of" and name.endswith("swap"):
        store = dwellings
    if parameter == "earlier":  # pairs of another rate, which are kept
        said = base | {"rate": base["rate"] / 2, "farther": True}
        write_office_file(
            prepared(store, name, said, secret=SECRET).run().changes.files[0], tmp_path
        )
        value = str(tmp_path / "pairs.csv")
    after = result(store, name, base | {parameter: value})
    assert not isinstance(after, str), after
    assert after != result(store, name, base)
