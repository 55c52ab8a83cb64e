"""From a cell key to a published count: which table is looked up, and with which key."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SecretError, Sentence, SpecError
from sdcensus.kernels.perturbation.lookup import (
    DEFINED,
    FOLDED,
    HASHED,
    PLAIN,
    LookupRows,
    effective_keys,
    publish,
)
from sdcensus.kernels.perturbation.quantise import quantise
from sdcensus.methods.listed_cells import ListedCells
from sdcensus.methods.perturbation.order import scrambled
from sdcensus.methods.perturbation.schemes import SCHEMES, STRENGTHS, scheme, strength
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Origin
from sdcensus.model.method.parameter import Asked, Parameter, ValueKind
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import (
    DeviationRow,
    KeyRule,
    Lookup,
    PerturbationTable,
    default_lookup,
    suits_independence,
)
from sdcensus.model.schema.schema import LARGEST_MODULUS, KeySpace
from sdcensus.model.secret import Purpose, Secret, SubSecret
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.cell_definitions import cell_definitions
from sdcensus.model.spec.table_spec import TableSpec

#: Files with eight decimals leave a mean deviation of this at most, without meaning it.
ROUNDING = 1e-6

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]

#: What everybody who publishes with set keys has to know.
SET_KEYS = sentence("cautions.set_keys")

#: The strength that is taken where nothing is said about the noise of cell keys.
DEFAULT_STRENGTH = "medium"
#: How the perturbation of a method is chosen: by a strength, a scheme or a file.
NOISE = (
    Parameter(
        "strength",
        ValueKind.NAME,
        "How much changes, in plain words; medium if nothing is said to cell-key.",
        words=tuple(STRENGTHS),
        called="strength",
    ),
    Parameter(
        "scheme",
        ValueKind.NAME,
        "A published scheme by its name, such as CP3.",
        words=tuple(SCHEMES),
        called="scheme",
        excludes=("strength",),
    ),
    Parameter(
        "perturbation",
        ValueKind.FILE,
        "The file of a perturbation table, in any exchange format.",
        excludes=("strength", "scheme"),
    ),
    Parameter(
        "allow_bias",
        ValueKind.YES,
        "Rows of the perturbation file that change the mean are meant so.",
        needs=("perturbation",),
    ),
    Parameter(
        "repeat",
        ValueKind.WHOLE,
        "The last N rows of the perturbation file take turns for larger counts.",
        least=1,
        needs=("perturbation",),
    ),
)
#: How a cell key picks a deviation.
LOOKUP = Parameter(
    "lookup",
    ValueKind.WORD,
    "How a key picks a deviation. Best left out: by definition where deviations reach 3."
    " The others are set keys, for exchange.",
    words=tuple(Lookup),
    called="look-up",
)


def asked_perturbation(asked: Asked) -> PerturbationDesign | PerturbationTable | None:
    """The perturbation that was asked for by a file, a scheme or a strength, if one was."""
    said = asked.values
    if "perturbation" in said:
        return asked.perturbation(
            said["perturbation"],
            allow_bias=said.get("allow_bias", False),
            repeat=said.get("repeat"),
        )
    if "scheme" in said:
        return scheme(said["scheme"])
    return strength(said["strength"]) if "strength" in said else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellLookup(Confidential):
    """A perturbation table made ready for the keys of one census.

    Attributes:
        table: What is looked up, in the order in which it is looked up.
        rows: The same for the kernel.
        rule: How a cell key becomes the key that is looked up.
        hash_key: The key of the hash, for look-ups that hash.
        multiplier: With what cell keys are multiplied, for look-ups that do not hash: another
            one for every version of keys.
        modulus: How many keys the census has.
    """

    table: PerturbationTable
    rows: LookupRows
    rule: int
    hash_key: bytes | None = None
    multiplier: int = 1
    modulus: int = LARGEST_MODULUS

    @classmethod
    def build(
        cls,
        perturbation: PerturbationDesign | PerturbationTable,
        key_space: KeySpace,
        lookup: Lookup | None = None,
        secret: Secret | SubSecret | None = None,
        key_version: int = 1,
    ) -> CellLookup:
        """Fit a perturbation to the keys of a census.

        A design is brought into the key space; a table must have been made for it, except that
        look-ups that hash have their own.
        """
        chosen = chosen_lookup(perturbation, lookup)
        hash_key, multiplier = None, 1
        check_lookup(chosen, secret, key_version)
        if chosen.has_own_keys and secret is not None:
            table = _in_hashed_space(perturbation)
            hash_key = secret.sub_key(Purpose.LOOKUP, key_version)
            rule = HASHED if chosen is Lookup.HASHED else DEFINED
        else:
            table = _in_key_space(perturbation, key_space)
            rule = FOLDED if table.key_rule is KeyRule.FOLD_BYTES else PLAIN
            if chosen is Lookup.SCRAMBLED and secret is not None:
                table = scrambled(table, secret, key_version=key_version)
            else:
                multiplier = key_multiplier(key_space.modulus, secret, key_version)
        rows = [(row.deviations, row.widths) for row in table.rows]
        rows[0] = ((0,), (table.modulus,))  # empty cells have no records, and so no key
        tail = table.tail
        ready = LookupRows.build(
            rows, table.modulus, start=tail.start, period=tail.period, anchor=tail.first
        )
        return cls(table, ready, rule, hash_key, multiplier, key_space.modulus)

    def __repr__(self) -> str:
        return "<CellLookup: confidential>"

    @property
    def needs_definitions(self) -> bool:
        """Whether the definition of a cell takes part."""
        return self.rule == DEFINED

    def definitions(
        self, spec: TableSpec, origin: Origin, cells: ListedCells | None = None
    ) -> UInt64 | None:
        """The definitions of some cells of a table, or of all; ``None`` where nobody needs them."""
        return definitions_of(spec, origin, cells) if self.needs_definitions else None

    def publish(self, count: Int64, key: UInt32, definition: UInt64 | None = None) -> Int64:
        """What is published for true counts with their cell keys."""
        return publish(
            count,
            multiplied(key, self.multiplier, self.modulus),
            self.rows,
            rule=self.rule,
            hash_key=self.hash_key,
            definition=definition,
        )

    def effective_keys(self, key: UInt32, definition: UInt64 | None = None) -> UInt32:
        """The keys that are looked up for these cell keys."""
        return effective_keys(
            multiplied(key, self.multiplier, self.modulus),
            rule=self.rule,
            hash_key=self.hash_key,
            definition=definition,
        )

    def replayed(self, spec: TableSpec, origin: Origin) -> Callable[[UInt32, UInt64], UInt32]:
        """For an audit: from keys and numbers of cells of a table to the keys looked up."""

        def keys_of(key: UInt32, numbers: UInt64) -> UInt32:
            return self.effective_keys(key, self.definitions(spec, origin, ListedCells(numbers)))

        return keys_of


def lookup_cautions(
    lookup: Lookup, perturbation: PerturbationDesign | PerturbationTable
) -> list[Sentence]:
    """What to know about noise that is looked up like this."""
    parts = []
    if lookup.is_set_key and suits_independence(perturbation):
        parts.append(sentence("cautions.set_keys_exchange", keys=SET_KEYS))
    if lookup is Lookup.ASCENDING and suits_independence(perturbation):
        parts.append(sentence("cautions.ascending"))
    return parts


def definitions_of(spec: TableSpec, origin: Origin, cells: ListedCells | None = None) -> UInt64:
    """The definitions of some cells of a table, or of all in its shape.

    What the schema of the data declares takes part, whoever asks: it comes with the data.
    """
    known = cell_definitions(spec, origin.rules)
    if cells is None:
        return known.whole()
    return np.broadcast_to(known.listed(cells.positions(spec)), cells.numbers.shape)


def key_multiplier(modulus: int, secret: Secret | SubSecret | None, key_version: int) -> int:
    """With what the keys of a census are multiplied in a version of a series.

    A product of a record key and a number without a common divisor with the modulus is as good a
    record key, and products add up as keys do: so the whole census has new keys. The first version
    has those of the store.
    """
    if key_version <= 1 or secret is None:
        return 1
    drawn = int.from_bytes(secret.sub_key(Purpose.LOOKUP, key_version), "big") % modulus
    while math.gcd(drawn, modulus) != 1:
        drawn += 1
    return drawn


def multiplied(key: UInt32, multiplier: int, modulus: int) -> UInt32:
    """Cell keys of another version of a series."""
    if multiplier == 1:
        return key
    wide = key.astype(np.uint64) * np.uint64(multiplier)  # both below 2**32
    return np.asarray(wide % np.uint64(modulus)).astype(np.uint32)


def check_lookup(lookup: Lookup, secret: Secret | SubSecret | None, key_version: int = 1) -> None:
    """Refuse a look-up without the secret that it needs."""
    give = "Give it (--secret FILE, SDCENSUS_SECRET_FILE, or secret=sc.read_secret(FILE))"
    if lookup is not Lookup.ASCENDING and secret is None:
        raise SecretError(
            f"The look-up {lookup.value!r} needs the office secret. {give}. For exchange with other"
            " programs there is the look-up 'ascending', which needs none."
        )
    if key_version > 1 and secret is None:
        raise SecretError(
            f"Version {key_version} of the keys needs the office secret: it makes new keys of"
            f" those in the store. {give}."
        )


def chosen_lookup(
    perturbation: PerturbationDesign | PerturbationTable, lookup: Lookup | None
) -> Lookup:
    """The look-up that was asked for, else the one that suits the perturbation."""
    return default_lookup(perturbation) if lookup is None else lookup


def _in_key_space(
    perturbation: PerturbationDesign | PerturbationTable, key_space: KeySpace
) -> PerturbationTable:
    if isinstance(perturbation, PerturbationDesign):
        return perturbation.table(key_space.modulus)
    folded = perturbation.key_rule is KeyRule.FOLD_BYTES
    needed = LARGEST_MODULUS if folded else perturbation.modulus
    if key_space.modulus != needed:
        own = key_space.modulus
        # Only files of probabilities fit any number of keys; they are read in 2**32.
        convert = "--to plain" if own == LARGEST_MODULUS else f"--key-space {own}"
        raise SpecError(
            f"The perturbation table is for keys below {needed}, and the keys of this census are"
            f" below {own}. Take the look-up 'definition' (--lookup definition), which fits any"
            f" keys; convert the table (sdcensus ptable convert FILE NEW {convert}); or load the"
            f" census with the keys of the table ([keys] modulus = {needed})."
        )
    return perturbation


def _in_hashed_space(
    perturbation: PerturbationDesign | PerturbationTable,
) -> PerturbationTable:
    """The table at 2**32 keys, whatever the key space of the census is."""
    if isinstance(perturbation, PerturbationDesign):
        return perturbation.table(LARGEST_MODULUS)
    if perturbation.modulus == LARGEST_MODULUS:
        return perturbation
    rows = []
    biased = biased_on_purpose(perturbation)
    for at in range(perturbation.tail.rows):
        pairs = perturbation.distribution(at)
        values = [value for value, _ in pairs]
        chances = [chance for _, chance in pairs]
        widths = quantise(chances, values, LARGEST_MODULUS, unbiased=at not in biased)
        rows.append(DeviationRow(tuple(values), widths))
    return PerturbationTable(
        LARGEST_MODULUS,
        tuple(rows),
        perturbation.tail,
        blocked_up_to=perturbation.blocked_up_to,
        biased=biased,
        name=perturbation.name,
    )


def biased_on_purpose(perturbation: PerturbationDesign | PerturbationTable) -> frozenset[int]:
    """Rows whose mean deviation is more than what rounding in a file leaves."""
    tail = perturbation.tail
    return frozenset(
        row
        for row in perturbation.biased
        if abs(float(perturbation.bias(tail.smallest_count(row)))) > ROUNDING
    )
