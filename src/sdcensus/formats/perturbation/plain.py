"""Files of one's own: a count, a deviation (or a target) and a probability on each line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from sdcensus.formats.perturbation.delimited import DelimitedText
from sdcensus.formats.perturbation.exchange_format import COLUMNS, ExchangeFormat
from sdcensus.formats.perturbation.file_rows import FileRows, positions
from sdcensus.formats.perturbation.key_units import ROUNDING_BIAS, from_shares, mean_of
from sdcensus.model.exact_numbers import BadNumber, exact, shown, whole
from sdcensus.model.perturbation.table import DeviationRow, Distribution
from sdcensus.model.schema.schema import LARGEST_MODULUS

#: How far the probabilities of a count may be from summing to 1.
ROUNDED = Fraction(1, 10**6)
#: More decimals than this are not written, even where a probability has them.
_MOST_DECIMALS = 32


def read_plain(text: DelimitedText, modulus: int | None) -> FileRows:
    """Read a file, whose lines may stand in any order; mistakes are noted."""
    keys = LARGEST_MODULUS if modulus is None else modulus
    names = {name.lower() for name in text.header}
    by_target = "target" in names and "deviation" not in names
    needed = ("count", "target" if by_target else "deviation", "probability")
    columns = positions(text, ExchangeFormat.PLAIN, needed, optional=("target",))
    rows: dict[int, DeviationRow] = {}
    lines: dict[int, int] = {}
    bias: dict[int, Fraction] = {}
    if columns is None:
        return FileRows(ExchangeFormat.PLAIN, keys, rows, lines, bias)
    shares, lines, unreadable = _shares(text, columns, by_target=by_target)
    for count, of_count in shares.items():
        total = sum(of_count.values(), Fraction(0))
        if count in unreadable:
            continue
        if abs(total - 1) > ROUNDED:
            text.notes.mistake(
                "sum",
                lines[count],
                f"The probabilities of the count {count} sum to {shown(total)} instead of 1.",
            )
            continue
        pieces = [(value, share) for value, share in sorted(of_count.items()) if share]
        bias[count] = mean_of(pieces)
        unbiased = abs(bias[count]) <= ROUNDING_BIAS
        rows[count] = from_shares(pieces, keys, unbiased=unbiased)
    return FileRows(ExchangeFormat.PLAIN, keys, rows, lines, bias)


def plain_lines(rows: Sequence[Distribution]) -> Iterator[str]:
    """The lines of a file with the distribution of each count, each with an end of line."""
    yield ",".join(COLUMNS[ExchangeFormat.PLAIN]) + "\n"
    for count, distribution in enumerate(rows):
        for value, chance in distribution:
            if chance:
                yield f"{count},{value},{_written(chance)}\n"


def _written(chance: float | Fraction) -> str:
    """A probability as a decimal number, exactly where that is possible."""
    if not isinstance(chance, Fraction):
        return repr(float(chance))
    twos = (chance.denominator & -chance.denominator).bit_length() - 1
    fives, rest = 0, chance.denominator >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    digits = max(twos, fives)
    if rest != 1 or digits > _MOST_DECIMALS:
        digits = _MOST_DECIMALS
    scaled = math.floor(chance * 10**digits + Fraction(1, 2))
    if not digits:
        return str(scaled)
    return f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}"


def _shares(
    text: DelimitedText, columns: dict[str, int], *, by_target: bool
) -> tuple[dict[int, dict[int, Fraction]], dict[int, int], set[int]]:
    """For each count its deviations with probabilities, its first line, and which are unsound."""
    shares: dict[int, dict[int, Fraction]] = {}
    lines: dict[int, int] = {}
    unsound: set[int] = set()
    places: dict[tuple[int, int], int] = {}
    for line, fields in text.lines():
        count: int | None = None
        name = "count"
        try:
            count = whole(fields[columns["count"]], comma=text.comma)
            if count < 0:
                raise BadNumber(f"the count {count} is negative")
            lines.setdefault(count, line)
            shares.setdefault(count, {})
            name = "target" if by_target else "deviation"
            value = whole(fields[columns[name]], comma=text.comma) - (count if by_target else 0)
            name = "probability"
            share = exact(fields[columns[name]], comma=text.comma, fraction=True)
            if not 0 <= share <= 1:
                raise BadNumber(f"{shown(share)} is not between 0 and 1")
            if "target" in columns and not by_target:
                name = "target"
                target = whole(fields[columns[name]], comma=text.comma)
                if target != count + value:
                    raise BadNumber(f"{target} is not the count {count} with the deviation {value}")
        except BadNumber as error:
            text.notes.mistake("number", line, f"Column {name}: {error}.")
            if count is not None:
                unsound.add(count)
            continue
        if count + value < 0:
            text.notes.mistake(
                "negative",
                line,
                f"The deviation {value} makes the count {count} negative: at least {-count}.",
            )
            unsound.add(count)
        same = places.setdefault((count, value), line)
        if same != line:
            text.notes.mistake(
                "twice",
                line,
                f"The count {count} has the deviation {value} already in line {same}. Write each"
                " deviation once, with its whole probability.",
            )
            unsound.add(count)
            continue
        shares[count][value] = share
    return shares, lines, unsound
