"""What an intruder could do: sees public tables only; only a separate scorer sees the truth.

``groups`` finds few persons, ``keys`` unpicks noise whose keys add up; flat here are attacks on
sums, averages and identities, with the pieces into which published tables are cut. An attack is a
function from published tables and what the intruder takes to be known to a result; further ones
join the same registry. The scorer is ``session/attack``; measures that see true counts are in
``risk``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.attack.assumptions import Assumptions as Assumptions, KnownNoise as KnownNoise
    from sdcensus.attack.claims import (
        AttackResult as AttackResult,
        CellClaims as CellClaims,
        GroupClaims as GroupClaims,
        Traits as Traits,
    )
    from sdcensus.attack.programme import (
        ATTACKS as ATTACKS,
        GROUP_ATTACKS as GROUP_ATTACKS,
        Attack as Attack,
        AttackReport as AttackReport,
        run_attacks as run_attacks,
    )

__getattr__, __dir__ = offer(__name__)
