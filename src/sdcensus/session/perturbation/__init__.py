"""Perturbation tables at work: designed, read, written, checked.

Joins ``methods/perturbation`` with ``formats/perturbation``. Summaries and
pictures are in ``report/perturbation``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.formats.perturbation import CheckReport as CheckReport
    from sdcensus.formats.perturbation import ExchangeFormat as ExchangeFormat
    from sdcensus.formats.perturbation import Finding as Finding
    from sdcensus.formats.perturbation import Severity as Severity
    from sdcensus.methods.perturbation.coupling import Coupling as Coupling
    from sdcensus.methods.perturbation.coupling import coupling_of as coupling_of
    from sdcensus.methods.perturbation.design import VarianceMode as VarianceMode
    from sdcensus.methods.perturbation.order import scrambled as scrambled
    from sdcensus.methods.perturbation.schemes import SCHEMES as SCHEMES
    from sdcensus.methods.perturbation.schemes import STRENGTHS as STRENGTHS
    from sdcensus.methods.perturbation.schemes import scheme as scheme
    from sdcensus.methods.perturbation.schemes import strength as strength
    from sdcensus.methods.perturbation.sources import Discretisation as Discretisation
    from sdcensus.methods.perturbation.sources import per_unit_deviations as per_unit_deviations
    from sdcensus.methods.perturbation.sources import single_count_delta as single_count_delta
    from sdcensus.methods.perturbation.sources import truncated_normal as truncated_normal
    from sdcensus.methods.perturbation.sources import two_sided_geometric as two_sided_geometric
    from sdcensus.model.perturbation.design import Relaxation as Relaxation
    from sdcensus.model.perturbation.lookups import Lookup as Lookup
    from sdcensus.model.perturbation.lookups import default_lookup as default_lookup
    from sdcensus.model.perturbation.rows import Tail as Tail
    from sdcensus.model.vocabulary import Relax as Relax
    from sdcensus.report.perturbation.summary import Summary as Summary
    from sdcensus.report.perturbation.summary import summarise as summarise
    from sdcensus.session.perturbation.tables import Found as Found
    from sdcensus.session.perturbation.tables import Moved as Moved
    from sdcensus.session.perturbation.tables import Written as Written
    from sdcensus.session.perturbation.tables import check as check
    from sdcensus.session.perturbation.tables import convert as convert
    from sdcensus.session.perturbation.tables import design as design
    from sdcensus.session.perturbation.tables import find as find
    from sdcensus.session.perturbation.tables import read as read
    from sdcensus.session.perturbation.tables import write as write

__getattr__, __dir__ = offer(__name__)
