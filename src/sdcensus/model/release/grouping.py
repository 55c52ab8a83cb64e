"""Groups of categories that are too small, as an office has approved them."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.model.release.recode import CodeGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """What becomes of the small categories of one variable.

    Attributes:
        variable: Its name in the file.
        groups: Codes of the file (after what the design says) that become one.
        drop: The variable is left out: nothing of it is large enough.
        designs: The designs to which it applies; all if empty.
    """

    variable: str
    groups: tuple[CodeGroup, ...] = ()
    drop: bool = False
    designs: tuple[str, ...] = ()
