"""How published numbers and the records behind them were made, without how to undo it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sdcensus.model.secret import Purpose, Secret, SubSecret

#: Between the steps of a lineage.
_ARROW = " → "


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What a published table says about its making. Public; holds no parameter and no clock.

    Attributes:
        method: The name of the method; of a pipeline all names, joined by arrows.
        method_version: The version of the method; numbers change only with it.
        fingerprint: A keyed digest of the parameters: tells whether two tables were made with
            the same ones to those who hold the secret. Empty without a secret.
        data_version, key_version, secret_id: Which records, which series of keys.
        package_version: The version of sdcensus.
        spec_hash: The table that was asked for.
        smallest_group: Groups that are published below this are not broken down; 0 for no rule.
        lineage: How the records were derived from an original store, with the name, version and
            fingerprint of every step; empty for a store that was loaded.
    """

    method: str
    method_version: str
    fingerprint: str
    data_version: str
    key_version: int
    secret_id: str
    package_version: str
    spec_hash: str
    smallest_group: int = 0
    lineage: str = ""

    def to_json(self) -> dict[str, str | int]:
        """The same as plain values; a rule or a lineage that there is not is left out."""
        values = asdict(self)
        for name in ("smallest_group", "lineage"):
            if not values[name]:
                del values[name]
        return values


def fingerprint(
    parameters: Mapping[str, object], secret: Secret | SubSecret | None, key_version: int
) -> str:
    """A digest of parameters that only holders of the secret can compare with a guess.

    Without the key, the few plausible parameters could be tried out one after the other.
    """
    if secret is None:
        return ""
    text = json.dumps(parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    key = secret.sub_key(Purpose.LOOKUP, key_version)
    digest = hashlib.blake2b(text.encode(), key=key, person=b"fingerprint", digest_size=16)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """One step from a store to another. Public; holds no parameter, no count and no clock.

    Attributes:
        parent: The data version of the store that it began with.
        method, method_version: The pre-tabular method.
        fingerprint: A keyed digest of its parameters, as in the provenance of tables.
        secret_id: The secret under which it drew, and under which the fingerprint is keyed.
    """

    parent: str
    method: str
    method_version: str
    fingerprint: str
    secret_id: str

    def __str__(self) -> str:
        return f"{self.method} {self.method_version} {self.fingerprint}"

    def to_json(self) -> dict[str, str]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Derivation:
        """Read what ``to_json`` made."""
        return cls(**{name: str(value) for name, value in content.items()})


def lineage_text(lineage: Sequence[Derivation]) -> str:
    """A lineage as published files name it; empty for an original store."""
    return _ARROW.join(map(str, lineage))


def line_text(lineage: str) -> str:
    """A line of records in words."""
    return f"a derived store ({lineage})" if lineage else "the original store"


def lines_of(made: Iterable[Provenance | None]) -> tuple[str, ...]:
    """From which lines of records tables were made, in words, each once.

    Tables that do not say how they were made are of no known line.
    """
    return tuple(dict.fromkeys(line_text(each.lineage) for each in made if each is not None))


def methods_of(lineage: str) -> tuple[str, ...]:
    """The names of the methods in a lineage as published files name it, in their order."""
    return tuple(step.split()[0] for step in lineage.split(_ARROW) if step.strip())
