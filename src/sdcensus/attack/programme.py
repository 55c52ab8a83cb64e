"""All attacks, run one after another on published tables.

An attack is a function from published tables and what the intruder takes to be known to a result.
Further ones join the same registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.averaging import attack_averaging
from sdcensus.attack.bounding import attack_intervals
from sdcensus.attack.claims import AttackResult
from sdcensus.attack.differencing import attack_differencing
from sdcensus.attack.groups.cliques import attack_cliques
from sdcensus.attack.groups.patterns import attack_patterns
from sdcensus.attack.groups.twins import attack_twins
from sdcensus.attack.groups.zero_patterns import attack_zero_patterns
from sdcensus.attack.identities import attack_identities
from sdcensus.attack.keys.decoding import attack_key_decoding
from sdcensus.attack.keys.gaps import attack_gaps
from sdcensus.attack.keys.margins import attack_margins
from sdcensus.attack.targets import Target, targets_of
from sdcensus.attack.withheld import attack_withheld
from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import PublishedTable


class Attack(Protocol):
    """Something that an intruder does with published tables."""

    def __call__(
        self, targets: Sequence[Target], assumptions: Assumptions, progress: Progress
    ) -> AttackResult:
        """Say what can be learned from the tables."""


#: Every attack by its name, in the order in which they run.
ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {
        "gaps": attack_gaps,
        "intervals": attack_intervals,
        "margins": attack_margins,
        "differencing": attack_differencing,
        "averaging": attack_averaging,
        "patterns": attack_patterns,
        "zero-patterns": attack_zero_patterns,
        "twins": attack_twins,
        "cliques": attack_cliques,
        "identities": attack_identities,
        "key-decoding": attack_key_decoding,
        "withheld": attack_withheld,
    }
)
#: Those that claim groups of few persons with their attributes, and not counts.
GROUP_ATTACKS = ("patterns", "zero-patterns", "twins", "cliques")


@dataclass(frozen=True, slots=True, eq=False)
class AttackReport:
    """What several attacks found. Public: nothing here was computed from true counts.

    Attributes:
        assumptions: What the intruder took to be known.
        tables: The tables that were attacked, by name.
        cells: How many cells they have together.
        results: What each attack found.
        left_out: Sentences about tables that were not attacked.
    """

    assumptions: Assumptions
    tables: tuple[str, ...]
    cells: int
    results: tuple[AttackResult, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<AttackReport on {len(self.tables)} tables>"


def run_attacks(
    tables: Sequence[PublishedTable],
    assumptions: Assumptions | None = None,
    *,
    attacks: Sequence[str] | None = None,
    progress: Progress = no_progress,
) -> AttackReport:
    """Attack published tables as an intruder would.

    Args:
        tables: What was published.
        assumptions: What the intruder takes to be known; by default that empty cells are
            published as 0, and nothing else.
        attacks: Names of attacks; all of them if not given.
        progress: Told how far it is.
    """
    chosen = list(ATTACKS) if attacks is None else list(dict.fromkeys(attacks))
    for name in chosen:
        if name not in ATTACKS:
            raise UnknownName("attack", name, known=ATTACKS)
    if not chosen:
        raise SpecError(f"Name at least one attack: {', '.join(ATTACKS)}.")
    known = assumptions or Assumptions()
    targets, left_out = targets_of(tables)
    if not targets and not left_out:
        raise SpecError("There is no table that can be attacked.")
    if not targets:  # nothing is wrong with them: these attacks do not read such tables
        return AttackReport(known, (), 0, (), left_out)
    results = [ATTACKS[name](targets, known, progress) for name in ATTACKS if name in chosen]
    cells = sum(target.table.spec.cells for target in targets)
    names = tuple(target.name for target in targets)
    return AttackReport(known, names, cells, tuple(results), left_out)
