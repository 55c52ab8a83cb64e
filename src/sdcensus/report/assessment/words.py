"""What an assessment found, in plain words; every sentence names its scope."""

from __future__ import annotations

from sdcensus.model.cube.parts import TablePart
from sdcensus.model.measure import Side
from sdcensus.model.quantities import chance_text, number_text, share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import units_text
from sdcensus.report.assessment.results import Assessment, PublicAssessment
from sdcensus.risk.detection.findings import FindingKind, Findings
from sdcensus.risk.exempt import ExemptCells
from sdcensus.risk.feasibility import Feasibility, How
from sdcensus.risk.looks.budget import NOT_COVERED

#: Published values below this are to be read with care: a fixed number, not one of the method.
BRACKETS_BELOW = 10
#: From this share of interior cells with fewer than three units on, a table is sparse.
SPARSE_FROM = 0.5
#: From this chance on, averaging all tables finds a count too often where no limit is named.
HIGH_RECOVERY = 0.5


def units(assessment: Assessment | PublicAssessment) -> str:
    """What is counted, within a sentence."""
    return units_text(assessment.table.spec).lower()


def in_ten(share: float) -> str:
    """A share as people say it.

    Examples:
        >>> in_ten(0.9), in_ten(0.52), in_ten(0.999), in_ten(0.01)
        ('nine cells in ten', 'five cells in ten', 'nearly all cells', 'few cells')
    """
    words = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    tenths = round(share * 10)
    if share > 0.95 or tenths == 10:
        return "nearly all cells"
    return f"{words[tenths]} cell{'s' if tenths > 1 else ''} in ten" if tenths else "few cells"


def knows_text(found: Feasibility) -> str:
    """What the intruder knows, behind the words "an intruder who knows"."""
    return found.knowledge.sentence().removeprefix("An intruder who knows ").removesuffix(".")


def lead(assessment: Assessment) -> str:
    """The conclusion in three or four sentences."""
    said = [_alone(assessment), _together(assessment), _sparse(assessment)]
    return " ".join(sentence for sentence in said if sentence)


def _alone(assessment: Assessment) -> str:
    feasibility, exempt = assessment.main, assessment.result(ExemptCells)
    if feasibility is None:
        return "What an intruder can work out of this table alone could not be measured."
    if not feasibility.cells:
        if exempt:
            return "Every cell that holds anyone is exempt, and published exactly on purpose."
        return "The table is empty: there is nobody in it who could be given away."
    scope = f"to an intruder who knows {knows_text(feasibility)}"
    text = f"Taken alone, this table gives no count away {scope}."
    if feasibility.disclosed:
        number = number_text(feasibility.disclosed)
        word = "count" if feasibility.disclosed == 1 else "counts"
        of = (
            "its one cell"
            if feasibility.cells == 1
            else f"its {number_text(feasibility.cells)} cells"
        )
        text = (
            f"Taken alone, this table gives {number} {word} away {scope}:"
            f" {share_text(feasibility.share)} of {of} that"
            f" {'holds' if feasibility.cells == 1 else 'hold'} anyone."
        )
    if exempt:
        cells = "cell is" if exempt.cells == 1 else "cells are"
        text += f" {number_text(exempt.cells)} exempt {cells} not counted among them."
    whole = assessment.sharpest
    if whole is not None and whole.disclosed > feasibility.disclosed:
        text += (
            " To one who also knows which counts can lead to which published value it gives"
            f" {number_text(whole.disclosed)} away."
        )
    return text


def _together(assessment: Assessment) -> str:
    worst = assessment.worst_looks
    if worst is None:
        return (
            "What it gives away together with other tables was not measured: name them by a plan,"
            " a policy or a registry."
        )
    budget, cell, chance = worst
    text = (
        f"{budget.scope.removesuffix('.')}, are worth {cell.looks:.1f} looks at a cell of"
        f" {cell.title}"
    )
    if chance is None:
        return (
            f"{text}. How often averaging finds its count is not known for this method, whose"
            " cells have no noise of their own."
        )
    text = (
        f"{text}: an intruder who solves all of them by least squares finds its count with a"
        f" probability of about {chance_text(chance)}"
    )
    limit = assessment.recovery_limit
    if limit is None:
        return f"{text}. {NOT_COVERED}"
    verdict = "above" if chance > limit else "within"
    return f"{text}, {verdict} the limit of {limit:g} that the office named. {NOT_COVERED}"


def _sparse(assessment: Assessment) -> str:
    cells, empty, small = assessment.interior_cells, assessment.empty, assessment.small
    if cells is None or empty is None or small is None or not assessment.population:
        return ""
    share = (empty + small) / cells
    if share < SPARSE_FROM:
        return ""
    return (
        f"It is sparse: {in_ten(share)} hold fewer than three {units(assessment)}, so published"
        f" figures below {BRACKETS_BELOW} should carry brackets."
    )


#: For one finding, and for several.
_FOUND = {
    FindingKind.IDENTIFICATION: (
        "1 cell holds a single {unit}, who can be recognised.",
        "{count} cells hold a single {unit} each, who can be recognised.",
    ),
    FindingKind.PAIR: (
        "1 cell holds two {units}, of whom each can recognise the other.",
        "{count} cells hold two {units} each, of whom each can recognise the other.",
    ),
    FindingKind.INDIVIDUAL_ATTRIBUTE: (
        "In 1 place something is told about a single {unit}.",
        "In {count} places something is told about a single {unit}.",
    ),
    FindingKind.GROUP_ATTRIBUTE: (
        "In 1 group all {units} have the same property.",
        "In {count} groups all {units} have the same property.",
    ),
    FindingKind.COALITION: (
        "In 1 group a few members can tell something about all the others.",
        "In {count} groups a few members can tell something about all the others.",
    ),
    FindingKind.NO_VALUE: (
        "In 1 place only the lack of a value is told.",
        "In {count} places only the lack of a value is told.",
    ),
    FindingKind.DIFFERENCE: (
        "In 1 place subtracting one count from another leaves one or two {units}.",
        "In {count} places subtracting one count from another leaves one or two {units}.",
    ),
    FindingKind.WITHHELD: (
        "1 withheld value follows from its total and the other parts.",
        "{count} withheld values follow from their totals and the other parts.",
    ),
}


def finding_line(findings: Findings) -> str:
    """How many findings of a kind there are, as a sentence."""
    of = findings.spec.of
    text = _FOUND[findings.kind][findings.count > 1]
    if of is not Entity.PERSON:
        text = text.replace(", who can", ", which can").replace("of whom", "of which")
    return text.format(count=number_text(findings.count), unit=of.value, units=of.plural)


def groups_sentence(assessment: Assessment) -> str:
    """How many groups with one property can still be read; empty where there are none."""
    kinds = [
        finding for finding in assessment.findings if finding.kind is FindingKind.GROUP_ATTRIBUTE
    ]
    count = sum(findings.count for findings in kinds)
    if not count:
        return ""
    return (
        f"Of {number_text(count)} groups in which all {units(assessment)} have the same property,"
        f" {number_text(assessment.groups_readable)} still look so in the published table: all"
        " other cells of their lines are published as 0."
    )


def how_text(found: Feasibility) -> str:
    """How intervals were found, in words."""
    return {
        How.SHUTTLE: "totals and parts compared line by line",
        How.LINEAR: "all totals and parts together (linear programs)",
        How.INTEGER: "all totals and parts together, in whole numbers",
    }[found.how]


def part_text(part: TablePart) -> str:
    """The name of a part of a table."""
    return {
        TablePart.ALL: "all cells",
        TablePart.INTERIOR: "interior cells",
        TablePart.MARGINS: "totals and subtotals",
    }[part]


def conclusions(assessment: Assessment) -> tuple[str, ...]:
    """What the head of the office should know before signing, the gravest first."""
    said = []
    feasibility = assessment.sharpest
    if feasibility is not None and feasibility.disclosed:
        said.append(
            "Counts can be worked out of this table alone. A method with larger changes, coarser"
            " categories or fewer variables would help."
        )
    if assessment.withheld is not None:
        said.append(
            f"{finding_line(assessment.withheld)} Where totals are sums of published cells, these"
            " values are exactly what was withheld."
        )
    for side in Side:
        said += [row.sentence for row in assessment.rows_of(side) if row.sentence]
    said += _of_looks(assessment)
    differences = sum(difference.count for difference in assessment.differences)
    if differences:
        places = "1 place" if differences == 1 else f"{number_text(differences)} places"
        said.append(
            f"In {places} true counts of this table and of others leave one or two"
            f" {units(assessment)} when they are subtracted. Only noise in both tables protects"
            " them: exact totals would not."
        )
    groups = groups_sentence(assessment)
    if assessment.groups_readable:
        said.append(f"{groups} Coarser categories, or noise in empty cells, would help.")
    visible = sum(assessment.perceived.seen.visible)
    if visible:
        right = share_text(assessment.perceived.share_right, digits=0)
        said.append(
            f"Readers will see {number_text(visible)} ones and twos. {right} of them are what they"
            " seem; this table alone does not tell which."
        )
    return tuple(said)


def _of_looks(assessment: Assessment) -> list[str]:
    worst = assessment.worst_looks
    limit = assessment.recovery_limit or HIGH_RECOVERY
    if worst is None or worst[2] is None or worst[2] <= limit:
        return []
    needed = worst[1].variance(limit)
    return [
        f"All tables together give counts away too often. To stay at {limit:g}, the variance of"
        f" the noise has to be at least {needed:.2f}, or fewer tables may be published."
    ]


def public_lead(public: PublicAssessment) -> str:
    """What a reader should know, from published values only."""
    said = []
    if public.method:
        said.append(
            "The values of this table were protected before publication: most are close to what"
            " was counted, and any of them may differ from it."
        )
    if public.withheld:
        cells = "cell has" if public.withheld == 1 else "cells have"
        said.append(f"{number_text(public.withheld)} {cells} no number.")
    said += [row.sentence for row in public.rows if row.sentence]
    said.append(
        f"Read values below {BRACKETS_BELOW} with care: the true count may be somewhat larger or"
        " smaller."
    )
    return " ".join(said)
