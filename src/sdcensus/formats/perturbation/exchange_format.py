"""The layouts in which offices exchange perturbation tables, and how a header tells which it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdcensus.model.perturbation.table import Tail
from sdcensus.model.vocabulary import ExchangeFormat as ExchangeFormat

#: The columns of each format in the order in which they are written; the matrix has no header.
COLUMNS: dict[ExchangeFormat, tuple[str, ...]] = {
    ExchangeFormat.ARGUS: ("i", "j", "p", "v", "p_int_ub"),
    ExchangeFormat.PTABLE: ("i", "j", "p", "v", "p_int_lb", "p_int_ub", "type"),
    ExchangeFormat.SAS: ("i", "j", "p", "v", "p_int_lb", "p_int_ub"),
    ExchangeFormat.ABS: (),
    ExchangeFormat.ONS: ("pcv", "ckey", "pvalue"),
    ExchangeFormat.CANTABULAR: ("cell_value", "cell_key", "perturbation"),
    ExchangeFormat.PLAIN: ("count", "deviation", "probability"),
}
INTERVALS = frozenset({ExchangeFormat.ARGUS, ExchangeFormat.PTABLE, ExchangeFormat.SAS})
KEYED = frozenset({ExchangeFormat.ONS, ExchangeFormat.CANTABULAR})

#: How many keys a matrix of the ABS and a file of Cantabular have.
BYTE = 256
#: Of how many last columns SuperSTAR makes use for larger counts, unless told otherwise.
REUSED_COLUMNS = 10
#: Up to which count the file of the ONS has rows of their own, and which ones it repeats.
ONS_TAIL = Tail(501, 250)

_LABEL = re.compile(r"v?[0-9]+|[+-][0-9]+")


def default_tail(kind: ExchangeFormat, last: int) -> Tail | None:
    """Which row serves a large count in a file whose last row is ``last``.

    Nothing where the format has a rule that such a file cannot follow.
    """
    if kind is ExchangeFormat.ONS:
        return ONS_TAIL if last + 1 == ONS_TAIL.rows else None
    if kind is ExchangeFormat.ABS:
        if last < REUSED_COLUMNS:
            return None
        return Tail(last - REUSED_COLUMNS + 1, REUSED_COLUMNS, 0)
    return Tail(last)


def detect(header: Sequence[str]) -> ExchangeFormat | None:
    """The format that the first line of a file tells, if any.

    A column or two may be missing: the reader then says which.

    Examples:
        >>> detect(["i", "j", "p", "v", "p_int_ub"]), detect(["0", "-1", "0"])
        (<ExchangeFormat.ARGUS: 'argus'>, <ExchangeFormat.ABS: 'abs'>)
    """
    names = {name.lower() for name in header}
    if names and all(_LABEL.fullmatch(name) for name in names - {"", "key", "row"}):
        return ExchangeFormat.ABS
    if "p_int_ub" in names or {"i", "j"} <= names:
        if "p_int_lb" not in names:
            return ExchangeFormat.ARGUS
        return ExchangeFormat.PTABLE if "type" in names else ExchangeFormat.SAS
    for kind in (ExchangeFormat.ONS, ExchangeFormat.CANTABULAR):
        if len(names & set(COLUMNS[kind])) >= 2:
            return kind
    if len(names & {*COLUMNS[ExchangeFormat.PLAIN], "target"}) >= 2:
        return ExchangeFormat.PLAIN
    return None


def known_headers() -> str:
    """The headers that are understood, as a sentence."""
    texts = [f"{', '.join(columns)} ({kind})" for kind, columns in COLUMNS.items() if columns]
    return f"{'; '.join(texts)}; or no header and 256 lines of deviations (abs)"
