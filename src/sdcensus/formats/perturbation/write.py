"""Writing a perturbation table in any of the exchange formats, for its owner only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sdcensus.errors import OutputError, SpecError
from sdcensus.formats.perturbation.exchange_format import (
    BYTE,
    INTERVALS,
    KEYED,
    ONS_TAIL,
    REUSED_COLUMNS,
    ExchangeFormat,
)
from sdcensus.formats.perturbation.intervals import DEFAULT_MODULUS, interval_lines
from sdcensus.formats.perturbation.key_units import (
    checked_modulus,
    entries_of,
    from_entries,
    is_power_of_ten,
    requantised,
)
from sdcensus.formats.perturbation.keyed import keyed_lines
from sdcensus.formats.perturbation.matrix import matrix_lines
from sdcensus.formats.perturbation.plain import plain_lines
from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import DeviationRow, PerturbationTable, Tail
from sdcensus.model.secret import Purpose, Secret, SubSecret
from sdcensus.store.owner_only import open_owner_only

#: A file with a line for each count and key has at most so many keys.
_MOST_KEYS = 1 << 12


def write_perturbation(
    perturbation: PerturbationDesign | PerturbationTable,
    path: str | Path,
    format: ExchangeFormat | str,
    *,
    secret: Secret | SubSecret | None = None,
    key_version: int = 1,
    modulus: int | None = None,
    tail: Tail | None = None,
) -> Path:
    """Write a perturbation table for another program, in a file that only its owner can read.

    Who knows a perturbation table can undo more of a published table, so treat the file as the
    microdata. A table whose key space is that of the file is written as it is, in its order.
    Otherwise its probabilities become whole numbers of keys again, without bias.

    Args:
        perturbation: A design or a table.
        path: The file; it must not exist.
        format: The layout.
        secret: For the formats with a line for each key (abs, ons, cantabular): shuffles which
            key gets which deviation, by keyed draws. Without it they stand in ascending order,
            or in that of the table.
        key_version: The version of the published numbers, for the draws.
        modulus: How many keys the file shall have: a power of ten for files with intervals, 256 or
            4096 for ons. By default those of the table where the format allows it, else
            10**8 and 256.
        tail: Which row serves larger counts, where the format leaves that open; whoever reads
            the file must be told. By default what the format says.

    Raises:
        SpecError: The format cannot hold this table.
        OutputError: The file exists, or cannot be written.
    """
    kind = ExchangeFormat.of(format)
    target = Path(path)
    if target.exists():
        raise OutputError(f"{target} already exists. Choose another name or remove it first.")
    if not target.parent.is_dir():
        raise OutputError(f"The folder {target.parent} does not exist.")
    if secret is not None and kind not in KEYED | {ExchangeFormat.ABS}:
        raise SpecError(
            f"The format {kind} keeps the order of the table and takes no secret. Give a table in"
            " scrambled order instead."
        )
    key = None if secret is None else secret.sub_key(Purpose.ORDER, key_version)
    lines = _lines(perturbation, kind, modulus, tail, key)
    with open_owner_only(target) as file:
        for line in lines:
            file.write(line.encode("ascii"))
    return target


def _lines(
    perturbation: PerturbationDesign | PerturbationTable,
    kind: ExchangeFormat,
    modulus: int | None,
    asked: Tail | None,
    key: bytes | None,
) -> Iterator[str]:
    keys = _modulus(perturbation, kind, modulus)
    sources = _rows(perturbation, kind, asked)
    if kind is ExchangeFormat.PLAIN:
        return plain_lines([perturbation.distribution(source) for source in sources])
    if kind not in INTERVALS and any(value for value, _ in perturbation.distribution(sources[0])):
        raise SpecError(
            f"The format {kind} has no row for empty cells, and this table changes them. Write it"
            f" as {ExchangeFormat.ARGUS} or {ExchangeFormat.PLAIN}, or take a table that keeps"
            " empty cells."
        )
    table = perturbation.table(keys) if isinstance(perturbation, PerturbationDesign) else None
    made: dict[int, DeviationRow] = {}
    for source in sources:
        if source in made:
            continue
        if table is not None:
            made[source] = table.rows[source]
        elif isinstance(perturbation, PerturbationTable):
            biased = source in perturbation.biased
            made[source] = requantised(perturbation.rows[source], keys, declared_biased=biased)
    rows = [made[source] for source in sources]
    if kind in INTERVALS:
        return interval_lines(rows, kind, keys)
    if key is not None:
        rows = [_shuffled(row, at, key) for at, row in enumerate(rows)]
    positive = dict(enumerate(rows[1:], start=1))
    return matrix_lines(positive) if kind is ExchangeFormat.ABS else keyed_lines(positive, kind)


def _modulus(
    perturbation: PerturbationDesign | PerturbationTable, kind: ExchangeFormat, asked: int | None
) -> int:
    own = perturbation.modulus if isinstance(perturbation, PerturbationTable) else 0
    if asked is not None:
        checked_modulus(asked)
    if kind is ExchangeFormat.PLAIN:
        if asked is not None:
            raise SpecError("A plain file holds probabilities and takes no number of keys.")
        return own
    if kind in INTERVALS:
        keys = asked or (own if is_power_of_ten(own) else DEFAULT_MODULUS)
        if not is_power_of_ten(keys):
            raise SpecError(
                f"The bounds of the format {kind} are decimals: take a power of ten as modulus,"
                f" such as {DEFAULT_MODULUS}."
            )
        return keys
    if kind is ExchangeFormat.ONS:
        keys = asked or (own if own in (BYTE, 4096) else BYTE)
        if keys > _MOST_KEYS:
            raise SpecError(f"The format {kind} takes at most {_MOST_KEYS} keys: usually 256.")
        return keys
    if asked not in (None, BYTE):
        raise SpecError(f"Files of the format {kind} have {BYTE} keys.")
    return BYTE


def _rows(
    perturbation: PerturbationDesign | PerturbationTable, kind: ExchangeFormat, asked: Tail | None
) -> list[int]:
    """For each row of the file the row of the table that it holds."""
    if asked is not None:
        _check_tail(kind, asked)
    candidates = [perturbation.tail, _one_row_tail(perturbation)]
    for own in candidates:
        chosen = asked or _default_tail(kind, own or perturbation.tail)
        if own is not None and _fits(own, chosen):
            return [own.row(chosen.smallest_count(row)) for row in range(chosen.rows)]
    raise _no_fit(kind, perturbation.tail, asked or _default_tail(kind, perturbation.tail))


def _default_tail(kind: ExchangeFormat, own: Tail) -> Tail:
    if kind is ExchangeFormat.ONS:
        return ONS_TAIL
    if kind is ExchangeFormat.ABS:
        return Tail(max(1, own.start), REUSED_COLUMNS, 0)
    return Tail(max(1, own.start) if kind in KEYED else own.start)


def _check_tail(kind: ExchangeFormat, asked: Tail) -> None:
    if kind in INTERVALS and asked.period > 1:
        raise SpecError(
            f"In a file of the format {kind} the last row serves all larger counts: take"
            f" Tail({asked.start})."
        )
    if kind in KEYED | {ExchangeFormat.ABS} and asked.start < 1:
        raise SpecError(f"A file of the format {kind} begins with the count 1, and so must a tail.")
    if kind is ExchangeFormat.ABS and asked.first % asked.period:
        raise SpecError(
            "The matrix of the ABS reuses columns by the remainder of the count: for SmallN = n"
            " take Tail(start, n, 0)."
        )


def _fits(own: Tail, chosen: Tail) -> bool:
    """Whether rows that repeat as in ``chosen`` can hold a table that repeats as in ``own``."""
    return chosen.start >= own.start and chosen.period % own.period == 0


def _one_row_tail(perturbation: PerturbationDesign | PerturbationTable) -> Tail | None:
    """A tail of one row, if all rows of the tail have the same distribution."""
    start, rows = perturbation.tail.start, perturbation.tail.rows
    same = perturbation.distribution(start)
    if any(perturbation.distribution(row) != same for row in range(start + 1, rows)):
        return None
    while start > 1 and perturbation.distribution(start - 1) == same:
        start -= 1
    return Tail(start)


def _no_fit(kind: ExchangeFormat, own: Tail, chosen: Tail) -> SpecError:
    if chosen.start < own.start:
        return SpecError(
            f"This table has rows of their own up to the count {own.start}, and a file of the"
            f" format {kind} with this tail has them only up to {chosen.start}."
        )
    rows = "the last row serves" if chosen.period == 1 else f"{chosen.period} rows serve"
    return SpecError(
        f"In this table {own.period} rows serve larger counts in turn, and in a file of the"
        f" format {kind} {rows} them. Choose a number of rows that {own.period} divides with"
        " tail=, where the other program can be told so, or another format."
    )


def _shuffled(row: DeviationRow, at: int, key: bytes) -> DeviationRow:
    """The same keys for each deviation, in an order that keyed draws decide."""
    entries = entries_of(row)
    words = np.empty((entries.size, 3), dtype=np.uint64)
    words[:, 0], words[:, 1], words[:, 2] = entries.size, at, np.arange(entries.size)
    return from_entries(entries[np.argsort(siphash24(key, words), kind="stable")])
