"""From a method's name and options to a protected table with its notes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcensus.errors import SecretError, SpecError, UnknownName
from sdcensus.methods.method import Method, Step
from sdcensus.methods.notes import notes_for
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import PerturbationTable
from sdcensus.model.plan.vocabulary import METHOD_SETTINGS, STEP_SETTINGS
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.schema.entity import Entity
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.census.load import SECRET_VARIABLE, find_secret

if TYPE_CHECKING:
    pass

Perturbed = PerturbationDesign | PerturbationTable

#: The strength of a cell key method about which nothing else is said.
DEFAULT_STRENGTH = "medium"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MethodOptions:
    """What may be said about a method and the steps after it; ``None`` where nothing was said.

    Attributes:
        perturbation: The file of a perturbation table.
        allow_bias: Whether rows of that file may change the expected count.
        repeat: How many of its last rows serve larger counts in turn, as in rounding.
        scheme: The name of a published scheme, such as ``"CP3"``.
        strength: The name of a strength: ``light``, ``medium``, ``strong``, ``no-ones-and-twos``.
        lookup: How a cell key picks a deviation.
        key_version: The version of the series of published numbers.
        zeros: What happens to empty cells.
        zero_share: Which share of the empty cells grows, where those are perturbed.
        exempt: Tables, as comma-separated axes, whose cells are published exactly.
        base: What counts are rounded to.
        threshold: The smallest count that is not small.
        units: Up to how many units of a cell draw a deviation.
        totals: How totals come about.
        to: Which totals are controlled.
        area: The variable whose codes are areas.
        mode: How the smallest change is looked for that makes totals add up.
        mean_cell_size, below: When an area is sparse, and which values are withheld there.
    """

    perturbation: Path | None = None
    allow_bias: bool | None = None
    repeat: int | None = None
    scheme: str | None = None
    strength: str | None = None
    lookup: str | None = None
    key_version: int | None = None
    zeros: str | None = None
    zero_share: float | None = None
    exempt: tuple[str, ...] | None = None
    base: int | None = None
    threshold: int | None = None
    units: int | None = None
    totals: str | None = None
    to: str | None = None
    area: str | None = None
    mode: str | None = None
    mean_cell_size: float | None = None
    below: int | None = None

    def __repr__(self) -> str:
        return f"<MethodOptions: {', '.join(self.given()) or 'none'}>"

    def given(self) -> dict[str, Any]:
        """What was said, by name."""
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in said.items() if value is not None}

    def only(self, *names: str) -> dict[str, Any]:
        """What was said under these names."""
        return {name: value for name, value in self.given().items() if name in names}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a method is built from."""

    options: MethodOptions
    census: Census
    of: Entity
    named: Path | Secret | SubSecret | None

    def secret(self, *, needed: bool = False) -> Secret | SubSecret | None:
        """The secret at hand, if one is given or its file is named, or if there must be one."""
        if isinstance(self.named, SubSecret):
            return self.named
        if needed or self.named is not None or os.environ.get(SECRET_VARIABLE):
            return find_secret(self.named)
        return None


@dataclass(frozen=True, slots=True)
class _Entry:
    """How a method is built, and which options it takes."""

    takes: tuple[str, ...]
    build: Callable[[_Asked], Method]


@dataclass(frozen=True, slots=True)
class _StepEntry:
    """How a step is built, and which options it takes."""

    takes: tuple[str, ...]
    build: Callable[[MethodOptions], Step]


# Each builder imports its method itself: a command needs one of them, and some are heavy.


def _cell_key(asked: _Asked) -> Method:
    from sdcensus.methods.cell_key import CellKey

    options = asked.options
    if not all(axes.strip(" ,") for axes in options.exempt or ()):
        raise SpecError(
            f"{option_text('exempt')} needs axes, such as ed@district. To publish the grand total"
            " exactly, name a table that has it, such as sex."
        )
    exempt = [
        asked.census.spec(*(one.strip() for one in axes.split(",") if one.strip()), of=asked.of)
        for axes in options.exempt or ()
    ]
    return CellKey(
        _with_zeros(_perturbation(options), options),
        secret=asked.secret(),
        schema=asked.census.schema,
        exempt=exempt,
        **options.only("lookup", "key_version", "zeros"),
    )


def _perturbation(options: MethodOptions) -> Perturbed:
    """The perturbation that was asked for: a file, a scheme or a strength; else the default."""
    named = options.only("perturbation", "scheme", "strength")
    if len(named) > 1:
        raise SpecError(
            "Choose a perturbation once: by a file, by a scheme or by a strength. Given were"
            f" {' and '.join(map(option_text, named))}."
        )
    if options.perturbation is not None:
        from sdcensus.session.perturbation.tables import read

        return read(
            options.perturbation, allow_bias=bool(options.allow_bias), repeat=options.repeat
        )
    for name in options.only("allow_bias", "repeat"):
        raise SpecError(f"{option_text(name)} is for a file: {option_text('perturbation')} FILE.")
    from sdcensus.methods.perturbation.schemes import scheme, strength

    if options.scheme is not None:
        return scheme(options.scheme)
    return strength(options.strength or DEFAULT_STRENGTH)


def _with_zeros(perturbation: Perturbed, options: MethodOptions) -> Perturbed:
    """The same with a row for empty cells, if a share of them shall grow."""
    zeros, share = option_text("zeros"), option_text("zero_share")
    if isinstance(perturbation, PerturbationTable):
        if options.zero_share is not None:
            raise SpecError(
                f"A perturbation file says itself what happens to empty cells, in its row 0. Leave"
                f" {share} out."
            )
        return perturbation
    if options.zero_share is None:
        if options.zeros == "perturb":
            raise SpecError(
                f"{zeros} perturb needs {share} SHARE, or a file ({option_text('perturbation')})"
                " with a row for 0."
            )
        return perturbation
    if options.zeros != "perturb":
        raise SpecError(f"{share} is for {zeros} perturb only.")
    return perturbation.with_perturbed_zeros({perturbation.blocked + 1: options.zero_share})


def _light_touch(asked: _Asked) -> Method:
    from sdcensus.methods.light_touch import LightTouch

    given = asked.options.only("lookup", "key_version")
    if asked.options.only("perturbation", "allow_bias", "repeat", "scheme", "strength"):
        given["perturbation"] = _perturbation(asked.options)
    return LightTouch(secret=asked.secret(), **given)


def _random_rounding(asked: _Asked) -> Method:
    from sdcensus.methods.rounding import RandomRounding

    given = asked.options.only("base", "lookup", "key_version")
    return RandomRounding(secret=asked.secret(), **given)


def _semi_controlled(asked: _Asked) -> Method:
    from sdcensus.methods.semi_controlled import SemiControlledRounding

    given = asked.options.only("base", "to", "area", "key_version")
    if isinstance(asked.named, SubSecret):
        raise SecretError(
            "semi-controlled-rounding draws for more than look-ups: it needs the office secret, not"
            " a secret for one purpose."
        )
    return SemiControlledRounding(secret=find_secret(asked.named), **given)


def _conventional(asked: _Asked) -> Method:
    from sdcensus.methods.rounding import ConventionalRounding

    return ConventionalRounding(**asked.options.only("base"))


def _small_cells(asked: _Asked) -> Method:
    from sdcensus.methods.small_cells import SmallCellAdjustment

    return SmallCellAdjustment(**asked.options.only("base", "threshold"))


def _per_unit(asked: _Asked) -> Method:
    from sdcensus.methods.per_unit import PerUnitDeviations

    given = asked.options.only("units", "totals", "key_version")
    return PerUnitDeviations(secret=asked.secret(needed=True), **given)


def _threshold(asked: _Asked) -> Method:
    from sdcensus.methods.threshold import ThresholdRounding

    return ThresholdRounding(**asked.options.only("threshold", "base", "zeros"))


def _additivity(options: MethodOptions) -> Step:
    from sdcensus.methods.additivity import Additivity

    return Additivity(**options.only("mode"))


def _withhold_sparse(options: MethodOptions) -> Step:
    from sdcensus.methods.withhold_sparse import WithholdSparse

    return WithholdSparse(**options.only("area", "mean_cell_size", "below"))


_METHODS: Mapping[str, _Entry] = {
    name: _Entry(METHOD_SETTINGS[name], build)
    for name, build in (
        ("cell-key", _cell_key),
        ("random-rounding", _random_rounding),
        ("semi-controlled-rounding", _semi_controlled),
        ("conventional-rounding", _conventional),
        ("small-cell-adjustment", _small_cells),
        ("per-unit-deviations", _per_unit),
        ("light-touch", _light_touch),
        ("threshold-and-rounding", _threshold),
    )
}
_STEPS: Mapping[str, _StepEntry] = {
    name: _StepEntry(STEP_SETTINGS[name], build)
    for name, build in (("additivity", _additivity), ("withhold-sparse-areas", _withhold_sparse))
}

#: The methods and the steps after them, by the names under which users know them.
METHOD_NAMES = tuple(_METHODS)
STEP_NAMES = tuple(_STEPS)


def build_method(
    name: str,
    census: Census,
    *,
    of: str | Entity = Entity.PERSON,
    then: Sequence[str] = (),
    options: MethodOptions | None = None,
    secret: str | Path | Secret | SubSecret | None = None,
) -> Method:
    """A method by its name, with the steps after it.

    Args:
        name: One of ``METHOD_NAMES``.
        census: The census whose tables it shall protect.
        of: What is counted in them.
        then: Names of steps, in their order, of ``STEP_NAMES``.
        options: What is said about the method and the steps; refused where it belongs to none.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
    """
    if name not in _METHODS:
        raise UnknownName("method", name, known=METHOD_NAMES)
    for step in then:
        if step not in _STEPS:
            raise UnknownName("step after a method", step, known=STEP_NAMES)
    said = options or MethodOptions()
    _check_options(name, then, said)
    entity = of if isinstance(of, Entity) else Entity.parse(of)
    named = Path(secret) if isinstance(secret, str) else secret
    method = _METHODS[name].build(_Asked(said, census, entity, named))
    if not then:
        return method
    from sdcensus.methods.pipeline import Pipeline

    return Pipeline(method, *(_STEPS[step].build(said) for step in then))


def protect_table(
    census: Census,
    spec: TableSpec,
    method: Method,
    *,
    engine: str | None = None,
    smallest_group: int | None = None,
    progress: Progress = no_progress,
) -> Protected:
    """Count a table, protect it, and add the notes that its readers need.

    Groups that are published below ``smallest_group`` are not broken down further.
    """
    from sdcensus.session.protect.smallest_group import GroupRule

    rule = GroupRule(smallest_group)
    progress(f"counting {spec.title}", 0.0)
    cube = census.tabulate(rule.counted(spec), engine=engine)
    progress("protecting", 0.0)
    protected = rule.protect(
        spec, method, lambda one: census.tabulate(one, engine=engine), counted=cube
    )
    notes = (*notes_for(protected.table, method.claims()), *protected.table.notes)
    return replace(protected, table=replace(protected.table, notes=notes))


def option_text(name: str) -> str:
    """An option as it is typed on the command line.

    Examples:
        >>> option_text("mean_cell_size")
        '--mean-cell-size'
    """
    return f"--{name.replace('_', '-')}"


def takes_option(name: str, then: Sequence[str], option: str) -> bool:
    """Whether a method, or a step after it, has an option.

    Examples:
        >>> takes_option("conventional-rounding", (), "key_version")
        False
    """
    known = [_METHODS.get(name), *(_STEPS.get(step) for step in then)]
    return any(one is not None and option in one.takes for one in known)


def _check_options(name: str, then: Sequence[str], said: MethodOptions) -> None:
    """Refuse an option that nothing takes, and say whose it is."""
    for option in said.given():
        if takes_option(name, then, option):
            continue
        owners = [one for one, entry in _METHODS.items() if option in entry.takes]
        owners += [one for one, step in _STEPS.items() if option in step.takes]
        raise SpecError(
            f"{option_text(option)} is no option of {' and '.join([name, *then])}. It is for:"
            f" {', '.join(owners)}."
        )
