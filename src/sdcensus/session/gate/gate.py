"""The gate before anything is published or served: what is served and published pass the same one.

It asks three things. Whether equal groups of people have equal numbers in different tables (set
keys with deviations of three and more). Whether tables break down too many small groups. Whether
some count is nearly always published as it is. ``serve`` stays closed until all are answered;
``publish`` goes on if somebody accepts the risk by name, which is kept with the approval.

The sentences name rules and remedies, never a count or a share that was measured. The office, which
publishes, is told the figures besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.method import Method, MethodKind
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.menu import Menu
from sdcensus.model.policy.policy import BROKEN_DOWN, Policy
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.groups.broken_down import GroupNoise
from sdcensus.risk.groups.shown_cells import KindOfCells, kinds_of_menu, kinds_of_tables
from sdcensus.risk.looks.chance import LARGEST_STAY, counts_that_stay
from sdcensus.session.census.census import Census
from sdcensus.session.gate.broken_down import (
    group_noise,
    share_in_kinds,
    smallest_group_text,
)

#: From this largest deviation on, equal numbers give equal groups away.
SET_KEYS_FROM = 3
#: How many units are put into cells at most, before something is opened.
GATE_WORK = 100_000_000
#: The longest reason that is kept.
LONGEST_REASON = 2_000
#: What is told to others than the office.
NO_FIGURES: Mapping[Entity, str] = MappingProxyType({})


class RiskCode(StrEnum):
    """What the gate asks."""

    SET_KEYS = "set-keys"
    BROKEN_DOWN = "broken-down"
    STAYS = "stays"
    OWN_CLASSES = "own-classes"


@dataclass(frozen=True, slots=True)
class Risk:
    """Something that keeps the gate closed. Safe to show: it names a rule, never a count.

    Attributes:
        code: What was asked.
        of: Whose tables it is about.
        sentence: What is wrong.
        remedy: What would do.
    """

    code: RiskCode
    of: Entity
    sentence: str
    remedy: str

    def describe(self, figures: Mapping[Entity, str]) -> str:
        """The sentence for the office, with figures where something was counted."""
        counted = figures.get(self.of, "") if self.code is RiskCode.BROKEN_DOWN else ""
        return counted or self.sentence


@dataclass(frozen=True, slots=True)
class AcceptedRisk:
    """Somebody who accepts the risk of a publication, by name.

    Attributes:
        name: Who accepts it.
        reason: Why.
        codes: Which risks.
    """

    name: str
    reason: str
    codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise SpecError("A risk is accepted by somebody: name them, --accept-risk NAME.")
        if not self.reason.strip():
            raise SpecError(
                f'A risk is accepted for a reason, which is kept with the approval: --reason "WHY"'
                f" beside --accept-risk {self.name!r}."
            )
        if len(self.reason) > LONGEST_REASON:
            raise SpecError(f"A reason has at most {LONGEST_REASON:,} characters.")

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"name": self.name, "reason": self.reason, "risks": list(self.codes)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> AcceptedRisk:
        """Read what ``to_json`` made."""
        return cls(str(content["name"]), str(content["reason"]), tuple(map(str, content["risks"])))

    @property
    def sentence(self) -> str:
        """Who accepted what, for those who look at a publication of the office."""
        codes = ", ".join(self.codes)
        return sentence("approve.accepted", name=self.name, codes=codes, reason=self.reason)


@dataclass(frozen=True, slots=True, repr=False)
class GroupShare(Confidential):
    """Which share of the small visible groups tables break down, for one kind of unit.

    Attributes:
        of: What is counted.
        share: The share, on average over the noise; at most so much where ``bounded``.
        bounded: Whether noise and smallest group alone keep it that small, for any data, so that
            nothing was counted.
        noise: What noise and the rule of the smallest group do.
    """

    of: Entity
    share: float
    bounded: bool
    noise: GroupNoise

    def __repr__(self) -> str:
        return f"<GroupShare of {self.of.plural}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class GateReport(Confidential):
    """What the gate found.

    Attributes:
        limit: The largest share of small visible groups that may be broken down.
        shares: What was measured, by what is counted.
        risks: What keeps the gate closed.
    """

    limit: float
    shares: tuple[GroupShare, ...]
    risks: tuple[Risk, ...]

    def __repr__(self) -> str:
        return f"<GateReport: {len(self.risks)} risks>"

    @property
    def breaks_down(self) -> bool:
        """Whether tables break down too many small groups of some kind of units."""
        return any(risk.code is RiskCode.BROKEN_DOWN for risk in self.risks)


def risks_of_menus(
    census: Census,
    menus: Iterable[Menu],
    methods: Mapping[Entity, Method],
    *,
    smallest_group: int | None,
    limit: float = BROKEN_DOWN,
    planned: bool = False,
    progress: Progress = no_progress,
) -> GateReport:
    """Ask the gate about everything that menus open.

    Args:
        census: The census.
        menus: What may be asked for, one menu for each kind of unit.
        methods: What protects each kind of unit.
        smallest_group: The rule of the smallest group, if there is one.
        limit: The largest share of small visible groups that may be broken down.
        planned: Whether a plan says how tables are protected, and not options of a command.
        progress: Told how far it is.
    """
    risks: list[Risk] = []
    shares: list[GroupShare] = []
    for menu in menus:
        noise = group_noise(methods[menu.of], smallest_group)
        risks += _risks_of_method(methods[menu.of], menu.of, planned=planned)
        group_share = _share(census, menu.of, noise, limit, partial(kinds_of_menu, menu), progress)
        shares.append(group_share)
        if group_share.share > limit:
            remedy = smallest_group_text(census, noise)
            risks.append(_broken_down(menu.of, remedy, limit, "[online] of the policy"))
    return GateReport(limit, tuple(shares), tuple(risks))


def risks_of_tables(
    census: Census,
    specs: Sequence[TableSpec],
    method: Callable[[Entity], Method],
    *,
    smallest_group: int | None,
    limit: float = BROKEN_DOWN,
    where: str = "[protect] of the plan",
    progress: Progress = no_progress,
) -> GateReport:
    """Ask the gate about tables of a plan.

    Args:
        census: The census.
        specs: The tables, those of a programme among them.
        method: Gives what protects each kind of unit.
        smallest_group: The rule of the smallest group, if there is one.
        limit: The largest share of small visible groups that may be broken down.
        where: Where the smallest group would be written.
        progress: Told how far it is.
    """
    risks: list[Risk] = []
    remedies: dict[int | None, str] = {}
    shares: list[GroupShare] = []
    for of in Entity:
        own = TableSpec.of_records(specs, of)
        if not own:
            continue
        noise = group_noise(method(of), smallest_group)
        risks += _risks_of_method(method(of), of, planned=True)
        risks += _risks_of_classes(specs, method(of), of)
        group_share = _share(census, of, noise, limit, partial(kinds_of_tables, own), progress)
        shares.append(group_share)
        if group_share.share > limit:
            farthest = noise.largest_deviation
            if farthest not in remedies:  # who lives together is gone through for this
                remedies[farthest] = smallest_group_text(census, noise)
            risks.append(_broken_down(of, remedies[farthest], limit, where))
    return GateReport(limit, tuple(shares), tuple(risks))


def refuse_serving(policy: Policy, report: GateReport) -> None:
    """Keep the table builder closed while there is a risk; nobody can accept it here.

    Raises:
        Refused: There is a risk; the message says what would do.
    """
    if report.risks:
        raise Refused(
            "\n".join(
                [
                    f"What the policy {policy.name!r} opens would give people away, so the table"
                    " builder stays closed.",
                    *_lines_of(report.risks),
                ]
            )
        )


def refuse_publishing(
    report: GateReport, accepted: AcceptedRisk | None, figures: Callable[[], Mapping[Entity, str]]
) -> AcceptedRisk | None:
    """Refuse to publish while there is a risk that nobody accepts by name.

    Args:
        report: What the gate found.
        accepted: Who accepts the risk, if somebody does.
        figures: Gives by kind of unit a sentence with the figures of what is broken down; called
            where the plan is refused for that.

    Returns:
        What was accepted, with the risks; ``None`` if there is nothing to accept.

    Raises:
        Refused: There is a risk that nobody has accepted; the message says what would do.
    """
    if not report.risks:
        return None
    if accepted is None:
        raise Refused(
            "\n".join(
                [
                    "This plan would give people away, so it is not published.",
                    *_lines_of(report.risks, figures() if report.breaks_down else {}),
                    "Or somebody accepts the risk by name, which is kept with the approval:",
                    '  --accept-risk NAME --reason "WHY"',
                ]
            )
        )
    codes = tuple(dict.fromkeys(risk.code.value for risk in report.risks))
    return AcceptedRisk(accepted.name.strip(), " ".join(accepted.reason.split()), codes)


def accepted_also(
    accepted: AcceptedRisk | None, willing: AcceptedRisk | None, codes: tuple[str, ...]
) -> AcceptedRisk | None:
    """What was accepted, with further risks, by whoever is willing to."""
    whole = accepted or willing
    if whole is None or not codes:
        return accepted
    reason = " ".join(whole.reason.split())
    return AcceptedRisk(whole.name.strip(), reason, (*whole.codes, *codes))


def willing_to_accept(name: str | None, reason: str) -> AcceptedRisk | None:
    """Who is willing to accept a risk, as they were named; ``None`` if nobody was."""
    if name is not None:
        return AcceptedRisk(name, reason)
    if reason:
        raise SpecError("A reason is for a risk that somebody accepts: --accept-risk NAME.")
    return None


def nothing_to_accept(
    willing: AcceptedRisk | None, accepted: AcceptedRisk | None
) -> tuple[str, ...]:
    """Tells somebody who was willing that there was nothing to accept."""
    if willing is None or accepted is not None:
        return ()
    return ("There was no risk to accept: --accept-risk and --reason can be left out.",)


def _share(
    census: Census,
    of: Entity,
    noise: GroupNoise,
    limit: float,
    kinds: Callable[[], Sequence[KindOfCells]],
    progress: Progress,
) -> GroupShare:
    """Nothing is counted where no data could bring the share above the limit."""
    if noise.largest_share <= limit:
        return GroupShare(of, noise.largest_share, True, noise)
    share = share_in_kinds(census, kinds(), of, noise, most_work=GATE_WORK, progress=progress)
    return GroupShare(of, share, False, noise)


def _lines_of(risks: Sequence[Risk], figures: Mapping[Entity, str] = NO_FIGURES) -> list[str]:
    units: dict[str, list[str]] = {}
    for risk in risks:
        description = risk.describe(figures)
        if risk.of.plural not in units.setdefault(description, []):
            units[description].append(risk.of.plural)
    lines = [f"  {joined(plurals)}: {sentence}" for sentence, plurals in units.items()]
    lines.append("What would do, all of these:")
    lines += [f"  - {remedy}" for remedy in dict.fromkeys(risk.remedy for risk in risks)]
    return lines


def _risks_of_method(method: Method, of: Entity, *, planned: bool) -> list[Risk]:
    first = method.first
    risks = []
    noise = first.noise if first.has_own_noise else None
    if first.for_sums and first.kind is MethodKind.PERTURBS and _draws_by_sets(first):
        risks.append(
            Risk(
                RiskCode.SET_KEYS,
                of,
                f"with {first.described_name!r} sums of the same contributors have the same noise"
                " in every table and for every amount, so that equal sums tell equal groups, and"
                " who knows one amount of somebody works out another one.",
                "keys by definition: the method 'cell-key-sums' without key_derivation",
            )
        )
    elif _has_set_keys(first):
        lookup = str(first.parameters()["lookup"])
        here = "" if planned else "--lookup definition here, and "
        risks.append(
            Risk(
                RiskCode.SET_KEYS,
                of,
                f"with the look-up {lookup!r} the same people have the same number in every table,"
                " so that whoever compares numbers finds them, and reads off what tables say about"
                " them.",
                f'definition keys: {here}lookup = "definition" in [protect] of the plans of the'
                " office. Numbers that were published before change: that is a named event"
                " (publish --revision NAME --rekey).",
            )
        )
    if noise is not None and next(counts_that_stay(noise), None) is not None:
        risks.append(
            Risk(
                RiskCode.STAYS,
                of,
                f"some count from 1 up is published as it is with a probability above"
                f" {LARGEST_STAY:g}.",
                "a perturbation that changes every count more often: a named strength, or sdcensus"
                " ptable design with a larger variance",
            )
        )
    return risks


def _risks_of_classes(specs: Sequence[TableSpec], method: Method, of: Entity) -> list[Risk]:
    if method.kind is not MethodKind.PERTURBS:
        return []
    amounts = [
        repr(spec.amount.name)
        for spec in specs
        if spec.of is of and spec.amount is not None and spec.by_own_classes
    ]
    return [
        Risk(
            RiskCode.OWN_CLASSES,
            of,
            f"sums of {amount} are shown by classes of {amount}: such a sum, divided by the middle"
            " of its class, is the number of those in it, with less noise than their count has.",
            f"take {amount} out of the rows, columns and conditions of its own sums, or publish"
            " counts by its classes instead",
        )
        for amount in dict.fromkeys(amounts)
    ]


def _has_set_keys(method: Method) -> bool:
    """Whether a method draws large deviations by who is in a cell, whatever is asked about them."""
    large = (method.largest_deviation or 0) >= SET_KEYS_FROM
    return large and method.claims().distribution and _draws_by_sets(method)


def _draws_by_sets(method: Method) -> bool:
    """Whether the same records have the same noise, whatever is asked about them."""
    claims = method.claims()
    return claims.consistent and not claims.by_definition


def _broken_down(of: Entity, remedy: str, limit: float, where: str) -> Risk:
    return Risk(
        RiskCode.BROKEN_DOWN,
        of,
        f"more than {limit:.3g} of the visible groups of one, two and three (as a share) can be"
        " claimed with more than two attributes, because other tables break them down further.",
        f"a smallest group: {remedy} in {where}, or fewer variables in a table",
    )
