"""How a store was made from another one: its lineage, which everything published from it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


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
    return " → ".join(map(str, lineage))
