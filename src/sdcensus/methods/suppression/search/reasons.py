"""Why cells cannot be protected, in words and with the names of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.problem import SuppressionProblem

Int64 = npt.NDArray[np.int64]

#: The name of a cell by its number.
Names = Callable[[int], str]
#: Cells that are named in a message.
_NAMED = 5


def listed(cells: Iterable[int], names: Names, most: int = _NAMED) -> str:
    """The names of some cells."""
    numbers = list(cells)
    text = "; ".join(names(cell) for cell in numbers[:most])
    more = len(numbers) - most
    return text if more <= 0 else f"{text}; and {more:,} more"


def cannot_be_closed(problem: SuppressionProblem, cells: Int64, names: Names) -> SpecError:
    """Cells that can never change: they must stay open, or those that must give them away."""
    forced = cells[problem.forced[cells]]
    if forced.size:
        return SpecError(
            f"{forced.size:,} cells have to be closed and must stay open at the same time:"
            f" {listed(forced.tolist(), names)}. Close them in the earlier release as well, or"
            " exempt them from the rules by name."
        )
    if not problem.forced.any():
        return SpecError(
            f"{cells.size:,} cells that have to be closed are known from the code lists alone:"
            f" {listed(cells.tolist(), names)}. Leave them out of the table, or exempt them from"
            " the rules by name."
        )
    return SpecError(
        f"{cells.size:,} cells that have to be closed follow from cells that must stay open:"
        f" {listed(cells.tolist(), names)}. Let fewer cells stay open (empty ones: zeros ="
        ' "candidates"), or exempt these from the rules by name.'
    )


def told_to_a_person(target: int, own: int, names: Names) -> SpecError:
    """A cell that cells which must stay open tell to somebody who is alone in another one."""
    return SpecError(
        f"Cells that must stay open tell whoever is alone in {names(own)} how many are in"
        f' {names(target)}. Let them be closed (contradictions = "close"), or do not think of'
        ' those who are alone (singles = "none").'
    )


def cannot_be_protected(
    target: int,
    wanted: str,
    *,
    at_most: int | None,
    enough: bool,
    forced: Sequence[int],
    known: bool,
    person: int,
    names: Names,
) -> SpecError:
    """A cell for which not even closing everything is enough.

    Args:
        target: The cell.
        wanted: What is asked for it.
        at_most: How far it goes with everything closed that may be; not told of sums.
        enough: Whether that would be enough in fractions.
        forced: Cells that must stay open and narrow it down.
        known: Whether anything but 0 is known of closed cells beforehand.
        person: A cell in which the person is alone who must not be told; -1 for everybody.
        names: Names of cells.
    """
    if enough:
        why = "Whole numbers that would do were not found."
        what = "Ask for another protection."
    elif forced:
        why = f"These cells must stay open and narrow it down: {listed(forced, names)}."
        what = 'Let them be closed (contradictions = "close"), or ask for a smaller protection.'
    elif known:
        why = "What everybody knows of the cells beforehand narrows it down (known_within)."
        what = "Ask for a smaller protection, or let less be known."
    else:
        why = "The table allows no more, with everything closed that may be."
        what = 'Ask for a smaller protection, or let empty cells be closed (zeros = "candidates").'
    whom = ""
    if person >= 0:
        whom = f" from whoever is alone in {names(person)}"
        what += ' Or do not think of those who are alone (singles = "none").'
    goes = "it goes less far" if at_most is None else f"it goes by {at_most:,} at most"
    return SpecError(
        f"{names(target)} cannot be protected{whom} as required ({wanted}), whatever is closed:"
        f" {goes}. {why} {what}"
    )
