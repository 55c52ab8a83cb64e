"""What an assessment found, in plain words; every sentence names its scope.

The words stand in the catalogue ``assess``; ``None`` for a language is English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdcensus.model.cube.parts import TablePart, parts_of
from sdcensus.model.measure import Side
from sdcensus.model.quantities import (
    chance_text,
    decimal_text,
    figure_text,
    number_text,
    share_text,
)
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import in_language, speak
from sdcensus.model.spec.headings import entity_text, units_text
from sdcensus.report.assessment.results import Assessment, PublicAssessment
from sdcensus.risk.counted_parts import PartCounts
from sdcensus.risk.detection.findings import FindingKind, Findings
from sdcensus.risk.exempt import ExemptCells
from sdcensus.risk.feasibility import Feasibility
from sdcensus.risk.looks.budget import NOT_COVERED

#: Published values below this are to be read with care: a fixed number, not one of the method.
BRACKETS_BELOW = 10
#: From this share of interior cells with fewer than three units on, a table is sparse.
SPARSE_FROM = 0.5
#: From this chance on, averaging all tables finds a count too often where no limit is named.
HIGH_RECOVERY = 0.5


def units(assessment: Assessment | PublicAssessment, language: str | None = None) -> str:
    """What is counted, within a sentence."""
    return units_text(assessment.table.spec, language).lower()


def in_ten(share: float, language: str | None = None) -> str:
    """A share as people say it.

    Examples:
        >>> in_ten(0.9), in_ten(0.52), in_ten(0.999), in_ten(0.01)
        ('nine cells in ten', 'five cells in ten', 'nearly all cells', 'few cells')
    """
    tenths = 10 if share > 0.95 else round(share * 10)
    return speak(f"assess.in_ten.{tenths}", language)


def knows_text(found: Feasibility, language: str | None = None) -> str:
    """What the intruder knows, behind the words "an intruder who knows"."""
    return found.knowledge.known_text(language)


def base_text(assessment: Assessment, cells: int, language: str | None = None) -> str:
    """So many cells that are not empty, and whether totals are among them."""
    key = "nonempty"
    if cells == 1:
        key = "nonempty_one"
    elif assessment.counted_in(TablePart.MARGINS) is not None:
        key = "nonempty_totals"
    return speak(f"assess.base.{key}", language, n=cells)


def _by_part(parts: Mapping[TablePart, str], language: str | None, key: str = "parts") -> str:
    """What holds of interior cells and of totals, as a sentence; empty without totals."""
    if TablePart.MARGINS not in parts or TablePart.INTERIOR not in parts:
        return ""
    interior, margins = parts[TablePart.INTERIOR], parts[TablePart.MARGINS]
    return speak(f"assess.base.{key}", language, interior=interior, margins=margins)


def _of_cells(number: int, cells: int, language: str | None) -> str:
    return speak("assess.risk.of", language, n=number, cells=cells)


def lead(assessment: Assessment, language: str | None = None) -> str:
    """The conclusion in three or four sentences."""
    said = [
        _alone(assessment, language),
        _together(assessment, language),
        _sparse(assessment, language),
    ]
    return " ".join(sentence for sentence in said if sentence)


def _alone(assessment: Assessment, language: str | None) -> str:
    feasibility, exempt = assessment.main, assessment.result(ExemptCells)
    if feasibility is None:
        return speak("assess.alone.unmeasured", language)
    if assessment.true_on_purpose and assessment.table.flags is None:
        return speak("closed.nothing", language)
    if not feasibility.cells:
        return speak(f"assess.alone.{'exempt' if exempt else 'empty'}", language)
    knows, disclosed = knows_text(feasibility, language), feasibility.disclosed
    base = base_text(assessment, feasibility.cells, language)
    parts = [speak("assess.alone.none", language, knows=knows, of=base)]
    if disclosed:
        text = speak(
            f"assess.alone.{'gives_one' if disclosed == 1 else 'gives'}",
            language,
            n=disclosed,
            knows=knows,
            share=share_text(feasibility.share, language),
            of=base,
        )
        of_each = {
            part: _of_cells(given.disclosed, given.cells, language)
            for part, given in feasibility.parts.items()
        }
        parts = [text, _by_part(of_each, language)]
    if exempt:
        key = "exempt_one" if exempt.cells == 1 else "exempt_more"
        parts.append(speak(f"assess.alone.{key}", language, n=exempt.cells))
    if assessment.true_on_purpose:
        parts.append(speak("closed.shown", language))
    whole = assessment.sharpest
    if whole is not None and whole.disclosed > disclosed:
        of = base_text(assessment, whole.cells, language)
        parts.append(speak("assess.alone.whole", language, n=whole.disclosed, of=of))
    return " ".join(part for part in parts if part)


def _together(assessment: Assessment, language: str | None) -> str:
    worst = assessment.worst_looks
    if worst is None:
        return speak("assess.together.unmeasured", language)
    budget, cell, chance = worst
    looks = speak(
        "assess.together.looks",
        language,
        scope=in_language(budget.scope, language).removesuffix("."),
        looks=decimal_text(cell.looks, 1, language),
        title=cell.title_in(language),
    )
    if chance is None:
        return speak("assess.together.unknown", language, looks=looks)
    likely = chance_text(chance, language)
    found = speak("assess.together.chance", language, looks=looks, chance=likely)
    limit, rest = assessment.recovery_limit, in_language(NOT_COVERED, language)
    if limit is None:
        return speak("assess.together.no_limit", language, chance=found, not_covered=rest)
    key = "above" if chance > limit else "within"
    named = figure_text(limit, language)
    return speak(f"assess.together.{key}", language, chance=found, limit=named, not_covered=rest)


def _sparse(assessment: Assessment, language: str | None) -> str:
    inside = assessment.counted_in(TablePart.INTERIOR)
    if inside is None or not assessment.population:
        return ""
    share = (inside.empty + inside.small.cells) / inside.cells
    if share < SPARSE_FROM:
        return ""
    return speak(
        "assess.sparse",
        language,
        n=inside.cells,
        cells=in_ten(share, language),
        units=units(assessment, language),
        below=BRACKETS_BELOW,
    )


#: Findings whose English has other words for things than for people.
_ABOUT_PEOPLE = (FindingKind.IDENTIFICATION, FindingKind.PAIR)


def finding_line(
    findings: Findings, language: str | None = None, *, counted: Sequence[PartCounts] = ()
) -> str:
    """How many findings of a kind there are, as sentences: in all, and in each part.

    Args:
        findings: What was found.
        language: The language of the sentences.
        counted: The cells of the table, of which cells with few units are a share.
    """
    of, kind = findings.spec.of, findings.kind
    number = "more" if findings.count > 1 else "one"
    thing = "_thing" if of is not Entity.PERSON and kind in _ABOUT_PEOPLE else ""
    line = speak(
        f"assess.found.{kind.name.lower()}.{number}{thing}",
        language,
        count=findings.count,
        unit=speak(f"findings.unit.{of.name.lower()}.single", language),
        units=entity_text(of, language),
    )
    parts = {
        part: number_text(findings.count_in(part), language) for part in parts_of(findings.spec)
    }
    if kind in _ABOUT_PEOPLE and counted:
        of_each = {
            counts.part: _of_cells(findings.count_in(counts.part), counts.nonempty, language)
            for counts in counted
        }
        return f"{line} {_by_part(of_each, language, 'parts_nonempty')}".rstrip()
    return f"{line} {_by_part(parts, language)}".rstrip()


def groups_sentence(assessment: Assessment, language: str | None = None) -> str:
    """How many groups with one property can still be read; empty where there are none."""
    kinds = [
        finding for finding in assessment.findings if finding.kind is FindingKind.GROUP_ATTRIBUTE
    ]
    count = sum(findings.count for findings in kinds)
    if not count:
        return ""
    return speak(
        "assess.groups_left",
        language,
        count=count,
        units=units(assessment, language),
        left=assessment.groups_readable,
    )


def how_text(found: Feasibility, language: str | None = None) -> str:
    """How intervals were found, in words."""
    return speak(f"assess.how.{found.how.name.lower()}", language)


def part_text(part: TablePart, language: str | None = None) -> str:
    """The name of a part of a table."""
    return speak(f"assess.part.{part.name.lower()}", language)


def conclusions(assessment: Assessment, language: str | None = None) -> tuple[str, ...]:
    """What the head of the office should know before signing, the gravest first."""
    said = []
    feasibility = assessment.sharpest
    if feasibility is not None and feasibility.disclosed:
        said.append(speak("assess.conclude.alone", language))
    if assessment.withheld is not None:
        line = finding_line(assessment.withheld, language)
        said.append(speak("assess.conclude.withheld", language, found=line))
    for side in Side:
        rows = assessment.rows_of(side)
        said += [in_language(row.sentence, language) for row in rows if row.sentence]
    said += _of_looks(assessment, language)
    differences = sum(difference.count for difference in assessment.differences)
    if differences:
        key = "difference_one" if differences == 1 else "difference"
        counted = units(assessment, language)
        said.append(speak(f"assess.conclude.{key}", language, n=differences, units=counted))
    groups = groups_sentence(assessment, language)
    if assessment.groups_readable:
        said.append(speak("assess.conclude.groups", language, groups=groups))
    return (*said, *_seen(assessment, language))


def _seen(assessment: Assessment, language: str | None) -> list[str]:
    """The ones and twos that readers see, and how many of them are true."""
    whole = assessment.counted[-1]
    if not whole.visible:
        return []
    of_each = {
        counts.part: _of_cells(counts.right, counts.visible, language)
        for counts in assessment.counted
    }
    right = share_text(whole.perceived.share_right, language, digits=0)
    parts = _by_part(of_each, language)
    text = speak(
        "assess.conclude.seen",
        language,
        cells=whole.cells,
        n=whole.visible,
        right=right,
        parts=parts,
    )
    return [text.rstrip()]


def _of_looks(assessment: Assessment, language: str | None) -> list[str]:
    worst = assessment.worst_looks
    limit = assessment.recovery_limit or HIGH_RECOVERY
    if worst is None or worst[2] is None or worst[2] <= limit:
        return []
    needed = decimal_text(worst[1].variance(limit), 2, language)
    named = figure_text(limit, language)
    return [speak("assess.conclude.looks", language, limit=named, variance=needed)]


def public_lead(public: PublicAssessment, language: str | None = None) -> str:
    """What a reader should know, from published values only."""
    said = []
    if public.method:
        said.append(speak("assess.public.protected", language))
    withheld, cells = public.whole.withheld, public.whole.cells
    if withheld:
        key = "withheld_one" if withheld == 1 else "withheld"
        said.append(speak(f"assess.public.{key}", language, n=withheld, cells=cells))
    said += [in_language(row.sentence, language) for row in public.rows if row.sentence]
    if public.table.spec.amount is None:
        said.append(speak("assess.public.care", language, below=BRACKETS_BELOW))
    return " ".join(said)
