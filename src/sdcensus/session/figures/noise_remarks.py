"""What the office is told about the noise of the percentiles that it publishes. Confidential."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdcensus.methods.method import Method
from sdcensus.model.inference.percentile_noise import noise_interval
from sdcensus.model.published.table import Table
from sdcensus.model.sentences import sentence
from sdcensus.session.figures.asked import FiguresProduct

#: A count whose noise is that of large counts.
_LARGE = 10**6
#: Errors below this are told in tenths.
_TENTHS_BELOW = 10


def percentile_remarks(product: FiguresProduct, table: Table, method: Method) -> Iterator[str]:
    """How far the noise of published classes moves percentiles of an amount.

    Args:
        product: The figures.
        table: The published counts of the classes.
        method: How these were protected.
    """
    figure, first = product.of_numbers, method.first
    variance = first.variance
    if first.has_own_noise and first.noise is not None:
        variance = first.noise.variance(_LARGE)
    if figure is None or variance is None:
        return
    at = table.spec.position(figure.variable)
    places = {code.code: place for place, code in enumerate(table.spec.axes[at].codes)}
    classes = [each for each in figure.classes if each.code in places]
    counts = np.moveaxis(table.published, at, -1)[..., [places[each.code] for each in classes]]
    groups = counts.reshape(-1, len(classes))
    groups = groups[groups.sum(axis=1) >= (figure.fewest or 1)]
    for percent in figure.percents:
        interval = noise_interval(
            groups,
            [each.lower for each in classes],
            [each.upper for each in classes],
            percent,
            variance,
        )
        half = interval.half
        if half.size:
            yield sentence(
                "figures.noise_remark",
                name=product.name,
                percent=percent,
                usual=_shown(half[half.size // 2]),
                most=_shown(half[-1]),
            )


def _shown(half: float) -> int | float:
    """Whole units; tenths where these say more, as of hours."""
    return round(float(half)) if half >= _TENTHS_BELOW else round(float(half), 1)
