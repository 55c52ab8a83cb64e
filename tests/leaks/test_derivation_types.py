"""Everything new that holds records, true counts or parameters shows none of them.

Every class of the rooms in which records are changed, claims answered and both are measured is
confidential, or stands in the list of those that hold nothing but what everybody may know.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import Refused
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.registry import Part, built_in, load
from sdcensus.risk.combined.priors import prior_of_counts, reference_prior

ROOMS = (
    "microdata",
    "risk.combined",
    "report.derivation",
    "session.attack",
    "session.claim",
    "session.derive",
    "session.study",
)
#: What they hold: the schema, what was published, or what the office lets everybody read.
PUBLIC = {
    "AreaLevels",
    "ControlTable",
    "Controls",
    "CountPrior",
    "Crawl",
    "Effort",
    "Estimates",
    "FolderAttack",
    "FreeNames",
    "LevelOfVariable",
    "ListedVariables",
    "MenuWalk",
    "OfferedAxis",
    "PublicPaper",
    "PublishedClaimCell",
    "Reach",
    "SearchStep",
    "SecondGeography",
    "Similarity",
    "SizeClasses",
    "Target",
}


def classes() -> Iterator[type]:
    for room in ROOMS:
        package = importlib.import_module(f"sdcensus.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for kind in vars(importlib.import_module(module.name)).values():
                if inspect.isclass(kind) and kind.__module__ == module.name:
                    yield kind


def test_every_class_is_confidential_or_known_to_be_public() -> None:
    open_classes = {
        kind.__name__
        for kind in classes()
        if not issubclass(kind, Confidential | Enum) and not getattr(kind, "_is_protocol", False)
    }
    assert open_classes == PUBLIC


def test_no_confidential_class_shows_its_fields() -> None:
    showing = [
        kind.__name__
        for kind in classes()
        if issubclass(kind, Confidential)
        and "__dataclass_params__" in vars(kind)
        and vars(kind)["__dataclass_params__"].repr
    ]
    assert not showing


@pytest.mark.parametrize("name", list(built_in(Part.PRE_TABULAR)))
def test_methods_hide_what_is_said_about_them(name: str) -> None:
    """Parameters tell how weakly was changed: no text, copy or stream of a method holds them."""
    kind = load(Part.PRE_TABULAR, name)
    said: dict[str, Any] = {
        parameter.name: ("canary",) for parameter in kind.takes if parameter.required
    }
    method = kind(**said)
    for text in (repr(method), str(method), f"{method}", f"{[method]}"):
        assert "canary" not in text
        assert "confidential" in text
    for stream in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(Refused):
            stream(method)


def test_priors_of_true_counts_have_a_type_of_their_own() -> None:
    own = prior_of_counts(np.array([1299709, 3]))
    assert isinstance(own, Confidential)
    assert not isinstance(reference_prior(), Confidential)
    assert "1299709" not in f"{own!r} {own}"
    with pytest.raises(Refused):
        pickle.dumps(own)
