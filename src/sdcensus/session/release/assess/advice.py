"""What to write into a design so that a key is told more coarsely, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from sdcensus.errors import SpecError
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import Design
from sdcensus.model.release.recode import Recode
from sdcensus.model.release.recoding import coarser_of, recoded
from sdcensus.model.schema.variable import Level, Role
from sdcensus.model.sentences import speak

#: The settings of a design that say a recode, by the attribute that they become.
_SETTINGS = {"bottom": "bottom_code", "top": "top_code", "groups": "merge"}
#: Where groups of small categories stand.
_GROUPINGS = "thresholds.groupings"


@dataclass(frozen=True, slots=True)
class Advice:
    """What a design has to say of a variable, and where it may no longer stand.

    Attributes:
        added: What is written into the design; empty where nothing is.
        name: What is taken out.
        places: The settings that it is taken out of.
    """

    added: str = ""
    name: str = ""
    places: tuple[str, ...] = ()

    def words(self, language: str) -> str:
        """The advice as a part of a sentence; empty where there is nothing to write."""
        if not self.places:
            return self.added
        taken = speak(
            "release.change.take_out", language, name=self.name, places=", ".join(self.places)
        )
        return f"{self.added}; {taken}" if self.added else taken


def advice_coarser(design: FileDesign, key: FileVariable, level: Level) -> Advice | None:
    """How a design tells a key at a declared level; ``None`` where a level alone cannot say it.

    Args:
        design: What the file tells now.
        key: The key, as the ladder has it.
        level: What is to be told, under the name of the declared level.
    """
    name = key.source.name
    if key.source.role is Role.GEOGRAPHY:
        if own_recode(design.design, name) is not None:
            return None
        text = f'keep = ["{name}@{level.name}"]'
        return Advice(text, _kept_text(key), ("keep",))
    for recode in _candidates(design, key, level.name):
        if _tells(design, key, recode, level):
            return Advice(_written(recode), name, tuple(_places(design, key, recode)))
    return None


def advice_intervals(
    design: FileDesign, key: FileVariable, intervals: str
) -> tuple[Level, Advice] | None:
    """How a design tells a key of numbers in other intervals, with the level that it tells then.

    Args:
        design: What the file tells now.
        key: The key.
        intervals: Lower bounds, such as ``0,15+``.

    Returns:
        ``None`` where the codes are no numbers, or the intervals cut through what is told.
    """
    name = key.source.name
    recode = Recode(variable=name, intervals=intervals)
    try:
        level = recoded(key.source, recode)
    except SpecError:
        return None
    if not key.level.refines(level) or level.refines(key.level):
        return None
    text = f'recode = {{ {name} = "{intervals}" }}'
    return level, Advice(text, name, tuple(_places(design, key, recode)))


def advice_left_out(design: FileDesign, key: FileVariable) -> Advice:
    """How a design leaves a key out."""
    name = key.source.name
    said = own_recode(design.design, name)
    places = [] if said is None else [*_said(said)]
    if key.source.role is Role.GEOGRAPHY:
        return Advice("", _kept_text(key), ("keep", *places))
    if name in design.design.keep:
        places.append("keep")
    if _is_grouped(said, key):
        places.append(_GROUPINGS)
    return Advice(f'drop = ["{name}"]', name, tuple(places))


def own_recode(design: Design, name: str) -> Recode | None:
    """What a design itself says about a variable, without groups that an office has approved."""
    return next((recode for recode in design.recodes if recode.variable == name), None)


def _kept_text(key: FileVariable) -> str:
    level = "" if key.recode is None else key.recode.level
    return f"{key.source.name}@{level}" if level else key.source.name


def _said(recode: Recode) -> Iterator[str]:
    """The settings in which a design speaks of a variable."""
    if recode.level or recode.intervals:
        yield "recode"
    for attribute, setting in _SETTINGS.items():
        if getattr(recode, attribute) not in (None, ()):
            yield setting


def _candidates(design: FileDesign, key: FileVariable, level: str) -> Iterator[Recode]:
    """The level with as much as possible of what is said besides, then with less of it."""
    name = key.source.name
    said = own_recode(design.design, name) or key.recode or Recode(variable=name)
    base = replace(said, variable=name, level=level, intervals="", groups=())
    ends = [end for end in ("bottom", "top") if getattr(said, end) is not None]
    for number in range(len(ends) + 1):
        for without in combinations(ends, number):
            yield replace(
                base,
                bottom=None if "bottom" in without else base.bottom,
                top=None if "top" in without else base.top,
            )


def _tells(design: FileDesign, key: FileVariable, recode: Recode, level: Level) -> bool:
    """Whether a file with the recode tells exactly the level."""
    try:
        told = recoded(key.source, recode)
    except SpecError:
        return False
    held = next(each for each in design.variables if each.source is key.source)
    if held.level.group != key.level.group:
        # The ladder itself is coarser than the file: it stays what it is.
        told = coarser_of(told, key.level)
    return _partition(told) == _partition(level)


def _partition(level: Level) -> list[int]:
    """Which leaves are together, whatever the groups are called."""
    first: dict[int, int] = {}
    return [first.setdefault(group, at) for at, group in enumerate(level.group)]


def _written(recode: Recode) -> str:
    name = recode.variable
    parts = [f'recode = {{ {name} = "{recode.level}" }}']
    for attribute in ("bottom", "top"):
        number = getattr(recode, attribute)
        # A preset says it of a variable that a document may speak of anew: all is said there.
        if number is not None and recode.optional:
            parts.append(f"{_SETTINGS[attribute]} = {{ {name} = {number} }}")
    return ", ".join(parts)


def _places(design: FileDesign, key: FileVariable, recode: Recode) -> Iterator[str]:
    """Where the variable is spoken of in a way that the recode leaves out."""
    said = own_recode(design.design, key.source.name)
    if said is not None:
        for attribute, setting in _SETTINGS.items():
            left = getattr(recode, attribute)
            if getattr(said, attribute) not in (None, ()) and left in (None, ()):
                yield setting
    if _is_grouped(said, key):
        yield _GROUPINGS


def _is_grouped(said: Recode | None, key: FileVariable) -> bool:
    """Whether an office has approved groups of its small categories."""
    groups = () if key.recode is None else key.recode.groups
    return groups != (() if said is None else said.groups)
