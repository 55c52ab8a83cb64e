"""What an intruder claims about few persons together: that they are a group, and what they are.

Public: made from published tables. A claim names a cell (or what two cells differ by), how many
persons it holds, and for some variables the code that they have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Groups up to this size are sought.
MOST_MEMBERS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """Codes of one variable that were read off for members of groups.

    Each is a cell of a finer table: the group, and one code more.

    Attributes:
        variable: The name of the variable.
        table: The name of the published table that shows it.
        spec: What that table shows.
        owner: Which of the claims each is about.
        cells: The finer cells, as numbers with the last axis running fastest.
        members: How many of the group are said to have the code.
        guess: The finer cells of the code that most people have, which anybody would guess.
        other_cells: Where a claim is about what two cells differ by, the finer cells of the second.
        other_guess: The same for the guess.
        other_table: The table that they belong to.
        inside: Whether the finer cells lie inside those of the claims; else they only have the
            persons in common with them.
    """

    variable: str
    table: str
    spec: TableSpec
    owner: Int64
    cells: Int64
    members: Int64
    guess: Int64
    other_cells: Int64 | None = None
    other_guess: Int64 | None = None
    other_table: str = ""
    inside: bool = True

    def __post_init__(self) -> None:
        arrays = (self.owner, self.cells, self.members, self.guess)
        if len({array.shape for array in arrays}) > 1 or self.cells.ndim != 1:
            raise SpecError("Every trait needs an owner, a cell, members and a guess.")

    def __repr__(self) -> str:
        return f"<Traits of {self.variable}: {self.cells.size}>"

    def codes(self) -> list[str]:
        """The codes that were read off, with their level where the axis shows several."""
        axis = self.spec.axis(self.variable)
        at = np.unravel_index(self.cells, self.spec.shape)[self.spec.position(self.variable)]
        several = len(axis.levels) > 1
        words = [f"{code.level}:{code.code}" if several else code.code for code in axis.codes]
        return [words[position] for position in at.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class GroupClaims:
    """Groups of few persons that one attack says to have found in one table.

    Attributes:
        attack: The name of the attack.
        table: The name of the published table.
        spec: What it shows.
        cells: The cells, as numbers with the last axis running fastest.
        sizes: How many persons each holds.
        probability: How sure the intruder is of each, by his own reckoning.
        traits: What was read off about them.
        other_table, other_spec, other_cells: A second cell for each, where the claim is about those
            who are in one of the two and not in the other.
    """

    attack: str
    table: str
    spec: TableSpec
    cells: Int64
    sizes: Int64
    probability: Float64
    traits: tuple[Traits, ...] = ()
    other_table: str = ""
    other_spec: TableSpec | None = None
    other_cells: Int64 | None = None

    def __post_init__(self) -> None:
        if len({array.shape for array in (self.cells, self.sizes, self.probability)}) > 1:
            raise SpecError("Every group needs a cell, a size and a probability.")

    def __repr__(self) -> str:
        return f"<GroupClaims of {self.attack} about {self.table}: {self.count}>"

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.cells.size)

    @property
    def attributes(self) -> int:
        """How many codes were read off in all."""
        return sum(int(trait.cells.size) for trait in self.traits)

    def attributes_of(self) -> Int64:
        """For each group, how many codes were read off."""
        counts = np.zeros(self.count, dtype=np.int64)
        for trait in self.traits:
            counts += np.bincount(trait.owner, minlength=self.count)
        return counts
