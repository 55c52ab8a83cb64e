"""Groups of categories that are too small: proposed, edited by the office, approved."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.model.release.recode import CodeGroup, GroupKind
from sdcensus.model.text import Text


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingRow:
    """One category, and the group that it goes into: a row of the file that an office edits.

    Attributes:
        design, variable: Where it is.
        code, label: The category, as the design tells it.
        group: The group, if it goes into one; its members are not told here.
        drop: The whole variable is left out.
    """

    design: str
    variable: str
    code: str
    label: Text
    group: CodeGroup | None = None
    drop: bool = False

    @property
    def into(self) -> str:
        """What the row says, as the file writes it."""
        if self.drop:
            return DROP
        if self.group is None:
            return ""
        return NOT_STATED if self.group.kind is GroupKind.NOT_STATED else self.group.code


#: What stands in the place of a group; codes of a census have no brackets around them.
DROP, NOT_STATED = "(drop)", "(not stated)"
