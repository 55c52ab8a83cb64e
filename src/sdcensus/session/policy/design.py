"""Rules that read true counts: run at design time, by a person, who decides once. Confidential.

What goes into the policy is the decision (codes that are not offered, levels by area), never a
count. A rule on true counts that anybody could try out online would be an oracle: a dozen answers
give a population exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sdcensus.ingest.identities import undeclared_identities
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.policy import (
    Decided,
    DetailOf,
    Policy,
)
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.detectors import detect
from sdcensus.risk.detection.findings import FindingKind, Findings
from sdcensus.risk.differencing.published_before import exempt_differences
from sdcensus.session.census.census import Census
from sdcensus.session.gate.tied_units import tie_lines, ties_in_policy
from sdcensus.session.policy.households import (
    OneHouseholdCells,
    one_household_cells,
    tables_of_areas,
)
from sdcensus.session.policy.small_codes import (
    MOST_CODES,
    DesignDecisions,
    SmallCodes,
    design_decisions,
)

#: How many findings of a kind are told.
MOST_SENTENCES = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignReport(Confidential):
    """What the rules at design time found, and what they propose to decide.

    Attributes:
        policy: The policy whose rules they are.
        decisions: What they propose to decide.
        exempt: Few people whom exempt totals show, by themselves or together.
        one_household: Cells of one household, by table.
        identities: Identities between units: what the policy shows through two of them, and what
            the records show and the schema does not declare.
    """

    policy: Policy
    decisions: DesignDecisions
    exempt: tuple[Findings, ...] = ()
    one_household: tuple[OneHouseholdCells, ...] = ()
    identities: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<DesignReport of {self.policy.name!r}: confidential>"

    @property
    def areas(self) -> tuple[SmallCodes, ...]:
        """Areas with too small a population, by level."""
        return self.decisions.areas

    @property
    def categories(self) -> tuple[SmallCodes, ...]:
        """Categories with too few people, by variable and level."""
        return self.decisions.categories

    @property
    def detail(self) -> tuple[DetailOf, ...]:
        """How fine variables may be, by area."""
        return self.decisions.detail

    @property
    def decided(self) -> Decided:
        """The decisions that follow from the rules."""
        return self.decisions.decided()

    def lines(self, *, counts: bool = False) -> Iterator[str]:
        """The report in sentences for the office; with true counts only where asked for."""
        for kind, small in (("Areas", self.areas), ("Categories", self.categories)):
            for small_codes in small:
                head = f"{kind} of {small_codes.at} with fewer than {small_codes.minimum:,} people"
                if not small_codes.codes:
                    if small is self.areas:
                        yield f"{head}: none of {small_codes.of:,}."
                    continue
                codes = list(small_codes.codes[:MOST_CODES])
                if counts:
                    pairs = zip(codes, small_codes.counts, strict=False)
                    codes = [f"{code} ({count:,})" for code, count in pairs]
                if len(small_codes.codes) > MOST_CODES:
                    codes.append(f"{len(small_codes.codes) - MOST_CODES:,} more")
                yield f"{head}: {len(small_codes.codes):,} of {small_codes.of:,}: {joined(codes)}."
                if small_codes.alone:
                    yield (
                        f"  The only one in its group, so that its figures can be estimated from"
                        f" the group less the others: {joined(small_codes.alone)}. Withhold another"
                        " one"
                        " there as well, or do not offer the level."
                    )
        if self.categories and not any(category.codes for category in self.categories):
            yield f"Categories with fewer than {self.categories[0].minimum:,} people: none."
        for detail in self.detail:
            levels = joined([str(at_level) for at_level in detail.finest])
            yield f"{len(detail.codes):,} areas of {detail.at} get at most {levels}."
        for cells in self.one_household:
            head = f"Cells of {cells.spec.title} whose members all live in one household"
            if cells.share is None:
                yield f"{head}: none, since no cell holds anybody."
            else:
                share = share_text(cells.share)
                yield f"{head}: {cells.count:,}, {share} of those that hold anybody."
        yield from self.identities
        if not self.policy.exempt:
            return
        alone = [
            findings for findings in self.exempt if findings.kind is FindingKind.IDENTIFICATION
        ]
        together = [
            findings for findings in self.exempt if findings.kind is not FindingKind.IDENTIFICATION
        ]
        for found_so, how in (
            (alone, "are few people by themselves"),
            (together, "show few people together"),
        ):
            count = sum(findings.count for findings in found_so)
            if count:
                yield f"Exempt totals that {how}: {count:,}."
            elif found_so is together:
                yield (
                    "Exempt totals: no two of them differ by few people. This looks at pairs of"
                    " them, not at longer sums."
                )
            for findings in found_so if counts else ():
                yield from (f"  {sentence}" for sentence in findings.sentences(MOST_SENTENCES))


def design(
    policy: Policy,
    census: Census,
    *,
    of: Entity | None = None,
    tables: Sequence[TableSpec] = (),
    progress: Progress = no_progress,
) -> DesignReport:
    """Run the rules of design time on a census.

    Args:
        policy: The policy.
        census: The census that it is about.
        of: Whose numbers are the populations; by default persons, or what stands in areas.
        tables: Tables of persons in which cells of one household are looked for; without any,
            and where the policy has a rule about them, those of areas by one variable.
        progress: Told what is being done.
    """
    rules = policy.design
    decisions = design_decisions(policy, census, of=of, progress=progress)
    exempt: tuple[Findings, ...] = ()
    if policy.exempt:
        progress("comparing exempt totals", 0.9)
        exempt = check_exempt(policy, census)
    looked_at = tables
    if not tables and rules.one_household_cells is not None:
        looked_at = tables_of_areas(policy)
    households = []
    for at, spec in enumerate(looked_at):
        progress("looking for cells of one household", at / len(looked_at))
        households.append(one_household_cells(census.tabulate(spec, households=True)))
    return DesignReport(
        policy,
        decisions,
        exempt,
        tuple(households),
        tuple(_identities(policy, census, progress)),
    )


def _identities(policy: Policy, census: Census, progress: Progress) -> Iterator[str]:
    """What is shown through two kinds of units, and what else the records tie."""
    yield from tie_lines(ties_in_policy(policy))
    if census.kept_store is None:
        return
    for identity in undeclared_identities(census.kept_store, progress):
        yield (
            "The records show an identity between units that the schema does not declare. Declare"
            f" it there and load again: {'; '.join(identity.lines)}"
        )


def with_decisions(report: DesignReport) -> Policy:
    """The policy with what its rules of design time propose, to be looked at by a person."""
    return replace(report.policy, decided=report.decided)


def check_exempt(policy: Policy, census: Census, *, threshold: int = 2) -> tuple[Findings, ...]:
    """Look for few people that the exempt totals of a policy show, alone or together.

    Exempt totals are exact. A total of one person is that person; and the difference of two totals
    is exact as well: nested areas that differ by a hamlet, or trees of areas that do not nest.

    Args:
        policy: The policy.
        census: The census.
        threshold: The largest number of units that is found, from 1.
    """
    specs = policy.exempt_specs()
    counted = {spec.hash(): census.tabulate(spec) for spec in specs}
    detected = [detect(cube, threshold=threshold)[0] for cube in counted.values()]
    for kind in sorted({spec.of for spec in specs}):
        alike = [spec for spec in specs if spec.of is kind]
        detected += exempt_differences(
            alike, lambda spec: counted[spec.hash()], threshold=threshold
        )
    return tuple(findings for findings in detected if findings.count)
