"""Tables of a plan that are protected together: counted one by one, protected when all are there.

The search runs in the thread of the command, so that whoever interrupts it keeps the best that was
found so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.elsewhere import NOTHING_ELSEWHERE, CellsElsewhere
from sdcensus.model.linked.products import Closing, ProductTable, together_word
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.quantities import bytes_text
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.linked import protect_linked
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.session.publish.products import Product, spec_key
from sdcensus.session.publish.resolution import Resolved
from sdcensus.session.publish.schedule import TABLE_BYTES
from sdcensus.session.publish.workplace import Finished

#: Told a table that was protected, and the word of the tables with which it was.
Done = Callable[[TableSpec, Protected, str], None]


@dataclass(slots=True, eq=False, repr=False)
class LinkedGroup(Confidential):
    """Tables that are protected together.

    Attributes:
        specs: The tables.
        counted: What is counted for each of them.
        cubes: What was counted, by the key of what was to be counted.
    """

    specs: tuple[TableSpec, ...]
    counted: tuple[TableSpec, ...]
    cubes: dict[str, AnyCube] = field(default_factory=dict)

    @classmethod
    def of(cls, specs: Sequence[TableSpec]) -> LinkedGroup:
        """Put tables together."""
        return cls(tuple(specs), LinkedTables.to_count(specs))

    def __repr__(self) -> str:
        return f"<LinkedGroup of {len(self.specs)} tables: confidential>"

    @property
    def bytes(self) -> int:
        """About how much memory they take together."""
        return TABLE_BYTES * sum(spec.cells for spec in self.counted)


class LinkedGroups(Confidential):
    """All tables of a run that are protected together with others.

    Args:
        resolved: The plan.
        specs: The tables of the run.
    """

    __slots__ = ("_by_key", "_protected", "_resolved", "groups")

    def __init__(self, resolved: Resolved, specs: Sequence[TableSpec]) -> None:
        self._resolved = resolved
        self.groups = [LinkedGroup.of(group) for group in resolved.methods.together(specs)]
        self._by_key = {
            spec_key(spec): (group, counted)
            for group in self.groups
            for spec, counted in zip(group.specs, group.counted, strict=True)
        }
        self._protected: list[ProductTable] = []

    def __repr__(self) -> str:
        return f"<LinkedGroups: {len(self.groups)}, confidential>"

    def __contains__(self, spec: TableSpec) -> bool:
        return spec_key(spec) in self._by_key

    @property
    def bytes(self) -> int:
        """About how much memory they take while they wait for each other."""
        return sum(group.bytes for group in self.groups)

    def check_memory(self, memory: int) -> None:
        """Refuse tables that do not fit into memory together."""
        if self.bytes > memory:
            largest = max(
                (spec for group in self.groups for spec in group.specs), key=lambda spec: spec.cells
            )
            raise SpecError(
                f"The memory that may be taken ({bytes_text(memory)}) is too small: tables that are"
                f" protected together are held together, and need about {bytes_text(self.bytes)}."
                f" The largest is {largest.title!r} with {largest.cells:,} cells. Allow more"
                " memory, or protect fewer tables together."
            )

    @property
    def needs_households(self) -> bool:
        """Whether a method has to know which cells of persons are one household."""
        return any(self._resolved.method(group.specs[0]).needs_households for group in self.groups)

    def counted(self, spec: TableSpec) -> TableSpec:
        """What is counted for a table."""
        return self._by_key[spec_key(spec)][1]

    def keep(self, spec: TableSpec, cube: AnyCube) -> None:
        """Keep what was counted for a table until the others are there."""
        group, counted = self._by_key[spec_key(spec)]
        group.cubes[spec_key(counted)] = cube

    def protect(
        self, out: Callable[[], list[ProductTable]], done: Done, progress: Progress
    ) -> None:
        """Protect every group, now that all its tables are counted.

        Args:
            out: Gives what is out, earlier releases of the same tables among it.
            done: Told each table.
            progress: Told how far the search is.
        """
        for group in self.groups:
            method = self._resolved.method(group.specs[0])
            closes = method.first.closing() is Closing.SUMS
            elsewhere = self._elsewhere(group, out()) if closes else NOTHING_ELSEWHERE

            def count(spec: TableSpec, group: LinkedGroup = group) -> AnyCube:
                known = group.cubes.get(spec_key(spec))
                return self._resolved.census.tabulate(spec) if known is None else known

            linked = LinkedCubes.counted(group.specs, count, elsewhere=elsewhere)
            word = together_word(group.specs)
            for spec, protected in zip(
                group.specs, protect_linked(method, linked, progress), strict=True
            ):
                closing = method.first.closing()
                self._protected.append(
                    ProductTable.of(spec.title, protected.table, closing=closing, together=word)
                )
                done(spec, protected, word)
            group.cubes.clear()

    def _elsewhere(self, group: LinkedGroup, out: Sequence[ProductTable]) -> CellsElsewhere:
        """What is known of the cells of a group from what is out and from the rest of the plan."""
        plain = [
            ProductTable(name=spec.title, spec=spec)
            for spec in self._resolved.specs()
            if spec not in self
        ]
        return CellsElsewhere.of([*out, *plain, *self._protected], group.specs)


def counted_for(
    resolved: Resolved, groups: LinkedGroups, specs: Iterable[TableSpec]
) -> tuple[TableSpec, ...]:
    """What is counted for each of some tables.

    With the groups above its cells, under a rule about them; or with everything that tables have
    to know of each other that are protected together.
    """
    return tuple(
        groups.counted(spec)
        if spec in groups
        else GroupRule(resolved.smallest_group_of(spec)).counted(spec)
        for spec in specs
    )


def to_make(
    resolved: Resolved, finished: Mapping[str, Finished]
) -> tuple[list[Product], list[str]]:
    """What is to be made, and what of it was finished by a run that was interrupted.

    Tables that are protected together are made together: a search that ended elsewhere would not
    fit those that are there.

    Args:
        resolved: The plan.
        finished: What is finished, by name.
    """
    needed = {
        product.name: [spec_key(spec) for spec in product.specs] for product in resolved.products
    }
    missing = {name for name in needed if name not in finished}
    groups = [{spec_key(spec) for spec in group} for group in resolved.together()]
    grown = True
    while grown:
        wanted = {key for name in missing for key in needed[name]}
        keys = set().union(*(group for group in groups if group & wanted))
        more = {name for name, tables in needed.items() if keys & {*tables}} - missing
        missing |= more
        grown = bool(more)
    products = [product for product in resolved.products if product.name in missing]
    return products, [product.name for product in products if product.name in finished]


def remarks_of(products: Iterable[Finished]) -> tuple[str, ...]:
    """What methods have to say of how the numbers of products were found, each sentence once."""
    return tuple(
        dict.fromkeys(
            str(remark)
            for product in products
            for table in product.office["tables"]
            for remark in table.get("remarks", ())
        )
    )
