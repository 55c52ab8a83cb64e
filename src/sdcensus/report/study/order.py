"""The order of the methods beside the printed one: so many of so many pairs agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from sdcensus.model.confidential import Confidential
from sdcensus.report.study.figures import compared_figures
from sdcensus.report.study.published import Published
from sdcensus.report.study.results import Study, StudyTable


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Confidential):
    """How many pairs of methods stand in the printed order.

    Attributes:
        table: The table.
        measure: By which they are ordered.
        same: Pairs of which the same method has the smaller figure here.
        pairs: Pairs whose order was printed and that have two figures here.
        turned: The others, as printed: ``lower < higher``.
        by_figures: Of the pairs those that two printed figures put in order; the others are told
            in words.
    """

    table: StudyTable
    measure: str
    same: int
    pairs: int
    turned: tuple[str, ...]
    by_figures: int = 0

    def __repr__(self) -> str:
        return f"<Agreement by {self.measure}: confidential>"


def agreements(study: Study, published: Published) -> list[Agreement]:
    """The order of the methods by every measure whose order was printed."""
    agreements = []
    for table in study.tables:
        mine = compared_figures(study, table, published)
        for measure in published.measures:
            same, turned, figures = 0, [], 0
            for lower, higher, printed in printed_order(study, table, published, measure):
                first, second = mine[lower].get(measure), mine[higher].get(measure)
                if first is None or second is None:
                    continue
                figures += printed
                if first < second:
                    same += 1
                else:
                    turned.append(f"{lower} < {higher}")
            if same or turned:
                pairs = same + len(turned)
                agreements.append(Agreement(table, measure, same, pairs, tuple(turned), figures))
    return agreements


def printed_order(
    study: Study, table: StudyTable, published: Published, measure: str
) -> Iterator[tuple[str, str, bool]]:
    """Pairs of methods whose order was printed, and whether by two figures or in words."""
    names = study.names
    told = {
        (order.lower, order.higher)
        for order in published.orders
        if order.measure == measure and order.table in ("", table.spec.name)
    }
    for first, second in combinations(names, 2):
        figures = [published.of(table, name).get(measure) for name in (first, second)]
        one, other = figures
        if (first, second) in told:
            yield first, second, False
        elif (second, first) in told:
            yield second, first, False
        elif one is not None and other is not None and one != other:
            yield (first, second, True) if one < other else (second, first, True)


def agreement_of_all(every: list[Agreement]) -> tuple[int, int]:
    """Over all measures and tables: pairs in the printed order, and pairs."""
    same = sum(agreement.same for agreement in every)
    return same, sum(agreement.pairs for agreement in every)
