"""One method and steps after it, as one value: what was done to a table, in its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from sdcensus.errors import SpecError
from sdcensus.methods.method import AnySecret, Mask, Method, MethodKind, Numbers, Step
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.method.registry import ARROW
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec

#: What cells that are published exactly mean for withheld ones.
_EXACT = sentence("cautions.exact_total")


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Pipeline(Method):
    """A method that looks at true counts, then steps that look at published values only.

    Nonsense is refused when the pipeline is made: noise is added once, numbers that are withheld
    cannot be changed any more, and rounded numbers that add up need another method.

    Attributes:
        first: The method.
        steps: What is done to the published table, in this order.

    Examples:
        >>> from sdcensus.methods import ConventionalRounding, WithholdSparse
        >>> Pipeline(ConventionalRounding(5), WithholdSparse())
        <Pipeline conventional-rounding → withhold-sparse-areas>
    """

    first: Method
    steps: tuple[Step, ...]

    name: ClassVar[str] = "pipeline"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS

    def __init__(self, first: Method, *steps: Step | list[Step] | tuple[Step, ...]) -> None:
        """Take the method and its steps, one by one or as a list; a pipeline may go on."""
        begun = isinstance(first, Pipeline)
        method = first.first if begun else first
        flat = [*first.steps] if begun else []
        for step in steps:
            flat += step if isinstance(step, list | tuple) else [step]
        _check_order(method, flat)
        object.__setattr__(self, "first", method)
        object.__setattr__(self, "steps", tuple(step.after(method) for step in flat))

    def __repr__(self) -> str:
        return f"<Pipeline {self.described_name}>"

    @property
    def _names(self) -> list[str]:
        return [self.first.name, *(step.name for step in self.steps)]

    @property
    def described_name(self) -> str:
        """How messages call it: by its parts."""
        return ARROW.join(self._names)

    @property
    def secret(self) -> AnySecret | None:
        """The secret of the method; steps draw nothing."""
        return self.first.secret

    @property
    def key_version(self) -> int:
        """The version of the series of published numbers."""
        return self.first.key_version

    @property
    def takes_weights(self) -> bool:
        """Whether weighted counts can be protected."""
        return self.first.takes_weights

    @property
    def needs_households(self) -> bool:
        """Whether the method has to know which cells of persons are one household."""
        return self.first.needs_households

    @property
    def needs_replicates(self) -> bool:
        """Whether the method has to know the sampling errors of estimates."""
        return self.first.needs_replicates

    @property
    def exempt_tables(self) -> tuple[TableSpec, ...]:
        """Those of the method."""
        return self.first.exempt_tables

    def exempting(self, tables: Sequence[TableSpec]) -> Pipeline | None:
        """The same with a method that publishes the cells of these tables exactly."""
        first = self.first.exempting(tables)
        return None if first is None else Pipeline(first, *self.steps)

    @property
    def noise(self) -> Perturbation | None:
        """That of the method; confidential."""
        return self.first.noise

    def exempt_cells(self, spec: TableSpec) -> Numbers:
        """Those of the method."""
        return self.first.exempt_cells(spec)

    def exact_cells(self, cube: Cube) -> Mask:
        """Those of the method."""
        return self.first.exact_cells(cube)

    def withheld_below(self, deviation: int) -> int | None:
        """The largest limit of the method and of its steps."""
        limits = [self.first.withheld_below(deviation)]
        limits += [step.withheld_below for step in self.steps]
        return max((limit for limit in limits if limit is not None), default=None)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        parts: list[Method | Step] = [self.first, *self.steps]
        return {"parts": [{"name": part.name, **part.parameters()} for part in parts]}

    def claims(self) -> Claims:
        """What the method promises, changed by each step in turn."""
        claims = self.first.claims()
        for step in self.steps:
            claims = step.claims_after(claims)
        withholds = any(step.kind is MethodKind.WITHHOLDS for step in self.steps)
        if withholds and self.first.has_exact_cells:
            claims = replace(claims, cautions=(*claims.cautions, _EXACT))
        # Steps look at a whole table: absent cells of a sparse one have no number to change.
        return replace(claims, takes_sparse=claims.takes_sparse and not self.steps)

    def provenance(self, cube: AnyCube) -> Provenance:
        """How the published numbers were made: every part by name and version."""
        versions = [self.first.version, *(step.version for step in self.steps)]
        # The method's own provenance, under the names and the parameters of the whole.
        return replace(
            Method.provenance(self, cube),
            method=ARROW.join(self._names),
            method_version=ARROW.join(map(str, versions)),
        )

    def protect(self, cube: AnyCube) -> Protected:
        """Publish a cube by the method, then change the published table step by step."""
        self.check(cube)
        return self.stepped(self.first.protect(cube))

    def stepped(self, done: Protected) -> Protected:
        """What the method has published, changed step by step."""
        table, stages, cube = done.table, [], done.audit.cube
        for name, step in zip(self._names, self.steps, strict=False):
            whole = table.held_for(f"the step {step.name!r}")
            stages.append((name, whole))
            table = step.apply(whole)
        audit = replace(done.audit, stages=tuple(stages))
        return Protected(table, self.provenance(cube), audit, done.closing)


def _check_order(first: object, steps: Sequence[object]) -> None:
    """Refuse what makes no sense, and say why."""
    if isinstance(first, Step):
        raise SpecError(
            f"A pipeline begins with a method that sees true counts, such as 'cell-key';"
            f" {first.name!r} is a step after one."
        )
    if not isinstance(first, Method):
        raise SpecError("A pipeline begins with a method, such as CellKey.")
    kinds, names = [first.kind], [first.name]
    adds_up = first.claims().additive
    for step in steps:
        if isinstance(step, Method):
            raise SpecError(_second_method(step, kinds, names[-1]))
        if not isinstance(step, Step):
            raise SpecError("After its method a pipeline has steps, such as Additivity.")
        if MethodKind.WITHHOLDS in kinds and step.kind is not MethodKind.WITHHOLDS:
            raise SpecError(
                f"{step.name!r} cannot come after {names[-1]!r}: it would need the numbers that"
                f" are withheld. Put {step.name!r} first."
            )
        if step.kind is MethodKind.ADDS_UP and first.exempt_tables:
            raise SpecError(
                f"{step.name!r} would change cells that are exempt and have to be published"
                " exactly. Leave the exemption out, or the step."
            )
        if step.kind is MethodKind.ADDS_UP and adds_up:
            raise SpecError(f"{step.name!r} changes nothing: the table adds up already.")
        if step.kind is MethodKind.ADDS_UP and MethodKind.ROUNDS in kinds:
            raise SpecError(
                f"{step.name!r} after {first.name!r} would leave numbers that are no multiples of"
                " the base. Rounded numbers that add up come from controlled rounding: take the"
                " method controlled-rounding."
            )
        adds_up = adds_up or step.kind is MethodKind.ADDS_UP
        kinds.append(step.kind)
        names.append(step.name)


def _second_method(method: Method, kinds: Sequence[MethodKind], before: str) -> str:
    if MethodKind.WITHHOLDS in kinds:
        why = "it would need the numbers that are withheld"
    elif method.kind is MethodKind.PERTURBS:
        why = "noise is added once; twice would be more noise and no more protection"
    else:
        why = "it works on true counts, not on published ones"
    return f"{method.name!r} cannot come after {before!r}: {why}. A pipeline has one method."
