"""Figures of tables of sums as tables: alike on a page, in a workbook, in csv, on a console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.primary_rules import PrimaryRule
from sdcensus.model.quantities import NOTHING, limit_text, number_text, share_text
from sdcensus.model.sentences import in_language, speak
from sdcensus.report.magnitude.results import (
    DOMINANCE,
    FEWEST,
    SumFigures,
    SumResult,
    SumStudy,
    SumStudyTable,
)
from sdcensus.risk.magnitude.attackers import Attacker
from sdcensus.risk.magnitude.estimation import SIZES, AttackerFigures, Estimated
from sdcensus.utility.sums import RelativeChanges

Value = str | int | float | None


class Form(StrEnum):
    """How a column is shown."""

    TEXT = "text"
    COUNT = "#,##0"
    SHARE = "0.0%"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures.

    Attributes:
        name: For programs, and its key among the words.
        form: How it is shown.
        brief: Whether it is shown where there is little room.
    """

    name: str
    form: Form = Form.SHARE
    brief: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class Block(Confidential):
    """A table of figures.

    Attributes:
        key: What it is called among the words and as a file.
        columns: In their order.
        rows: Plain values; ``None`` where a figure has no meaning.
        within: The percentage that its words name.
    """

    key: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    within: float

    def __repr__(self) -> str:
        return f"<Block {self.key}: confidential>"

    def title(self, language: str | None) -> str:
        """What it shows."""
        return speak(f"sums.{self.key}.title", language, p=percent_text(self.within, language))

    def note(self, language: str | None) -> str:
        """How it is read."""
        return speak(f"sums.{self.key}.note", language, p=percent_text(self.within, language))

    def headings(self, language: str | None) -> list[str]:
        """The words above its columns."""
        return [speak(f"sums.column.{column.name}", language) for column in self.columns]

    def texts(self, language: str | None) -> list[list[str]]:
        """Its rows as they are read."""
        return [
            [
                value_text(value, column.form, language)
                for value, column in zip(row, self.columns, strict=True)
            ]
            for row in self.rows
        ]


def in_brief(block: Block) -> Block:
    """The same with the columns that a console has room for."""
    kept = [at for at, column in enumerate(block.columns) if column.brief]
    return replace(
        block,
        columns=tuple(block.columns[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in block.rows),
    )


def percent_text(within: float, language: str | None) -> str:
    """A percentage that somebody named, with all its digits."""
    return limit_text(within / 100, language)


def value_text(value: Value, form: Form, language: str | None) -> str:
    """A figure as it is read; a dash where it has no meaning."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return value
    if form is Form.COUNT:
        return number_text(int(value), language)
    sign = "\u2212" if value < 0 else ""
    return sign + share_text(abs(value), language)


def size_text(at: int, language: str | None) -> str:
    """A class of sizes in words."""
    first, last = SIZES[at]
    key = "one" if last == 1 else ("exactly" if first == last else ("up" if last is None else "to"))
    return speak(f"sums.size.{key}", language, first=first, last=last or 0)


def rule_text(rule: PrimaryRule | None, within: float, language: str | None) -> str:
    """A rule in words."""
    number, share = DOMINANCE
    return speak(
        f"sums.rule.{rule or 'any'}",
        language,
        p=percent_text(within, language),
        fewest=FEWEST,
        number=number,
        share=percent_text(share, language),
    )


def attacker_text(figures: AttackerFigures, language: str | None) -> str:
    """Who estimates, in words."""
    return speak(f"sums.attacker.{figures.attacker}", language, n=figures.members)


_WHO = (
    Column("attacker", Form.TEXT),
    Column("asked", Form.COUNT),
    Column("before"),
    Column("after"),
    Column("expected"),
    Column("worst", brief=False),
    Column("people", Form.COUNT, brief=False),
    Column("people_found", brief=False),
)
_SIZES = (
    Column("size", Form.TEXT),
    Column("cells", Form.COUNT),
    Column("outsider_before", brief=False),
    Column("outsider_after"),
    Column("outsider_expected", brief=False),
    Column("second_before", brief=False),
    Column("second_after"),
    Column("second_expected"),
)
_RULES = (
    Column("rule", Form.TEXT),
    Column("sensitive", Form.COUNT),
    Column("share_sensitive", brief=False),
    Column("second_before", brief=False),
    Column("second_after"),
    Column("second_expected"),
)
_TOGETHER = (
    Column("way", Form.TEXT),
    Column("cases", Form.COUNT),
    Column("found", Form.COUNT),
    Column("found_share"),
)
_CHANGES = (
    Column("which", Form.TEXT),
    Column("cells", Form.COUNT),
    Column("withheld", Form.COUNT, brief=False),
    Column("mean"),
    Column("median"),
    *(Column(name, brief=False) for name in ("ninth", "largest", "bias", "within_1")),
    Column("within_5"),
    Column("within_10", brief=False),
)


def risk_blocks(figures: SumFigures, language: str | None) -> list[Block]:
    """What attackers find in one table."""
    risk, within = figures.risk, figures.risk.within
    who = [
        (
            attacker_text(each, language),
            each.whole.cells,
            *_shares(each.whole),
            each.worst,
            each.people,
            None
            if not each.people or each.people_found is None
            else each.people_found / each.people,
        )
        for each in risk.attackers
    ]
    outsider, second = risk.of(Attacker.OUTSIDER), risk.of(Attacker.SECOND)
    sizes = [
        (
            size_text(at, language),
            cells,
            *_shares(outsider.by_size[at]),
            *_shares(second.by_size[at]),
        )
        for at, cells in enumerate(risk.cells)
    ]
    rules = [
        (
            rule_text(each.rule, within, language),
            each.cells,
            each.cells / figures.filled if figures.filled else None,
            *_shares(each.second),
        )
        for each in figures.rules
    ]
    blocks = [
        Block("who", _WHO, tuple(who), within),
        Block("sizes", _SIZES, tuple(sizes), within),
        Block("together", _TOGETHER, tuple(_together(figures, language)), within),
    ]
    if rules:
        blocks.insert(2, Block("rules", _RULES, tuple(rules), within))
    return blocks


def _shares(found: Estimated) -> tuple[float | None, float | None, float | None]:
    return (found.share(found.before), found.share(found.after), found.share(found.expected))


def _together(figures: SumFigures, language: str | None) -> list[tuple[Value, ...]]:
    repeated, single = figures.repeated, figures.differences

    def row(key: str, cases: int, hits: int) -> tuple[Value, ...]:
        words = speak(f"sums.way.{key}", language, n=repeated.most)
        return words, cases, hits, hits / cases if cases else None

    return [
        row("differences", single.pairs, single.after),
        row("people", single.people, single.people_found),
        row("by_one", repeated.sets, repeated.by_one),
        row("by_mean", repeated.sets, repeated.by_mean),
    ]


def loss_block(figures: SumFigures, language: str | None) -> Block:
    """What readers lose, in each part of the table and by the number of contributors."""
    rows = [
        (speak(f"assess.part.{part}", language), *_changes(changes))
        for part, changes in figures.changes
    ]
    rows += [
        (size_text(at, language), *_changes(changes)) for at, changes in enumerate(figures.by_size)
    ]
    return Block("changes", _CHANGES, tuple(rows), figures.risk.within)


def _changes(changes: RelativeChanges) -> tuple[Value, ...]:
    within: Sequence[float | None] = changes.within or (None, None, None)
    return (
        changes.cells,
        changes.withheld,
        changes.mean,
        changes.median,
        changes.ninth,
        changes.largest,
        changes.bias,
        *within,
    )


_FURTHER = (Column("what", Form.TEXT), Column("figure"))


def further_block(figures: SumFigures, language: str | None) -> Block:
    """Ranks of areas, and whether totals are the sums of their parts."""
    ranks = None if figures.ranks is None else figures.ranks / 100
    rows = (
        (speak("sums.further.ranks", language), ranks),
        (speak("sums.further.adds_up", language), figures.adds_up),
        (speak("sums.further.gap", language), figures.gap),
    )
    return Block("further", _FURTHER, rows, figures.risk.within)


_METHODS = (
    Column("method", Form.TEXT),
    Column("second_after"),
    Column("second_expected"),
    Column("second_two", brief=False),
    Column("outsider_after", brief=False),
    Column("coalition_after", brief=False),
    Column("differences"),
    Column("loss"),
)
_LOSSES = (
    Column("method", Form.TEXT),
    *(Column(name) for name in ("withheld_share", "mean", "median", "ninth", "within_5", "ranks")),
)


def methods_block(study: SumStudy, table: SumStudyTable, language: str | None) -> Block:
    """Methods side by side on one table: what attackers find."""
    rows = []
    for result in table.results:
        figures = result.figures
        second, outsider, coalition = (
            figures.risk.of(attacker)
            for attacker in (Attacker.SECOND, Attacker.OUTSIDER, Attacker.COALITION)
        )
        two, single = second.by_size[1], figures.differences
        rows.append(
            (
                method_text(result, language),
                second.whole.share(second.whole.after),
                second.whole.share(second.whole.expected),
                two.share(two.after if two.expected is None else two.expected),
                outsider.whole.share(outsider.whole.after),
                coalition.whole.share(coalition.whole.after),
                single.after / single.pairs if single.pairs else None,
                figures.loss,
            )
        )
    return Block("methods", _METHODS, tuple(rows), study.within)


def losses_block(study: SumStudy, table: SumStudyTable, language: str | None) -> Block:
    """Methods side by side on one table: what readers lose."""
    rows = []
    for result in table.results:
        figures, whole = result.figures, result.figures.whole
        rows.append(
            (
                method_text(result, language),
                figures.withheld / figures.filled if figures.filled else None,
                whole.mean,
                whole.median,
                whole.ninth,
                None if whole.within is None else whole.within[1],
                None if figures.ranks is None else figures.ranks / 100,
            )
        )
    return Block("losses", _LOSSES, tuple(rows), study.within)


def method_text(result: SumResult, language: str | None) -> str:
    """What a method is called; the table itself where it stands among them."""
    return in_language(result.candidate.label, language)
