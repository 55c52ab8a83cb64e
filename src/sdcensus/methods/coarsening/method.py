"""Coarsening as a method: the finest version of a table that passes, with its exact counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sdcensus.errors import Refused, SpecError
from sdcensus.kernels.cells.tabulate import identity, regroup
from sdcensus.methods.coarsening.axis_versions import AxisVersions
from sdcensus.methods.coarsening.rules import (
    FewSmall,
    Rule,
    areas_at_least,
    mean_at_least,
    no_group_in_one_code,
)
from sdcensus.methods.coarsening.search import Finest, FinestVersion, VersionSearch
from sdcensus.methods.method import Int64, Method, MethodKind, member
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube, finish
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.method.parameter import AREA, Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit, Protected
from sdcensus.model.published.table import Table
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec, area_axis, geography_axes


class Collapse(StrEnum):
    """What is made coarser: levels of hierarchies only, or single codes as well."""

    LEVELS = "levels"
    CODES = "codes"


class Groups(StrEnum):
    """Whether a row or column may have all its units in one of several codes."""

    ALLOW = "allow"
    AVOID = "avoid"


@dataclass(frozen=True, slots=True, repr=False)
class Coarsening(Method):
    """The finest version of a table that passes rules on true counts; its counts are exact.

    Attributes:
        minimum: Counts from 1 to below this are small.
        small_share: The largest share of small ones among the cells that are not empty.
        mean_cell_size: How many units a cell holds on average, at least.
        area_population: How many units an area has that is not empty, at least.
        area: The variable whose codes are areas; the geography of the table by default.
        whole_groups: Whether a row or column may have all its units in one code.
        collapse: What is made coarser.
        ordered: Variables whose order of codes means something, besides those of numbers.
        only: The variables that are made coarser; all by default.
        finest: What makes a version finer.
        rules: Further rules, each a function of the counts of a version.
    """

    minimum: int = 3
    _: KW_ONLY
    small_share: float | Fraction = 0
    mean_cell_size: float | Fraction | None = None
    area_population: int | None = None
    area: str | None = None
    whole_groups: Groups | str = Groups.ALLOW
    collapse: Collapse | str = Collapse.CODES
    ordered: Sequence[str] = ()
    only: Sequence[str] = ()
    finest: Finest | str = Finest.CELLS
    rules: tuple[Rule, ...] = ()

    name: ClassVar[str] = "coarsening"
    kind: ClassVar[MethodKind] = MethodKind.WITHHOLDS
    summary: ClassVar[str] = "The finest version of a table that passes rules, with exact counts."
    shows_truth: ClassVar[bool] = True
    changes_codes: ClassVar[bool] = True
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter("minimum", ValueKind.WHOLE, "Smaller counts are small.", least=1, default=3),
        Parameter(
            "small_share",
            ValueKind.SHARE,
            "The largest share of small counts among the cells that are not empty.",
            default=0,
        ),
        Parameter(
            "mean_cell_size",
            ValueKind.NUMBER,
            "How many units per cell are enough, on average.",
            least=0,
        ),
        Parameter(
            "area_population",
            ValueKind.WHOLE,
            "How many units an area has that is not empty, at least.",
            least=1,
        ),
        replace(AREA, needs=("area_population",)),
        Parameter(
            "whole_groups",
            ValueKind.WORD,
            "Whether all units of a row or column may have one code.",
            words=tuple(Groups),
            called="treatment of whole groups",
            default=Groups.ALLOW,
        ),
        Parameter(
            "collapse",
            ValueKind.WORD,
            "What is made coarser.",
            words=tuple(Collapse),
            called="kind of coarsening",
            default=Collapse.CODES,
        ),
        Parameter(
            "ordered", ValueKind.VARIABLES, "Variables whose order of codes means something."
        ),
        Parameter("only", ValueKind.VARIABLES, "The variables that are made coarser."),
        Parameter(
            "finest",
            ValueKind.WORD,
            "What makes a version finer.",
            words=tuple(Finest),
            called="measure of fineness",
            default=Finest.CELLS,
        ),
    )

    def __post_init__(self) -> None:
        if type(self.minimum) is not int or self.minimum < 1:
            raise SpecError("The smallest count that is shown is a whole number, 1 or more.")
        if not 0 <= self.small_share <= 1:
            raise SpecError("The share of small counts is a number between 0 and 1.")
        if self.mean_cell_size is not None and not self.mean_cell_size >= 0:
            raise SpecError("The mean cell size is a number, 0 or more.")
        for field, options, what in (
            ("whole_groups", Groups, "treatment of whole groups"),
            ("collapse", Collapse, "kind of coarsening"),
            ("finest", Finest, "measure of fineness"),
        ):
            object.__setattr__(self, field, member(options, what, getattr(self, field)))
        object.__setattr__(self, "ordered", tuple(self.ordered))
        object.__setattr__(self, "only", tuple(self.only))

    def __repr__(self) -> str:
        return f"<Coarsening by {self.collapse}: confidential rules>"

    @property
    def largest_deviation(self) -> int | None:
        """What is shown is exact."""
        return 0

    @property
    def smallest_shown(self) -> int | None:
        """The minimum."""
        return self.minimum

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        size = self.mean_cell_size
        return {
            "minimum": self.minimum,
            "small_share": str(self.small_share),
            "mean_cell_size": None if size is None else str(size),
            "area_population": self.area_population,
            "area": self.area,
            "whole_groups": str(self.whole_groups),
            "collapse": str(self.collapse),
            "ordered": sorted(self.ordered),
            "only": sorted(self.only),
            "finest": str(self.finest),
            "rules": len(self.rules),
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            unbiased=True,
            bounded=True,
            zeros_kept=True,
            zeros_are_true=True,
            never_negative=True,
            blocked_counts_never_appear=not self.small_share,
            consistent=True,
            additive=True,
            codes_put_together=True,
            cautions=(
                sentence("coarsening.exact"),
                sentence("coarsening.choice"),
                sentence("coarsening.alone"),
            ),
        )

    def protect(self, cube: AnyCube) -> Protected:
        """Publish the finest version that passes; its specification is its own."""
        self.check(cube)
        whole = cube.held_for(f"the method {self.name!r}")
        coarse, finest = self._coarser(whole)
        protected = self.finished(coarse, Table(coarse.spec, coarse.count.copy()))
        how = "every version was looked at" if finest.proven else "not every version was looked at"
        if finest.ended:
            how += ", and the search ended early, since there is so much to look at"
        remark = f"The finest version that passes has {coarse.spec.cells:,} cells; {how}."
        return replace(protected, audit=replace(protected.audit, remarks=(remark,)))

    def audit(self, cube: AnyCube) -> Audit:
        """True counts; no key was used."""
        return Audit(cube)

    def _coarser(self, cube: Cube) -> tuple[Cube, FinestVersion]:
        spec = cube.spec
        corner: Any = (*interior(spec), ...)
        counts = cube.count[corner].reshape(spec.base_shape)
        if (counts < 0).any():
            raise SpecError(f"{spec.title}: a count is below 0. Tables of counts start at 0.")
        axes = self._axes(spec, counts)
        search = VersionSearch(
            counts, axes, self._all_rules(), area=self._area(spec), finest=Finest(self.finest)
        )
        finest = search.find()
        if finest is None:
            raise Refused(
                f"{spec.title}: no version of the table passes the rules, not even"
                f" {'one that shows the others alone' if self.only else 'its total'}."
                " Loosen the rules, let more variables become coarser, or do not publish it."
            )
        shown = [axis.shown(each) for axis, each in zip(axes, finest.version, strict=True)]
        coarse = replace(spec.with_axes(axis for axis in shown if axis is not None), name=spec.name)
        groups = [
            (each.size, axis.position(each))
            for axis, each in zip(axes, finest.version, strict=True)
        ]
        return _summed(cube, corner, coarse, groups), finest

    def _axes(self, spec: TableSpec, counts: Int64) -> list[AxisVersions]:
        known = {axis.variable.name for axis in spec.axes}
        for variable in (*self.only, *self.ordered):
            if variable not in known:
                spec.axis(variable)  # says which axes there are
        versions = []
        for at, axis in enumerate(spec.axes):
            totals = counts.sum(axis=tuple(other for other in range(counts.ndim) if other != at))
            versions.append(
                AxisVersions(
                    axis,
                    totals,
                    ordered=axis.variable.name in self.ordered or _is_ordered(axis),
                    codes=self.collapse is Collapse.CODES,
                    stays=bool(self.only) and axis.variable.name not in self.only,
                )
            )
        return versions

    def _area(self, spec: TableSpec) -> int | None:
        if self.area_population is None:
            return None
        if self.area is None and not geography_axes(spec):
            return None
        return area_axis(spec, self.area)

    def _all_rules(self) -> list[Rule]:
        # A share is what was written: 0.1 is a tenth, not the float nearest to it.
        rules: list[Rule] = [FewSmall(self.minimum, Fraction(str(self.small_share)))]
        if self.mean_cell_size is not None:
            rules.append(mean_at_least(Fraction(str(self.mean_cell_size))))
        if self.area_population is not None:
            rules.append(areas_at_least(self.area_population))
        if self.whole_groups is Groups.AVOID:
            rules.append(no_group_in_one_code())
        return [*rules, *self.rules]


def _is_ordered(axis: Axis) -> bool:
    """Whether the codes of an axis stand for numbers."""
    valid = [code for code in axis.levels[0].codes if not code.is_missing]
    return bool(valid) and all(code.lower is not None for code in valid)


def _summed(cube: Cube, corner: Any, spec: TableSpec, groups: Sequence[tuple[int, Int64]]) -> Cube:
    """The cube of a coarser table from the interior of a finer one.

    Args:
        cube: The finer one.
        corner: Where its interior is.
        spec: The coarser table.
        groups: For each axis how many groups it has, and the group of each of its codes; one
            group where it is left out.
    """
    space = cube.origin.key_space
    sums = {}
    for name, array, combine in cube.values.parts(space):
        inner = np.asarray(array[corner]).reshape(cube.spec.base_shape)
        empty = identity(combine, inner.dtype)
        for at, (size, group) in enumerate(groups):
            inner = regroup(inner, at, group, size, combine, empty)
        sums[name] = inner.reshape(spec.base_shape)
    return finish(spec, cube.origin, sums)
