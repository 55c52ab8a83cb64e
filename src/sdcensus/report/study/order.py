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
    """

    table: StudyTable
    measure: str
    same: int
    pairs: int
    turned: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Agreement by {self.measure}: confidential>"


def agreements(study: Study, published: Published) -> list[Agreement]:
    """The order of the methods by every measure whose order was printed."""
    agreements = []
    for table in study.tables:
        mine = compared_figures(study, table, published)
        for measure in published.measures:
            same, turned = 0, []
            for lower, higher in printed_order(study, table, published, measure):
                first, second = mine[lower].get(measure), mine[higher].get(measure)
                if first is None or second is None:
                    continue
                if first < second:
                    same += 1
                else:
                    turned.append(f"{lower} < {higher}")
            if same or turned:
                pairs = same + len(turned)
                agreements.append(Agreement(table, measure, same, pairs, tuple(turned)))
    return agreements


def printed_order(
    study: Study, table: StudyTable, published: Published, measure: str
) -> Iterator[tuple[str, str]]:
    """Pairs of methods of which two different figures were printed, the smaller one first."""
    for first, second in combinations(study.names, 2):
        figures = [published.of(table, name).get(measure) for name in (first, second)]
        of_first, of_second = figures
        if of_first is not None and of_second is not None and of_first != of_second:
            yield (first, second) if of_first < of_second else (second, first)


def agreement_of_all(every: list[Agreement]) -> tuple[int, int]:
    """Over all measures and tables: pairs in the printed order, and pairs."""
    same = sum(agreement.same for agreement in every)
    return same, sum(agreement.pairs for agreement in every)
