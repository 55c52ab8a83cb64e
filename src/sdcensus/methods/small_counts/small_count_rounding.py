"""Small count rounding: published counts are 0 or large enough, and all tables add up together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from sdcensus.errors import SecretError
from sdcensus.kernels.keys.siphash import siphash24_of_records
from sdcensus.methods.linked import LinkedMethod, LinkedOutcome
from sdcensus.methods.method import KEY_VERSION, MethodKind, check_key_version
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.small_counts import (
    BASE,
    FORCE,
    INNER_CHECK,
    THRESHOLD,
    InnerCheck,
    SmallCountRule,
)
from sdcensus.model.method.parameter import Asked, Parameter
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.secret import Purpose, Secret
from sdcensus.model.sentences import sentence


@dataclass(frozen=True, slots=True, repr=False)
class SmallCountRounding(LinkedMethod):
    """No published count is between 0 and the base, and every total is the sum of its parts.

    The smallest groups that the tables tell apart together are rounded, no more of them than
    needed, so that the published cells stay as near as they can. Cells that feed no small count
    are published as they are.

    Attributes:
        base: Published counts are 0 or at least this, 1 to 100.
        secret: The office secret.
        threshold: Counts below this are small, and become multiples of the base; the base by
            default.
        force: Whether every smallest group becomes a multiple of the base, also one that feeds
            nothing small.
        inner_check: Which small groups are looked for that published cells give away, and then
            rounded too.
        key_version: The version of the series of published numbers.
    """

    base: int = 3
    _: KW_ONLY
    secret: Secret | None = None
    threshold: int | None = None
    force: bool = False
    inner_check: InnerCheck | str = InnerCheck.DIFFERENCES
    key_version: int = 1

    name: ClassVar[str] = "small-count-rounding"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "No count is small, and all tables add up together."
    takes: ClassVar[tuple[Parameter, ...]] = (BASE, THRESHOLD, FORCE, INNER_CHECK, KEY_VERSION)
    shows_truth: ClassVar[bool] = True

    @classmethod
    def build(cls, asked: Asked) -> SmallCountRounding:
        """The method with what somebody said about it."""
        return cls(secret=asked.office_secret(cls.name), **asked.values)

    def __post_init__(self) -> None:
        if not isinstance(self.secret, Secret):
            raise SecretError(
                "SmallCountRounding needs the office secret: secret=sc.read_secret(FILE)."
            )
        check_key_version(self.key_version)
        rule = self.rule
        object.__setattr__(self, "threshold", rule.threshold)
        object.__setattr__(self, "inner_check", rule.inner_check)

    def __repr__(self) -> str:
        return f"<SmallCountRounding of counts below {self.threshold}, base {self.base}>"

    @property
    def rule(self) -> SmallCountRule:
        """What is asked of the rounding."""
        return SmallCountRule(self.base, self.threshold, self.force, self.inner_check)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return self.rule.parameters()

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            zeros_kept=True,
            never_negative=True,
            blocked_counts_never_appear=True,
            additive=True,
            cautions=(
                sentence("small_counts.biased"),
                sentence("small_counts.listed"),
                sentence("cautions.large_exact"),
            ),
        )

    def publish_linked(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> LinkedOutcome:
        """Round the smallest groups of all tables, and add them up."""
        progress("finding what the tables tell apart", 0.0)
        atoms = linked.atoms
        progress("rounding small counts", 0.5)
        assert self.secret is not None  # refused when it was built
        key = self.secret.sub_key(Purpose.SMALL_COUNTS, self.key_version)
        words = siphash24_of_records(key, atoms.definitions, 0)
        rounded = self.rule.rounded(linked.tables, atoms, words)
        published = atoms.sums(linked.tables, rounded.inner)
        progress("rounding small counts", 1.0)
        change = np.abs(published - linked.counts)[linked.tables.published]
        remark = sentence(
            "small_counts.remark",
            groups=int((rounded.inner != atoms.counts).sum()),
            passes=rounded.passes,
            largest=int(change.max(initial=0)),
        )
        return LinkedOutcome(published, remarks=(remark,))

    def audit(self, cube: AnyCube) -> Audit:
        """True counts; no cell key was used."""
        return Audit(cube)
