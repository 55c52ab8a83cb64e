"""The top contributors of the Australian Bureau of Statistics: each moves its own way, everywhere.

Where the contribution of a record moves is a matter of its key alone. Two tables that differ by a
few records therefore move the same large contributors alike, and their difference shows little
more than one of them would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.kernels.magnitude.contributor_noise import TopNoise, publish_top, scale_table
from sdcensus.kernels.perturbation.lookup import frozen
from sdcensus.methods.look_up import SET_KEYS
from sdcensus.methods.magnitude.contributor_method import ContributorMethod, falling_shares
from sdcensus.methods.magnitude.sums import Summed
from sdcensus.methods.method import (
    KEY_VERSION,
    AnySecret,
    Int64,
    MethodKind,
    UInt32,
    check_key_version,
    check_secret,
)
from sdcensus.model.cube.contributions import MOST_LARGEST
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.exact_shares import in_billionths
from sdcensus.model.method.parameter import Asked, Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.sentences import sentence

#: Direction and row take the low nine bits of a record key.
_FEWEST_KEYS = 1 << 9
MAGNITUDES = "0.6, 0.4, 0.2"
FEW, SMALL_SPREAD, LARGE_SPREAD = 8, 0.3, 0.7


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AbsTopContributors(ContributorMethod):
    """Move the largest contributions of a sum, each by its own record key.

    The contribution of rank i moves by ``magnitude_i * scale`` of itself, up or down as the ninth
    bit of its record key says. The scale is around 1; it comes from a table of 256 rows (the low 8
    bits of the record key) and of 32 columns by the cell key, with one more column for every
    number of contributors up to ``few_contributors``.

    Attributes:
        magnitudes: The share by which each of the largest moves, by rank; six at most.
        few_contributors: Up to how many contributors a cell is small.
        small_spread, large_spread: How far scales are from 1 at most, in small and in large cells.
        secret: The office secret, or the part of it for look-ups.
        key_version: The version of the series of published numbers.
    """

    magnitudes: Sequence[float | Fraction] | str = MAGNITUDES
    few_contributors: int = FEW
    small_spread: float | Fraction = SMALL_SPREAD
    large_spread: float | Fraction = LARGE_SPREAD
    secret: AnySecret | None = None
    key_version: int = 1
    _prepared: list[TopNoise] = field(init=False, default_factory=list)

    name: ClassVar[str] = "abs-top-contributors"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS
    takes_sums: ClassVar[bool] = True
    for_sums: ClassVar[bool] = True
    summary: ClassVar[str] = "The largest contributions to each sum move, each by its own key."
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "magnitudes",
            ValueKind.TEXT,
            "The share by which each of the largest contributions moves, six at most.",
            default=MAGNITUDES,
        ),
        Parameter(
            "few_contributors",
            ValueKind.WHOLE,
            "Up to how many contributors a cell is small.",
            least=0,
            most=255,
            default=FEW,
        ),
        Parameter(
            "small_spread",
            ValueKind.SHARE,
            "How far the scale of a move is from 1 at most, in small cells.",
            default=SMALL_SPREAD,
        ),
        Parameter(
            "large_spread",
            ValueKind.SHARE,
            "The same in large cells.",
            default=LARGE_SPREAD,
        ),
        KEY_VERSION,
    )

    @classmethod
    def build(cls, asked: Asked) -> AbsTopContributors:
        """The method with what somebody said about it."""
        return cls(secret=asked.secret(needed=True), **asked.values)

    def __post_init__(self) -> None:
        check_secret(self.secret, type(self).__name__)
        check_key_version(self.key_version)
        shares = self._magnitudes
        if not 1 <= len(shares) <= MOST_LARGEST or shares != tuple(sorted(shares, reverse=True)):
            raise SpecError(
                f"Magnitudes are 1 to {MOST_LARGEST} shares, none larger than the one before, such"
                f" as {MAGNITUDES}."
            )
        if shares[0] == 0:
            raise SpecError("The first magnitude is above 0: with 0, sums would be published.")
        if type(self.few_contributors) is not int or not 0 <= self.few_contributors <= 255:
            raise SpecError("Small cells have up to 0 to 255 contributors.")
        if self.few_contributors == 0 and self.small_spread != SMALL_SPREAD:
            raise SpecError(
                "small_spread has no effect where no cell is small (few_contributors = 0). Leave"
                " one of them out."
            )
        in_billionths("The spread of small cells", self.small_spread)
        in_billionths("The spread of large cells", self.large_spread)
        _ = self.hash_key

    def __repr__(self) -> str:
        return "<AbsTopContributors: confidential parameters>"

    @property
    def largest(self) -> int:
        """As many as there are magnitudes."""
        return len(self._magnitudes)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        return {
            "magnitudes": list(self._magnitudes),
            "few_contributors": self.few_contributors,
            "small_spread": in_billionths("", self.small_spread),
            "large_spread": in_billionths("", self.large_spread),
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            zeros_kept=True,
            consistent=True,
            takes_sparse=True,
            cautions=(
                sentence("cautions.sums_in_proportion"),
                sentence("cautions.sums_own_way"),
                SET_KEYS,
            ),
        )

    def check(self, cube: AnyCube) -> None:
        """Refuse keys that have no ninth bit."""
        ContributorMethod.check(self, cube)
        modulus = cube.origin.key_space.modulus
        if modulus < _FEWEST_KEYS or modulus & (modulus - 1):
            raise SpecError(
                f"The method {self.name!r} takes directions from the ninth bit of record keys, and"
                f" the keys of this census are below {modulus}: no power of two from 512 on. Load"
                " the census with keys below 2**32, which is the default."
            )

    def moved(self, cells: Summed, own: UInt32, key: UInt32, space: KeySpace) -> Int64:
        """The sums after their largest contributors have moved."""
        if not self._prepared:
            scales = scale_table(
                self.hash_key,
                few=self.few_contributors,
                small_spread=in_billionths("", self.small_spread),
                large_spread=in_billionths("", self.large_spread),
            )
            shares = frozen(np.array(self._magnitudes, dtype=np.uint64))
            self._prepared.append(TopNoise(shares, scales))
        known = cells.contributions
        return publish_top(
            cells.total, known.amount, own, known.contributors, key, self._prepared[0]
        )

    @property
    def _magnitudes(self) -> tuple[int, ...]:
        return falling_shares("Magnitudes", self.magnitudes)
