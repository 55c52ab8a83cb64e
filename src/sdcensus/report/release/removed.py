"""The public list of what a file leaves out and of what it recodes: Tables 4 to 6 of the study.

It tells what was done to variables. It takes the file and code lists, so that it cannot tell what
was done to a record.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile, ReleaseTable
from sdcensus.model.schema.variable import Code, Role
from sdcensus.model.sentences import in_every_language
from sdcensus.model.spec.headings import entity_text
from sdcensus.model.text import Text, plain_cell
from sdcensus.report import page as shell
from sdcensus.report.page import Html
from sdcensus.report.release.languages import language_links
from sdcensus.report.release.tables import say

#: What the files of the list are called.
STEM = "removed-and-recoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodedCodes:
    """A code of a file with the codes of the census that it stands for. Public.

    Attributes:
        variable: The name of the column in the file.
        code, label: The code in the file.
        before: The codes of the census with their labels, in words.
    """

    variable: str
    code: str
    label: Text
    before: Text


#: A code that stands for more codes of the census tells their number and not their names.
_MOST_LISTED = 12


def recoded_codes(design: FileDesign) -> tuple[RecodedCodes, ...]:
    """The codes of a design's file that stand for several codes of the census.

    Code lists say it all: nothing of any record is read. Areas are not listed, levels tell them.
    """
    rows: list[RecodedCodes] = []
    for variable in design.variables:
        if variable.source.role is Role.GEOGRAPHY or variable.amounts:
            continue
        members: list[list[Code]] = [[] for _ in variable.level.codes]
        for leaf, group in zip(variable.source.codes, variable.level.group, strict=True):
            members[group].append(leaf)
        rows += [
            RecodedCodes(
                variable=variable.name,
                code=code.code,
                label=code.label,
                before=in_every_language(lambda language, own=own: _before(own, language)),  # type: ignore[misc]
            )
            for code, own in zip(variable.level.codes, members, strict=True)
            if len(own) > 1
        ]
    return tuple(rows)


def _before(members: Sequence[Code], language: str) -> str:
    """Codes of the census in words; numbers that follow each other as a range."""
    named = [f"{member.code} {member.label.show(language)}".strip() for member in members]
    if len(named) <= _MOST_LISTED:
        return "; ".join(named)
    ends = {"first": named[0], "last": named[-1]}
    return say("removed.many", language, n=len(named), **ends)


def removed_table(file: ReleaseFile, language: str) -> Html:
    """Variables of the census that the file does not hold, with the reason."""
    rows = [
        [name, label.show(language), reason.show(language)] for name, label, reason in file.removed
    ]
    heads = [say(f"removed.{head}", language) for head in ("name", "label", "reason")]
    return shell.table(say("removed.removed", language), heads, rows, words=3, wrapped=True)


def removed_page(
    file: ReleaseFile,
    language: str,
    recodes: Sequence[RecodedCodes] = (),
    *,
    others: Sequence[str] = (),
) -> str:
    """The whole list as a page."""
    sections: dict[str, list[str]] = {
        say("removed.section_removed", language): [
            removed_table(file, language) if file.removed else say("removed.nothing", language)
        ]
    }
    for table in file.tables:
        inside = [*_recoded(table, recodes, language)]
        if inside:
            units = entity_text(table.entity, language)
            sections[say("removed.section_recoded", language, units=units)] = inside
    if len(sections) == 1:
        key = say("removed.section_none", language)
        sections[key] = [say("removed.no_recode", language)]
    if file.notes:
        notes = [note.show(language) for note in file.notes]
        sections[say("codebook.notes", language)] = [shell.bullets(notes)]
    facts = [file.census.show(language), say(f"class.{file.licence.value}", language)]
    return shell.page(
        say("removed.title", language, title=file.title.show(language) or file.name),
        language_links(STEM, others, language),
        *(shell.section(title, *inside) for title, inside in sections.items()),
        facts=" · ".join(fact for fact in facts if fact),
        lead=say("removed.lead", language),
        stamp=None,
        language=language,
        style=".scroll td,.scroll th{overflow-wrap:anywhere}",
    )


def _recoded(table: ReleaseTable, recodes: Sequence[RecodedCodes], language: str) -> Iterator[str]:
    columns = [column for column in table.columns if column.recoded]
    if columns:
        rows = [
            [column.name, column.label.show(language), column.recoded.show(language)]
            for column in columns
        ]
        heads = [say(f"removed.{head}", language) for head in ("name", "label", "recoded")]
        units = entity_text(table.entity, language)
        caption = say("removed.recodes", language, units=units)
        yield shell.table(caption, heads, rows, words=3, wrapped=True)
    for column in table.columns:
        own = [each for each in recodes if each.variable == column.name]
        if own and column.kind is ColumnKind.CODES:
            lines = [
                [each.code, each.label.show(language), each.before.show(language)] for each in own
            ]
            heads = [say(f"removed.{head}", language) for head in ("code", "label", "before")]
            label = column.label.show(language) or column.name
            caption = say("removed.codes", language, name=column.name, label=label)
            yield shell.table(caption, heads, lines, words=3, wrapped=True)


def removed_csv(file: ReleaseFile, language: str, recodes: Sequence[RecodedCodes] = ()) -> bytes:
    """The list for programs: one line for each variable, and for each code that stands for others.

    The columns are ``change`` (removed, recoded, code), ``unit``, ``variable``, ``label``,
    ``what``, and for codes ``code`` and ``before``.
    """
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["change", "unit", "variable", "label", "what", "code", "before"])
    lines: list[list[str]] = [
        ["removed", "", name, label.show(language), reason.show(language), "", ""]
        for name, label, reason in file.removed
    ]
    for table in file.tables:
        for column in table.columns:
            unit, label = table.entity.value, column.label.show(language)
            if column.recoded:
                what = column.recoded.show(language)
                lines.append(["recoded", unit, column.name, label, what, "", ""])
            lines += [
                [
                    *("code", unit, column.name, label, each.label.show(language)),
                    *(each.code, each.before.show(language)),
                ]
                for each in recodes
                if each.variable == column.name
            ]
    for line in lines:
        writer.writerow([plain_cell(cell) for cell in line])
    return buffer.getvalue().encode("utf-8")
