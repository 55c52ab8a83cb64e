"""Everything that is wrong with a perturbation file, and what is worth knowing about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from sdcensus.errors import DocumentError
from sdcensus.formats.perturbation.delimited import FileNotes
from sdcensus.formats.perturbation.exchange_format import ExchangeFormat
from sdcensus.formats.perturbation.file_rows import FileRows
from sdcensus.formats.perturbation.key_units import ROUNDING_BIAS, balanced
from sdcensus.formats.perturbation.read import read_with_notes
from sdcensus.model.confidential import Confidential
from sdcensus.model.exact_numbers import shown
from sdcensus.model.perturbation.table import Distribution, KeyRule, PerturbationTable, Tail
from sdcensus.model.schema.schema import COARSE_BELOW

#: Variances and probabilities that agree to this are the same.
_SAME = 5e-4
#: So many rows are named in a sentence; of the rest, the number is.
_MOST_NAMED = 8


class Severity(StrEnum):
    """How much a finding matters.

    ``error``: the file cannot be used as it is. ``warning``: it can, but should it? ``note``: good
    to know.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class FileFinding:
    """One thing that was found in a file.

    Attributes:
        severity: How much it matters.
        text: What it is, as sentences.
        line: Where it stands; 0 if it is about the whole file.
    """

    severity: Severity
    text: str
    line: int = 0

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{self.severity}: {where}{self.text}"


@dataclass(frozen=True, slots=True, repr=False)
class RowFacts(Confidential):
    """What a row does to the smallest count that uses it.

    Attributes:
        row: The row.
        count: The smallest count that uses it.
        bias: What it adds on average.
        variance: The variance of what it adds.
        stay: The probability that it adds nothing.
        becomes_zero: The probability that the count becomes 0.
        largest: The largest deviation, up or down.
    """

    row: int
    count: int
    bias: Fraction
    variance: float
    stay: float
    becomes_zero: float
    largest: int


@dataclass(frozen=True, slots=True, repr=False)
class CheckReport(Confidential):
    """What was found in a file.

    Attributes:
        findings: Errors first, then warnings, then notes; each in the order of the lines.
        table: What was read; nothing if the file cannot be read as it is. A table with errors of
            bias alone is there, with these rows declared as biased.
        format: The layout of the file, if it could be told.
        rows: What each row does, if the file could be read.
    """

    findings: tuple[FileFinding, ...]
    table: PerturbationTable | None
    format: ExchangeFormat | None
    rows: tuple[RowFacts, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error; there may be warnings."""
        return not self.errors

    @property
    def errors(self) -> tuple[FileFinding, ...]:
        """What must be corrected, or allowed, before the file can be used."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[FileFinding, ...]:
        """What should be looked at."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)

    def __repr__(self) -> str:
        found = f"{len(self.errors)} errors, {len(self.warnings)} warnings"
        return f"<CheckReport with {found}: confidential>"


def check_perturbation(
    path: str | Path,
    format: ExchangeFormat | str | None = None,
    *,
    modulus: int | None = None,
    tail: Tail | None = None,
) -> CheckReport:
    """Read anybody's perturbation file and say everything that is wrong with it or notable.

    Args:
        path: The file.
        format: Its layout; by its header if not given.
        modulus: In how many keys to look at it, as in ``read_perturbation``.
        tail: Which row serves larger counts, as in ``read_perturbation``.

    Raises:
        InputError: There is no such file, or it cannot be opened.
    """
    notes = FileNotes(Path(path))
    try:
        reading = read_with_notes(notes, format, modulus=modulus, tail=tail)
        if reading.table is None and reading.file is not None and set(notes.counts) == {"bias"}:
            # The bias is the only mistake: the table exists with it.
            allowed = FileNotes(Path(path))
            reading = read_with_notes(allowed, format, allow_bias=True, modulus=modulus, tail=tail)
    except DocumentError as error:
        findings = tuple(
            FileFinding(Severity.ERROR, mistake.text, mistake.line) for mistake in error.mistakes
        )
        return CheckReport(findings, None, None if format is None else ExchangeFormat.of(format))
    errors = [FileFinding(Severity.ERROR, mistake.text, mistake.line) for mistake in notes.mistakes]
    remarks = [
        FileFinding(Severity.NOTE, mistake.text, mistake.line)
        for mistake in notes.observed.values()
    ]
    table, file = reading.table, reading.file
    if table is None or file is None:
        return CheckReport((*errors, *_ordered(remarks)), None, reading.kind)
    facts = tuple(_facts(table, row) for row in range(table.tail.rows))
    remarks += _observations(table, file, facts)
    return CheckReport((*errors, *_ordered(remarks)), table, reading.kind, facts)


def _ordered(findings: Sequence[FileFinding]) -> list[FileFinding]:
    order = list(Severity)
    return sorted(findings, key=lambda finding: (order.index(finding.severity), finding.line))


def _facts(table: PerturbationTable, row: int) -> RowFacts:
    count = table.tail.smallest_count(row)
    return RowFacts(
        row,
        count,
        Fraction(table.bias(count)),
        table.variance(count),
        table.stay(count),
        table.becomes_zero(count),
        int(abs(table.deviations(count)).max()),
    )


def _observations(
    table: PerturbationTable, file: FileRows, facts: Sequence[RowFacts]
) -> Iterator[FileFinding]:
    """What is notable about a table that could be read."""
    yield from _about_the_whole(table, file, facts)
    yield from _about_rows(table, facts)
    yield from _about_bias(table, file)
    yield from _about_the_tail(table, facts)


def _about_the_whole(
    table: PerturbationTable, file: FileRows, facts: Sequence[RowFacts]
) -> Iterator[FileFinding]:
    largest = max(fact.largest for fact in facts)
    yield FileFinding(
        Severity.NOTE,
        f"Format {file.kind}: rows up to the count {len(table.rows) - 1}, {table.modulus} keys,"
        f" deviations up to {largest}.",
    )
    yield FileFinding(Severity.NOTE, _tail_sentence(table.tail))
    if table.key_rule is KeyRule.FOLD_BYTES:
        yield FileFinding(Severity.NOTE, "The four bytes of a cell key are folded into one of 256.")
    if table.modulus < COARSE_BELOW:
        yield FileFinding(
            Severity.WARNING,
            f"There are only {table.modulus} keys: probabilities are multiples of"
            f" 1/{table.modulus}, and an outsider can try out every key. Use this table where"
            " another program needs it, not for a new publication.",
        )
    if table.blocked:
        yield FileFinding(
            Severity.NOTE,
            "The count 1 never appears as a result."
            if table.blocked == 1
            else f"The counts 1 to {table.blocked} never appear as a result.",
        )
    if not table.ascending:
        yield FileFinding(
            Severity.NOTE,
            "Intervals do not stand in ascending order of deviations: the table is scrambled.",
        )


def _about_rows(table: PerturbationTable, facts: Sequence[RowFacts]) -> Iterator[FileFinding]:
    if any(table.rows[0].deviations) and table.tail.start > 0:
        yield FileFinding(
            Severity.WARNING,
            f"Row 0 changes empty cells with probability {1 - facts[0].stay:.6g}: people would"
            " appear where nobody lives.",
        )
    positive = [fact for fact in facts if fact.count > 0]
    if not positive:
        return
    fixed = [
        row_facts for row_facts in positive if len(set(table.rows[row_facts.row].deviations)) == 1
    ]
    yield from _named(
        [row_facts for row_facts in fixed if row_facts.largest == 0],
        Severity.WARNING,
        "Rows that never change a count, which is so published as it is",
    )
    yield from _named(
        [row_facts for row_facts in fixed if row_facts.largest > 0],
        Severity.WARNING,
        "Rows that always add the same, without chance",
    )
    stays = [row_facts.stay for row_facts in positive]
    yield FileFinding(
        Severity.NOTE,
        f"The probability that a count stays is {_span(stays)}; that a count of 1 becomes 0,"
        f" {table.becomes_zero(1):.4f}.",
    )
    variances = [row_facts.variance for row_facts in positive]
    yield FileFinding(Severity.NOTE, f"The variance of the deviation is {_span(variances)}.")
    usual = positive[-1].variance
    yield from _named(
        [row_facts for row_facts in positive if abs(row_facts.variance - usual) > _SAME],
        Severity.NOTE,
        f"Rows with another variance than the last one ({usual:.4f})",
        value=lambda row_facts: f"{row_facts.variance:.4f}",
    )


def _about_bias(table: PerturbationTable, file: FileRows) -> Iterator[FileFinding]:
    for row, mean in sorted(file.bias.items()):
        if not mean:
            continue
        if abs(mean) <= ROUNDING_BIAS:
            why = "which comes from rounded figures"
        elif balanced(table.rows[row]):
            why = f"which no row with these deviations avoids in {table.modulus} keys"
        else:
            continue  # listed as an error
        yield FileFinding(
            Severity.NOTE, f"Row {row} adds {shown(mean)} on average, {why}.", file.lines[row]
        )
    drifted = [row for row in table.biased if abs(file.bias.get(row, Fraction(0))) <= ROUNDING_BIAS]
    worst = max(
        (abs(Fraction(table.bias(table.tail.smallest_count(row)))) for row in drifted), default=0
    )
    if worst > ROUNDING_BIAS:
        yield FileFinding(
            Severity.WARNING,
            f"In {table.modulus} keys rows add up to {shown(Fraction(worst))} on average: the file"
            " has more decimals than the keys.",
        )


def _about_the_tail(table: PerturbationTable, facts: Sequence[RowFacts]) -> Iterator[FileFinding]:
    tail = [fact for fact in facts if fact.row >= table.tail.start]
    skewed = [
        row_facts
        for row_facts in tail
        if not _is_symmetric(table.distribution(row_facts.row), table.modulus)
    ]
    # Rows that are used in turn round to multiples, each in its own way.
    severity = Severity.WARNING if table.tail.period == 1 else Severity.NOTE
    yield from _named(
        skewed,
        severity,
        "Rows that serve larger counts and are not symmetric around 0",
    )
    if len({table.distribution(row_facts.row) for row_facts in tail}) > 1:
        yield FileFinding(
            Severity.NOTE, "Rows that serve larger counts in turn have different probabilities."
        )


def _is_symmetric(distribution: Distribution, modulus: int) -> bool:
    """Whether both signs are equally likely, up to a few keys that the rounding moved."""
    chances = {value: Fraction(chance) for value, chance in distribution}
    few = Fraction(4, modulus) + ROUNDING_BIAS
    return all(
        abs(chance - chances.get(-value, Fraction(0))) <= few for value, chance in chances.items()
    )


def _named(
    rows: Sequence[RowFacts],
    severity: Severity,
    what: str,
    *,
    value: Callable[[RowFacts], str] | None = None,
) -> Iterator[FileFinding]:
    """One finding about several rows, the first of them by number."""
    if not rows:
        return
    names = [f"{row.row} ({value(row)})" if value else str(row.row) for row in rows[:_MOST_NAMED]]
    if len(rows) > _MOST_NAMED:
        names.append(f"and {len(rows) - _MOST_NAMED} more")
    yield FileFinding(severity, f"{what}: {', '.join(names)}.")


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    if high - low <= _SAME:
        return f"{high:.4f}"
    return f"between {low:.4f} and {high:.4f}"


def _tail_sentence(tail: Tail) -> str:
    if tail.period == 1:
        return f"Counts from {tail.start} on use row {tail.start}."
    return (
        f"Counts from {tail.start} on use the rows {tail.start} to {tail.rows - 1} in turn: the"
        f" count {tail.start} uses row {tail.row(tail.start)}."
    )
