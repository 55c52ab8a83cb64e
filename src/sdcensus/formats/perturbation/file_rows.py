"""Rows as a file gives them, and the perturbation table that they make together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sdcensus.formats.perturbation.delimited import DelimitedText, FileNotes
from sdcensus.formats.perturbation.exchange_format import (
    ONS_TAIL,
    REUSED_COLUMNS,
    ExchangeFormat,
    default_tail,
)
from sdcensus.formats.perturbation.key_units import ROUNDING_BIAS, balanced
from sdcensus.model.confidential import Confidential
from sdcensus.model.exact_numbers import shown
from sdcensus.model.perturbation.table import DeviationRow, KeyRule, PerturbationTable, Tail


@dataclass(frozen=True, slots=True, repr=False)
class FileRows(Confidential):
    """What a file says about each count.

    Attributes:
        kind: The format of the file.
        modulus: How many keys the rows have.
        rows: For each count what its row is; counts with mistakes are left out.
        lines: For each count that the file has, the line where it begins.
        bias: For each count the mean deviation that the figures of the file give.
        key_rule: How a cell key becomes the key that is looked up.
    """

    kind: ExchangeFormat
    modulus: int
    rows: dict[int, DeviationRow]
    lines: dict[int, int]
    bias: dict[int, Fraction]
    key_rule: KeyRule = KeyRule.PLAIN


def assembled(
    file: FileRows, notes: FileNotes, *, tail: Tail | None, allow_bias: bool
) -> PerturbationTable | None:
    """The table that the rows make; nothing if there is any mistake, which is noted."""
    if not file.lines:
        notes.mistake("rows", 0, "The file has a header and no rows.")
        return None
    last = max(file.lines)
    for first, end in gaps(file.lines, start=1, stop=last):
        notes.mistake(
            "missing",
            file.lines.get(end + 1, 0),
            f"There is no row for {ranged('count', first, end)}. A table has rows for all counts"
            f" from 1 to the largest, {last}.",
        )
    chosen = _tail(file, notes, last, tail)
    rows = {0: DeviationRow((0,), (file.modulus,)), **file.rows}
    if 0 not in file.lines:
        notes.observe("zeros", 0, "There is no row for the count 0: empty cells stay empty.")
    for count, row in sorted(rows.items()):
        smallest = chosen.smallest_count(count)
        if smallest + min(row.deviations) < 0:
            notes.mistake(
                "negative",
                file.lines.get(count, 0),
                f"Row {count} adds {min(row.deviations)} to the count {smallest}, which gives a"
                " negative count. A deviation can take away at most the whole count.",
            )
        _note_bias(file, notes, count, row, allow_bias=allow_bias)
    if notes.listed:
        return None
    complete = tuple(rows[count] for count in range(last + 1))
    return PerturbationTable(
        modulus=file.modulus,
        rows=complete,
        tail=chosen,
        key_rule=file.key_rule,
        blocked_up_to=blocked_counts(complete, chosen),
        biased=frozenset(at for at, row in enumerate(complete) if not balanced(row)),
    )


def blocked_counts(rows: tuple[DeviationRow, ...], tail: Tail) -> int:
    """The largest count up to which no positive count ever appears as a result."""
    results = set()
    for at, row in enumerate(rows):
        for value in set(row.deviations):
            # A row of the tail that makes its smallest count 0 makes the next one ``period``.
            result = tail.smallest_count(at) + value
            if result > 0 or at >= tail.start:
                results.add(result or tail.period)
    return min(results) - 1


def gaps(numbers: Iterable[int], *, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """First and last of each run of whole numbers from start to stop that are not there.

    Examples:
        >>> list(gaps([0, 1, 4, 9], start=1, stop=10))
        [(2, 3), (5, 8), (10, 10)]
    """
    expected = start
    for number in sorted({number for number in numbers if start <= number <= stop}):
        if number > expected:
            yield expected, number - 1
        expected = number + 1
    if expected <= stop:
        yield expected, stop


def ranged(noun: str, first: int, last: int) -> str:
    """One of something or a range of it.

    Examples:
        >>> ranged("count", 3, 3), ranged("key", 0, 7)
        ('the count 3', 'the keys 0 to 7')
    """
    return f"the {noun} {first}" if first == last else f"the {noun}s {first} to {last}"


def _tail(file: FileRows, notes: FileNotes, last: int, asked: Tail | None) -> Tail:
    """Which row serves larger counts; if nothing fits, that is noted and it is the last one."""
    chosen = default_tail(file.kind, last) if asked is None else asked
    if chosen is not None and chosen.rows == last + 1:
        return chosen
    if chosen is not None:
        text = (
            f"The file has rows up to the count {last}; the tail that was given needs rows up to"
            f" {chosen.rows - 1}."
        )
    elif file.kind is ExchangeFormat.ONS:
        text = (
            f"The file ends at the count {last}. A file of the ONS has {ONS_TAIL.rows - 1} counts,"
            f" of which {ONS_TAIL.start} to {ONS_TAIL.rows - 1} serve larger ones in turn. Complete"
            f" it, or say which rows serve larger counts (tail=Tail({last}): the last one)."
        )
    else:
        text = (
            f"The matrix has {last} columns; {REUSED_COLUMNS} are needed, since the last"
            f" {REUSED_COLUMNS} serve larger counts in turn. If fewer do, say so: for SmallN = n"
            f" the tail is Tail({last} - n + 1, n, 0)."
        )
    notes.mistake("tail", 0, text)
    return Tail(last)


def _note_bias(
    file: FileRows, notes: FileNotes, count: int, row: DeviationRow, *, allow_bias: bool
) -> None:
    mean = file.bias.get(count, Fraction(0))
    if abs(mean) <= ROUNDING_BIAS or allow_bias or balanced(row):
        return
    line = file.lines.get(count, 0)
    if count == 0:
        text = (
            f"Row 0 changes empty cells: it adds {shown(mean)} on average. Empty cells usually"
            " stay empty. If this is meant, allow it (allow_bias=True)."
        )
    else:
        text = (
            f"Row {count} is biased: it adds {shown(mean)} on average instead of 0, so that sums"
            " of published counts drift. Correct the probabilities, or allow it if it is meant"
            " (allow_bias=True)."
        )
    notes.mistake("bias", line, text)


def positions(
    text: DelimitedText,
    kind: ExchangeFormat,
    needed: Iterable[str],
    *,
    optional: Iterable[str] = (),
    aliases: Mapping[str, str] | None = None,
) -> dict[str, int] | None:
    """Where each column stands; nothing if one is missing or there twice, which is noted.

    Args:
        text: The file.
        kind: Its format, for messages.
        needed: Names without which the file cannot be read.
        optional: Names that are read where they are there.
        aliases: Other names for the same columns.
    """
    names = [name.lower() for name in text.header]
    names = [(aliases or {}).get(name, name) for name in names]
    wanted = (*needed, *optional)
    found: dict[str, int] = {}
    complete = True
    for at, name in enumerate(names):
        if name not in wanted:
            what = f"The column {text.header[at]!r}" if name else "A column without a name"
            text.notes.observe(f"column {name}", text.header_line, f"{what} is left out.")
        elif name in found:
            text.notes.mistake(
                "header", text.header_line, f"The column {name!r} is there twice. Remove one."
            )
            complete = False
        else:
            found[name] = at
    for name in needed:
        if name not in found:
            text.notes.mistake(
                "header",
                text.header_line,
                f"The column {name!r} is missing. A file of the format {kind} has the columns"
                f" {', '.join(needed)}; this one has {', '.join(map(repr, text.header))}.",
            )
            complete = False
    return found if complete else None
