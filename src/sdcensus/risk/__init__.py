"""Measures of disclosure risk; each returns a result dataclass.

``detection`` looks at one table, ``differencing`` at several, ``groups`` at what they break down,
``looks`` at how often they show a cell; flat here are measures of published numbers. Names are
loaded when they are first used. Measures see true counts; whoever sees published tables only is in
``attack``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdcensus.model.inference.intervals import Intervals, shuttle
    from sdcensus.model.inference.knowledge import Knowledge
    from sdcensus.risk import feasibility
    from sdcensus.risk.composite import (
        CompositeRisk,
        composite_risk,
        composite_risk_of,
        composite_risk_protected,
    )
    from sdcensus.risk.constellations import constellation_probability, constellation_risk
    from sdcensus.risk.detection.detectors import detect
    from sdcensus.risk.detection.findings import FindingKind, Findings
    from sdcensus.risk.detection.withheld import withheld_that_follow
    from sdcensus.risk.differencing.differences import difference, differences_between
    from sdcensus.risk.differencing.elimination import eliminate
    from sdcensus.risk.differencing.published_before import differences_with, exempt_differences
    from sdcensus.risk.feasibility import Feasibility
    from sdcensus.risk.information import (
        difference_probability,
        difference_probability_of,
        information_gain,
    )
    from sdcensus.risk.looks import budget as look_budget
    from sdcensus.risk.looks.budget import LookBudget, Looks, look_budget_of_tables, looks_at
    from sdcensus.risk.looks.chance import (
        best_guess,
        hypercube_looks,
        large_variance,
        margin_exploit,
        most_looks,
        recovery,
        recovery_with,
        required,
        variance_for,
    )
    from sdcensus.risk.posterior import (
        Posterior,
        perceived_disclosure,
        posterior_observed_of,
        posterior_of,
        published_given_true,
        visible_small,
    )
    from sdcensus.risk.unperturbed import (
        unperturbed_small,
        unperturbed_small_expected,
        unperturbed_small_of,
    )
    from sdcensus.solvers.feasibility import exact_intervals
    from sdcensus.store.registry import Registry

_MODULES = {
    "CompositeRisk": "sdcensus.risk.composite",
    "Feasibility": "sdcensus.risk.feasibility",
    "FindingKind": "sdcensus.risk.detection.findings",
    "Findings": "sdcensus.risk.detection.findings",
    "Intervals": "sdcensus.model.inference.intervals",
    "Knowledge": "sdcensus.model.inference.knowledge",
    "LookBudget": "sdcensus.risk.looks.budget",
    "Looks": "sdcensus.risk.looks.budget",
    "Posterior": "sdcensus.risk.posterior",
    "Registry": "sdcensus.store.registry",
    "best_guess": "sdcensus.risk.looks.chance",
    "composite_risk": "sdcensus.risk.composite",
    "composite_risk_of": "sdcensus.risk.composite",
    "composite_risk_protected": "sdcensus.risk.composite",
    "constellation_probability": "sdcensus.risk.constellations",
    "constellation_risk": "sdcensus.risk.constellations",
    "detect": "sdcensus.risk.detection.detectors",
    "difference": "sdcensus.risk.differencing.differences",
    "difference_probability": "sdcensus.risk.information",
    "difference_probability_of": "sdcensus.risk.information",
    "differences_between": "sdcensus.risk.differencing.differences",
    "differences_with": "sdcensus.risk.differencing.published_before",
    "eliminate": "sdcensus.risk.differencing.elimination",
    "exact_intervals": "sdcensus.solvers.feasibility",
    "exempt_differences": "sdcensus.risk.differencing.published_before",
    "hypercube_looks": "sdcensus.risk.looks.chance",
    "information_gain": "sdcensus.risk.information",
    "large_variance": "sdcensus.risk.looks.chance",
    "look_budget_of_tables": "sdcensus.risk.looks.budget",
    "looks_at": "sdcensus.risk.looks.budget",
    "margin_exploit": "sdcensus.risk.looks.chance",
    "most_looks": "sdcensus.risk.looks.chance",
    "perceived_disclosure": "sdcensus.risk.posterior",
    "posterior_observed_of": "sdcensus.risk.posterior",
    "posterior_of": "sdcensus.risk.posterior",
    "published_given_true": "sdcensus.risk.posterior",
    "recovery": "sdcensus.risk.looks.chance",
    "recovery_with": "sdcensus.risk.looks.chance",
    "required": "sdcensus.risk.looks.chance",
    "shuttle": "sdcensus.model.inference.intervals",
    "unperturbed_small": "sdcensus.risk.unperturbed",
    "unperturbed_small_expected": "sdcensus.risk.unperturbed",
    "unperturbed_small_of": "sdcensus.risk.unperturbed",
    "variance_for": "sdcensus.risk.looks.chance",
    "visible_small": "sdcensus.risk.posterior",
    "withheld_that_follow": "sdcensus.risk.detection.withheld",
}
_THEMSELVES = {"feasibility": "feasibility", "look_budget": "looks.budget"}

__all__ = [
    "CompositeRisk",
    "Feasibility",
    "FindingKind",
    "Findings",
    "Intervals",
    "Knowledge",
    "LookBudget",
    "Looks",
    "Posterior",
    "Registry",
    "best_guess",
    "composite_risk",
    "composite_risk_of",
    "composite_risk_protected",
    "constellation_probability",
    "constellation_risk",
    "detect",
    "difference",
    "difference_probability",
    "difference_probability_of",
    "differences_between",
    "differences_with",
    "eliminate",
    "exact_intervals",
    "exempt_differences",
    "feasibility",
    "hypercube_looks",
    "information_gain",
    "large_variance",
    "look_budget",
    "look_budget_of_tables",
    "looks_at",
    "margin_exploit",
    "most_looks",
    "perceived_disclosure",
    "posterior_observed_of",
    "posterior_of",
    "published_given_true",
    "recovery",
    "recovery_with",
    "required",
    "shuttle",
    "unperturbed_small",
    "unperturbed_small_expected",
    "unperturbed_small_of",
    "variance_for",
    "visible_small",
    "withheld_that_follow",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in _THEMSELVES:
        return import_module(f"{__name__}.{_THEMSELVES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
