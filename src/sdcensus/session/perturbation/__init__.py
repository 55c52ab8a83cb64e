"""Perturbation tables at work: designed, read, written, checked.

Joins ``methods/perturbation`` with ``formats/perturbation``. Summaries and
pictures are in ``report/perturbation``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.formats.perturbation import (
        CheckReport as CheckReport,
        ExchangeFormat as ExchangeFormat,
        FileFinding as FileFinding,
        Severity as Severity,
    )
    from sdcensus.methods.perturbation.coupling import (
        Coupling as Coupling,
        coupling_of as coupling_of,
    )
    from sdcensus.methods.perturbation.design import VarianceMode as VarianceMode
    from sdcensus.methods.perturbation.order import scrambled as scrambled
    from sdcensus.methods.perturbation.schemes import (
        SCHEMES as SCHEMES,
        STRENGTHS as STRENGTHS,
        scheme as scheme,
        strength as strength,
    )
    from sdcensus.methods.perturbation.sources import (
        Discretisation as Discretisation,
        per_unit_deviations as per_unit_deviations,
        single_count_delta as single_count_delta,
        truncated_normal as truncated_normal,
        two_sided_geometric as two_sided_geometric,
    )
    from sdcensus.model.perturbation.design import Relaxation as Relaxation
    from sdcensus.model.perturbation.table import (
        Lookup as Lookup,
        Tail as Tail,
        default_lookup as default_lookup,
    )
    from sdcensus.model.vocabulary import Relax as Relax
    from sdcensus.report.perturbation.summary import Summary as Summary, summarise as summarise
    from sdcensus.session.perturbation.tables import (
        FoundPerturbation as FoundPerturbation,
        Moved as Moved,
        Written as Written,
        check as check,
        convert as convert,
        design as design,
        find as find,
        read as read,
        write as write,
    )

__getattr__, __dir__ = offer(__name__)
