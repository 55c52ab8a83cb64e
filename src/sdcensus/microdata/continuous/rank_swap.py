"""Rank swapping: amounts are exchanged between records of near rank."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.records.amounts import ALONE, near_partners
from sdcensus.microdata.continuous.amounts import LEAVE_ZEROS, STRATA, VARIABLES, amounts_of
from sdcensus.microdata.continuous.facts import amount_facts
from sdcensus.microdata.method import Changes, Draws, NewValues
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]

#: The counter of the first variable's draws: apart from those of other swaps.
_COUNTER = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RankSwap(Confidential):
    """Exchanges amounts between two records whose ranks are near; each record once a variable.

    Attributes:
        variables: The amounts, each exchanged on its own.
        ranks: How far ranks of partners may be apart, as a share of the records of a stratum.
        strata: Strata inside which partners lie.
        leave_zeros: Whether amounts of 0 stay as they are.
    """

    variables: tuple[str, ...]
    ranks: float = 0.05
    strata: tuple[str, ...] = ()
    leave_zeros: bool = False

    name: ClassVar[str] = "rank-swap"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Records of near rank exchange their amounts."
    purpose: ClassVar[Purpose | None] = Purpose.SWAP
    takes: ClassVar[tuple[Parameter, ...]] = (
        VARIABLES,
        Parameter(
            "ranks",
            ValueKind.SHARE,
            "How far the ranks of partners may be apart, as a share of the records. Confidential.",
            default=0.05,
        ),
        STRATA,
        LEAVE_ZEROS,
    )

    def __repr__(self) -> str:
        return "<RankSwap: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """The amounts that pairs exchange, with their classes."""
        assert draws is not None
        if not self.ranks:
            raise SpecError("--ranks 0 exchanges nothing. Say a share above 0, such as 0.05.")
        amounts = amounts_of(records, self.variables, self.strata)
        digests = records.digests(amounts.entity)
        after = amounts.values.copy()
        codes: dict[str, NewValues] = {}
        alone = 0
        for number, variable in enumerate(amounts.variables):
            progress("looking for partners", number / len(amounts.variables))
            giver = np.arange(digests.size)
            part = amounts.taking_part([number], leave_zeros=self.leave_zeros)
            # By name: the same amount is exchanged alike, whatever else is asked for.
            counter = _COUNTER + records.schema.variables.index(variable)
            for rows in amounts.strata(part, [number]):
                reach = int(Fraction(str(self.ranks)) * rows.size)
                partners = near_partners(draws.words(digests[rows], counter), reach)
                paired = partners != ALONE
                giver[rows[paired]] = rows[partners[paired]]
                alone += int((~paired).sum())
            after[number] = amounts.values[number][giver]
            if variable.codes and records.has(amounts.entity, variable.name):
                known = records.raw(amounts.entity, variable.name)
                moved = np.flatnonzero(known[giver] != known)
                if moved.size:
                    codes[variable.name] = NewValues(moved, known[giver][moved].astype(np.int64))
        new_amounts, _ = amounts.new_values(after)
        notes = []
        if alone:
            notes.append(sentence("release_treat.amounts.alone", n=alone))
        if not new_amounts:
            notes.append(sentence("release_treat.amounts.same"))
        return Changes(
            amounts=new_amounts,
            codes=codes,
            facts=(amount_facts(amounts, after),),
            notes=tuple(notes),
        )
