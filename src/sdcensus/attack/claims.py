"""What an intruder claims about cells, and about few persons together: a group, and what it is.

Public: made from published tables. A claim about a group names a cell (or what two cells differ
by), how many persons it holds, and for some variables the code that they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.spec.table_spec import TableSpec

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


Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Figure = int | float | str | None


@dataclass(frozen=True, slots=True, eq=False)
class Subtracted:
    """Cells of another table that are taken away from each cell of a claim.

    Attributes:
        table: The name of the other table.
        spec: What it shows.
        starts: For each claim where its cells begin in ``cells``, and behind them where all end.
        cells: Numbers of cells of the other table, the last axis running fastest.
    """

    table: str
    spec: TableSpec
    starts: Int64
    cells: Int64


@dataclass(frozen=True, slots=True, eq=False)
class CellClaims:
    """What one attack says about cells of one table.

    Attributes:
        attack: The name of the attack.
        table: The name of the published table.
        spec: What it shows.
        cells: The cells, as numbers with the last axis running fastest.
        lower, upper: The smallest and the largest true count that the intruder believes in.
        probability: How sure the intruder is of each, by his own reckoning; ``None`` where a
            claim is certain if what he takes to be known is true.
        less: The cells of another table that are taken away, where the claim is about those who
            are counted in a cell of this table and not in them.
    """

    attack: str
    table: str
    spec: TableSpec
    cells: Int64
    lower: Int64
    upper: Int64
    probability: Float64 | None = None
    less: Subtracted | None = None

    def __post_init__(self) -> None:
        arrays = (self.cells, self.lower, self.upper)
        if len({array.shape for array in arrays}) > 1 or self.cells.ndim != 1:
            raise SpecError("Every claim needs a cell and two bounds.")
        for array in arrays:
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<Claims of {self.attack} about {self.table}: {self.count}>"

    @property
    def count(self) -> int:
        """How many claims there are."""
        return int(self.cells.size)

    @property
    def exact(self) -> Mask:
        """Which claims name one count."""
        return np.asarray(self.lower == self.upper)


@dataclass(frozen=True, slots=True, eq=False)
class AttackResult:
    """What one attack found in a set of published tables.

    Attributes:
        attack: Its name.
        claims: What it says about cells.
        sentences: What was learned, in words, with its scope.
        figures: What was measured, by name.
        examined: The cells that it looked at, as the names of tables with numbers of cells; empty
            where it looked at none as such.
        groups: What it says about groups of few persons.
    """

    attack: str
    claims: tuple[CellClaims, ...] = ()
    sentences: tuple[str, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=lambda: MappingProxyType({}))
    examined: tuple[tuple[str, Int64], ...] = ()
    groups: tuple[GroupClaims, ...] = ()

    def __repr__(self) -> str:
        return f"<AttackResult of {self.attack}: {self.exact} counts claimed>"

    @property
    def exact(self) -> int:
        """How many counts are claimed exactly."""
        return sum(int(claim.exact.sum()) for claim in self.claims)

    @property
    def narrow(self) -> int:
        """How many claims leave more than one count, such as 0 or 1."""
        return sum(int((~claim.exact).sum()) for claim in self.claims)

    @property
    def groups_claimed(self) -> int:
        """How many groups of few persons are claimed."""
        return sum(group.count for group in self.groups)

    @property
    def codes_read_off(self) -> int:
        """How many codes were read off them."""
        return sum(group.attributes for group in self.groups)


def merged(first: AttackResult, second: AttackResult) -> AttackResult:
    """Two results of one attack as one; figures of the second stand behind those of the first."""
    figures = {**first.figures, **second.figures}
    return AttackResult(
        first.attack,
        (*first.claims, *second.claims),
        (*first.sentences, *second.sentences),
        MappingProxyType(figures),
        (*first.examined, *second.examined),
        (*first.groups, *second.groups),
    )


def exact_claims(
    attack: str,
    specs: Mapping[str, TableSpec],
    rows: Mapping[str, Sequence[tuple[int, int, float]]],
) -> tuple[CellClaims, ...]:
    """Claims of one count each: for each table by name its cells, the counts, and how sure.

    Args:
        attack: The name of the attack.
        specs: What each table shows.
        rows: What is claimed.
    """
    claims = []
    for table, entries in rows.items():
        if entries:
            value = np.array([count for _, count, _ in entries], dtype=np.int64)
            cells = np.array([cell for cell, _, _ in entries], dtype=np.int64)
            sure = np.array([probability for _, _, probability in entries], dtype=np.float64)
            claims.append(CellClaims(attack, table, specs[table], cells, value, value.copy(), sure))
    return tuple(claims)
