"""What every way to protect a table has in common.

A method is a frozen object of parameters. It looks at true counts only in ``protect``, and what it
gives back keeps public and confidential apart. A step works on a published table and never sees
the truth, so it cannot give anything away that was not published before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sdcensus._version import __version__
from sdcensus.errors import SecretError, SpecError
from sdcensus.methods.listed_cells import ListedCells, mask_of
from sdcensus.methods.refusals import refuse_unsuitable
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.cube.sparse_cube import LARGEST_GRID, AnyCube, SparseCube
from sdcensus.model.cube.sparse_stream import map_cells
from sdcensus.model.cube.streamed_cells import StreamedCells
from sdcensus.model.inference.knowledge import DeviationSupport
from sdcensus.model.method.parameter import Asked, Parameter, ValueKind
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.closing import Closing
from sdcensus.model.published.delivery import DeliveredAxis, delivered_axis
from sdcensus.model.published.protected import Audit, Protected
from sdcensus.model.published.provenance import Provenance, fingerprint
from sdcensus.model.published.table import AnyTable, SparseTable, Table
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Option, option

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
AnySecret = Secret | SubSecret


#: What everything that draws by keys takes.
KEY_VERSION = Parameter(
    "key_version",
    ValueKind.WHOLE,
    "The version of the series of published numbers.",
    least=1,
    default=1,
)


def member(options: type[Option], what: str, value: Option | str | None) -> Option | None:
    """The option of that name; ``None`` stays."""
    return None if value is None else option(options, what, value)


def check_secret(secret: object, method: str) -> None:
    """Refuse what is no secret, such as the path of one."""
    if secret is not None and not isinstance(secret, Secret | SubSecret):
        raise SecretError(f"{method} needs a secret, not its file: sc.read_secret(FILE).")


def check_key_version(key_version: object) -> None:
    """Refuse what is no version of keys."""
    if type(key_version) is not int or key_version < 0:
        raise SpecError("The version of keys is a whole number, 0 or more.")


class MethodKind(StrEnum):
    """What a method or step does to a table; pipelines are checked by it."""

    PERTURBS = "adds noise"
    ROUNDS = "rounds"
    ADDS_UP = "makes totals add up"
    WITHHOLDS = "withholds cells"


class Method(ABC):
    """A way from a cube to a published table."""

    __slots__ = ()

    name: ClassVar[str]
    kind: ClassVar[MethodKind]
    summary: ClassVar[str] = ""  # what it does, in one sentence
    #: What may be said about it: command line, plans, help and documents follow from this.
    takes: ClassVar[tuple[Parameter, ...]] = ()
    #: Whether it publishes true counts, as they are or coarsened: they narrow down the noise that
    #: other tables have.
    shows_truth: ClassVar[bool] = False
    takes_sums: ClassVar[bool] = False  # whether it protects sums of amounts
    for_sums: ClassVar[bool] = False  # whether it protects nothing else
    for_samples: ClassVar[bool] = False  # whether it protects estimates from samples only
    changes_codes: ClassVar[bool] = False  # whether it shows other codes than were asked for
    #: Grows when, and only when, the same parameters publish other numbers than before.
    version: ClassVar[int] = 1

    @classmethod
    def build(cls, asked: Asked) -> Method:
        """The method with what somebody said about it."""
        return cls(**asked.values)

    @classmethod
    def closing(cls) -> Closing:
        """What it asks of all other products for the cells that it withholds."""
        return Closing.CELLS if cls.kind is MethodKind.WITHHOLDS else Closing.NOTHING

    @property
    def needs_households(self) -> bool:
        """Whether it has to know which cells of persons are one household."""
        return False

    @property
    def secret(self) -> AnySecret | None:
        """The secret with which it draws; ``None`` where it draws nothing of its own."""
        return None

    @property
    def key_version(self) -> int:
        """The version of the series of published numbers."""
        return 1

    @property
    def takes_weights(self) -> bool:
        """Whether weighted counts can be protected."""
        return False

    @property
    def needs_contributions(self) -> ContributionNeeds | None:
        """What it has to know of the contributions to sums; ``None`` where it looks at none."""
        return None

    @property
    def needs_replicates(self) -> bool:
        """Whether it has to know the sampling errors of estimates."""
        return False

    @property
    def largest_deviation(self) -> int | None:
        """How far a count can be moved that it looks at; ``None`` where it names no limit.

        Confidential. Sums of such counts may be farther off: see the claim ``bounded``.
        """
        return None

    @property
    def smallest_shown(self) -> int | None:
        """Smaller counts are withheld or put together; ``None`` where there is no such rule."""
        return None

    @property
    def described_name(self) -> str:
        """How messages call it."""
        return self.name

    @property
    def first(self) -> Method:
        """The method that sees true counts, without steps after it."""
        return self

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is done to the published table afterwards."""
        return ()

    @property
    def exempt_tables(self) -> tuple[TableSpec, ...]:
        """Tables whose cells are published exactly wherever they appear."""
        return ()

    def exempting(self, tables: Sequence[TableSpec]) -> Method | None:
        """The same, publishing the cells of these tables exactly as well; ``None`` if it cannot."""
        return None

    # What an intruder is taken to know. A method that says nothing here is taken to be known by
    # the largest change in the table at hand.

    @property
    def noise(self) -> Perturbation | None:
        """By which distribution it changes the cells that it looks at; confidential."""
        return None

    @property
    def has_own_noise(self) -> bool:
        """Whether every cell, totals included, has noise of its own by that distribution."""
        return False

    @property
    def variance(self) -> float | None:
        """That of large counts, where every cell has noise of its own but by no distribution."""
        return None

    @property
    def scheme(self) -> str | None:
        """The published scheme that it is, if it is one and nothing more."""
        return None

    @property
    def support(self) -> DeviationSupport | None:
        """Which counts lead to which value, where that says more than the largest deviation."""
        return None

    @property
    def has_exact_cells(self) -> bool:
        """Whether it publishes some cells as they are."""
        return bool(self.exempt_tables)

    def exempt_cells(self, spec: TableSpec) -> Numbers:
        """Cells of a table that are published exactly, as numbers in the order of its cells."""
        return np.zeros(0, dtype=np.uint64)

    def exact_cells(self, cube: Cube) -> Mask:
        """Cells that are known to be published as they are, exempt ones among them."""
        return mask_of(self.exempt_cells(cube.spec), cube.spec)

    def chances_between(self, cube: Cube, lower: Int64, upper: Int64) -> Float64 | None:
        """For each cell the chance, over all keys, to be published between two bounds."""
        return None

    def withheld_below(self, deviation: int) -> int | None:
        """The published value below which cells are withheld; ``None`` where none is.

        Args:
            deviation: The largest change, for a rule that looks at true counts.
        """
        return None

    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers, as plain values; confidential."""

    @abstractmethod
    def claims(self) -> Claims:
        """What the published numbers are promised to be."""

    @abstractmethod
    def protect(self, cube: AnyCube) -> Protected:
        """Publish a cube."""

    def effective_keys(self, key: UInt32) -> UInt32:
        """The keys that are really looked up, for the audit."""
        return key

    def check(self, cube: AnyCube) -> None:
        """Refuse a cube that this method cannot protect."""
        refuse_unsuitable(self, cube)

    def provenance(self, cube: AnyCube) -> Provenance:
        """How the published numbers were made."""
        return Provenance(
            method=self.name,
            method_version=str(self.version),
            fingerprint=fingerprint(
                {"method": self.name, **self.parameters()}, self.secret, self.key_version
            ),
            data_version=cube.origin.data_version,
            key_version=self.key_version,
            secret_id=cube.origin.secret_id,
            package_version=__version__,
            spec_hash=cube.spec.hash(),
            lineage=cube.origin.lineage,
        )

    def finished(self, cube: AnyCube, table: AnyTable) -> Protected:
        """The published table with its provenance and the office's audit."""
        return Protected(table, self.provenance(cube), self.audit(cube), self.closing())

    def audit(self, cube: AnyCube) -> Audit:
        """What the office needs to replay every number."""
        return Audit(cube, lambda keys, _: self.effective_keys(keys))


@dataclass(frozen=True, slots=True, eq=False)
class MethodOutcome:
    """What is published for some cells: values, flags where some have none, marks beside them."""

    published: Int64
    flags: Flags | None = None
    beside: Flags | None = None
    notes: tuple[Text, ...] = ()

    def table(self, spec: TableSpec) -> Table:
        """The published table."""
        return Table(spec, self.published, self.flags, self.notes, self.beside)


class CellMethod(Method):
    """A method that looks at each cell alone, and therefore takes sparse cubes as well."""

    __slots__ = ()

    @abstractmethod
    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """What is published for these cells; an array of any shape in, the same shape out.

        Args:
            cells: The accumulators of the cells.
            spec, origin: The table.
            listed: Which cells these are; ``None`` for all of the table, in its shape.
        """

    def exact(self, cells: Accumulators, spec: TableSpec) -> Int64:
        """The true values, for exempt cells."""
        return cells.count

    def protect(self, cube: AnyCube) -> Protected:
        """Publish every cell on its own."""
        self.check(cube)
        if isinstance(cube, SparseCube):
            return self.finished(cube, self._sparse(cube))
        outcome = self.publish(cube.values, cube.spec, cube.origin)
        exempt = self.exempt_cells(cube.spec)
        if exempt.size:
            at = np.unravel_index(exempt.astype(np.int64), cube.shape) if cube.shape else ...
            _put_exactly(outcome, self.exact(cube.values, cube.spec), at)
        return self.finished(cube, outcome.table(cube.spec))

    def publish_listed(
        self,
        cells: Accumulators,
        numbers: Numbers,
        exempt: Numbers,
        spec: TableSpec,
        origin: Origin,
        axes: Sequence[DeliveredAxis] | None = None,
    ) -> Int64:
        """What is published for cells of a table too large to be held.

        Args:
            cells: The accumulators of the cells.
            numbers: Their numbers, ascending.
            exempt: The numbers of cells that are published exactly, ascending.
            spec, origin: The table.
            axes: How its axes are delivered, where both are numbers over delivered places.
        """
        outcome = self.publish(cells, spec, origin, ListedCells(numbers, axes))
        if outcome.flags is not None and outcome.flags.any():
            raise SpecError(f"The method {self.name!r} cannot withhold cells of a sparse table.")
        if exempt.size and numbers.size:
            first, last = np.searchsorted(exempt, [numbers[0], numbers[-1]])
            here = exempt[first : last + 1]
            at = np.minimum(np.searchsorted(numbers, here), numbers.size - 1)
            _put_exactly(outcome, self.exact(cells, spec), at[numbers[at] == here])
        return outcome.published

    def _sparse(self, cube: SparseCube) -> SparseTable:
        if cube.spec.cells >= LARGEST_GRID:
            raise SpecError(
                f"{cube.spec.title}: the table has more than 2**63 cells. Take fewer or coarser"
                " axes."
            )
        exempt = self.exempt_cells(cube.spec)

        def work(cells: StreamedCells) -> tuple[Numbers, Int64]:
            published = self.publish_listed(
                cells.values, cells.numbers, exempt, cube.spec, cube.origin
            )
            shown = published != 0
            return cells.numbers[shown], published[shown]

        # Every position as it is: delivered numbers are those of the table.
        axes = [delivered_axis(axis) for axis in cube.spec.axes]
        empty = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
        numbers, published = zip(empty, *map_cells(cube, axes, work), strict=True)
        return SparseTable(cube.spec, np.concatenate(numbers), np.concatenate(published))


def _put_exactly(outcome: MethodOutcome, exact: Int64, at: Any) -> None:
    """Put the true values of exempt cells into an outcome that nobody has seen yet."""
    outcome.published[at] = exact[at]
    if outcome.flags is not None:
        outcome.flags[at] = 0


class TableMethod(Method):
    """A method that needs a whole table at once, such as one whose totals are sums."""

    __slots__ = ()

    @abstractmethod
    def publish(self, cube: Cube) -> MethodOutcome:
        """What is published for the cells of a cube."""

    def protect(self, cube: AnyCube) -> Protected:
        """Publish the whole table."""
        self.check(cube)
        outcome = self.publish(cube.held_for(f"the method {self.name!r}"))
        return self.finished(cube, outcome.table(cube.spec))


class Step(ABC):
    """A change of a published table that never sees the truth."""

    __slots__ = ()

    name: ClassVar[str]
    kind: ClassVar[MethodKind]
    summary: ClassVar[str] = ""
    takes: ClassVar[tuple[Parameter, ...]] = ()
    version: ClassVar[int] = 1

    @classmethod
    def build(cls, asked: Asked) -> Step:
        """The step with what somebody said about it."""
        return cls(**asked.values)

    @property
    def withheld_below(self) -> int | None:
        """The published value below which cells are withheld; ``None`` where none is."""
        return None

    def after(self, method: Method) -> Self:
        """The step as it stands behind that method; by default it does not matter behind which."""
        return self

    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers, as plain values; confidential."""

    @abstractmethod
    def claims(self) -> Claims:
        """What the step adds to a table by itself."""

    @abstractmethod
    def claims_after(self, before: Claims) -> Claims:
        """What is promised of a table with the claims ``before`` after this step."""

    @abstractmethod
    def apply(self, table: Table) -> Table:
        """The changed table."""
