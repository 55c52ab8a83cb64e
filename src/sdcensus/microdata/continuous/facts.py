"""What became of means, variances and correlations of amounts that were changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.continuous.amounts import Amounts
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.sentences import sentence

Floats = npt.NDArray[Any]


def amount_facts(
    amounts: Amounts, after: npt.NDArray[np.int64], chosen: npt.NDArray[np.bool_] | None = None
) -> FactTable:
    """Means, variances and correlations before and after, over records that have the amounts.

    Args:
        amounts: The amounts before.
        after: The amounts now.
        chosen: Which records are looked at; all if ``None``.
    """
    present = amounts.values != NO_VALUE
    if chosen is not None:
        present &= chosen
    scale = np.array([[10.0**variable.decimals] for variable in amounts.variables])
    old, new = amounts.values / scale, after / scale
    lines: list[tuple[Fact, ...]] = []
    for at, variable in enumerate(amounts.variables):
        own = present[at]
        if not own.any():
            continue
        pairs = [
            ("mean", float(old[at][own].mean()), float(new[at][own].mean())),
            ("variance", float(old[at][own].var()), float(new[at][own].var())),
        ]
        for name, before, now in pairs:
            word = sentence(f"release_treat.amounts.{name}")
            lines.append((variable.name, word, _shown(before), _shown(now), _change(before, now)))
        for other in range(at):
            both = own & present[other]
            linked = _correlation(old[at][both], old[other][both])
            linked_now = _correlation(new[at][both], new[other][both])
            if linked is None or linked_now is None:
                continue
            name_of_other = amounts.variables[other].name
            word = sentence("release_treat.amounts.correlation", other=name_of_other)
            change = _shown(linked_now - linked)
            lines.append((variable.name, word, _shown(linked), _shown(linked_now), change))
    heads = ("variable", "measure", "before", "after", "change")
    return FactTable(
        name="amounts",
        title=sentence("release_treat.amounts.title"),
        headings=tuple(sentence(f"release_treat.amounts.{head}") for head in heads),
        rows=tuple(lines),
        note=sentence("release_treat.amounts.note"),
    )


def _correlation(first: Floats, second: Floats) -> float | None:
    if first.size < 2 or not first.std() or not second.std():
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _change(before: float, after: float) -> float | None:
    return _shown(after / before - 1) if before else None


def _shown(value: float) -> float:
    return float(f"{value:.6g}")
