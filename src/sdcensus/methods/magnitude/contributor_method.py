"""What methods have in common that move sums by the record keys of their largest contributors."""

from __future__ import annotations

from abc import abstractmethod

from sdcensus.errors import SecretError
from sdcensus.methods.listed_cells import ListedCells
from sdcensus.methods.look_up import key_multiplier, multiplied
from sdcensus.methods.magnitude.sums import Summed, summed
from sdcensus.methods.method import CellMethod, Int64, MethodOutcome, UInt32
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Accumulators, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.exact_shares import in_billionths, numbers_of
from sdcensus.model.published.protected import Audit
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.table_spec import TableSpec


class ContributorMethod(CellMethod):
    """A method whose noise depends on who the largest contributors are, and on nothing asked."""

    __slots__ = ()

    @property
    @abstractmethod
    def largest(self) -> int:
        """How many of the largest contributions move."""

    @abstractmethod
    def moved(self, cells: Summed, own: UInt32, key: UInt32, space: KeySpace) -> Int64:
        """The sums after their largest contributors have moved.

        Args:
            cells: Sums and contributions.
            own: The record keys of the largest, of the version of the series.
            key: The cell keys of the contributors, of that version.
            space: The key space of the census.
        """

    @property
    def needs_contributions(self) -> ContributionNeeds:
        """The largest contributions with their record keys."""
        return ContributionNeeds(
            largest=self.largest, keys=True, waivers=False, spread=False, absolute=False
        )

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Move every sum by the keys of its largest contributors."""
        known = summed(cells, spec, self.needs_contributions)
        space = origin.key_space
        multiplier = key_multiplier(space.modulus, self.secret, self.key_version)
        own = multiplied(known.keys, multiplier, space.modulus)
        key = multiplied(known.contributions.contributor_key, multiplier, space.modulus)
        return MethodOutcome(self.moved(known, own, key, space))

    def exact(self, cells: Accumulators, spec: TableSpec) -> Int64:
        """The true sums."""
        return summed(cells, spec, self.needs_contributions).total

    def audit(self, cube: AnyCube) -> Audit:
        """True sums; what each contributor does is in its record key."""
        return Audit(cube)

    @property
    def hash_key(self) -> bytes:
        """The key of its draws; confidential."""
        if self.secret is None:
            raise SecretError(
                f"The method {self.name!r} needs the office secret. Give it (--secret FILE,"
                " SDCENSUS_SECRET_FILE, or secret=sc.read_secret(FILE))."
            )
        return self.secret.sub_key(Purpose.LOOKUP, self.key_version)


def falling_shares(what: str, text: object) -> tuple[int, ...]:
    """Shares in billionths, as they were written."""
    return tuple(in_billionths(what, number) for number in numbers_of(what, text))
