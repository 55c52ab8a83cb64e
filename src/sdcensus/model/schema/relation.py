"""What a rule says about a second record: the spouse of a child, the ages of parents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Another record of the same kind that the same unit holds, and how the two relate.

    Attributes:
        beside: The condition that the other record fulfils.
        within: What holds both; ``None`` for what holds such a unit directly.
        gap: A variable whose codes are numbers: that of the other record, minus that of the first.
        less_than: The rule is broken where the gap is smaller for certain.
        more_than: The rule is broken where the gap is larger for certain.
    """

    beside: str
    within: Entity | None = None
    gap: str = ""
    less_than: int | None = None
    more_than: int | None = None

    def __str__(self) -> str:
        words = [f"beside {self.beside}"]
        if self.within is not None:
            words.append(f"within {self.within}")
        if self.gap:
            words.append(f"gap {self.gap}")
        if self.less_than is not None:
            words.append(f"less than {self.less_than}")
        if self.more_than is not None:
            words.append(f"more than {self.more_than}")
        return ", ".join(words)

    def to_json(self) -> dict[str, str | int]:
        """What ``from_json`` reads: what is said, and nothing else."""
        values = (self.within and self.within.value, self.gap, self.less_than, self.more_than)
        named = zip(("within", "gap", "less_than", "more_than"), values, strict=True)
        said = {name: value for name, value in named if value not in (None, "")}
        return {"beside": self.beside, **said}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote, and refuse anything else."""
        known = {"beside": str, "within": str, "gap": str, "less_than": int, "more_than": int}
        if "beside" not in document or any(
            type(value) is not known.get(name) for name, value in document.items()
        ):
            raise SpecError("A rule about two records cannot be read.")
        within = document.get("within")
        return cls(**{**document, "within": None if within is None else Entity(within)})
