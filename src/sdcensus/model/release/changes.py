"""What a file leaves out and tells otherwise than the census, for its readers.

The public lists of removed variables and of recodes: code lists and words only, no size of
anything. ``report/release`` shows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdcensus.model.release.file_variable import FileDesign, FileVariable, RemovalReason
from sdcensus.model.schema.variable import Code, Variable
from sdcensus.model.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalRow:
    """A variable of the census that is not in the file.

    Attributes:
        name, label: The variable.
        reason: Why, in the languages that the product speaks.
    """

    name: str
    label: Text
    reason: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodeRow:
    """A code of the file that tells more than one of the census.

    Attributes:
        name, label: The variable, by its name in the file.
        before: The codes of the census, with their labels.
        after: The code of the file, with its label.
    """

    name: str
    label: Text
    before: Text
    after: Text


def removal_rows(design: FileDesign) -> tuple[RemovalRow, ...]:
    """What the file leaves out, in the order of the schema."""
    return tuple(
        RemovalRow(
            name=removed.variable.name,
            label=removed.variable.label or Text.of(removed.variable.name),
            reason=reason_text(removed.reason),
        )
        for removed in design.removed
    )


def reason_text(reason: RemovalReason) -> Text:
    """Why a variable is not in a file, in words."""
    return Text.named(f"release_plan.removed.{reason.value.replace('-', '_')}")


def recode_rows(design: FileDesign) -> tuple[RecodeRow, ...]:
    """How the file tells variables, one row for each code that tells several of the census."""
    return tuple(row for variable in design.variables for row in _rows(variable))


def recode_text(variable: FileVariable) -> Text:
    """What was done to a variable in one sentence; empty for nothing."""
    rows = list(_rows(variable))
    if not rows:
        return Text()
    languages = dict.fromkeys(language for row in rows for language, _ in row.before.by_language)
    return Text.of(
        {
            language: "; ".join(
                _ARROW.format(row.before.show(language), row.after.show(language)) for row in rows
            )
            for language in languages
        }
    )


_ARROW = "{} → {}"
#: More codes than this are told by the first and the last.
_MOST_CODES = 6


def _rows(variable: FileVariable) -> Iterator[RecodeRow]:
    source = variable.source
    for position, code in enumerate(variable.level.codes):
        leaves = [
            leaf
            for leaf, group in zip(source.codes, variable.level.group, strict=True)
            if group == position
        ]
        if not leaves or [code] == leaves:
            continue
        yield RecodeRow(
            name=variable.name,
            label=source.label or Text.of(source.name),
            before=_spoken(source, leaves),
            after=_shown(code),
        )


def _shown(code: Code) -> Text:
    if not code.label:
        return Text.of(code.code)
    return Text.of(
        {
            # "75 75 and over" would say it twice.
            language: text if text.startswith(code.code) else f"{code.code} {text}"
            for language, text in code.label.by_language
        }
    )


def _spoken(variable: Variable, leaves: list[Code]) -> Text:
    """Codes with their labels, in every language that the variable has."""
    languages = dict.fromkeys(
        language for code in variable.codes for language, _ in code.label.by_language
    ) or {"en": None}
    places = {code.code: place for place, code in enumerate(variable.codes)}
    runs: list[list[Code]] = []
    for code in leaves:
        if runs and places[code.code] == places[runs[-1][-1].code] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return Text.of(
        {language: ", ".join(_run(run, language) for run in runs) for language in languages}
    )


def _run(codes: list[Code], language: str) -> str:
    """Codes that follow each other: all of them, or the first and the last of many."""
    if len(codes) > _MOST_CODES:
        return f"{_shown(codes[0]).show(language)} … {_shown(codes[-1]).show(language)}"
    return ", ".join(_shown(code).show(language) for code in codes)
