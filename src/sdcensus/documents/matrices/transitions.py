"""Reading a transition matrix: a small table with codes as headings of rows and columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sdcensus.documents.workbooks.small_tables import Row, small_table
from sdcensus.errors import DocumentError, Mistake, unknown
from sdcensus.model.confidential import Confidential
from sdcensus.model.exact_numbers import BadNumber, exact
from sdcensus.model.perturbation.transition_matrix import TOLERANCE
from sdcensus.model.text import text_of_cell

#: Mistakes of a file that are listed; one that is wrong throughout has as many as entries.
_MOST = 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WrittenMatrix(Confidential):
    """A matrix as it stands in a file: exact numbers whose rows sum to one within the tolerance.

    Attributes:
        path: The file.
        codes: The headings, in the order of the columns.
        rows: The probabilities, rows in the order of the columns.
    """

    path: Path
    codes: tuple[str, ...]
    rows: tuple[tuple[Fraction, ...], ...]

    def __repr__(self) -> str:
        return f"<WrittenMatrix of {self.path.name!r}: confidential>"


def read_transitions(
    path: Path, known: Sequence[str] = (), *, may_lack: Sequence[str] = (), what: str = ""
) -> WrittenMatrix:
    """Read and check a matrix.

    Args:
        path: A csv file or a workbook. The first field of the first line is anything.
        known: The codes that it has to have, in this order of the answer; any without it.
        may_lack: Codes of these that may be missing: their records stay as they are.
        what: Whose codes they are, for messages.

    Raises:
        DocumentError: Codes are unknown, missing or there twice; entries are no probabilities;
            rows do not sum to one. All of it, with lines.
    """
    table = [(line, fields) for line, fields in small_table(path, what="matrix") if any(fields)]
    if len(table) < 2:
        raise DocumentError(
            str(path),
            [Mistake(1, "A matrix has a line of codes, and a line for each code behind it.")],
        )
    mistakes = list(_mistakes(table, known, may_lack, what))
    if mistakes:
        raise DocumentError(str(path), mistakes[:_MOST])
    columns = _codes(table[0][1][1:])
    by_code = {
        text_of_cell(fields[0]): dict(zip(columns, map(_number, fields[1:]), strict=False))
        for _, fields in table[1:]
    }
    codes = tuple(known) or tuple(columns)
    rows = tuple(
        tuple(
            by_code[code].get(other, Fraction(0)) if code in by_code else Fraction(code == other)
            for other in codes
        )
        for code in codes
    )
    return WrittenMatrix(path, codes, rows)


def _codes(fields: Sequence[str]) -> list[str]:
    """The headings; fields behind the last one that has a text are none."""
    last = max((at for at, field in enumerate(fields) if field), default=-1)
    return [text_of_cell(field) for field in fields[: last + 1]]


def _number(text: str) -> Fraction:
    return exact(text, comma=True, fraction=True)


def _mistakes(
    table: Sequence[Row], known: Sequence[str], may_lack: Sequence[str], what: str
) -> Iterator[Mistake]:
    head, lines = table[0], table[1:]
    columns = _codes(head[1][1:])
    yield from _wrong_codes([(head[0], code) for code in columns], known, may_lack, what, "column")
    rows = [(line, text_of_cell(fields[0])) for line, fields in lines]
    yield from _wrong_codes(rows, known, may_lack, what, "row")
    for line, code in rows:
        if code and code not in columns and (not known or code in known):
            yield Mistake(line, f"The code {code!r} has a row and no column. Add its column.")
    for code in columns:
        if code and code not in {code: line for line, code in rows}:
            text = f"The code {code!r} has a column and no row. Add its row; a 1 at its own place"
            yield Mistake(head[0], f"{text} leaves its records as they are.")
    for line, fields in lines:
        yield from _wrong_row(line, fields, columns)


def _wrong_codes(
    headings: Sequence[tuple[int, str]],
    known: Sequence[str],
    may_lack: Sequence[str],
    what: str,
    place: str,
) -> Iterator[Mistake]:
    counts: Counter[str] = Counter()
    for line, code in headings:
        counts[code] += 1
        if not code:
            yield Mistake(line, f"A {place} has no code as its heading. Write the code.")
        elif counts[code] == 2:
            yield Mistake(line, f"The code {code!r} has more than one {place}. Keep one of them.")
        elif counts[code] == 1 and known and code not in known:
            yield Mistake(line, str(unknown("code", code, known, of=what)))
    lacking = [code for code in known if code not in counts and code not in may_lack]
    if lacking:
        shown = ", ".join(map(repr, lacking[:8])) + (" and others" if len(lacking) > 8 else "")
        line = headings[0][0] if headings else 1
        of = f" of {what}" if what else ""
        yield Mistake(
            line, f"There is no {place} for the code{of} {shown}. Every code needs its {place}."
        )


def _wrong_row(line: int, fields: Sequence[str], columns: Sequence[str]) -> Iterator[Mistake]:
    code = text_of_cell(fields[0])
    entries = list(fields[1:])
    while len(entries) > len(columns) and not entries[-1]:
        entries.pop()
    if len(entries) != len(columns):
        yield Mistake(
            line,
            f"The row of {code!r} has {len(entries)} numbers, and there are {len(columns)} columns."
            " Write a number for each; a decimal comma needs semicolons or tabs between fields.",
        )
        return
    total, whole = Fraction(0), True
    for other, text in zip(columns, entries, strict=True):
        try:
            share = _number(text)
        except BadNumber as error:
            yield Mistake(line, f"From {code!r} to {other!r}: {error}.")
            whole = False
            continue
        if share < 0:
            yield Mistake(
                line,
                f"From {code!r} to {other!r}: {text} is negative. A probability lies between 0"
                " and 1.",
            )
            whole = False
        total += share
    if whole and abs(total - 1) > TOLERANCE:
        yield Mistake(
            line,
            f"The row of {code!r} sums to {float(total):.9g}, not to 1. Change its entries so that"
            " a record with this code goes somewhere, or stays, with certainty.",
        )
