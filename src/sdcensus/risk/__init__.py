"""Measures of disclosure risk; each returns a result dataclass.

``detection`` looks at one table, ``differencing`` at several, ``groups`` at what they break down,
``looks`` at how often they show a cell; flat here are measures of published numbers. Names are
loaded when they are first used. Measures see true counts; whoever sees published tables only is in
``attack``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.model.inference.intervals import Intervals as Intervals
    from sdcensus.model.inference.intervals import shuttle as shuttle
    from sdcensus.model.inference.knowledge import Knowledge as Knowledge
    from sdcensus.risk import feasibility as feasibility
    from sdcensus.risk.composite import CompositeRisk as CompositeRisk
    from sdcensus.risk.composite import composite_risk as composite_risk
    from sdcensus.risk.composite import composite_risk_of as composite_risk_of
    from sdcensus.risk.composite import composite_risk_protected as composite_risk_protected
    from sdcensus.risk.constellations import constellation_probability as constellation_probability
    from sdcensus.risk.constellations import constellation_risk as constellation_risk
    from sdcensus.risk.detection.detectors import detect as detect
    from sdcensus.risk.detection.findings import FindingKind as FindingKind
    from sdcensus.risk.detection.findings import Findings as Findings
    from sdcensus.risk.detection.withheld import withheld_that_follow as withheld_that_follow
    from sdcensus.risk.differencing.differences import difference as difference
    from sdcensus.risk.differencing.differences import differences_between as differences_between
    from sdcensus.risk.differencing.elimination import eliminate as eliminate
    from sdcensus.risk.differencing.published_before import differences_with as differences_with
    from sdcensus.risk.differencing.published_before import exempt_differences as exempt_differences
    from sdcensus.risk.feasibility import Feasibility as Feasibility
    from sdcensus.risk.information import difference_probability as difference_probability
    from sdcensus.risk.information import difference_probability_of as difference_probability_of
    from sdcensus.risk.information import information_gain as information_gain
    from sdcensus.risk.looks.budget import LookBudget as LookBudget
    from sdcensus.risk.looks.budget import Looks as Looks
    from sdcensus.risk.looks.budget import look_budget_of_tables as look_budget_of_tables
    from sdcensus.risk.looks.budget import looks_at as looks_at
    from sdcensus.risk.looks.chance import best_guess as best_guess
    from sdcensus.risk.looks.chance import hypercube_looks as hypercube_looks
    from sdcensus.risk.looks.chance import large_variance as large_variance
    from sdcensus.risk.looks.chance import margin_exploit as margin_exploit
    from sdcensus.risk.looks.chance import most_looks as most_looks
    from sdcensus.risk.looks.chance import recovery as recovery
    from sdcensus.risk.looks.chance import recovery_with as recovery_with
    from sdcensus.risk.looks.chance import required as required
    from sdcensus.risk.looks.chance import variance_for as variance_for
    from sdcensus.risk.posterior import Posterior as Posterior
    from sdcensus.risk.posterior import perceived_disclosure as perceived_disclosure
    from sdcensus.risk.posterior import posterior_observed_of as posterior_observed_of
    from sdcensus.risk.posterior import posterior_of as posterior_of
    from sdcensus.risk.posterior import published_given_true as published_given_true
    from sdcensus.risk.posterior import visible_small as visible_small
    from sdcensus.risk.unperturbed import unperturbed_small as unperturbed_small
    from sdcensus.risk.unperturbed import unperturbed_small_expected as unperturbed_small_expected
    from sdcensus.risk.unperturbed import unperturbed_small_of as unperturbed_small_of
    from sdcensus.solvers.feasibility import exact_intervals as exact_intervals
    from sdcensus.store.registry import Registry as Registry

#: Names of version 0.1.
_FORMER = {"look_budget": "looks.budget"}

__getattr__, __dir__ = offer(__name__, _FORMER)
