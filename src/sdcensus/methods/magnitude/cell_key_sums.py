"""The cell key method for sums: noise in proportion to the largest contributions, drawn by keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels.magnitude.draws import DEFINED, HASHED, ROTATED, SumKeys, sum_keys
from sdcensus.kernels.magnitude.numeric_rows import NumericRows
from sdcensus.kernels.magnitude.sum_chances import chances_between
from sdcensus.kernels.magnitude.sum_noise import SmallValues, SumNoise, publish_sums
from sdcensus.kernels.perturbation.lookup import frozen
from sdcensus.methods.listed_cells import ListedCells
from sdcensus.methods.look_up import SET_KEYS, definitions_of, key_multiplier, multiplied
from sdcensus.methods.magnitude.numeric_tables import NumericTable
from sdcensus.methods.magnitude.settings import (
    MAX_DEVIATION,
    NOISE_SHARE,
    PARAMETERS,
    POWER,
    SMALL_DEVIATION,
    SMALL_VARIANCE,
    STEP,
    VARIANCE,
    KeyDerivation,
    MeasuredBy,
    NoiseSettings,
)
from sdcensus.methods.magnitude.sums import Summed, amount_digest, sizes_of, summed
from sdcensus.methods.method import (
    KEY_VERSION,
    AnySecret,
    CellMethod,
    Float64,
    Int64,
    Mask,
    MethodKind,
    MethodOutcome,
    Numbers,
    UInt32,
    check_key_version,
    check_secret,
)
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.method.parameter import Asked, Parameter
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.schema.schema import LARGEST_MODULUS, KeySpace
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import option

_RULES = {
    KeyDerivation.DEFINITION: DEFINED,
    KeyDerivation.HASHED: HASHED,
    KeyDerivation.ROTATED: ROTATED,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellKeySums(CellMethod):
    """Move a sum by a random multiple of its largest contributions, drawn by the keys of its cell.

    The noise is a function of who contributes and of what was asked: the same in every table, on
    every engine, in every re-run. Sums keep their sign, and a sum of 0 stays 0.

    Attributes:
        measured_by: What noise is measured by.
        contribution_shares: What each of the largest contributions counts, the largest first; 1
            and then never more.
        noise_share: How large noise is, relative to a contribution.
        large_share, flex_point, power: How that share falls for large contributions.
        max_deviation, table_variance, step, anchors: The numeric table that is designed.
        odd_variance: The variance of another one, for odd numbers of contributors.
        small_values: Whether small contributions have noise of their own, by a table of
            ``small_deviation`` and ``small_variance`` in units of ``small_unit``.
        extra_noise: How much farther sensitive cells move at least, in deviations of the table.
        sensitive_below, sensitive_remainder, sensitive_dominance: Which cells are sensitive.
        rounded_to: Of what published sums are multiples, in units of the variable.
        key_derivation: How keys are made.
        same_key: Whether the largest contribution has the key of the count.
        zeros_in_key: Whether records whose amount is 0 or missing take part in the cell key.
        key_version: The version of the series of published numbers.
        secret: The office secret, or the part of it for look-ups; rotated keys need none.
        table, odd_table, small_table: Tables made by hand, in the place of designed ones.
    """

    measured_by: MeasuredBy | str = MeasuredBy.TOP
    contribution_shares: Sequence[float | Fraction] | str = "1"
    noise_share: float | Fraction = NOISE_SHARE
    large_share: float | Fraction | None = None
    flex_point: float | Fraction | None = None
    power: int = POWER
    max_deviation: int = MAX_DEVIATION
    table_variance: float = VARIANCE
    step: int = STEP
    anchors: Sequence[int] | str | None = None
    odd_variance: float | None = None
    small_values: bool = False
    small_deviation: int = SMALL_DEVIATION
    small_variance: float = SMALL_VARIANCE
    small_unit: float | Fraction = 1
    extra_noise: float | Fraction | None = None
    sensitive_below: int | None = None
    sensitive_remainder: float | Fraction | None = None
    sensitive_dominance: Sequence[float | Fraction] | str | None = None
    rounded_to: float | Fraction | None = None
    key_derivation: KeyDerivation | str = KeyDerivation.DEFINITION
    same_key: bool = False
    zeros_in_key: bool = False
    key_version: int = 1
    secret: AnySecret | None = None
    table: NumericTable | None = None
    odd_table: NumericTable | None = None
    small_table: NumericTable | None = None
    _settings: NoiseSettings = field(init=False)
    _prepared: dict[tuple[KeySpace, int, int], SumNoise] = field(init=False, default_factory=dict)

    name: ClassVar[str] = "cell-key-sums"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS
    summary: ClassVar[str] = "A random change of each sum, by its largest contributions."
    takes_sums: ClassVar[bool] = True
    for_sums: ClassVar[bool] = True
    takes: ClassVar[tuple[Parameter, ...]] = (*PARAMETERS, KEY_VERSION)

    @classmethod
    def build(cls, asked: Asked) -> CellKeySums:
        """The method with what somebody said about it."""
        rotated = asked.values.get("key_derivation") == KeyDerivation.ROTATED
        return cls(secret=asked.secret(needed=not rotated), **asked.values)

    def __post_init__(self) -> None:
        measured = option(MeasuredBy, "measure of noise", self.measured_by)
        derivation = option(KeyDerivation, "way to make keys", self.key_derivation)
        object.__setattr__(self, "measured_by", measured)
        object.__setattr__(self, "key_derivation", derivation)
        check_secret(self.secret, type(self).__name__)
        check_key_version(self.key_version)
        said = {
            setting.name: getattr(self, setting.name) for setting in fields(self) if setting.init
        }
        object.__setattr__(self, "_settings", NoiseSettings.of(said))
        if len(self._settings.shares) > 1 and measured is not MeasuredBy.TOP:
            raise SpecError(
                "Several contributions count only where noise is measured by the top contributors."
                " Leave contribution_shares out."
            )
        if self.key_derivation is not KeyDerivation.ROTATED and self.secret is None:
            raise SecretError(
                "The cell key method for sums needs the office secret. Give it (--secret FILE,"
                " SDCENSUS_SECRET_FILE, or secret=sc.read_secret(FILE)). For exchange with"
                " tau-ARGUS there are rotated keys, which need none."
            )
        if self.key_version > 1 and self.secret is None:
            raise SecretError(
                f"Version {self.key_version} of the keys needs the office secret: it makes new keys"
                " of those in the store. Give it (--secret FILE, SDCENSUS_SECRET_FILE, or"
                " secret=sc.read_secret(FILE))."
            )

    def __repr__(self) -> str:
        return "<CellKeySums: confidential parameters>"

    @property
    def needs_contributions(self) -> ContributionNeeds:
        """The contributions by which noise is measured, and those that rules look at."""
        settings = self._settings
        rule = 0 if settings.sensitive is None else settings.sensitive.largest
        by_mean = self.measured_by is MeasuredBy.MEAN
        return ContributionNeeds(
            largest=max(len(settings.shares), rule),
            keys=False,
            waivers=False,
            spread=self.measured_by is MeasuredBy.RANGE,
            absolute=by_mean or settings.sensitive is not None,
        )

    @property
    def least_deviation(self) -> float | None:
        """The least standard deviation of a sum, as a share of its largest contribution.

        Confidential. ``None`` where noise is measured by something that can be smaller, and where
        the noise of the count tells some of it.
        """
        if self.measured_by not in (MeasuredBy.TOP, MeasuredBy.SUM) or self.same_key:
            return None
        return self._settings.least_deviation

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        return {
            "measured_by": str(self.measured_by),
            "key_derivation": str(self.key_derivation),
            "same_key": self.same_key,
            "zeros_in_key": self.zeros_in_key,
            **self._settings.described(),
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        rotated = self.key_derivation is KeyDerivation.ROTATED
        extra = self._settings.sensitive is not None
        cautions = [sentence("cautions.sums_in_proportion")]
        if self._settings.small is None:
            cautions.append(sentence("cautions.sums_small_values"))
        if self._settings.rounded_to is None:
            cautions.append(sentence("cautions.sums_last_digits"))
        if self.measured_by is MeasuredBy.RANGE:
            cautions.append(sentence("cautions.sums_range"))
        if extra:
            cautions.append(sentence("cautions.sums_extra"))
        if self.same_key:
            cautions.append(sentence("cautions.sums_same_key"))
        if self.key_derivation is not KeyDerivation.DEFINITION:
            cautions.append(SET_KEYS)
        if rotated:
            cautions.append(sentence("cautions.sums_rotated"))
        return Claims(
            unbiased=not extra and not rotated,
            zeros_kept=True,
            consistent=True,
            by_definition=self.key_derivation is KeyDerivation.DEFINITION,
            distribution=not extra and not rotated,
            takes_sparse=True,
            cautions=tuple(cautions),
        )

    def check(self, cube: AnyCube) -> None:
        """Refuse a cube whose keys cannot be rotated."""
        CellMethod.check(self, cube)
        modulus = cube.origin.key_space.modulus
        decimal = str(modulus).strip("0") == "1" and modulus >= 10
        if self.key_derivation is KeyDerivation.ROTATED and not decimal:
            raise SpecError(
                "Only decimal keys can be rotated, and the keys of this census are below"
                f" {modulus}. Take keys by definition (key_derivation = 'definition'), or load the"
                " census with decimal keys."
            )

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Move every sum by noise of its own."""
        known = summed(cells, spec, self.needs_contributions)
        noise = self._noise(spec, origin)
        key = cells.key if self.zeros_in_key else known.contributions.contributor_key
        definition = None
        if noise.keys.rule == DEFINED:
            definition = definitions_of(spec, origin, listed)
        published = publish_sums(
            known.total,
            sizes_of(MeasuredBy(self.measured_by), known),
            known.contributions.contributors,
            self._versioned(key, origin),
            noise,
            definition=definition,
            sensitive=self._sensitive(known),
        )
        return MethodOutcome(published)

    def exact(self, cells: Accumulators, spec: TableSpec) -> Int64:
        """The true sums."""
        return summed(cells, spec, self.needs_contributions).total

    def audit(self, cube: AnyCube) -> Audit:
        """True sums with the keys that were looked up for the largest contributions."""
        spec, origin = cube.spec, cube.origin
        noise = self._noise(spec, origin)

        def looked_up(key: UInt32, numbers: Numbers) -> UInt32:
            definition = None
            if noise.keys.rule == DEFINED:
                definition = definitions_of(spec, origin, ListedCells(numbers))
            return sum_keys(self._versioned(key, origin), noise.keys, definition=definition)

        return Audit(cube, looked_up, keys_of_contributors=not self.zeros_in_key)

    def chances_between(self, cube: Cube, lower: Int64, upper: Int64) -> Float64:
        """For each cell the chance, over all keys, to be published between two bounds."""
        known = summed(cube.values, cube.spec, self.needs_contributions)
        return chances_between(
            known.total,
            sizes_of(MeasuredBy(self.measured_by), known),
            known.contributions.contributors,
            self._noise(cube.spec, cube.origin),
            lower,
            upper,
            sensitive=self._sensitive(known),
        )

    def _sensitive(self, known: Summed) -> Mask | None:
        rule = self._settings.sensitive
        return None if rule is None else rule.mask(known.contributions)

    def _versioned(self, key: UInt32, origin: Origin) -> UInt32:
        """Cell keys of the version of the series; a hash has another key for every version."""
        if self.key_derivation is not KeyDerivation.ROTATED:
            return key
        modulus = origin.key_space.modulus
        return multiplied(key, key_multiplier(modulus, self.secret, self.key_version), modulus)

    def _noise(self, spec: TableSpec, origin: Origin) -> SumNoise:
        name = "" if spec.amount is None else spec.amount.name
        digest = amount_digest(name, weighted=spec.measure.is_weighted)
        place = (origin.key_space, spec.decimals, digest)
        if place not in self._prepared:
            self._prepared[place] = self._made_ready(*place)
        return self._prepared[place]

    def _made_ready(self, space: KeySpace, decimals: int, amount: int) -> SumNoise:
        rotated = self.key_derivation is KeyDerivation.ROTATED
        modulus = space.modulus if rotated else LARGEST_MODULUS
        hash_key = bytes(16)
        if self.secret is not None and not rotated:
            hash_key = self.secret.sub_key(Purpose.LOOKUP, self.key_version)
        settings = self._settings
        magnitude = settings.magnitude.ready(decimals)
        small = SmallValues.build(0, [0] * len(settings.shares), 1)
        tables = [settings.table, settings.odd_table or settings.table, settings.table]
        if settings.small is not None:
            small = settings.small.ready(decimals, int(magnitude.small), settings.shares)
            tables[2] = settings.small.table
        return SumNoise(
            rows=NumericRows.build(
                [(table.anchors, table.widths(modulus), table.step) for table in tables], modulus
            ),
            keys=SumKeys.build(
                _RULES[KeyDerivation(self.key_derivation)],
                modulus,
                hash_key=hash_key,
                same_key=self.same_key,
                amount=amount,
            ),
            magnitude=magnitude,
            small=small,
            shares=frozen(np.array(settings.shares, dtype=np.uint64)),
            extra=np.uint64(settings.extra),
            parity=settings.odd_table is not None,
            base=np.uint64(settings.base(decimals)),
        )
