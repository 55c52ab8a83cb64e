"""What a method is built from, as far as it cannot find it itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sdcensus.model.perturbation.table import PerturbationTable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.spec.table_spec import TableSpec


class Asked(Protocol):
    """What somebody said about a method, checked, and what is at hand where it was said."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the method's parameters, by name; only those that were said."""
        ...

    @property
    def schema(self) -> Schema:
        """Of the census whose tables are protected."""
        ...

    def secret(self, *, needed: bool = False) -> Secret | SubSecret | None:
        """The secret at hand, if one is given or its file is named, or if there must be one."""
        ...

    def office_secret(self, method: str) -> Secret:
        """The office secret itself, for a method that draws for more than look-ups."""
        ...

    def tables(self, texts: Sequence[str]) -> list[TableSpec]:
        """Tables that are written as comma-separated axes."""
        ...

    def perturbation(
        self, file: Path, *, allow_bias: bool, repeat: int | None
    ) -> PerturbationTable:
        """The perturbation table in a file."""
        ...
