"""How the codes of a variable are told in a file: coarser, cut off at an end, or in own groups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sdcensus.model.text import Text


class GroupKind(StrEnum):
    """What a group of codes becomes."""

    CODE = "code"
    OTHER = "other"
    NOT_STATED = "not-stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeGroup:
    """Codes that a file tells as one.

    Attributes:
        code: The code in the file.
        members: The codes of the variable (at the recode's level) that it stands for.
        label: What it is called; made of the members' labels where it is empty.
        kind: A category, the rest, or "not stated".
    """

    code: str
    members: tuple[str, ...]
    label: Text = Text()
    kind: GroupKind = GroupKind.CODE


@dataclass(frozen=True, slots=True, kw_only=True)
class Recode:
    """How one variable is told. What is said is done in this order; nothing said, nothing done.

    Attributes:
        variable: Its name.
        level: A declared level.
        intervals: Lower bounds as in a schema (``0,5,10,85+``), for codes that are numbers.
        bottom: Numbers up to this become one code.
        top: Numbers from this on become one code.
        groups: Codes that become one.
        optional: Whether a file may do without it: presets speak of variables that a census may
            not have, or have under another name.
    """

    variable: str
    level: str = ""
    intervals: str = ""
    bottom: int | None = None
    top: int | None = None
    groups: tuple[CodeGroup, ...] = ()
    optional: bool = False
