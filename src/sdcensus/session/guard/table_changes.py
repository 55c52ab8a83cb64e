"""What changes in a table against what was published before, in few numbers. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import StoreError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.layout import positions_on
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]

#: Areas that are kept for the report on a table; those with the fewest changed records first.
MOST_AREAS = 100
#: The area of tables that show none.
EVERYWHERE = "_T"


@dataclass(frozen=True, slots=True, repr=False)
class AreaChanges(Confidential):
    """Changed numbers of one area.

    Attributes:
        area: Its code, with its level in front.
        cells: How many numbers of the table change there.
        short: Behind how many of them too few records have changed.
        fewest: The smallest number of changed records behind one; ``None`` if not counted.
    """

    area: str
    cells: int
    short: int = 0
    fewest: int | None = None

    def __repr__(self) -> str:
        return f"<AreaChanges {self.area}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableChanges(Confidential):
    """What changes in one table against what was published before; small, for the journal.

    Attributes:
        name, title, spec_hash, cells, of: The table, and what it counts.
        provenance: How it was made.
        entry: The id of its values in the registry.
        digest: A digest of its values.
        known: Whether it was published before.
        compared: How many of its cells were.
        changed: How many of these have another number now.
        why: What is different from when they were published, as words for ``guard_words``.
        other_data: Whether the data are others than when it was published.
        short: How many changed numbers have too few changed records behind them.
        uncounted: Why changed records could not be counted; empty if they were.
        exposed: Re-keying: changed numbers that new keys do not hide, with too few behind them.
        redrawn, drawn: Re-keying: numbers without changed records that are not 0, and how many of
            them changed.
        areas: Where numbers change; the areas with the fewest changed records.
        areas_changed, areas_short: In how many areas numbers change, and with too few records.
        contradicts: Tables that are not part of this run and have other numbers for the same
            records, with how many.
        imported: How many numbers were taken over from earlier publications.
        values_kept: Whether the registry keeps the values, or only a digest.
        hidden, opened: How many cells another smallest group hides or shows; no number changes.
    """

    name: str
    title: str
    spec_hash: str
    cells: int
    of: Entity
    provenance: Provenance
    digest: str
    entry: str = ""
    known: bool = False
    compared: int = 0
    changed: int = 0
    why: tuple[str, ...] = ()
    other_data: bool = False
    short: int = 0
    uncounted: str = ""
    exposed: int = 0
    redrawn: int = 0
    drawn: int = 0
    areas: tuple[AreaChanges, ...] = ()
    areas_changed: int = 0
    areas_short: int = 0
    contradicts: tuple[tuple[str, int], ...] = ()
    imported: int = 0
    values_kept: bool = True
    hidden: int = 0
    opened: int = 0

    @property
    def fresh(self) -> bool:
        """Whether anything in it was not published like this before."""
        return bool(self.changed or self.hidden or self.opened) or not self.known

    def __repr__(self) -> str:
        return f"<TableChanges of {self.name}: confidential>"

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> TableChanges:
        """Read what ``to_json`` made.

        Raises:
            StoreError: It is something else.
        """
        try:
            made = {
                **content,
                "of": Entity(content["of"]),
                "provenance": Provenance(**content["provenance"]),
                "why": tuple(str(one) for one in content["why"]),
                "areas": tuple(AreaChanges(**one) for one in content["areas"]),
                "contradicts": tuple((str(a), int(b)) for a, b in content["contradicts"]),
            }
            return cls(**made)
        except (LookupError, TypeError, ValueError):
            raise StoreError(
                "What an interrupted run has noted is damaged. Begin the run anew."
            ) from None


@dataclass(frozen=True, slots=True, repr=False)
class ByArea(Confidential):
    """Changed numbers of a table by area."""

    areas: tuple[AreaChanges, ...]
    changed: int
    short: int

    def __repr__(self) -> str:
        return "<ByArea: confidential>"


def by_area(
    spec: TableSpec, cells: Numbers, behind: Int64 | None = None, *, minimum: int = 0
) -> ByArea:
    """Sum up changed cells by the areas of a table; without areas, as one.

    Args:
        spec: The table.
        cells: The numbers of the changed cells.
        behind: How many changed records stand behind each, if they were counted.
        minimum: How many there have to be.
    """
    if not cells.size:
        return ByArea((), 0, 0)
    at = next(
        (at for at, axis in enumerate(spec.axes) if axis.variable.role is Role.GEOGRAPHY), None
    )
    names = [EVERYWHERE]
    place = np.zeros(cells.size, dtype=np.int64)
    if at is not None:
        axis = spec.axes[at]
        names = [code.code if code.is_total else f"{code.level} {code.code}" for code in axis.codes]
        place = positions_on(spec.shape, at, cells)
    changed = np.bincount(place, minlength=len(names))
    short = np.zeros(len(names), dtype=np.int64)
    fewest = np.full(len(names), np.iinfo(np.int64).max, dtype=np.int64)
    if behind is not None:
        short = np.bincount(place[behind < minimum], minlength=len(names))
        np.minimum.at(fewest, place, behind)
    held = np.flatnonzero(changed)
    worst = held[np.lexsort((held, -changed[held], fewest[held]))][:MOST_AREAS]
    areas = tuple(
        AreaChanges(
            names[one],
            int(changed[one]),
            int(short[one]),
            None if behind is None else int(fewest[one]),
        )
        for one in worst.tolist()
    )
    return ByArea(areas, int(held.size), int((short > 0).sum()))
