"""Layered perturbation of sums, experimental: the larger a contribution, the more it moves.

Of the method of Tambay (2017) only the idea is published: units of a cell are taken in layers by
size, the largest are perturbed most, the smallest little or not at all. How it is done here is our
own provisional design, for studies and comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.kernels.magnitude.contributor_noise import LayerNoise, publish_layers
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
from sdcensus.model.exact_shares import in_billionths
from sdcensus.model.method.parameter import Asked, Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.schema.schema import Combine, KeySpace
from sdcensus.model.sentences import sentence

#: The first layer holds rank 1, the second ranks 2 and 3, the third 4 to 6: those that are known.
MOST_LAYERS = 3
LAYER_SHARES, LAYER_SPREAD = "0.3, 0.15, 0.05", 0.5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExperimentalLayered(ContributorMethod):
    """Move the largest contributions of a sum in layers; experimental.

    Layer l holds the ranks from ``2**(l-1)`` to ``2**l - 1``, as far as the six largest go. A
    contribution moves by the share of its layer times a scale around 1. The scale is drawn by the
    keys of the members of the layer together, so that it changes when one of them is gone; whether
    up or down, by the key of the contributor alone, so that it moves the same way everywhere.

    Attributes:
        layer_shares: The share by which each layer moves, three at most, none larger than the one
            before.
        layer_spread: How far the scale of a layer is from 1 at most.
        secret: The office secret, or the part of it for look-ups.
        key_version: The version of the series of published numbers.
    """

    layer_shares: Sequence[float | Fraction] | str = LAYER_SHARES
    layer_spread: float | Fraction = LAYER_SPREAD
    secret: AnySecret | None = None
    key_version: int = 1

    name: ClassVar[str] = "experimental-layered"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS
    takes_sums: ClassVar[bool] = True
    for_sums: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "Experimental: the largest contributions to each sum move in layers, the largest most."
    )
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "layer_shares",
            ValueKind.TEXT,
            "The share by which each layer moves: rank 1, ranks 2 and 3, ranks 4 to 6.",
            default=LAYER_SHARES,
        ),
        Parameter(
            "layer_spread",
            ValueKind.SHARE,
            "How far the scale of a layer is from 1 at most.",
            default=LAYER_SPREAD,
        ),
        KEY_VERSION,
    )

    @classmethod
    def build(cls, asked: Asked) -> ExperimentalLayered:
        """The method with what somebody said about it."""
        return cls(secret=asked.secret(needed=True), **asked.values)

    def __post_init__(self) -> None:
        check_secret(self.secret, type(self).__name__)
        check_key_version(self.key_version)
        shares = self._shares
        if not 1 <= len(shares) <= MOST_LAYERS or shares != tuple(sorted(shares, reverse=True)):
            raise SpecError(
                f"Layers have 1 to {MOST_LAYERS} shares, none larger than the one before, such as"
                f" {LAYER_SHARES}."
            )
        if shares[0] == 0:
            raise SpecError("The share of the first layer is above 0.")
        in_billionths("The spread of layers", self.layer_spread)
        _ = self.hash_key

    def __repr__(self) -> str:
        return "<ExperimentalLayered: confidential parameters>"

    @property
    def largest(self) -> int:
        """All ranks of the layers that are known."""
        return min((1 << len(self._shares)) - 1, MOST_LARGEST)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        spread = in_billionths("The spread of layers", self.layer_spread)
        return {"layer_shares": list(self._shares), "layer_spread": spread}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            zeros_kept=True,
            consistent=True,
            takes_sparse=True,
            for_publication=False,
            cautions=(
                sentence("cautions.sums_experimental"),
                sentence("cautions.sums_own_way"),
                SET_KEYS,
            ),
        )

    def moved(self, cells: Summed, own: UInt32, key: UInt32, space: KeySpace) -> Int64:
        """The sums after their largest contributors have moved."""
        noise = LayerNoise.build(
            np.array(self._shares, dtype=np.uint64),
            in_billionths("The spread of layers", self.layer_spread),
            space.modulus,
            xor=space.combine is Combine.XOR,
            hash_key=self.hash_key,
        )
        known = cells.contributions
        # Tables may know more ranks than the layers have.
        ranks = self.largest
        return publish_layers(
            cells.total, known.amount[..., :ranks], own[..., :ranks], known.contributors, noise
        )

    @property
    def _shares(self) -> tuple[int, ...]:
        return falling_shares("Shares of layers", self.layer_shares)
