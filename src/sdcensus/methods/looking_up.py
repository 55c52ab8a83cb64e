"""From a cell key to a published count: which table is looked up, and with which key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels.lookup import FOLDED, HASHED, PLAIN, LookupRows, effective_keys, publish
from sdcensus.kernels.quantise import quantise
from sdcensus.methods.perturbation.order import scrambled
from sdcensus.model.confidential import Confidential
from sdcensus.model.key_space import LARGEST_MODULUS, KeySpace
from sdcensus.model.lookups import Lookup, default_lookup
from sdcensus.model.perturbation_design import PerturbationDesign
from sdcensus.model.perturbation_table import DeviationRow, KeyRule, PerturbationTable
from sdcensus.model.secret import Purpose, Secret, SubSecret

#: Files with eight decimals leave a mean deviation of this at most, without meaning it.
ROUNDING = 1e-6

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellLookup(Confidential):
    """A perturbation table made ready for the keys of one census.

    Attributes:
        table: What is looked up, in the order in which it is looked up.
        rows: The same for the kernel.
        rule: How a cell key becomes the key that is looked up.
        hash_key: The key of the hash, for the hashed look-up.
    """

    table: PerturbationTable
    rows: LookupRows
    rule: int
    hash_key: bytes | None = None

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
        the hashed look-up has its own.
        """
        chosen = chosen_lookup(perturbation, lookup)
        hash_key = None
        check_lookup(chosen, secret)
        if chosen is Lookup.HASHED and secret is not None:
            table = _in_hashed_space(perturbation)
            hash_key = secret.sub_key(Purpose.LOOKUP, key_version)
            rule = HASHED
        else:
            table = _in_key_space(perturbation, key_space)
            rule = FOLDED if table.key_rule is KeyRule.FOLD_BYTES else PLAIN
            if chosen is Lookup.SCRAMBLED and secret is not None:
                table = scrambled(table, secret, key_version=key_version)
        rows = [(row.deviations, row.widths) for row in table.rows]
        rows[0] = ((0,), (table.modulus,))  # empty cells have no records, and so no key
        tail = table.tail
        ready = LookupRows.build(
            rows, table.modulus, start=tail.start, period=tail.period, anchor=tail.first
        )
        return cls(table, ready, rule, hash_key)

    def __repr__(self) -> str:
        return "<CellLookup: confidential>"

    def publish(self, count: Int64, key: UInt32) -> Int64:
        """What is published for true counts with their cell keys."""
        return publish(count, key, self.rows, rule=self.rule, hash_key=self.hash_key)

    def effective_keys(self, key: UInt32) -> UInt32:
        """The keys that are looked up for these cell keys."""
        return effective_keys(key, rule=self.rule, hash_key=self.hash_key)


def check_lookup(lookup: Lookup, secret: Secret | SubSecret | None) -> None:
    """Refuse a look-up without the secret that it needs."""
    if lookup is not Lookup.ASCENDING and secret is None:
        raise SecretError(
            f"The look-up {lookup.value!r} needs the office secret. Give it (--secret FILE,"
            " SDCENSUS_SECRET_FILE, or secret=sc.read_secret(FILE)), or take the look-up"
            " 'ascending'."
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
            f" below {own}. Take the look-up 'hashed' (--lookup hashed), which fits any keys;"
            f" convert the table (sdcensus ptable convert FILE NEW {convert}); or load the census"
            f" with the keys of the table ([keys] modulus = {needed})."
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
