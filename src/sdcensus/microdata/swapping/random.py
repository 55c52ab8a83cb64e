"""Random swapping: households that are drawn, or marked by small cells, exchange their places."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.method import Changes, Draws, FactTable
from sdcensus.microdata.swapping.criteria.allocation import Allocation, area_shares, pair_by_area
from sdcensus.microdata.swapping.criteria.matching import (
    BETWEEN,
    MEMBERS,
    large_area,
    member_design,
)
from sdcensus.microdata.swapping.criteria.small_cells import in_small_cells
from sdcensus.microdata.swapping.earlier import SwapPairs, joined
from sdcensus.microdata.swapping.facts import foreseen_facts, outcome_facts
from sdcensus.microdata.swapping.levels import numbered
from sdcensus.microdata.swapping.place_swap import (
    CARRY,
    EARLIER,
    FARTHER,
    LEAVE_OUT_IMPUTED,
    MISSING_MATCH,
    OF,
    WITHOUT_MINIMUM,
    check_outcome,
    kept_pairs,
    limit,
    outcome_notes,
    own_words,
    place_changes,
    places_exchanged,
    reworded,
    reworded_facts,
)
from sdcensus.microdata.swapping.rate import pairs_for
from sdcensus.microdata.swapping.risk import NOT_AT_RISK, UnitRisk
from sdcensus.microdata.swapping.rule_keeping import lawful_outcome
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome
from sdcensus.microdata.swapping.second_geographies import REDERIVE, check_second_geographies
from sdcensus.microdata.swapping.units import UnitTable, unit_table
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Counters of the draws by which units begin a swap, and by which parts of swaps are rounded.
_BEGINNING, _SHARING = 22, 23
_WORDS = own_words("random", "flagged")


class Control(StrEnum):
    """With whom units in small cells exchange their places."""

    FLAGGED = "flagged"
    ANYBODY = "anybody"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RandomSwap(Confidential):
    """Units that are drawn exchange their places with similar ones in the same large area.

    Attributes:
        rate: The share of units that are touched.
        members: By what members are counted, of whom partners have equally many.
        stratum: Further variables in which partners are equal.
        within: The level of the large areas; the coarsest if nothing is said.
        between: The level in whose areas partners differ; the finest if nothing is said.
        farther: Whether the next larger region is tried where there is no partner.
        tables: Units with somebody in a small cell of these begin before all others.
        small: The largest count that is small.
        control: With whom these exchange their places.
        allocation: By what swaps are shared out among areas.
        carry, rederive: What goes with a place, and second geographies that follow it.
        earlier: Pairs of an earlier derivation.
        missing_match: Whether units without a value of a stratum match each other.
        leave_out_imputed: Whether units with imputed values stay as they are.
    """

    rate: float = 0.1
    members: tuple[str, ...] = ("sex", "age:15:65")
    stratum: tuple[str, ...] = ()
    within: str = ""
    between: str = ""
    farther: bool = False
    tables: tuple[str, ...] = ()
    small: int = 2
    control: str = Control.FLAGGED.value
    allocation: str = Allocation.EVEN.value
    carry: tuple[str, ...] = ()
    rederive: tuple[str, ...] = ()
    earlier: str | Path = ""
    missing_match: bool = False
    of: str = ""
    leave_out_imputed: bool = False

    name: ClassVar[str] = "random-swap"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = (
        "Households that are drawn, or stand in small cells, exchange their places."
    )
    purpose: ClassVar[Purpose | None] = Purpose.SWAP
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "rate",
            ValueKind.SHARE,
            "The share of households that are touched. Confidential.",
            default=0.1,
        ),
        MEMBERS,
        Parameter(
            "stratum",
            ValueKind.VARIABLES,
            "Further variables of households in which partners are equal.",
        ),
        Parameter(
            "within",
            ValueKind.TEXT,
            "The level inside whose areas partners lie, or anywhere; the coarsest level if nothing"
            " is said.",
        ),
        BETWEEN,
        FARTHER,
        Parameter(
            "tables",
            ValueKind.TABLES,
            "Households with somebody in a small cell of these tables are swapped first. Tables of"
            " other units: households: tenure,area.",
        ),
        Parameter(
            "small",
            ValueKind.WHOLE,
            "The largest count of a small cell.",
            default=2,
            least=1,
            needs=("tables",),
        ),
        Parameter(
            "control",
            ValueKind.WORD,
            "Whether households in small cells exchange places among themselves, or with anybody.",
            words=tuple(Control),
            default=Control.FLAGGED.value,
            needs=("tables",),
        ),
        Parameter(
            "allocation",
            ValueKind.WORD,
            "Whether swaps are shared out among areas by their households, or half by one over the"
            " number of households and half by the share of those in small cells.",
            words=tuple(Allocation),
            default=Allocation.EVEN.value,
            needs=("tables",),
            needs_for=Allocation.SIZE_AND_RISK.value,
        ),
        CARRY,
        REDERIVE,
        EARLIER,
        MISSING_MATCH,
        OF,
        LEAVE_OUT_IMPUTED,
    )

    def __repr__(self) -> str:
        return "<RandomSwap: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """The places that pairs exchange."""
        design = self._design(records, draws, progress)
        earlier, before = kept_pairs(design, self.earlier)
        progress("looking for partners", 0.5)

        allocation, undone = Allocation(self.allocation), 0

        def search(wanted: int) -> SwapOutcome:
            nonlocal undone
            outcome, undone = lawful_outcome(
                design,
                earlier,
                lambda design, kept: random_pairs(
                    design, allocation=allocation, wanted=wanted, earlier=kept
                ),
                lambda pairs: places_exchanged(design.units, pairs, self.carry),
            )
            return outcome

        outcome = search(pairs_for(self.rate, design.units.settled, design.draws))
        check_outcome(design, outcome, self.rate, search)
        flagged = design.risk.level != NOT_AT_RISK
        at_risk = replace(outcome, failed=tuple(each[flagged[each]] for each in outcome.failed))
        notes = outcome_notes(
            design, at_risk, self.rate, earlier=before, within=limit(design), undone=undone
        )
        return place_changes(
            design,
            outcome,
            carry=self.carry,
            rederive=self.rederive,
            figures={},
            facts=reworded_facts(outcome_facts(design, outcome), _WORDS, WITHOUT_MINIMUM),
            notes=[reworded(note, _WORDS) for note in notes],
        )

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """Households in small cells, and partners who are there."""
        design = self._design(records, draws, progress)
        wanted = pairs_for(self.rate, design.units.settled, design.draws)
        return reworded_facts(foreseen_facts(design, wanted), _WORDS, WITHOUT_MINIMUM)

    def _design(self, records: CensusStore, draws: Draws | None, progress: Progress) -> SwapDesign:
        assert draws is not None
        check_second_geographies(records.schema, carry=self.carry, rederive=self.rederive)
        progress("looking at households", 0.0)
        units = unit_table(records, of=self.of, leave_out_imputed=self.leave_out_imputed)
        flagged = in_small_cells(units, self.tables, self.small)
        controlled = bool(self.tables) and self.control == Control.FLAGGED
        design = member_design(
            units,
            draws,
            members=self.members,
            stratum=self.stratum,
            within=self.within or large_area(units),
            between=self.between,
            farther=self.farther,
            missing_match=self.missing_match,
            flag=flagged if controlled else None,
        )
        # Who is flagged is at risk in the finest area; nobody else is.
        return replace(design, risk=UnitRisk(np.where(flagged, 0, NOT_AT_RISK), None, None))


def random_pairs(
    design: SwapDesign, *, allocation: Allocation, wanted: int, earlier: SwapPairs
) -> SwapOutcome:
    """Pairs that begin with units in an order that is drawn, flagged ones first.

    Args:
        design: Who may exchange places with whom, and who is at risk and begins before all others.
        allocation: By what the number of swaps is shared out among areas.
        wanted: How many pairs; never more.
        earlier: Pairs that are kept, and count.
    """
    units, flagged = design.units, design.risk.level != NOT_AT_RISK
    used = np.zeros(len(units), dtype=bool)
    used[earlier.touched] = True
    area, _ = numbered(design.levels.areas(0, units.leaf))
    order = np.argsort(design.draws.words(units.digests, _BEGINNING), kind="stable")
    order = order[units.movable[order]]
    groups = _groups(order, flagged, area, units, allocation)
    starts = [
        int(design.draws.words(np.zeros(1, dtype=np.uint64), _SHARING, number)[0])
        for number in range(len(groups))
    ]
    donors = design.order(0)
    parts, failed = [earlier], np.zeros(len(units), dtype=bool)
    for region in design.reach.regions[0]:
        rounds = pair_by_area(
            design.rules(0, region),
            groups,
            donors,
            used,
            area=area,
            number=wanted - sum(map(len, parts)),
            draws=starts,
        )
        parts += [design.found(pairs, 0, region) for pairs in rounds]
        for pairs in rounds:
            failed[pairs.failed] = True
    lasting = np.flatnonzero(failed & ~used)
    passed = int((~flagged[lasting]).sum())
    return SwapOutcome(joined(parts), len(earlier), (lasting,), passed, wanted)


def _groups(
    order: Int64, flagged: Mask, area: Int64, units: UnitTable, allocation: Allocation
) -> list[tuple[Int64, Int64]]:
    """Who begins a swap, one group after the other, with the shares of areas."""
    areas = int(area.max(initial=-1)) + 1
    sizes = np.bincount(area[units.placed], minlength=areas).astype(np.int64)
    risky = np.bincount(area[flagged & units.placed], minlength=areas).astype(np.int64)
    first, rest = order[flagged[order]], order[~flagged[order]]
    if allocation is Allocation.SIZE_AND_RISK:
        return [(np.concatenate([first, rest]), area_shares(allocation, sizes, risky))]
    # Where those who are flagged live is where swaps begin, as long as there are any.
    return [(first, risky), (rest, sizes)]
