"""From what a plan says about a variable to the codes that a file tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.release.recode import CodeGroup, GroupKind, Recode
from sdcensus.model.schema.number_codes import STATED, bounds_of, interval_level
from sdcensus.model.schema.variable import Code, CodeKind, Level, Variable
from sdcensus.model.text import NOT_STATED_LABEL, Text

#: What a level that is none of the schema's is called.
RECODED = "recoded"
AND_OVER = Text.named("release_plan.and_over")
AND_UNDER = Text.named("release_plan.and_under")
FROM_TO = Text.named("release_plan.from_to")
OTHER_LABEL = Text.named("release_plan.other")
#: A label that is made of more labels than this tells the first ones, and that there are others.
MOST_LABELS = 6

_ORDER = {CodeKind.VALID: 0, CodeKind.NOT_APPLICABLE: 1, CodeKind.NOT_STATED: 2}


def recoded(variable: Variable, recode: Recode | None) -> Level:
    """The codes of a variable in a file, and for each leaf the one that tells it.

    First the level, then intervals, the bottom, the top, and groups of what has come of that.
    "Not stated" and "not applicable" stay what they are, unless a group names them.

    A code at the top or bottom of single numbers is that number: 75 is "75 and over". So columns
    of numbers stay numbers, in every format.

    Raises:
        SpecError: Something that is said cannot be done, or does nothing.
    """
    if not variable.codes:
        if recode is None:
            return Level(variable.leaf_level, (), ())
        raise SpecError(_without_classes(variable))
    if recode is None:
        return variable.level()
    level = variable.level(recode.level or None)
    before = _valid(level)
    if recode.intervals:
        level = _in_intervals(variable, level, recode.intervals)
    if recode.bottom is not None and recode.top is not None and recode.top <= recode.bottom:
        raise SpecError(
            f"{variable.name!r}: the top, {recode.top}, does not lie above the bottom,"
            f" {recode.bottom}. Say a higher top or a lower bottom."
        )
    if recode.bottom is not None:
        level = _with_bottom(variable, level, recode.bottom)
    if recode.top is not None:
        level = _with_top(variable, level, recode.top)
    if recode.groups:
        level = with_groups(variable, level, recode.groups)
    if before > 1 and _valid(level) < 2:
        raise SpecError(
            f"{variable.name!r}: everything becomes one code, which tells nothing. Leave the"
            f' variable out instead: drop = ["{variable.name}"].'
        )
    return level


def joined_recode(first: Recode | None, variable: str, groups: Sequence[CodeGroup]) -> Recode:
    """A recode, and groups of the codes that come of it, as one recode."""
    base = first or Recode(variable=variable)
    inner = {group.code: group for group in base.groups}
    absorbed: set[str] = set()
    joined: list[CodeGroup] = []
    for group in groups:
        members: list[str] = []
        for member in group.members:
            within = inner.get(member)
            members += within.members if within is not None else (member,)
            absorbed.update([member] if within is not None else [])
        joined.append(replace(group, members=tuple(members)))
    kept = [group for group in base.groups if group.code not in absorbed]
    return replace(base, groups=(*kept, *joined))


def coarser_of(first: Level, second: Level) -> Level:
    """The finest level that neither of two levels is coarser than: what both of them tell.

    Codes are those of the first level where it has the group, else those of the second.
    """
    if first.refines(second):
        return second
    if second.refines(first):
        return first
    # Leaves that are together at either level are together: groups are joined until none moves.
    root = list(range(len(first.codes)))

    def found(position: int) -> int:
        while root[position] != position:
            position = root[position]
        return position

    holder: dict[int, int] = {}
    for mine, theirs in zip(first.group, second.group, strict=True):
        left, right = found(mine), found(holder.setdefault(theirs, mine))
        root[max(left, right)] = min(left, right)
    group_of = [found(position) for position in range(len(first.codes))]
    parts: list[_Part] = []
    for top in sorted(set(group_of)):
        members = tuple(at for at, group in enumerate(group_of) if group == top)
        inside = {b for a, b in zip(first.group, second.group, strict=True) if a in members}
        if len(members) == 1:
            code = first.codes[members[0]]
        elif len(inside) == 1:
            code = second.codes[next(iter(inside))]
        else:
            code = _merged_code([first.codes[at] for at in members])
        parts.append(_Part(code, members))
    return _assembled(first, parts, first.name)


@dataclass(frozen=True, slots=True)
class _Part:
    """A code of the new level, and the positions of the codes that it takes the place of."""

    code: Code
    members: tuple[int, ...]
    last: bool = False


def _valid(level: Level) -> int:
    return sum(not code.is_missing for code in level.codes)


def _assembled(level: Level, parts: Sequence[_Part], name: str) -> Level:
    """A coarser level from its parts: values in their order, "other" behind them, then the rest."""
    order = sorted(
        parts, key=lambda part: (_ORDER[part.code.kind], part.last, min(part.members, default=0))
    )
    place = {member: at for at, part in enumerate(order) for member in part.members}
    return Level(
        name,
        tuple(part.code for part in order),
        tuple(place[position] for position in level.group),
    )


def _without_classes(variable: Variable) -> str:
    return (
        f"{variable.name!r} is an amount without classes, so its codes cannot be told another way."
        " Declare levels for it in the schema, or treat it by microaggregation or rank swapping."
    )


def _in_intervals(variable: Variable, level: Level, text: str) -> Level:
    if [code.code for code in level.codes if not code.is_missing] == [STATED]:
        raise SpecError(_without_classes(variable))
    try:
        coarse = interval_level(RECODED, text, level.codes)
    except SpecError as error:
        raise SpecError(f"{variable.name!r}: {error}") from None
    codes = tuple(
        replace(code, label=AND_OVER.filled(number=str(code.lower)))
        if code.upper is None and code.lower is not None and not code.is_missing
        else code
        for code in coarse.codes
    )
    return Level(RECODED, codes, tuple(coarse.group[position] for position in level.group))


def _numbers(variable: Variable, level: Level, what: str) -> dict[int, tuple[int, int | None]]:
    """The numbers that each value stands for, by its position."""
    values = [code.code for code in level.codes if not code.is_missing]
    if values == [STATED]:
        raise SpecError(_without_classes(variable))
    numbers = {}
    for at, code in enumerate(level.codes):
        if code.is_missing:
            continue
        try:
            numbers[at] = bounds_of(code)
        except SpecError:
            raise SpecError(
                f"{variable.name!r} has the code {code.code!r}, which is no whole number, so it has"
                f" no {what}. Merge codes by name instead: merge = {{ {variable.name} = {{ other ="
                f' ["{code.code}"] }} }}.'
            ) from None
    if not numbers:
        raise SpecError(f"{variable.name!r} has no numbers, so it has no {what}.")
    return numbers


def _end_code(level: Level, members: Sequence[int], number: int, sign: str) -> str:
    """The number itself where codes are single numbers, written as they are; else with a sign."""
    codes = [level.codes[at] for at in members]
    if any(code.upper != code.lower and code.lower is not None for code in codes):
        own = [code for code in codes if code.code == f"{number}{sign}"]
        return own[0].code if own else f"{number}{sign}"
    for code in codes:
        if bounds_of(code)[0] == number:
            return code.code
    return str(number)


def _with_top(variable: Variable, level: Level, top: int) -> Level:
    numbers = _numbers(variable, level, "top")
    members = tuple(at for at, (low, _) in numbers.items() if low >= top)
    if not members:
        highest = max(low for low, _ in numbers.values())
        raise SpecError(
            f"{variable.name!r}: the top, {top}, lies above every code (the highest begins at"
            f" {highest}), so it would do nothing. Say a lower one, or leave it out."
        )
    for at, (low, high) in numbers.items():
        if low < top and (high is None or high >= top):
            raise _cut(variable, level.codes[at], "top", top)
    code = Code(
        _end_code(level, members, top, "+"),
        AND_OVER.filled(number=str(top)),
        lower=top,
    )
    return _with_end(level, members, code)


def _with_bottom(variable: Variable, level: Level, bottom: int) -> Level:
    numbers = _numbers(variable, level, "bottom")
    members = tuple(at for at, (_, high) in numbers.items() if high is not None and high <= bottom)
    if not members:
        raise SpecError(
            f"{variable.name!r}: the bottom, {bottom}, lies below every code, so it would do"
            " nothing. Say a higher one, or leave it out."
        )
    for at, (low, high) in numbers.items():
        if low <= bottom and (high is None or high > bottom):
            raise _cut(variable, level.codes[at], "bottom", bottom)
    lowest = min(numbers[at][0] for at in members)
    code = Code(
        _end_code(level, members, bottom, "-"),
        AND_UNDER.filled(number=str(bottom)),
        lower=lowest,
        upper=bottom,
    )
    return _with_end(level, members, code)


def _cut(variable: Variable, code: Code, what: str, number: int) -> SpecError:
    return SpecError(
        f"{variable.name!r}: the {what}, {number}, cuts through the code {code.code!r}. Say a"
        " number at which a code begins or ends."
    )


def _with_end(level: Level, members: tuple[int, ...], code: Code) -> Level:
    rest = [_Part(other, (at,)) for at, other in enumerate(level.codes) if at not in members]
    return _assembled(level, [*rest, _Part(code, members)], RECODED)


def with_groups(variable: Variable, level: Level, groups: Sequence[CodeGroup]) -> Level:
    """A level in which groups of codes are told as one.

    Raises:
        SpecError: A code does not exist or stands in two groups, or the name of a group is that of
            another code.
    """
    position = {code.code: at for at, code in enumerate(level.codes)}
    taken: dict[str, str] = {}
    members: list[list[int]] = []
    for group in groups:
        if not group.members:
            raise SpecError(
                f"{variable.name!r}: the group {group.code!r} has no codes. Name some, or leave the"
                " group out."
            )
        members.append([])
        for member in group.members:
            if member not in position:
                raise UnknownName(
                    "code", member, known=position, where=f"{variable.name!r} in the file: "
                )
            if member in taken:
                other = taken[member]
                where = "twice in one group" if other == group.code else "in two groups"
                raise SpecError(
                    f"{variable.name!r}: the code {member!r} stands {where}, {other!r}"
                    f"{'' if other == group.code else f' and {group.code!r}'}. Leave it in one."
                )
            taken[member] = group.code
            members[-1].append(position[member])
    parts: dict[str, _Part] = {}
    for group, inside in zip(groups, members, strict=True):
        if group.code in parts:
            raise SpecError(f"{variable.name!r}: two groups are called {group.code!r}. Rename one.")
        places = [*inside, *_joined_missing(level, group, position, taken)]
        own = position.get(group.code)
        if own is not None and own not in places:
            raise SpecError(
                f"{variable.name!r}: a group is called {group.code!r}, and so is a code outside"
                " it. Put that code into the group, or give the group another name."
            )
        code = _group_code(group, [level.codes[at] for at in places])
        parts[group.code] = _Part(code, tuple(places), last=group.kind is GroupKind.OTHER)
    held = {at for part in parts.values() for at in part.members}
    rest = [_Part(code, (at,)) for at, code in enumerate(level.codes) if at not in held]
    return _assembled(level, [*rest, *parts.values()], RECODED)


def _joined_missing(
    level: Level, group: CodeGroup, position: dict[str, int], taken: dict[str, str]
) -> list[int]:
    """A group of "not stated" that has the name of that code joins it."""
    own = position.get(group.code)
    if group.kind is not GroupKind.NOT_STATED or own is None or group.code in taken:
        return []
    return [own] if level.codes[own].kind is CodeKind.NOT_STATED else []


def _group_code(group: CodeGroup, codes: Sequence[Code]) -> Code:
    if group.kind is GroupKind.NOT_STATED:
        stated = [code for code in codes if code.kind is CodeKind.NOT_STATED]
        label = group.label or (stated[0].label if stated else Text()) or NOT_STATED_LABEL
        return Code(group.code, label, CodeKind.NOT_STATED)
    merged = _merged_code(codes)
    label = group.label
    if not label and group.kind is GroupKind.OTHER and merged.kind is CodeKind.VALID:
        label = OTHER_LABEL
    return replace(merged, code=group.code, label=label or merged.label)


def _merged_code(codes: Sequence[Code]) -> Code:
    """Several codes as one: its numbers where they follow each other, its kind, its label."""
    if len(codes) == 1:
        return codes[0]
    kinds = {code.kind for code in codes}
    kind = CodeKind.VALID
    if CodeKind.VALID not in kinds:
        kind = kinds.pop() if len(kinds) == 1 else CodeKind.NOT_STATED
    lower, upper, follow = _common_numbers(codes) if kind is CodeKind.VALID else (None, None, False)
    if follow and lower is not None:
        label = (
            AND_OVER.filled(number=str(lower))
            if upper is None
            else FROM_TO.filled(first=str(lower), last=str(upper))
        )
        name = f"{lower}+" if upper is None else f"{lower}-{upper}"
        return Code(name, label, kind, lower, upper)
    return Code(codes[0].code, _joined_label(codes), kind)


def _common_numbers(codes: Sequence[Code]) -> tuple[int | None, int | None, bool]:
    """The numbers that codes stand for together, and whether there is no gap between them."""
    if any(code.lower is None for code in codes):
        return None, None, False
    order = sorted(codes, key=lambda code: code.lower or 0)
    follow = all(
        left.upper is not None and right.lower == left.upper + 1 for left, right in pairwise(order)
    )
    return order[0].lower, order[-1].upper, follow


def _joined_label(codes: Sequence[Code]) -> Text:
    """The labels of codes one after the other, in every language that one of them has."""
    spoken = dict.fromkeys(language for code in codes for language, _ in code.label.by_language)
    languages = list(spoken) or [LANGUAGES[0]]
    shown = codes[:MOST_LABELS]
    more = " …" if len(codes) > MOST_LABELS else ""
    return Text.of(
        {
            language: ", ".join(code.label.show(language) or code.code for code in shown) + more
            for language in languages
        }
    )
