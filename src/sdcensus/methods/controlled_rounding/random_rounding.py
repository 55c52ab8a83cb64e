"""Controlled random rounding as a method: multiples that add up and are the truth on average."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from sdcensus.errors import SecretError, SpecError
from sdcensus.methods.controlled_rounding.drawn import DrawnRounding
from sdcensus.methods.controlled_rounding.margins import Margin, two_chains
from sdcensus.methods.controlled_rounding.rounding import (
    INFEASIBLE,
    Infeasible,
    reach,
    support_of,
)
from sdcensus.methods.linked import LinkedMethod, LinkedOutcome
from sdcensus.methods.method import KEY_VERSION, Int64, MethodKind, check_key_version, member
from sdcensus.methods.rounding import base_parameter, check_base
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.inference.knowledge import DeviationSupport
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.method.parameter import Asked, Parameter
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.secret import Purpose, Secret
from sdcensus.model.sentences import sentence

#: So many margins are named that cannot be kept.
_NAMED = 3


@dataclass(frozen=True, slots=True, repr=False)
class ControlledRandomRounding(LinkedMethod):
    """Every count becomes a multiple next to it, drawn so that totals add up and nothing is biased.

    The expected value of every published number, over secrets, is the true count. Which multiple
    a count becomes is drawn from the secret, for all cells of the tables together.

    Attributes:
        base: What results are multiples of, 2 to 100.
        secret: The office secret.
        infeasible: What to do with tables whose totals cannot all be kept next to their counts:
            more than two axes, or levels on both. Refuse them, or let some totals go farther.
        key_version: The version of the series of published numbers.
    """

    base: int = 3
    _: KW_ONLY
    secret: Secret | None = None
    infeasible: Infeasible | str = Infeasible.REFUSE
    key_version: int = 1

    name: ClassVar[str] = "controlled-random-rounding"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "Multiples next to the counts, drawn without bias; totals add up."
    takes: ClassVar[tuple[Parameter, ...]] = (base_parameter(3), INFEASIBLE, KEY_VERSION)

    @classmethod
    def build(cls, asked: Asked) -> ControlledRandomRounding:
        """The method with what somebody said about it."""
        return cls(secret=asked.office_secret(cls.name), **asked.values)

    def __post_init__(self) -> None:
        check_base(self.base)
        if not isinstance(self.secret, Secret):
            raise SecretError(
                "ControlledRandomRounding needs the office secret: secret=sc.read_secret(FILE)."
            )
        check_key_version(self.key_version)
        object.__setattr__(self, "infeasible", member(Infeasible, "way out", self.infeasible))

    def __repr__(self) -> str:
        return f"<ControlledRandomRounding to multiples of {self.base}>"

    @property
    def largest_deviation(self) -> int | None:
        """One less than the base, where all totals are kept."""
        return None if self.infeasible is Infeasible.WIDEN else reach(self.base, 0)

    @property
    def support(self) -> DeviationSupport | None:
        """Which counts lead to which multiple."""
        return None if self.infeasible is Infeasible.WIDEN else support_of(self.base, 0)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        return {"base": self.base, "infeasible": str(self.infeasible)}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        bounded = self.infeasible is Infeasible.REFUSE
        return Claims(
            unbiased=True,
            bounded=bounded,
            zeros_kept=True,
            never_negative=True,
            blocked_counts_never_appear=True,
            additive=True,
            cautions=(
                sentence("controlled.drawn_again"),
                *(() if bounded else (sentence("controlled.totals_farther"),)),
            ),
        )

    def audit(self, cube: AnyCube) -> Audit:
        """True counts; no cell key alone decided a number."""
        return Audit(cube)

    def publish_linked(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> LinkedOutcome:
        """Round the smallest groups of all tables, and add them up."""
        if self.secret is None:  # refused when it was built
            raise SecretError("ControlledRandomRounding needs the office secret.")
        progress("finding what the tables tell apart", 0.0)
        one, other, left = two_chains(linked.tables)
        if left and self.infeasible is Infeasible.REFUSE:
            raise self._refusal(linked, left)
        atoms = linked.atoms
        progress("rounding along cycles", 0.5)
        drawn = DrawnRounding(atoms, (one, other), self.base)
        values = drawn.values(self.secret.sub_key(Purpose.ROUND, self.key_version))
        published = atoms.sums(linked.tables, values)
        progress("rounding along cycles", 1.0)
        return LinkedOutcome(published, remarks=self._remarks(linked, published, left))

    def _remarks(
        self, linked: LinkedCubes, published: Int64, left: list[Margin]
    ) -> tuple[str, ...]:
        if not left:
            return ()
        distance = np.abs(published - linked.counts)[linked.tables.published]
        return (
            sentence(
                "controlled.drawn_remark",
                margins=_named(left),
                cells=int(np.count_nonzero(distance >= self.base)),
                largest=int(distance.max(initial=0)),
            ),
        )

    def _refusal(self, linked: LinkedCubes, left: list[Margin]) -> SpecError:
        title = ", ".join(spec.title for spec in linked.tables.specs)
        return SpecError(
            f"{title}: numbers that are drawn without bias and add up stay next to all their"
            " counts only in tables of one or two axes, at most one of them with several levels."
            f" Here it cannot be promised for: {_named(left)}. Take fewer axes or levels, or the"
            " method 'controlled-rounding', which looks for the nearest table and draws nothing;"
            " or let these totals go farther, still unbiased and additive (infeasible = 'widen')."
        )


def _named(margins: list[Margin]) -> str:
    names = "; ".join(margin.name for margin in margins[:_NAMED])
    more = len(margins) - _NAMED
    return f"{names}; and {more} more" if more > 0 else names
