"""Codes that stand for numbers: single ones and intervals."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Code, Hierarchy, Level
from sdcensus.model.text import Text

#: The one code of a continuous variable without levels that may be missing.
STATED = "stated"
STATED_LABEL = Text.named("labels.stated")
#: More single numbers than this are an amount, not a code list.
LONGEST_RANGE = 100_000
#: Beyond what fixed point with a few decimals can hold.
LARGEST_NUMBER = 10**15

_ITEM = re.compile(r"(?P<low>-?\d{1,16})(?:\s*\.\.\s*(?P<high>-?\d{1,16})|(?P<over>\s*\+))?")


def range_codes(low: int, high: int) -> tuple[Code, ...]:
    """A code for each whole number from ``low`` to ``high``.

    Examples:
        >>> [code.code for code in range_codes(9, 11)]
        ['9', '10', '11']
    """
    if high < low:
        raise SpecError(f"The range goes down, from {low} to {high}. Write the lower number first.")
    if high - low >= LONGEST_RANGE or max(abs(low), abs(high)) > LARGEST_NUMBER:
        raise SpecError(
            f"A range of more than {LONGEST_RANGE:,} numbers is too long for a code list. Write"
            " continuous = true instead, with levels for the groups that tables show."
        )
    return tuple(
        Code(str(number), Text.of(str(number)), lower=number, upper=number)
        for number in range(low, high + 1)
    )


@dataclass(frozen=True, slots=True)
class NumberBounds:
    """Lower bounds of intervals, ascending.

    Attributes:
        lows: The lower bound of each interval.
        is_open: Whether the last interval has no end ("and over").
        end: The last number of the last interval, where the text says it.
    """

    lows: list[int]
    is_open: bool
    end: int | None


def parse_bounds(text: str) -> NumberBounds:
    """Read bounds such as ``0,5,10,85+``, ``0,5,...,85+`` or ``0..95,96+``.

    Examples:
        >>> parse_bounds("0,5,...,20+")
        NumberBounds(lows=[0, 5, 10, 15, 20], is_open=True, end=None)
    """
    lows: list[int] = []
    end: int | None = None  # of a..b: the next interval has to start right after it
    is_open = False
    fill = False
    items = [item.strip() for item in text.replace("…", "...").split(",")]
    for number, item in enumerate(items):
        last = number == len(items) - 1
        if item == "...":
            if fill or last or len(lows) < 2:
                raise _bad("'...' stands between two numbers before it and one after it")
            fill = True
            continue
        match = _ITEM.fullmatch(item)
        if match is None:
            raise _bad(f"{item!r} is no number" if item else "a number is missing")
        low = int(match["low"])
        high = int(match["high"] or low)
        is_open = match["over"] is not None
        if is_open and not last:
            raise _bad(f"{item!r} is not the last; only the last can be open")
        if abs(low) > LARGEST_NUMBER or high - low >= LONGEST_RANGE:
            raise _bad(f"{item!r} is too large")
        if high < low:
            raise _bad(f"{item!r} goes down")
        if lows and low <= lows[-1]:
            raise _bad(f"{low} does not lie above {lows[-1]}; bounds must ascend")
        if end is not None and low != end + 1:
            raise _bad(f"after {end} the next number is {end + 1}, not {low}")
        if fill:
            lows += _filled(lows, low)
            fill = False
        lows += range(low, high + 1)
        end = high if match["high"] else None
    return NumberBounds(lows, is_open, end)


def _bad(what: str) -> SpecError:
    sentence = f"{what[:1].upper()}{what[1:]}."
    return SpecError(f'{sentence} Write lower bounds such as "0,15,25,65+" or "0..95,96+".')


def _filled(bounds: Sequence[int], end: int) -> range:
    """The bounds between the last two given ones and ``end``, in equal steps."""
    step = bounds[-1] - bounds[-2]
    if (end - bounds[-1]) % step:
        raise _bad(f"steps of {step} from {bounds[-1]} do not reach {end}")
    if (end - bounds[-1]) // step > LONGEST_RANGE:
        raise _bad("too many intervals")
    return range(bounds[-1] + step, end, step)


def _intervals(bounds: Sequence[int], top: int | None) -> list[Code]:
    """A code for each interval; the last one ends at ``top`` or is open."""
    ends: list[int | None] = [high - 1 for _, high in pairwise(bounds)]
    return [_interval(low, high) for low, high in zip(bounds, [*ends, top], strict=True)]


def _interval(low: int, high: int | None) -> Code:
    if high is None:
        name = f"{low}+"
    elif low == high:
        name = str(low)
    else:
        name = f"{low}-{high}" if low >= 0 else f"{low}..{high}"
    return Code(name, Text.of(name), lower=low, upper=high)


def interval_level(name: str, text: str, codes: Sequence[Code]) -> Level:
    """Group codes that are numbers into intervals; missing codes stay themselves.

    Args:
        name: What the level is called.
        text: Its lower bounds.
        codes: The leaves: numbers, or intervals that no bound cuts through.

    Raises:
        SpecError: The bounds do not ascend, leave a number out or have an interval without any.

    Examples:
        >>> level = interval_level("broad", "0,3+", range_codes(0, 4))
        >>> [code.code for code in level.codes], level.group
        (['0-2', '3+'], (0, 0, 0, 1, 1))
    """
    bounds = parse_bounds(text)
    valid = [bounds_of(code) for code in codes if not code.is_missing]
    if not valid:
        raise SpecError("There are no numbers to group.")
    first, last = bounds.lows[0], bounds.lows[-1]
    lowest = min(low for low, _ in valid)
    highest = max(low if high is None else high for low, high in valid)
    if first != lowest:
        raise SpecError(f"The first bound is {first}, but the lowest code is {lowest}.")
    if last > highest:
        raise SpecError(f"The bound {last} lies above the highest code, {highest}.")
    if not bounds.is_open and any(high is None for _, high in valid):
        raise SpecError(f'The last interval has to be open: write "{last}+" at the end.')
    if bounds.end is not None and bounds.end < highest:
        raise SpecError(f"The codes go up to {highest}, but the bounds end at {bounds.end}.")
    groups = _intervals(bounds.lows, None if bounds.is_open else highest)
    taken = []
    for low, high in valid:
        at = bisect_right(bounds.lows, low) - 1
        upper = groups[at].upper
        if upper is not None and (high is None or high > upper):
            raise SpecError(f"The bound {upper + 1} cuts through the code for {low} to {high}.")
        taken.append(at)
    filled = set(taken)
    empty = [group.code for at, group in enumerate(groups) if at not in filled]
    if empty:
        raise SpecError(f"There is no code in {', '.join(map(repr, empty[:5]))}.")
    missing = [code for code in codes if code.is_missing]
    numbers = iter(taken)
    at_missing = iter(range(len(groups), len(groups) + len(missing)))
    return Level(
        name,
        (*groups, *missing),
        tuple(next(at_missing) if code.is_missing else next(numbers) for code in codes),
    )


def bounds_of(code: Code) -> tuple[int, int | None]:
    """The lowest and the highest number that a code stands for; ``None`` for "and over".

    Raises:
        SpecError: It stands for none.
    """
    if code.lower is not None:
        return code.lower, code.upper
    if re.fullmatch(r"-?\d{1,16}", code.code):
        return int(code.code), int(code.code)
    raise SpecError(f"The code {code.code!r} is no whole number, so it has no place in intervals.")


def continuous_codes(texts: Iterable[str]) -> tuple[Code, ...]:
    """The leaves of a continuous variable: the coarsest intervals that all its levels add up from.

    An interval from ``low`` to ``high`` holds the values from ``low`` up to, not including,
    ``high + 1``.

    Examples:
        >>> [code.code for code in continuous_codes(["0,1000+", "0,500,2000+"])]
        ['0-499', '500-999', '1000-1999', '2000+']
    """
    every: set[int] = set()
    firsts: set[int] = set()
    for text in texts:
        bounds = parse_bounds(text)
        if not bounds.is_open:
            last = bounds.lows[-1]
            raise SpecError(f'The last interval has to be open: write "{last}+" at the end.')
        firsts.add(bounds.lows[0])
        every.update(bounds.lows)
    if len(firsts) > 1:
        listed = ", ".join(map(str, sorted(firsts)))
        raise SpecError(f"All levels have to start at the same number, not at {listed}.")
    return tuple(_intervals(sorted(every), None))


def stated_code() -> Code:
    """The one value of a continuous variable without levels: any number at all."""
    return Code(STATED, STATED_LABEL, lower=-LARGEST_NUMBER)


def nested_hierarchies(name: str, levels: Sequence[Level]) -> tuple[Hierarchy, ...]:
    """Put levels that nest in each other into one hierarchy, finest first, in whatever order given.

    The first hierarchy is called ``name``, a further one like its finest level.
    """
    chains: list[list[Level]] = []
    for level in sorted(levels, key=lambda level: -len(level.codes)):
        for chain in chains:
            if chain[-1].refines(level):
                chain.append(level)
                break
        else:
            chains.append([level])
    return tuple(
        Hierarchy(name if number == 0 else chain[0].name, tuple(chain))
        for number, chain in enumerate(chains)
    )
