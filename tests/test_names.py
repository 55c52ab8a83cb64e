"""The public names: which there are, that each works, and where the former ones are."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import pytest

import sdcensus as sc

#: What ``import sdcensus as sc`` offers. A name that is added or taken away is changed here too.
PUBLIC = """
    SdcensusError assess attack census confidential connect from_frame load methods open_store
    perturbation policy publish read_secret risk study utility write_table
"""
#: The names of version 0.1 that have moved, with their places now. They go with the next version.
FORMER = {
    "CellKey": "sdcensus.methods.CellKey",
    "Census": "sdcensus.census.Census",
    "Cube": "sdcensus.confidential.Cube",
    "KeySpace": "sdcensus.census.KeySpace",
    "SparseCube": "sdcensus.confidential.SparseCube",
    "TableSpec": "sdcensus.census.TableSpec",
    "describe": "sdcensus.confidential.describe",
    "design_perturbation": "sdcensus.perturbation.design",
    "export": "sdcensus.census.export",
    "new_secret": "sdcensus.census.new_secret",
    "open_files": "sdcensus.census.open_files",
    "open_parquet": "sdcensus.census.open_parquet",
    "read_schema": "sdcensus.census.read_schema",
    "recommend": "sdcensus.study.recommend",
    "write_audit": "sdcensus.confidential.write_audit",
    "write_confidential": "sdcensus.confidential.write_confidential",
}
#: Packages that load their names on first use.
LAZY = [
    "sdcensus",
    "sdcensus.attack",
    "sdcensus.census",
    "sdcensus.confidential",
    "sdcensus.methods",
    "sdcensus.risk",
    "sdcensus.session.perturbation",
    "sdcensus.session.study",
    "sdcensus.utility",
    "sdcensus.web",
]


def test_the_public_names_are_these_and_at_most_eighteen() -> None:
    assert dir(sc) == PUBLIC.split() == sorted(sc.__all__)
    assert len(dir(sc)) <= 18


@pytest.mark.parametrize("package", LAZY)
def test_every_name_of_a_package_works_and_no_other(package: str) -> None:
    module = import_module(package)
    assert dir(module)
    for name in dir(module):
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("package", LAZY)
def test_no_module_of_a_package_hides_a_name_that_it_offers(package: str) -> None:
    """Python puts a module into its package when it is loaded, over whatever was offered there."""
    module = import_module(package)
    modules = {info.name for info in iter_modules(getattr(module, "__path__", []))}
    for name in modules & set(dir(module)):
        assert isinstance(getattr(module, name), ModuleType)


@pytest.mark.parametrize("name", FORMER)
def test_a_former_name_warns_and_works(name: str) -> None:
    place, _, member = FORMER[name].removeprefix("sdcensus.").rpartition(".")
    with pytest.warns(
        DeprecationWarning, match=f"^sdcensus.{name} is now {FORMER[name]};"
    ) as notes:
        former = getattr(sc, name)
    assert former is getattr(getattr(sc, place), member)
    assert notes[0].filename == __file__
    assert name not in dir(sc)


def test_the_former_module_of_look_budgets_warns_and_works() -> None:
    with pytest.warns(DeprecationWarning, match="is now sdcensus.risk.looks.budget;"):
        module = sc.risk.look_budget
    assert module.look_budget is import_module("sdcensus.risk.looks.budget").look_budget


def test_importing_the_package_loads_nothing_of_it() -> None:
    program = "import sys, sdcensus; print(*(n for n in sys.modules if n.startswith('sdcensus')))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert sorted(loaded.stdout.split()) == ["sdcensus", "sdcensus._names", "sdcensus._version"]
