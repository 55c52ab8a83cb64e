"""Light touch: interior cells change by at most one, totals are the sums of what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import described
from sdcensus.methods.look_up import (
    LOOKUP,
    NOISE,
    CellLookup,
    asked_perturbation,
    check_lookup,
    chosen_lookup,
    lookup_cautions,
)
from sdcensus.methods.method import (
    KEY_VERSION,
    AnySecret,
    MethodKind,
    MethodOutcome,
    TableMethod,
    check_key_version,
    check_secret,
    member,
)
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.constraints import interior, with_totals
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.inference.knowledge import DeviationSupport
from sdcensus.model.method.parameter import Asked, Parameter
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import Lookup, Perturbation, PerturbationTable
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.sentences import sentence


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LightTouch(TableMethod):
    """Perturb the interior cells by their cell keys, a little, and add everything else up.

    Attributes:
        perturbation: Which deviations; by default one up or down for every second cell.
        secret: The office secret, for all look-ups but ``ascending``.
        lookup: How a cell key picks a deviation; as for the cell key method.
        key_version: The version of the series of published numbers.
    """

    perturbation: PerturbationDesign | PerturbationTable = field(
        default_factory=lambda: scheme("CP1")
    )
    _: KW_ONLY
    secret: AnySecret | None = None
    lookup: Lookup | str | None = None
    key_version: int = 1

    name: ClassVar[str] = "light-touch"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS
    summary: ClassVar[str] = "Interior cells change by one at most; totals are their sums."
    takes: ClassVar[tuple[Parameter, ...]] = (*NOISE, LOOKUP, KEY_VERSION)

    @classmethod
    def build(cls, asked: Asked) -> LightTouch:
        """The method with what somebody said about it."""
        own = ("lookup", "key_version")
        said = {name: value for name, value in asked.values.items() if name in own}
        perturbation = asked_perturbation(asked)
        if perturbation is not None:
            said["perturbation"] = perturbation
        return cls(secret=asked.secret(), **said)

    def __post_init__(self) -> None:
        if not isinstance(self.perturbation, PerturbationDesign | PerturbationTable):
            raise SpecError(
                "LightTouch needs a perturbation: sc.perturbation.design(...),"
                " sc.perturbation.scheme(...) or sc.perturbation.read(FILE)."
            )
        check_secret(self.secret, type(self).__name__)
        check_key_version(self.key_version)
        object.__setattr__(self, "lookup", member(Lookup, "look-up", self.lookup))
        check_lookup(self._lookup, self.secret, self.key_version)

    def __repr__(self) -> str:
        return "<LightTouch: confidential parameters>"

    @property
    def _lookup(self) -> Lookup:
        asked = self.lookup
        return chosen_lookup(self.perturbation, None if asked is None else Lookup(asked))

    @property
    def largest_deviation(self) -> int | None:
        """That of the perturbation, for interior cells; confidential."""
        return self.perturbation.max_deviation

    @property
    def noise(self) -> Perturbation | None:
        """The perturbation of interior cells; confidential."""
        return self.perturbation

    @property
    def support(self) -> DeviationSupport | None:
        """That of the perturbation, for interior cells."""
        return DeviationSupport.of(self.perturbation)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        return {"lookup": self._lookup.value, **described(self.perturbation)}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        cautions = [
            sentence("cautions.total_cells"),
            sentence("cautions.average"),
        ]
        if self.perturbation.max_deviation > 1:
            cautions.append(sentence("cautions.not_light"))
        cautions += lookup_cautions(self._lookup, self.perturbation)
        return Claims(
            unbiased=not self.perturbation.biased - {0},
            zeros_kept=True,
            never_negative=True,
            # A sum of counts that are 0 or above the blocked ones is one of these as well.
            blocked_counts_never_appear=self.perturbation.blocked > 0,
            additive=True,
            by_definition=not self._lookup.is_set_key,
            cautions=tuple(cautions),
        )

    def publish(self, cube: Cube) -> MethodOutcome:
        """Look the interior cells up, and add everything else up."""
        # The ellipsis keeps a table of one cell an array.
        inside: Any = (*interior(cube.spec), ...)
        ready = self._ready(cube.origin)
        definition = ready.definitions(cube.spec, cube.origin)
        inner = ready.publish(
            cube.count[inside],
            cube.key[inside],
            None if definition is None else definition[inside],
        )
        return MethodOutcome(with_totals(cube.spec, inner))

    def audit(self, cube: AnyCube) -> Audit:
        """True counts with the keys that were looked up."""
        return Audit(cube, self._ready(cube.origin).replayed(cube.spec, cube.origin))

    def _ready(self, origin: Origin) -> CellLookup:
        return CellLookup.build(
            self.perturbation, origin.key_space, self._lookup, self.secret, self.key_version
        )
