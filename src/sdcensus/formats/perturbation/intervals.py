"""Files with intervals of decimal keys: tau-ARGUS, the R package ptable, and its export for SAS.

One line for each interval of a count, in the order in which keys are compared with the upper
bounds: the first bound above the key decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sdcensus.formats.perturbation.delimited import DelimitedText, FileNotes
from sdcensus.formats.perturbation.exchange_format import COLUMNS, ExchangeFormat
from sdcensus.formats.perturbation.file_rows import FileRows, positions
from sdcensus.formats.perturbation.key_units import (
    ROUNDING_BIAS,
    Pieces,
    from_bounds,
    from_shares,
    is_power_of_ten,
    mean_of,
)
from sdcensus.model.exact_numbers import BadNumber, decimals, exact, shown, whole
from sdcensus.model.perturbation.table import DeviationRow
from sdcensus.model.schema.schema import MOST_DIGITS

#: How far a probability may be from the difference of its bounds, and a sum from 1.
ROUNDED = Fraction(1, 10**6)
#: How far the lower bound of an interval may be from the upper bound of the one before.
_TOUCHING = Fraction(1, 10**9)
#: A last bound that a program with floating point numbers printed in full is 1 all the same.
_ALMOST = Fraction(1, 10**12)
#: The number of decimals that keys have in tau-ARGUS and in the R packages by default.
DEFAULT_MODULUS = 10**8
#: What the column ``type`` says of a table for counts.
_FOR_COUNTS = frozenset({"all", ""})


@dataclass(frozen=True, slots=True)
class _Interval:
    line: int
    target: int
    share: Fraction
    deviation: int
    lower: Fraction | None
    upper: Fraction


def read_intervals(text: DelimitedText, kind: ExchangeFormat, modulus: int | None) -> FileRows:
    """Read a file; mistakes are noted, and counts that have one are left out.

    With a power of ten as modulus, every decimal key gets what the file gives it. With another
    one, the probabilities are kept and the bounds are not.
    """
    needed = [name for name in COLUMNS[kind] if name != "type"]
    if kind is ExchangeFormat.PTABLE:
        needed.remove("p_int_lb")
    columns = positions(text, kind, needed, optional=("p_int_lb", "type"))
    rows: dict[int, DeviationRow] = {}
    lines: dict[int, int] = {}
    found: dict[int, Pieces] = {}
    if columns is not None:
        for count, line, intervals in _by_count(text, columns):
            lines[count] = line
            pieces = _pieces(count, intervals, text.notes) if intervals else None
            if pieces is not None:
                found[count] = pieces
        if text.delimiter != ";" and kind is not ExchangeFormat.PTABLE:
            text.notes.observe(
                "delimiter", text.header_line, "tau-ARGUS itself needs semicolons between fields."
            )
    keys = _own_keys(found.values()) if modulus is None else modulus
    bias = {count: mean_of(pieces) for count, pieces in found.items()}
    for count, row in found.items():
        rows[count] = (
            from_bounds(row, keys)
            if is_power_of_ten(keys)
            else from_shares(row, keys, unbiased=abs(bias[count]) <= ROUNDING_BIAS)
        )
    return FileRows(kind, keys, rows, lines, bias)


def _own_keys(rows: Iterable[Pieces]) -> int:
    """How many keys a file is for: those of its decimals, if keys can have as many."""
    shares = [share for pieces in rows for _, share in pieces]
    most = 10**MOST_DIGITS
    nine = all((share * most).denominator == 1 for share in shares)
    eight = all((share * DEFAULT_MODULUS).denominator == 1 for share in shares)
    return most if nine and not eight else DEFAULT_MODULUS


def interval_lines(
    rows: Sequence[DeviationRow], kind: ExchangeFormat, modulus: int
) -> Iterator[str]:
    """The lines of a file with rows in a key space of decimals, each with an end of line."""
    delimiter = "," if kind is ExchangeFormat.PTABLE else ";"
    yield delimiter.join(COLUMNS[kind]) + "\n"
    for count, row in enumerate(rows):
        below = 0
        for value, width in zip(row.deviations, row.widths, strict=True):
            field = {
                "i": str(count),
                "j": str(count + value),
                "p": _decimal(width, modulus),
                "v": str(value),
                "p_int_lb": _decimal(below, modulus),
                "p_int_ub": _decimal(below + width, modulus),
                "type": "all",
            }
            yield delimiter.join(field[name] for name in COLUMNS[kind]) + "\n"
            below += width


def _decimal(keys: int, modulus: int) -> str:
    """So many keys as a part of all, with every decimal that the key space has."""
    digits = len(str(modulus)) - 1
    return f"{keys // modulus}.{keys % modulus:0{digits}d}"


def _by_count(
    text: DelimitedText, columns: dict[str, int]
) -> Iterator[tuple[int, int, list[_Interval]]]:
    """For each count its first line and its intervals; none if a line could not be read."""
    intervals: dict[int, list[_Interval]] = {}
    first: dict[int, int] = {}
    unreadable: set[int] = set()
    seen: dict[tuple[str, ...], int] = {}
    longest = 0
    for line, fields in text.lines():
        same = seen.setdefault(tuple(fields), line)
        if same != line:
            text.notes.mistake(
                "twice", line, f"This line repeats line {same}. Remove one of the two."
            )
            continue
        count = _count(text, line, fields[columns["i"]])
        if count is None:
            continue
        first.setdefault(count, line)
        interval = _interval(text, columns, line, fields, count)
        if interval is None:
            unreadable.add(count)
            continue
        intervals.setdefault(count, []).append(interval)
        longest = max(longest, decimals(fields[columns["p_int_ub"]]))
    if intervals:
        text.notes.observe("decimals", 0, f"Bounds have up to {longest} decimals.")
    for count, line in first.items():
        yield count, line, [] if count in unreadable else intervals[count]


def _count(text: DelimitedText, line: int, field: str) -> int | None:
    try:
        count = whole(field, comma=text.comma)
    except BadNumber as error:
        text.notes.mistake("number", line, f"Column i: {error}. It holds the counts, from 0 on.")
        return None
    if count < 0:
        text.notes.mistake("number", line, f"Column i: the count {count} is negative.")
        return None
    return count


def _interval(
    text: DelimitedText, columns: dict[str, int], line: int, fields: list[str], count: int
) -> _Interval | None:
    notes = text.notes
    kind = fields[columns["type"]].lower() if "type" in columns else ""
    if kind not in _FOR_COUNTS:
        notes.mistake(
            "type",
            line,
            f"The type is {kind!r}, so this is a table for sums of continuous variables. Only"
            " tables for counts (type 'all') can be read.",
        )
        return None
    numbers: dict[str, Fraction] = {}
    wanted = [name for name in ("j", "p", "v", "p_int_lb", "p_int_ub") if name in columns]
    for name in wanted:
        try:
            field = fields[columns[name]]
            if name in ("j", "v"):
                numbers[name] = Fraction(whole(field, comma=text.comma))
            else:
                numbers[name] = exact(field, comma=text.comma)
                if "," in field:
                    notes.observe("comma", line, "Numbers have decimal commas.")
        except BadNumber as error:
            why = " Targets and deviations of counts are whole." if name in ("j", "v") else ""
            notes.mistake("number", line, f"Column {name}: {error}.{why}")
    if len(numbers) < len(wanted):
        return None
    return _consistent(notes, line, count, numbers)


def _consistent(
    notes: FileNotes, line: int, count: int, numbers: dict[str, Fraction]
) -> _Interval | None:
    target, value = int(numbers["j"]), int(numbers["v"])
    good = True
    if target != count + value:
        notes.mistake(
            "deviation",
            line,
            f"The target j = {target} and the count i = {count} differ by {target - count}, but"
            f" the deviation v is {value}. One of the three is wrong.",
        )
        good = False
    if target < 0:
        notes.mistake(
            "negative",
            line,
            f"The target j = {target} is negative. Published counts are 0 or more: the smallest"
            f" deviation of the count {count} is {-count}.",
        )
        good = False
    for name in ("p", "p_int_lb", "p_int_ub"):
        if name in numbers and not 0 <= numbers[name] <= 1:
            notes.mistake(
                "range", line, f"Column {name}: {shown(numbers[name])} is not between 0 and 1."
            )
            good = False
    if not good:
        return None
    return _Interval(
        line, target, numbers["p"], value, numbers.get("p_int_lb"), numbers["p_int_ub"]
    )


def _pieces(
    count: int, intervals: Sequence[_Interval], notes: FileNotes
) -> list[tuple[int, Fraction]] | None:
    """The intervals of a count as deviations and probabilities; nothing if they do not fit."""
    good = True
    pieces: list[tuple[int, Fraction]] = []
    below = Fraction(0)
    for interval in intervals:
        problem = _problem(count, interval, below)
        if problem is not None:
            notes.mistake(problem[0], interval.line, problem[1])
            good = False
        upper = Fraction(1) if abs(1 - interval.upper) <= _ALMOST else interval.upper
        if upper > below:
            pieces.append((interval.deviation, upper - below))
        elif upper == below:
            notes.observe("empty", interval.line, "Intervals without keys are left out.")
        below = max(below, upper)
    last = intervals[-1]
    if below != 1:
        notes.mistake(
            "last",
            last.line,
            f"The last bound of the count {count} is {shown(below)} instead of 1, so that keys"
            " from there on have no interval. Complete the intervals up to 1.",
        )
        good = False
    total = sum((interval.share for interval in intervals), Fraction(0))
    if abs(total - 1) > ROUNDED:
        notes.mistake(
            "sum",
            last.line,
            f"The probabilities of the count {count} sum to {shown(total)} instead of 1.",
        )
        good = False
    return pieces if good else None


def _problem(count: int, one: _Interval, below: Fraction) -> tuple[str, str] | None:
    """What is wrong with an interval that follows the bound ``below``."""
    where = f"Count {count}, deviation {one.deviation}:"
    if one.upper < below:
        return "order", (
            f"{where} the bound {shown(one.upper)} is smaller than the one before,"
            f" {shown(below)}. Sort the lines of each count by p_int_ub."
        )
    if one.lower is not None and abs(one.lower - below) > _TOUCHING:
        what = "a gap" if one.lower > below else "an overlap"
        return "touch", (
            f"{where} the interval begins at {shown(one.lower)}, but the one before ends at"
            f" {shown(below)}: {what}. Each interval begins where the one before ends."
        )
    if abs(one.share - (one.upper - below)) > ROUNDED:
        return "width", (
            f"{where} p is {shown(one.share)}, but its interval from {shown(below)} to"
            f" {shown(one.upper)} has {shown(one.upper - below)}. There is a gap or an overlap in"
            " the bounds, or p is wrong."
        )
    return None
