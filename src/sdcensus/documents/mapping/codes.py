"""The codes of a mapping: from those of a census to the leaves of a breakdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.documents.mapping.sections import SAME
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.documents.workbooks.small_tables import EXCEL_ENDINGS, Row, small_table
from sdcensus.errors import DocumentError, InputError, SpecError, unknown
from sdcensus.model.plan.mapping import OUTSIDE
from sdcensus.model.plan.programme import Breakdown
from sdcensus.model.schema.variable import Variable

#: May be written instead of nothing, for records outside the population of a breakdown.
_OUTSIDE_WORD = "outside"
_COLUMNS = ("code", "to")
#: Codes that are listed in one message.
_MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class MappingEntry:
    """One line of a mapping of codes.

    Attributes:
        code: A code, group or range of codes of the census.
        to: A code or range of codes of the programme; empty for none.
        path: Where it stands in the mapping.
        line: Where it stands in a file of its own, as a message says it; empty otherwise.
    """

    code: str
    to: str
    path: KeyPath
    line: str = ""


def code_entries(
    written: str | dict[str, str],
    breakdown: Breakdown,
    path: KeyPath,
    folder: Path,
    mistakes: Mistakes,
) -> Iterator[MappingEntry]:
    """What a mapping says about the codes of a breakdown; nothing for "the same"."""
    if isinstance(written, dict):
        for code, to in written.items():
            yield MappingEntry(code.strip(), to, (*path, code))
    elif written != SAME:
        file = folder / written
        if file.suffix.lower() not in {".csv", *EXCEL_ENDINGS}:
            mistakes.add(
                path,
                f'{breakdown.name}: {written!r} is neither the name of a csv file nor "{SAME}".',
            )
            return
        try:
            rows = small_table(file, what="list of codes")
        except InputError as error:
            mistakes.add(path, f"{breakdown.name}: {error}")
            return
        except DocumentError as error:
            for mistake in error.mistakes:
                mistakes.add(
                    path, f"{breakdown.name}: {written}, line {mistake.line}: {mistake.text}"
                )
            return
        yield from _from_rows(rows, written, breakdown, path, mistakes)


def _from_rows(
    rows: Sequence[Row], file: str, breakdown: Breakdown, path: KeyPath, mistakes: Mistakes
) -> Iterator[MappingEntry]:
    filled = [row for row in rows if any(row[1])]
    header = [one.strip().lower() for one in filled[0][1]] if filled else []
    if any(header.count(one) != 1 for one in _COLUMNS):
        mistakes.add(
            path,
            f"{breakdown.name}: the first row of {file} names the columns: 'code' for the codes of"
            " the census and 'to' for those of the programme, each once.",
        )
        return
    code, to = (header.index(one) for one in _COLUMNS)
    for line, fields in filled[1:]:
        where = f"{file}, line {line}: "
        if len(fields) <= code or not fields[code]:
            mistakes.add(path, f"{breakdown.name}: {where}the code is missing.")
            continue
        if any(fields[len(header) :]):
            mistakes.add(
                path,
                f"{breakdown.name}: {where}there are more fields than columns. Put a field with a"
                " comma in it in double quotes.",
            )
            continue
        target = fields[to] if len(fields) > to else ""
        yield MappingEntry(fields[code], target, path, where)


def mapped_leaves(
    breakdown: Breakdown,
    variable: Variable,
    level: str | None,
    entries: Sequence[MappingEntry],
    path: KeyPath,
    mistakes: Mistakes,
) -> tuple[str, ...] | None:
    """For each leaf of a variable the leaf of a breakdown; ``None`` and mistakes if that fails."""
    goes: dict[int, str] = {}
    said: dict[int, MappingEntry] = {}
    wrong = 0
    for entry in entries:
        try:
            places = _leaves_of(variable, level, entry.code)
            targets = _targets_of(breakdown, entry.to, len(places), entry.code)
            for place in places:
                if place in said:
                    raise SpecError(_twice(variable, place, said[place], entry, mistakes))
        except SpecError as error:
            mistakes.add(entry.path, f"{breakdown.name}: {entry.line}{error}")
            wrong += 1
            continue
        goes |= dict(zip(places, targets, strict=True))
        said |= dict.fromkeys(places, entry)
    left = [code.code for at, code in enumerate(variable.codes) if at not in goes]
    if left and not wrong:
        mistakes.add(
            (*path, "codes"),
            f"{breakdown.name}: {listed(left)} of {variable.name!r} {_is(left)} not mapped. Give"
            f' each a code of {breakdown.name}, or "" if its records are outside its population.',
        )
    if left or wrong:
        return None
    if all(goe == OUTSIDE for goe in goes.values()):
        mistakes.add(
            path,
            f"{breakdown.name}: all codes of {variable.name!r} are outside its population, so that"
            " its tables would count nobody.",
        )
        return None
    return tuple(goes[at] for at in range(len(variable.codes)))


def _leaves_of(variable: Variable, level: str | None, code: str) -> list[int]:
    """The leaves that a code, a group or a range of the census stands for, in their order."""
    levels = [variable.level(level)] if level is not None else list(variable.levels())
    for one in levels:
        for at, known in enumerate(one.codes):
            if known.code == code:
                return [leaf for leaf, group in enumerate(one.group) if group == at]
    first = levels[0]
    codes = [code.code for code in first.codes]
    ends = _ends(code, codes)
    if ends is None and code.endswith("+") and code[:-1].strip() in codes:
        valid = [at for at, code in enumerate(first.codes) if not code.is_missing]
        ends = codes.index(code[:-1].strip()), max(valid, default=0)
    if ends is None:
        named = [code.code for each in levels for code in each.codes]
        raise SpecError(unknown(f"code of {variable.name!r}", code, named))
    low, high = ends
    if low > high:
        raise SpecError(f"the range {code!r} runs backwards.")
    return [leaf for leaf, group in enumerate(first.group) if low <= group <= high]


def _targets_of(breakdown: Breakdown, to: str, size: int, code: str) -> list[str]:
    """Where so many leaves go: all to one code, or one to one onto a range."""
    if to.lower() in (OUTSIDE, _OUTSIDE_WORD):
        return [OUTSIDE] * size
    leaves = [leaf.code for leaf in breakdown.leaves]
    if to in leaves:
        return [to] * size
    known = [code.code for code in breakdown.codes]
    if to in known:
        below = listed(list(breakdown.below(to)))
        raise SpecError(
            f"{to!r} is a group of {breakdown.name}, and records need one of its parts: {below}."
            " (If the census does not tell them apart, map a coarser breakdown.)"
        )
    ends = _ends(to, leaves)
    if ends is None:
        raise SpecError(unknown(f"code of {breakdown.name}", to, known))
    low, high = ends
    chosen = leaves[low : high + 1]
    if len(chosen) != size:
        raise SpecError(
            f"{code!r} stands for {size} codes and {to!r} for {len(chosen)}; a range is mapped onto"
            " one of the same size."
        )
    return chosen


def _ends(text: str, codes: Sequence[str]) -> tuple[int, int] | None:
    """The first and last of a range such as ``0..99`` or ``0-99``, as places among codes."""
    for mark in ("..", "-"):
        for at in range(len(text)):
            if text.startswith(mark, at):
                low, high = text[:at].strip(), text[at + len(mark) :].strip()
                if low in codes and high in codes:
                    return codes.index(low), codes.index(high)
    return None


def _twice(
    variable: Variable, place: int, first: MappingEntry, second: MappingEntry, mistakes: Mistakes
) -> str:
    where = first.line.rstrip(": ") or f"line {mistakes.document.line_of(*first.path)}"
    code = variable.codes[place].code
    group = "" if code == second.code else f" (in {second.code!r})"
    before = "" if code == first.code else f", in {first.code!r}"
    return f"the code {code!r}{group} of {variable.name!r} was mapped before: {where}{before}."


def _is(codes: Sequence[str]) -> str:
    return "is" if len(codes) == 1 else "are"


def listed(codes: Sequence[str]) -> str:
    """Some codes as a message names them; how many more there are behind the first ones."""
    some = ", ".join(map(repr, codes[:_MOST_LISTED]))
    more = len(codes) - _MOST_LISTED
    return some if more <= 0 else f"{some} and {more} more"
