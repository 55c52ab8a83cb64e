"""Perturbation tables: designed, read, written, checked, converted and looked at.

What ``sdcensus ptable`` does, and what Python offers as ``sdcensus.perturbation``. Designs and
tables are confidential: who knows the probabilities can undo more of what is published.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import (
    InputError,
    OutputError,
    SecretError,
    SpecError,
    UnknownName,
    unknown,
)
from sdcensus.formats.perturbation import (
    CheckReport,
    ExchangeFormat,
    check_perturbation,
    read_perturbation,
    write_perturbation,
)
from sdcensus.formats.perturbation.key_units import is_power_of_ten
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.perturbation.order import scrambled
from sdcensus.methods.perturbation.schemes import SCHEMES, STRENGTHS, scheme, strength
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import Perturbation, PerturbationTable, Tail
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.report.perturbation.rows import chances_of

design = design_perturbation

#: Probabilities that move by no more than this have only been rounded to the digits of a file.
ROUNDED = 1e-6
#: Formats that hold intervals in an order, and those that hold what each key adds.
_IN_ORDER = frozenset({ExchangeFormat.ARGUS, ExchangeFormat.PTABLE, ExchangeFormat.SAS})
#: How many last rows serve larger counts in turn; one in the other formats.
_TURNS = {ExchangeFormat.ABS: 10, ExchangeFormat.ONS: 250}
#: The keys of the formats that hold intervals, where nothing else is asked for.
_DECIMAL_KEYS = 10**8

AnySecret = Secret | SubSecret


@dataclass(frozen=True, slots=True, repr=False)
class FoundPerturbation(Confidential):
    """A perturbation that was asked for by name or by file.

    Attributes:
        title: What to call it.
        perturbation: The design of a named scheme, or the table of a file.
        path: The file, if it is one.
    """

    title: str
    perturbation: PerturbationDesign | PerturbationTable
    path: Path | None = None

    def __repr__(self) -> str:
        return f"<Found {self.title}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class Moved(Confidential):
    """How far a file is from what was written to it.

    Attributes:
        largest: The largest change of any probability.
        count: The smallest count with that change.
        same_keys: Whether every key adds to every count what it added before; ``None`` where
            there were no keys before.
    """

    largest: float
    count: int
    same_keys: bool | None

    def __repr__(self) -> str:
        return "<Moved: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class Written(Confidential):
    """A file with a perturbation table, that only its owner can read.

    Attributes:
        path: The file.
        format: Its layout.
        keys: How many keys it has when it is read; a plain file itself has none.
        moved: How far its probabilities are from those that were asked for.
        repeat: How many of its last rows serve larger counts in turn, where a reader must be told.
        bias: By how much, at most, its rows change the expected count.
    """

    path: Path
    format: ExchangeFormat
    keys: int
    moved: Moved
    repeat: int | None = None
    bias: float = 0.0

    def __repr__(self) -> str:
        return f"<Written {self.path}: confidential>"


def find(
    what: str | Path, *, format: ExchangeFormat | str | None = None, repeat: int | None = None
) -> FoundPerturbation:
    """A perturbation by the name of a scheme or strength, or from a file.

    Names come first; a file that is called like a scheme is found as ``./CP3``. A file whose rows
    change the expected count is read as well: whoever looks at it is told.
    """
    text = str(what)
    if not isinstance(what, Path) and not {"/", "\\"} & set(text):
        for made in (scheme, strength):
            with suppress(UnknownName):
                design = made(text)
                if format is not None or repeat is not None:
                    raise SpecError(
                        f"{text} is the name of a scheme, and what was said about a layout or about"
                        f" rows is for files. Leave it away, or name the file as ./{text}."
                    )
                return FoundPerturbation(
                    design.name if made is scheme else f"{text} ({design.name})", design
                )
    path = Path(what)
    if not path.exists():
        raise _not_found(text)
    table = read(path, format, allow_bias=True, repeat=repeat)
    return FoundPerturbation(path.name, table, path)


def read(
    path: str | Path,
    format: ExchangeFormat | str | None = None,
    *,
    allow_bias: bool = False,
    modulus: int | None = None,
    repeat: int | None = None,
) -> PerturbationTable:
    """Read a perturbation table that another program, another office or you wrote.

    Args:
        path: The file.
        format: Its layout; by its header if not given.
        allow_bias: Whether rows may change the expected count.
        modulus: How many keys the table shall have, where that is not what the file says.
        repeat: So many of the last rows serve larger counts in turn, as in rounding; by default
            what the format says, which is one for most.
    """
    tail = _tail(path, format, repeat)
    return read_perturbation(path, format, allow_bias=allow_bias, modulus=modulus, tail=tail)


def check(
    path: str | Path,
    format: ExchangeFormat | str | None = None,
    *,
    modulus: int | None = None,
    repeat: int | None = None,
) -> CheckReport:
    """Read anybody's perturbation file and say everything that is wrong with it or notable.

    Takes what ``read`` takes.
    """
    tail = _tail(path, format, repeat)
    return check_perturbation(path, format, modulus=modulus, tail=tail)


def write(
    perturbation: PerturbationDesign | PerturbationTable,
    path: str | Path,
    format: ExchangeFormat | str = ExchangeFormat.ARGUS,
    *,
    modulus: int | None = None,
    scramble: bool = False,
    secret: AnySecret | None = None,
    key_version: int = 1,
    lossy: bool = True,
) -> Written:
    """Write a perturbation table for another program, in a new file that only its owner can read.

    The file is read again before it gets its name, and compared with what was to be written.

    Args:
        perturbation: A design or a table.
        path: The file; must not exist.
        format: Its layout.
        modulus: How many keys it shall have, where the format leaves a choice.
        scramble: Whether intervals, or keys, stand in an order of the office's own.
        secret: The office secret, from which that order is made.
        key_version: The version of the series of published numbers, for that order.
        lossy: Whether a file is written even if its few keys cannot hold the probabilities.
    """
    kind, target = ExchangeFormat.of(format), Path(path)
    _check_new(target)
    _check_turns(perturbation, kind)
    given, key = _ordered(perturbation, kind, modulus, scramble, secret, key_version)
    repeat = given.tail.period if kind is ExchangeFormat.PLAIN and given.tail.period > 1 else None
    tail = given.tail if repeat else None
    # Under another name first: nobody finds a file that turns out to be something else.
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        write_perturbation(
            given, beside, kind, secret=key, key_version=key_version, modulus=modulus, tail=tail
        )
        # A file with few decimals is read with more, unless it is said how many keys it has.
        keys = None
        if kind in _IN_ORDER:
            own = given.modulus if isinstance(given, PerturbationTable) else None
            keys = modulus or (own if own and is_power_of_ten(own) else None)
        back = read_perturbation(beside, kind, allow_bias=True, tail=tail, modulus=keys)
        moved = _moved(perturbation, back)
        if not lossy and moved.largest > ROUNDED:
            raise SpecError(
                f"{target} would not be the same: in the {back.modulus} keys of the format {kind},"
                f" probabilities move by up to {moved.largest:.2g} (for the count {moved.count})."
                " Take a format with more keys, or say that this is meant: --lossy (in Python:"
                " lossy=True)."
            )
        _check_new(target)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    return Written(target, kind, back.modulus, moved, repeat, _largest_bias(back))


def convert(
    source: str | Path,
    target: str | Path,
    to: ExchangeFormat | str,
    *,
    format: ExchangeFormat | str | None = None,
    repeat: int | None = None,
    modulus: int | None = None,
    scramble: bool = False,
    secret: AnySecret | None = None,
    key_version: int = 1,
    lossy: bool = False,
) -> Written:
    """Write a file of one format as one of another.

    Args:
        source: The file, or the name of a scheme or strength.
        target: The new file; must not exist.
        to: The format of the new file.
        format, repeat: How to read the old one, as in ``read``.
        modulus, scramble, secret, key_version: How to write the new one, as in ``write``.
        lossy: Whether it may have other probabilities, because it has fewer keys.
    """
    ExchangeFormat.of(to)
    _check_new(Path(target))
    source_table = find(source, format=format, repeat=repeat)
    return write(
        source_table.perturbation,
        target,
        to,
        modulus=modulus,
        scramble=scramble,
        secret=secret,
        key_version=key_version,
        lossy=lossy,
    )


def _check_turns(perturbation: Perturbation, kind: ExchangeFormat) -> None:
    """Refuse rows that take turns, as in rounding, where the format has another rule."""
    tail = perturbation.tail
    rows = {perturbation.distribution(row) for row in range(tail.start, tail.rows)}
    if len(rows) == 1 or kind is ExchangeFormat.PLAIN:
        return
    turns = _TURNS.get(kind, 1)
    if turns % tail.period:
        how = "the last row serves" if turns == 1 else f"the last {turns} rows serve in turn"
        raise SpecError(
            f"Here {tail.period} rows serve larger counts in turn, as in rounding; in a file of the"
            f" format {kind}, {how} all of them. Write it as {ExchangeFormat.PLAIN}, and read that"
            f" with --repeat {tail.period} (in Python: repeat={tail.period})."
        )


def _ordered(
    perturbation: PerturbationDesign | PerturbationTable,
    kind: ExchangeFormat,
    modulus: int | None,
    scramble: bool,
    secret: AnySecret | None,
    key_version: int,
) -> tuple[PerturbationDesign | PerturbationTable, AnySecret | None]:
    """What is written, and the secret if the writer is to shuffle keys with it."""
    if not scramble:
        return perturbation, None
    if secret is None:
        raise SecretError(
            "A scrambled order is made from the office secret. Give its file: --secret FILE."
        )
    if kind is ExchangeFormat.PLAIN:
        raise SpecError(
            "A plain file holds probabilities and no order of keys, so it cannot be scrambled."
            " Take another format, or leave the order away."
        )
    if kind not in _IN_ORDER:
        return perturbation, secret
    if isinstance(perturbation, PerturbationDesign):
        perturbation = perturbation.table(modulus or _DECIMAL_KEYS)
    return scrambled(perturbation, secret, key_version=key_version), None


def _moved(before: PerturbationDesign | PerturbationTable, after: PerturbationTable) -> Moved:
    """How far two perturbations are from each other, over all counts that they tell apart."""
    last = max(before.tail.rows, after.tail.rows) + 1
    distances = [_distance(before, after, count) for count in range(last + 1)]
    largest = max(distances)
    same: bool | None = None
    if isinstance(before, PerturbationTable):
        same = (before.modulus, before.key_rule) == (after.modulus, after.key_rule) and all(
            before.rows[before.tail.row(count)] == after.rows[after.tail.row(count)]
            for count in range(last + 1)
        )
    return Moved(largest, distances.index(largest), same)


def _largest_bias(table: PerturbationTable) -> float:
    counts = (table.tail.smallest_count(row) for row in range(table.tail.rows))
    return max(abs(float(table.bias(count))) for count in counts)


def _distance(one: Perturbation, other: Perturbation, count: int) -> float:
    here, there = chances_of(one, count), chances_of(other, count)
    return max(abs(here.get(value, 0) - there.get(value, 0)) for value in {*here, *there})


def _tail(path: str | Path, format: ExchangeFormat | str | None, repeat: int | None) -> Tail | None:
    """The tail of a file of which so many last rows serve larger counts in turn."""
    if repeat is None:
        return None
    report = check_perturbation(path, format)
    if report.table is None:
        return None  # its mistakes are told when it is read
    rows = report.table.tail.rows
    # The matrix of the ABS takes the remainder of the count itself.
    anchor = 0 if report.format is ExchangeFormat.ABS else None
    if not 1 <= repeat <= rows:
        raise SpecError(
            f"{path} has {rows} rows, from 0 to {rows - 1}. So 1 to {rows} of them can serve larger"
            f" counts in turn, not {repeat}."
        )
    return Tail(rows - repeat, repeat, anchor)


def _not_found(text: str) -> InputError:
    names = [*SCHEMES, *STRENGTHS]
    if Path(text).suffix or "/" in text or "\\" in text:
        return InputError(
            f"{text} does not exist. Give a file with a perturbation table, or the name of a"
            f" scheme: {', '.join(names)}."
        )
    return InputError(f"{unknown('scheme, strength or file', text, names)}")


def _check_new(target: Path) -> None:
    if target.exists():
        raise OutputError(f"{target} already exists. Choose another name or remove it first.")
    if not target.parent.is_dir():
        raise OutputError(f"The folder {target.parent} does not exist.")
