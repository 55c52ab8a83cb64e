"""The public page of an assessment depends on what is published, and on nothing else."""

from __future__ import annotations

import inspect
import re
import typing
from typing import Any

import numpy as np
import pytest

from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.light_touch import LightTouch
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.rounding import RandomRounding
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.measure import Measure, PublicMeasure, PublicRow, Row
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Table
from sdcensus.report.assessment import public_page as assessment_public_page
from sdcensus.report.assessment.results import PublicAssessment
from sdcensus.session.assess import public as assessing_public
from sdcensus.session.assess.assessment import assess
from sdcensus.session.assess.measures import registered
from sdcensus.session.assess.options import AssessOptions
from sdcensus.testing.island import SECRET, island_cube
from tests.leaks.test_published import (
    CASES,
    NAMES,
    PRIMES,
    cube_with,
    protected_by as canary_protected_by,
)
from tests.session.assess.assessed_methods import METHODS, method_of, protected_by

#: Estimates of a sample are not assessed.
ASSESSED = [name for name in NAMES if not CASES[name].method.for_samples]


def another(cube: Cube, seed: int) -> Cube:
    """A cube with the same cells and other people in them."""
    draw = np.random.default_rng(seed)
    counts = cube.count + draw.integers(0, 9, cube.shape)
    return Cube(cube.spec, cube.origin, Accumulators(counts.astype(np.int64), cube.key.copy()))


@pytest.mark.parametrize("name", METHODS)
def test_two_cubes_with_the_same_published_table_have_the_same_public_page(name: str) -> None:
    protected = protected_by(name)
    cube = protected.audit.cube
    assert isinstance(cube, Cube)
    pages = {
        assess(
            one, protected, AssessOptions(compare=False, exact=False), method=method_of(name)
        ).public_html()
        for one in (cube, another(cube, 1), another(cube, 2))
    }
    assert len(pages) == 1
    confidential = {
        assess(
            one, protected, AssessOptions(compare=False, exact=False), method=method_of(name)
        ).lead
        for one in (cube, another(cube, 1))
    }
    assert len(confidential) == 2


@pytest.mark.parametrize("name", ASSESSED)
def test_no_true_count_is_on_the_public_page(name: str) -> None:
    """Seven-digit primes that are published as something else are looked for."""
    protected = canary_protected_by(name)
    cube, table = protected.audit.cube, protected.table
    assert isinstance(cube, Cube)
    assert isinstance(table, Table)
    secret = set(np.ravel(cube.count).tolist()) - set(np.ravel(table.published).tolist())
    made = assess(cube, protected, AssessOptions(compare=False, exact=False))
    page = re.sub(r"(?<=\d)[,.\u00a0\u202f](?=\d)", "", made.public_html())
    assert not [one for one in secret if one > 1000 and str(one) in page]
    keys = set(np.ravel(cube.key).tolist())
    assert not [key for key in keys if key > 100_000 and str(key) in page]


def test_the_canary_is_on_the_confidential_page() -> None:
    cube = cube_with(PRIMES[:6], [1, 2, 3, 4, 5, 6])
    table = Table(cube.spec, cube.count + 1)
    made = assess(cube, table, AssessOptions(compare=False))
    assert f"{PRIMES[0]:,}" in made.html()
    assert f"{PRIMES[0]:,}" not in made.public_html()


def pair(first: Method, second: Method) -> None:
    """The pages of one table are equal, whichever of two methods is said to have made it."""
    cube = island_cube("area", "sex")
    table = first.protect(cube).table
    pages = [
        assess(cube, table, AssessOptions(compare=False), method=method).public_html()
        for method in (first, second)
    ]
    assert pages[0] == pages[1]


def test_no_parameter_is_on_the_public_page() -> None:
    pair(CellKey(scheme("CP1"), secret=SECRET), CellKey(scheme("CP3(1,2)"), secret=SECRET))
    pair(CellKey(scheme("CP3"), secret=SECRET), CellKey(scheme("CP3"), lookup="ascending"))
    pair(LightTouch(secret=SECRET), LightTouch(scheme("CP3"), secret=SECRET))
    pair(RandomRounding(3), RandomRounding(5))


def own(module: object) -> list[Any]:
    """The functions and classes of a module."""
    name = getattr(module, "__name__", "")
    members = [member for _, member in inspect.getmembers(module)]
    return [member for member in members if getattr(member, "__module__", None) == name]


PUBLIC = [
    *own(assessing_public),
    *own(assessment_public_page),
    PublicAssessment,
    PublicRow,
    PublicMeasure.rows,
    *(measure.rows for measure in registered() if isinstance(measure, PublicMeasure)),
]


@pytest.mark.parametrize("public", PUBLIC)
def test_nothing_public_takes_or_holds_what_is_confidential(public: Any) -> None:
    called = public.__init__ if inspect.isclass(public) else public
    for hint in typing.get_type_hints(called).values():
        for taken in (hint, *typing.get_args(hint)):
            if inspect.isclass(taken):
                assert not issubclass(taken, Confidential)
                assert taken not in (Cube, SparseCube)


def test_what_is_shown_to_anyone_is_not_confidential() -> None:
    assert not issubclass(PublicAssessment, Confidential)
    assert not issubclass(PublicRow, Confidential)
    assert issubclass(Row, Confidential)
    public = [measure for measure in registered() if isinstance(measure, PublicMeasure)]
    assert public
    assert not any(isinstance(measure, Measure) for measure in public)
    assert not issubclass(Provenance, Confidential)
