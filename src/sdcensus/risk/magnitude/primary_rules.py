"""Cells of a table of sums of which an office says that they may not be shown as they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.primary_rules import PrimaryRule, PrimaryRules

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SensitiveByRule(Confidential):
    """Which cells of a table are sensitive, by rule.

    Attributes:
        by_rule: For each rule a mask of the cells that it names, in the shape of the table.
    """

    by_rule: dict[PrimaryRule, Mask]

    def __repr__(self) -> str:
        return f"<SensitiveByRule {', '.join(self.by_rule)}: confidential>"

    @property
    def mask(self) -> Mask:
        """Cells that any rule names."""
        return reduce(np.logical_or, self.by_rule.values())

    @property
    def counts(self) -> dict[PrimaryRule, int]:
        """How many cells each rule names; a cell may be named by several."""
        return {name: int(mask.sum()) for name, mask in self.by_rule.items()}


def sensitive_cells(cube: Cube, rules: PrimaryRules) -> SensitiveByRule:
    """Which cells of a table of sums are sensitive by which rule.

    In a weighted sum a contribution counts as often as its weight says.

    Args:
        cube: A table of sums, tabulated with its contributions.
        rules: The rules of the office.

    Raises:
        SpecError: It is no table of sums, or was tabulated without what the rules look at.
    """
    spec, contributions = cube.spec, cube.values.contributions
    if not spec.measure.is_sum or contributions is None:
        raise SpecError(
            f"{spec.title}: rules about contributions are for tables of sums. Tabulate it by its"
            " measure, such as sum(income)."
        )
    decimals = spec.weight_decimals if spec.measure.is_weighted else None
    return SensitiveByRule(rules.masks(contributions, decimals))
