"""Building blocks: any grouping of codes as a sum of published values, with its error stated.

Only declared codes have noise of their own. If every group that somebody thinks of had fresh
noise, groups would be an endless supply of looks at the same people, and their mean the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, SpecError, UnknownName
from sdcensus.methods.method import AnySecret, Method, MethodKind
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.grouped_table import GroupedAxis, GroupedTable
from sdcensus.model.published.protected import Audit, Protected
from sdcensus.model.published.table import Table
from sdcensus.model.spec.axis import Axis, make_axis, several_levels
from sdcensus.model.spec.covers import (
    WHOLE,
    Part,
    codes_by_name,
    covering,
    leaves_of_part,
    needed_levels,
    shown_position,
)
from sdcensus.model.spec.table_spec import area_axis

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
#: For each variable the groups by name, each a list of codes.
Groups = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildingBlocks:
    """How groups are put together from published values: of the fewest declared codes.

    Attributes:
        minimum_population: A group of areas whose published population is below this is refused.
            Published values only are read.
    """

    minimum_population: int = 0

    name: ClassVar[str] = "building-blocks"

    def __post_init__(self) -> None:
        if type(self.minimum_population) is not int or self.minimum_population < 0:
            raise SpecError("The smallest population is a whole number, 0 or more.")

    def claims(self) -> Claims:
        """What is promised of sums of published values, beside what holds for each of them."""
        return Claims(
            never_negative=True,
            cautions=(
                "A sum has the deviations of all its parts. Where a code is declared for what you"
                " need, take that code.",
            ),
        )

    def group(self, table: Table, groups: Groups, *, language: str | None = None) -> GroupedTable:
        """A published table on groups of its codes.

        Args:
            table: The published table. It shows every code that the groups are made of.
            groups: ``{"ed": {"north": ["P01", "P02"], ...}}``: for each grouped variable the
                groups by name, each a list of codes of any of its levels. Other axes, and totals,
                stay as they are.
            language: The language of the labels.

        Raises:
            SpecError: A group is no set of codes, or the table does not show what it is made of.
        """
        given: object = table
        if not isinstance(given, Table):
            raise SpecError(
                "Groups are sums of a published table: blocks.group(protected.table, {...})."
            )
        spec = table.spec
        for variable in groups:
            spec.position(variable)
        sums: Any = table.published
        flagged: Any = np.zeros(spec.shape, bool) if table.flags is None else table.flags != 0
        parts: Any = np.ones((), dtype=np.int64)
        axes = []
        for at, axis in enumerate(spec.axes):
            chosen = groups.get(axis.variable.name)
            matrix = np.eye(len(axis.codes), dtype=np.int64)
            if chosen is not None:
                matrix = _matrix(axis, chosen)
            axes.append(_grouped_axis(axis, chosen, language))
            sums = np.moveaxis(np.tensordot(matrix, sums, (1, at)), 0, at)
            flagged = np.moveaxis(np.tensordot(matrix, flagged, (1, at)), 0, at) > 0
            parts = np.multiply.outer(parts, matrix.sum(axis=1))
        self._check_population(table, groups)
        flags = np.where(flagged, _flag_of(table), np.uint8(0)) if flagged.any() else None
        published = np.where(flagged, 0, sums).astype(np.int64)
        return GroupedTable(spec, tuple(axes), published, np.asarray(parts), flags)

    def _check_population(self, table: Table, groups: Groups) -> None:
        if not self.minimum_population:
            return
        at = area_axis(table.spec, None)
        axis = table.spec.axes[at]
        chosen = groups.get(axis.variable.name)
        if chosen is None:
            return
        population = np.moveaxis(table.published, at, 0)[_whole(table, at)]
        for name, members in zip(chosen, _matrix(axis, chosen), strict=False):
            if int(members @ population) < self.minimum_population:
                raise Refused(
                    f"The group {name!r} of {axis.variable.name!r} has fewer than"
                    f" {self.minimum_population:,} published {table.spec.of.plural}. Add areas to"
                    " it."
                )


def axis_for(axis: Axis, groups: Mapping[str, Sequence[str]]) -> Axis:
    """The axis with every level, and the total, that groups of its codes are made of."""
    levels, total = list(axis.levels), axis.total
    for parts in _parts(axis, groups).values():
        hidden = [part for part in parts if _position(axis, part) is None]
        levels += needed_levels(axis.variable, hidden)
        total = total or WHOLE in hidden
    return make_axis(axis.variable, levels, total=total)


def _position(axis: Axis, part: Part) -> int | None:
    """Where an axis shows a declared code, under whatever name."""
    return shown_position(axis, leaves_of_part(axis.variable, part))


def _parts(axis: Axis, groups: Mapping[str, Sequence[str]]) -> dict[str, tuple[Part, ...]]:
    """The fewest declared codes that each group is made of."""
    variable = axis.variable
    given: object = groups
    if not isinstance(given, Mapping) or not given:
        raise SpecError(
            f"{variable.name!r} has no groups. Leave it out, or name some: {{group: [code, ...]}}."
        )
    known = codes_by_name(axis)
    parts = {}
    for name, codes in groups.items():
        if isinstance(codes, str) or not codes:
            raise SpecError(f"The group {name!r} of {variable.name!r} needs a list of codes.")
        wanted = np.zeros(len(variable.codes), dtype=bool)
        for code in codes:
            if str(code) in known.unclear:
                raise SpecError(several_levels(str(code), known.unclear[str(code)]))
            if str(code) not in known.codes:
                where = f"Axis {axis.name!r}: "
                raise UnknownName("code", str(code), known=list(known.codes), where=where)
            level, at = known.codes[str(code)]
            leaves = level.group_array == at
            if (wanted & leaves).any():
                raise SpecError(
                    f"The group {name!r} of {variable.name!r} counts some records twice: one of"
                    " its codes is named twice or lies in another. Name each part once."
                )
            wanted |= leaves
        if not wanted.any():
            raise SpecError(f"The codes of the group {name!r} stand for nothing.")
        parts[name] = covering(variable).cover(wanted) or ()
    return parts


def _matrix(axis: Axis, groups: Mapping[str, Sequence[str]]) -> Int64:
    """For each group, and the total, which positions of the axis it is the sum of."""
    if axis.total and axis.codes[-1].code in groups:
        raise SpecError(
            f"{axis.codes[-1].code!r} is the total of {axis.variable.name!r}. Give the group"
            " another name."
        )
    rows = np.zeros((len(groups) + axis.total, len(axis.codes)), dtype=np.int64)
    for row, (name, parts) in zip(rows, _parts(axis, groups).items(), strict=False):
        for part in parts:
            position = _position(axis, part)
            if position is None:
                raise SpecError(
                    f"The group {name!r} of {axis.variable.name!r} is made of codes that the table"
                    f" does not show. Make the table by {axis_for(axis, groups).name}."
                )
            row[position] = 1
    if axis.total:
        rows[-1, -1] = 1
    return rows


def _whole(table: Table, at: int) -> tuple[Any, ...]:
    """All areas, at the total of every other axis."""
    index: list[Any] = [slice(None)]
    for other, axis in enumerate(table.spec.axes):
        if other == at:
            continue
        if not axis.total:
            raise SpecError(
                f"{table.spec.title}: the population of areas cannot be read from the table,"
                f" because {axis.variable.name!r} has no total. Ask for it."
            )
        index.append(len(axis.codes) - 1)
    return tuple(index)


def _flag_of(table: Table) -> np.uint8:
    """The flag of a sum of which a part has none: the most serious one of the table."""
    return np.uint8(0) if table.flags is None else np.uint8(table.flags.max())


def _grouped_axis(
    axis: Axis, chosen: Mapping[str, Sequence[str]] | None, language: str | None
) -> GroupedAxis:
    labels = {at: code.label.show(language) or code.code for at, code in enumerate(axis.codes)}
    if chosen is None:
        codes = tuple(code.code for code in axis.codes)
        return GroupedAxis(axis.variable.name, codes, tuple(labels.values()), grouped=False)
    names, words = list(chosen), list(chosen)
    if axis.total:
        names.append(axis.codes[-1].code)
        words.append(labels[len(axis.codes) - 1])
    return GroupedAxis(axis.variable.name, tuple(names), tuple(words), grouped=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LargeAreasExact(Method):
    """Protect a table, except for areas of so many people, which are published exactly.

    The ABS proposed it in 2005 for the blocks of which user-defined areas are made. It reads true
    populations, and it publishes exact numbers of any size inside a large area.

    Attributes:
        method: What protects all other areas.
        population: From how many people on an area is published exactly, such as 300. Only areas
            of the finest level in the table; larger ones are protected.
        area: The variable whose codes are the areas; the first geography by default.
    """

    method: Method
    population: int
    area: str | None = None

    name: ClassVar[str] = "large-areas-exact"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise SpecError("Areas below the population need a method, such as CellKey.")
        if type(self.population) is not int or self.population < 1:
            raise SpecError("The population of a large area is a whole number, 1 or more.")

    def __repr__(self) -> str:
        return f"<LargeAreasExact with {self.method.name}: confidential parameters>"

    @property
    def secret(self) -> AnySecret | None:
        """The secret of the method."""
        return self.method.secret

    @property
    def key_version(self) -> int:
        """The version of the series of published numbers."""
        return self.method.key_version

    @property
    def noise(self) -> Perturbation | None:
        """That of the method; confidential."""
        return self.method.noise

    @property
    def has_exact_cells(self) -> bool:
        """Those of large areas."""
        return True

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        own = {"population": self.population, "area": self.area}
        return {**own, "of": {"name": self.method.name, **self.method.parameters()}}

    def claims(self) -> Claims:
        """What holds for exact and for protected cells alike."""
        before = self.method.claims()
        return replace(
            before,
            blocked_counts_never_appear=False,
            consistent=False,
            by_definition=False,
            additive=False,
            distribution=False,
            takes_sparse=False,
            cautions=(
                *before.cautions,
                "Small counts inside large areas are published exactly, and the same people have"
                " another number in tables by other areas.",
            ),
        )

    def protect(self, cube: AnyCube) -> Protected:
        """Publish small areas by the method, large ones exactly."""
        self.check(cube)
        done = self.method.protect(cube)
        purpose = f"the method {self.name!r}"
        cube, whole = cube.held_for(purpose), done.table.held_for(purpose)
        exact = self.exact_cells(cube)
        published, flags = whole.published.copy(), whole.flags
        published[exact] = cube.count[exact]
        if flags is not None:
            flags = flags.copy()
            flags[exact] = 0
        table = replace(whole, published=published, flags=flags)
        audit = Audit(cube, done.audit.effective_keys, ((self.method.name, done.table),))
        return Protected(table, self.provenance(cube), audit)

    def exact_cells(self, cube: Cube) -> Mask:
        """The cells of large areas, which are published as they are; confidential."""
        at = area_axis(cube.spec, self.area)
        counts = np.moveaxis(cube.count, at, 0)
        others = cube.spec.with_axes(axis for on, axis in enumerate(cube.spec.axes) if on != at)
        inside: Any = (slice(None), *interior(others))
        large = counts[inside].reshape(len(counts), -1).sum(axis=1) >= self.population
        # Only areas of the finest level: a larger area less its exact parts would be the rest.
        large[cube.spec.axes[at].base_size :] = False
        exact = np.zeros(cube.shape, dtype=bool)
        np.moveaxis(exact, at, 0)[large] = True
        return exact
