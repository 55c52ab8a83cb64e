"""Building blocks: any grouping of codes as a sum of published values, with its error stated.

Only declared codes have noise of their own. If every group that somebody thinks of had fresh
noise, groups would be an endless supply of looks at the same people, and their mean the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.method import AnySecret, Kind, Method
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.interior import interior
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.perturbation.rows import Perturbation
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.grouped_table import GroupedAxis, GroupedTable
from sdcensus.model.published.protected import Audit, Protected
from sdcensus.model.published.table import Table
from sdcensus.model.spec.area_axis import area_axis
from sdcensus.model.spec.axis import Axis, Block

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
#: For each variable the groups by name, each a list of codes that the table shows.
Groups = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildingBlocks:
    """How groups are put together from published values.

    Attributes:
        minimum_population: A group of areas whose published population is below this is refused.
            Published values only are read.
        subtraction: Whether a group may be a larger code less others, where that takes fewer
            values. Sums can then be below 0, and are left as they are.
    """

    minimum_population: int = 0
    subtraction: bool = False

    name: ClassVar[str] = "building-blocks"

    def __post_init__(self) -> None:
        if type(self.minimum_population) is not int or self.minimum_population < 0:
            raise SpecError("The smallest population is a whole number, 0 or more.")
        if not isinstance(self.subtraction, bool):
            raise SpecError("Subtraction is allowed (True) or not (False).")

    def claims(self) -> Claims:
        """What is promised of sums of published values, beside what holds for each of them."""
        return Claims(
            never_negative=not self.subtraction,
            cautions=(
                "A sum has the deviations of all its parts. Where a code is declared for what you"
                " need, take that code.",
                "A table that shows other levels may make the same group of other values.",
            ),
        )

    def group(self, table: Table, groups: Groups, *, language: str | None = None) -> GroupedTable:
        """A published table on groups of its codes.

        Args:
            table: The published table.
            groups: ``{"ed": {"north": ["P01", "P02"], ...}}``: for each grouped variable the
                groups by name, each a list of codes of any level that the table shows. Other
                axes, and totals, stay as they are.
            language: The language of the labels.
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
                matrix = self._matrix(axis, chosen)
            axes.append(_grouped_axis(axis, chosen, language))
            sums = np.moveaxis(np.tensordot(matrix, sums, (1, at)), 0, at)
            flagged = np.moveaxis(np.tensordot(np.abs(matrix), flagged, (1, at)), 0, at) > 0
            parts = np.multiply.outer(parts, np.abs(matrix).sum(axis=1))
        self._check_population(table, groups)
        flags = np.where(flagged, _flag_of(table), np.uint8(0)) if flagged.any() else None
        published = np.where(flagged, 0, sums).astype(np.int64)
        return GroupedTable(spec, tuple(axes), published, np.asarray(parts), flags)

    def _matrix(self, axis: Axis, chosen: Mapping[str, Sequence[str]]) -> Int64:
        """For each group what each position of the axis counts: 1, 0 or -1; totals stay."""
        given: object = chosen
        if not isinstance(given, Mapping) or not given:
            raise SpecError(
                f"{axis.variable.name!r} has no groups. Leave it out, or name some:"
                " {group: [code, ...]}."
            )
        if axis.total and axis.codes[-1].code in chosen:
            raise SpecError(
                f"{axis.codes[-1].code!r} is the total of {axis.variable.name!r}. Give the group"
                " another name."
            )
        rows = [self._cover(axis, name, codes) for name, codes in chosen.items()]
        if axis.total:
            rows.append(np.eye(len(axis.codes), dtype=np.int64)[-1])
        return np.stack(rows)

    def _cover(self, axis: Axis, name: str, codes: Sequence[str]) -> Int64:
        """The fewest published codes that make a group."""
        if isinstance(codes, str) or not codes:
            raise SpecError(f"The group {name!r} of {axis.variable.name!r} needs a list of codes.")
        given = np.zeros(len(axis.codes), dtype=np.int64)
        members = np.zeros(axis.base_size, dtype=np.int64)
        for code in codes:
            position = axis.position(str(code))
            given[position] += 1
            members += _members(axis, position)
        if (members > 1).any() or (given > 1).any():
            raise SpecError(
                f"The group {name!r} of {axis.variable.name!r} counts some records twice: one of"
                " its codes is named twice or lies in another. Name each part once."
            )
        covered = fewest_codes(axis, members > 0, subtraction=self.subtraction)
        if covered is None or np.abs(covered).sum() >= given.sum():
            return given
        return covered

    def _check_population(self, table: Table, groups: Groups) -> None:
        if not self.minimum_population:
            return
        at = area_axis(table.spec, None)
        axis = table.spec.axes[at]
        chosen = groups.get(axis.variable.name)
        if chosen is None:
            return
        population = np.moveaxis(table.published, at, 0)[_whole(table, at)]
        for name, codes in chosen.items():
            if int(self._cover(axis, name, codes) @ population) < self.minimum_population:
                raise Refused(
                    f"The group {name!r} of {axis.variable.name!r} has fewer than"
                    f" {self.minimum_population:,} published {table.spec.of.plural}. Add areas to"
                    " it."
                )


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
    labels = {at: one.label.show(language) or one.code for at, one in enumerate(axis.codes)}
    if chosen is None:
        codes = tuple(one.code for one in axis.codes)
        return GroupedAxis(axis.variable.name, codes, tuple(labels.values()), grouped=False)
    names, words = list(chosen), list(chosen)
    if axis.total:
        names.append(axis.codes[-1].code)
        words.append(labels[len(axis.codes) - 1])
    return GroupedAxis(axis.variable.name, tuple(names), tuple(words), grouped=True)


def _members(axis: Axis, position: int) -> Int64:
    """Which base groups a position of an axis holds."""
    block = next(one for one in reversed(axis.blocks) if one.start <= position)
    return np.asarray(block.group == position - block.start).astype(np.int64)


def fewest_codes(axis: Axis, wanted: Mask, *, subtraction: bool) -> Int64 | None:
    """The fewest codes of nested levels that make a set of base groups; ``None`` if none do.

    From the finest level up, each code is either taken whole, or made of what lies in it; with
    subtraction also as itself less the rest of it.
    """
    chain = _nested(axis.blocks)
    finest = chain[0]
    parts = np.zeros((finest.size, len(axis.codes)), dtype=np.int64)
    rest = np.zeros_like(parts)  # the same for everything in the code that is not wanted
    for code in range(finest.size):
        inside = finest.group == code
        if wanted[inside].any() and not wanted[inside].all():
            return None
        held = bool(inside.any())
        parts[code, finest.start + code] = held and bool(wanted[inside].all())
        rest[code, finest.start + code] = held and not wanted[inside].any()
    for fine, coarse in pairwise(chain):
        above = np.zeros((coarse.size, len(axis.codes)), dtype=np.int64)
        without = np.zeros_like(above)
        parents = np.zeros(fine.size, dtype=np.int64) - 1
        parents[fine.group] = coarse.group
        for code in range(coarse.size):
            children = parents == code
            made, left = parts[children].sum(axis=0), rest[children].sum(axis=0)
            whole = np.zeros(len(axis.codes), dtype=np.int64)
            whole[coarse.start + code] = 1
            above[code] = _shorter(made, whole - left, subtraction or not left.any())
            without[code] = _shorter(left, whole - made, subtraction or not made.any())
        parts, rest = above, without
    return np.asarray(parts.sum(axis=0))


def _shorter(made: Int64, instead: Int64, allowed: bool) -> Int64:
    """The shorter of two ways to make the same set; nothing is the shortest."""
    if not made.any() or not allowed:
        return made
    return instead if np.abs(instead).sum() < np.abs(made).sum() else made


def _nested(blocks: Sequence[Block]) -> list[Block]:
    """Blocks of which each lies in the next, from the finest on."""
    chain = [blocks[0]]
    for block in blocks[1:]:
        held = np.zeros(chain[-1].size, dtype=np.int64)
        held[chain[-1].group] = block.group
        if (held[chain[-1].group] == block.group).all():
            chain.append(block)
    return chain


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
    kind: ClassVar[Kind] = Kind.PERTURBS

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

    def protect(self, cube: Cube | SparseCube) -> Protected:
        """Publish small areas by the method, large ones exactly."""
        self.check(cube)
        done = self.method.protect(cube)
        if not isinstance(cube, Cube) or not isinstance(done.table, Table):
            raise SpecError(f"The method {self.name!r} needs the whole table.")
        exact = self.exact_cells(cube)
        published, flags = done.table.published.copy(), done.table.flags
        published[exact] = cube.count[exact]
        if flags is not None:
            flags = flags.copy()
            flags[exact] = 0
        table = replace(done.table, published=published, flags=flags)
        audit = Audit(cube, done.audit.effective_keys, ((self.method.name, done.table),))
        return Protected(table, self.provenance(cube), audit)

    def exact_cells(self, cube: Cube) -> Mask:
        """The cells of large areas, which are published as they are; confidential."""
        at = area_axis(cube.spec, self.area)
        counts = np.moveaxis(cube.count, at, 0)
        others = cube.spec.with_axes(one for on, one in enumerate(cube.spec.axes) if on != at)
        inside: Any = (slice(None), *interior(others))
        large = counts[inside].reshape(len(counts), -1).sum(axis=1) >= self.population
        # Only areas of the finest level: a larger area less its exact parts would be the rest.
        large[cube.spec.axes[at].base_size :] = False
        exact = np.zeros(cube.shape, dtype=bool)
        np.moveaxis(exact, at, 0)[large] = True
        return exact
