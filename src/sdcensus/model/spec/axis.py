"""An axis of a table: a variable at one or more levels, with or without its total."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence, SpecError, UnknownName, both, told
from sdcensus.model.schema.variable import CodeKind, Level, Role, Variable, common_refinement
from sdcensus.model.text import TOTAL_LABEL, Text

#: The code of a total, and the name of the level that holds nothing else.
TOTAL = "_T"

_AXIS = re.compile(
    r"\s*(?P<variable>\w+)\s*(?:@\s*(?P<level>\w+))?(?P<more>(?:\s*[+-]\s*\w+)*)\s*", re.UNICODE
)
_MORE = re.compile(r"([+-])\s*(\w+)")


@dataclass(frozen=True, slots=True)
class AxisCode:
    """One position of an axis."""

    code: str
    label: Text
    level: str
    kind: CodeKind = CodeKind.VALID

    @property
    def is_total(self) -> bool:
        """Whether this position is the total of the axis."""
        return self.level == TOTAL


@dataclass(frozen=True, slots=True)
class Block:
    """The positions of an axis that belong to one level (or to the total).

    ``group`` says for each base group which code of the block holds it.
    """

    level: str
    start: int
    size: int
    group: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A variable at one or more levels.

    Records are counted into *base groups*: the coarsest partition of the leaves from which every
    asked level adds up. Nested levels have the finest of them as base.

    Attributes:
        variable: What the axis shows.
        levels: The asked levels, finest first.
        total: Whether the total is shown.
        base: For each leaf the number of its base group.
        base_size: How many base groups there are.
        blocks: The levels, then the total, in the order of ``codes``.
        codes: The positions of the axis.
    """

    variable: Variable
    levels: tuple[Level, ...]
    total: bool
    base: npt.NDArray[np.int64]
    base_size: int
    blocks: tuple[Block, ...]
    codes: tuple[AxisCode, ...]
    # Tables share axes, and long code lists take a while.
    _canonical: list[list[object]] = field(init=False, default_factory=list)
    _digest: list[str] = field(init=False, default_factory=list)

    @property
    def name(self) -> str:
        """The axis in the grammar of plans, in its shortest form."""
        names = [level.name for level in self.levels]
        text = self.variable.name
        if names != [self.variable.leaf_level]:
            text += "@" + "+".join(names)
        return text if self.total else f"{text}-total"

    @property
    def base_is_shown(self) -> bool:
        """Whether the base groups are exactly the codes of the first level."""
        first = self.blocks[0]
        return first.size == self.base_size and bool(
            (first.group == np.arange(self.base_size)).all()
        )

    def position(self, code: str, level: str | None = None) -> int:
        """The position of a code; ``level``, or ``level:code``, decides among several levels.

        Raises:
            UnknownName: There is no such code.
            SpecError: It is a code of several levels of the axis, for different records.
        """
        places = [
            at
            for at, axis_code in enumerate(self.codes)
            if axis_code.code == code and (level is None or axis_code.level == level)
        ] or [
            at
            for at, axis_code in enumerate(self.codes)
            if level is None and code in spellings(axis_code.code, axis_code.level)
        ]
        if not places:
            known = [code.code for code in self.codes]
            raise UnknownName("code", code, known=known, where=f"Axis {self.name!r}: ")
        if len(places) > 1 and len({self._leaves(at) for at in places}) > 1:
            raise SpecError(several_levels(code, [self.codes[at].level for at in places]))
        return places[0]

    def _leaves(self, position: int) -> bytes:
        """The leaves of a position, as something to compare."""
        for block, level in zip(self.blocks, self.levels, strict=False):
            if block.start <= position < block.start + block.size:
                return bytes((level.group_array == position - block.start).tobytes())
        return b""

    def canonical(self) -> list[object]:
        """The axis as plain values: groups of leaf codes, so that names of levels are no matter."""
        if not self._canonical:
            partitions = set()
            for level in self.levels:
                groups: dict[int, list[str]] = {}
                for code, group in zip(self.variable.codes, level.group, strict=True):
                    groups.setdefault(group, []).append(code.code)
                partitions.add(tuple(sorted(tuple(sorted(group)) for group in groups.values())))
            self._canonical.append([self.variable.name, sorted(partitions), self.total])
        return self._canonical[0]

    def digest(self) -> str:
        """A hash of ``canonical``."""
        if not self._digest:
            text = json.dumps(self.canonical(), ensure_ascii=False, separators=(",", ":"))
            self._digest.append(hashlib.blake2b(text.encode(), digest_size=16).hexdigest())
        return self._digest[0]


def spellings(code: str, level: str) -> tuple[str, str]:
    """A code with its level: as questions write it, and as files do."""
    return f"{level}:{code}", f"{code}@{level}"


def several_levels(code: str, levels: Sequence[str]) -> Sentence:
    """Say that a code alone does not tell what is meant."""
    return told(
        "question.several-levels",
        "The code {code!r} stands at several levels ({levels}). Write {written!r}.",
        code=code,
        levels=tuple(levels),
        written=spellings(code, levels[0])[0],
    )


def at_other_levels(variable: Variable, level: Level, code: str) -> Sentence | None:
    """Say at which other levels of a variable a code stands that a level does not have."""
    others = [
        f"{variable.name}@{other.name}"
        for other in variable.levels()
        if other is not level and any(other_code.code == code for other_code in other.codes)
    ]
    if not others:
        return None
    return told(
        "condition.at-other-levels",
        "{code!r} is a code of {levels}. Write {written} in the place of {variable}.",
        code=code,
        levels=tuple(others),
        written=others[0],
        variable=variable.name,
    )


def make_axis(variable: Variable, levels: Iterable[Level], *, total: bool) -> Axis:
    """Build an axis from levels of one variable, in any order, repeated or not."""
    distinct = {level.name: level for level in levels}
    ordered = tuple(sorted(distinct.values(), key=lambda level: (-len(level.codes), level.name)))
    declared = list(variable.levels())
    if all(any(level is other for other in declared) for level in ordered):
        key = ("axis", tuple(level.name for level in ordered), total)
        return variable.kept(key, lambda: _make_axis(variable, ordered, total=total))
    return _make_axis(variable, ordered, total=total)


def _make_axis(variable: Variable, ordered: tuple[Level, ...], *, total: bool) -> Axis:
    base, base_size = common_refinement(ordered)
    _, first_leaf = np.unique(base, return_index=True)
    leaf_of_base = np.zeros(base_size, dtype=np.int64)  # a code without leaves keeps leaf 0
    leaf_of_base[base[first_leaf]] = first_leaf
    blocks: list[Block] = []
    codes: list[AxisCode] = []
    for level in ordered:
        group = level.group_array[leaf_of_base]
        if level is ordered[0] and np.array_equal(base, level.group_array):
            group = np.arange(base_size)  # also where a code has no leaf
        group.flags.writeable = False
        blocks.append(Block(level.name, len(codes), len(level.codes), group))
        codes += [AxisCode(code.code, code.label, level.name, code.kind) for code in level.codes]
    if total:
        whole = np.zeros(base_size, dtype=np.int64)
        whole.flags.writeable = False
        blocks.append(Block(TOTAL, len(codes), 1, whole))
        codes.append(AxisCode(TOTAL, TOTAL_LABEL, TOTAL))
    base.flags.writeable = False
    return Axis(variable, ordered, total, base, base_size, tuple(blocks), tuple(codes))


def parse_axis(text: str, variable_named: Callable[[str], Variable]) -> Axis:
    """Read an axis in the grammar ``variable[@level][+level…][+total|-total]``."""
    match = _AXIS.fullmatch(text)
    if match is None:
        several = None
        if len(text.split()) > 1:
            several = told("axis.commas", "Separate axes by commas.")
        raise SpecError(
            both(
                told(
                    "axis.unreadable",
                    "Axis {axis!r} cannot be read. Write variable[@level][+level…][+total|-total],"
                    " for example ed@parish+district or sex-total.",
                    axis=text,
                ),
                several,
            )
        )
    variable = variable_named(match["variable"])
    if not variable.is_axis:
        why = told("why.not-stored", "it has no code list that is stored")
        if variable.role is Role.WEIGHT:
            why = told("why.weight", "it is a weight; ask for the measure 'weighted' instead")
        elif variable.codes_from_records:
            why = told("why.no-squares", "no record lies in any square: there are no coordinates")
        elif variable.continuous:
            why = told("why.continuous", "it is continuous; give it levels (ranges) in the schema")
        raise SpecError(
            told(
                "axis.unusable",
                "Axis {axis!r}: tables cannot be made by {variable!r}: {why}.",
                axis=text,
                variable=variable.name,
                why=why,
            )
        )
    levels = [variable.level(match["level"])]
    total = True
    for sign, word in _MORE.findall(match["more"]):
        if word == "total":
            total = sign == "+"
        elif sign == "-":
            raise SpecError(
                told(
                    "axis.only-total",
                    "Axis {axis!r}: only the total can be taken away ('-total').",
                    axis=text,
                )
            )
        else:
            levels.append(variable.level(word))
    return make_axis(variable, levels, total=total)
