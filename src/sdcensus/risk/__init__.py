"""Measures of disclosure risk; each returns a result dataclass.

``detection`` looks at one table, ``differencing`` at several, ``groups`` at what they break down,
``magnitude`` at sums, ``looks`` at how often they show a cell, ``records`` at files of records;
flat here are measures of published numbers. Names are loaded when they are first used. Measures see
true counts; whoever sees published tables only is in ``attack``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.model.cube.primary_rules import (
        PrimaryRule as PrimaryRule,
        PrimaryRules as PrimaryRules,
    )
    from sdcensus.model.inference.intervals import Intervals as Intervals, shuttle as shuttle
    from sdcensus.model.inference.knowledge import Knowledge as Knowledge
    from sdcensus.risk import feasibility as feasibility
    from sdcensus.risk.composite import (
        CompositeRisk as CompositeRisk,
        composite_risk as composite_risk,
        composite_risk_of as composite_risk_of,
        composite_risk_protected as composite_risk_protected,
    )
    from sdcensus.risk.constellations import (
        constellation_probability as constellation_probability,
        constellation_risk as constellation_risk,
    )
    from sdcensus.risk.detection.detectors import detect as detect
    from sdcensus.risk.detection.findings import FindingKind as FindingKind, Findings as Findings
    from sdcensus.risk.detection.withheld import withheld_that_follow as withheld_that_follow
    from sdcensus.risk.differencing.differences import (
        difference as difference,
        differences_between as differences_between,
    )
    from sdcensus.risk.differencing.elimination import eliminate as eliminate
    from sdcensus.risk.differencing.published_before import (
        differences_with as differences_with,
        exempt_differences as exempt_differences,
    )
    from sdcensus.risk.feasibility import Feasibility as Feasibility
    from sdcensus.risk.information import (
        difference_probability as difference_probability,
        difference_probability_of as difference_probability_of,
        information_gain as information_gain,
    )
    from sdcensus.risk.looks.budget import (
        LookBudget as LookBudget,
        Looks as Looks,
        look_budget_of_tables as look_budget_of_tables,
        looks_at as looks_at,
    )
    from sdcensus.risk.looks.chance import (
        best_guess as best_guess,
        hypercube_looks as hypercube_looks,
        large_variance as large_variance,
        margin_exploit as margin_exploit,
        most_looks as most_looks,
        recovery as recovery,
        recovery_with as recovery_with,
        required as required,
        variance_for as variance_for,
    )
    from sdcensus.risk.magnitude.primary_rules import (
        SensitiveByRule as SensitiveByRule,
        sensitive_cells as sensitive_cells,
    )
    from sdcensus.risk.posterior import (
        Posterior as Posterior,
        perceived_disclosure as perceived_disclosure,
        posterior_observed_of as posterior_observed_of,
        posterior_of as posterior_of,
        published_given_true as published_given_true,
        visible_small as visible_small,
    )
    from sdcensus.risk.records.composition import (
        CompositionRisk as CompositionRisk,
        composition_risk as composition_risk,
    )
    from sdcensus.risk.records.household import (
        HouseholdRisk as HouseholdRisk,
        household_risk as household_risk,
    )
    from sdcensus.risk.records.key_column import KeyColumn as KeyColumn
    from sdcensus.risk.records.ladder import (
        LadderRisk as LadderRisk,
        RecordRisk as RecordRisk,
        StepRisk as StepRisk,
        ladder_risk as ladder_risk,
        record_risk as record_risk,
        whole_risk as whole_risk,
    )
    from sdcensus.risk.unperturbed import (
        unperturbed_or_imputed as unperturbed_or_imputed,
        unperturbed_small as unperturbed_small,
        unperturbed_small_expected as unperturbed_small_expected,
        unperturbed_small_of as unperturbed_small_of,
    )
    from sdcensus.solvers.feasibility import exact_intervals as exact_intervals
    from sdcensus.store.registry import Registry as Registry

#: Names of version 0.1.
_FORMER = {"look_budget": "looks.budget"}

__getattr__, __dir__ = offer(__name__, _FORMER)
