"""A tree as the text of a program, in one way for each."""

from __future__ import annotations

from sdcensus.model.spec.predicate import (
    And,
    Comparison,
    Condition,
    Name,
    Named,
    Not,
    Or,
    Reference,
    Value,
)
from sdcensus.session.commands.syntax import (
    CountStatement,
    Define,
    GroupDefinition,
    Indicator,
    Label,
    RestCategory,
    Rundef,
    Script,
    Span,
    TableStatement,
)

_OPERATORS = {"==": "=", "!=": "<>"}


def program_text(script: Script) -> str:
    """The text of a program, one statement for each line; it reads as the same tree.

    Examples:
        >>> from sdcensus.session.commands.parser import parse_program
        >>> program_text(parse_program("table t as count of person for age>=15"))
        'TABLE t AS COUNT OF person FOR age >= 15\\n'
    """
    lines = [] if script.rundef is None else [_rundef(script.rundef)]
    for statement in script.statements:
        lines.append(_define(statement) if isinstance(statement, Define) else _table(statement))
    return "".join(f"{line}\n" for line in lines)


def quoted(text: str) -> str:
    """A text in quotes; a quote inside it stands twice."""
    quote = "'" if '"' in text and "'" not in text else '"'
    return f"{quote}{text.replace(quote, quote * 2)}{quote}"


def condition_text(condition: Condition) -> str:
    """A condition in the words of programs."""
    match condition:
        case Comparison(operand, operator, values):
            if operator in ("in", "not in"):
                listed = ", ".join(map(_value, values))
                return f"{_reference(operand)} {operator.upper()} ({listed})"
            return f"{_reference(operand)} {_OPERATORS.get(operator, operator)} {_value(values[0])}"
        case Named(name):
            return name
        case Not(part):
            return f"NOT {_inner(part)}"
        case And(parts):
            return " AND ".join(map(_inner, parts))
        case Or(parts):
            return " OR ".join(
                condition_text(part) if isinstance(part, And) else _inner(part) for part in parts
            )


def _inner(condition: Condition) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, And | Or) else text


def _reference(one: Reference) -> str:
    text = f"{one.entity.text}." if one.entity else ""
    text += one.name.text
    if one.levels:
        text += "@" + "+".join(level.text for level in one.levels)
    return text if one.total else f"{text}-TOTAL"


def _value(one: Value) -> str:
    return quoted(one.text) if one.quoted else one.text


def _label(one: Label) -> str:
    return quoted(one.text)


def _rundef(one: Rundef) -> str:
    text = f"RUNDEF {one.name.text}"
    if one.selection is not None:
        text += f" SELECTION {condition_text(one.selection)}"
    if one.universe is not None:
        text += f" UNIVERSE {condition_text(one.universe)}"
    return text


def _define(one: Define) -> str:
    groups = " ".join(map(_group, one.groups))
    return f"DEFINE {_reference(one.target)} AS RECODE {_reference(one.source)} {groups}"


def _group(one: GroupDefinition) -> str:
    items = ", ".join(map(_item, one.items))
    label = f" {_label(one.label)}" if one.label else ""
    return f"({items} = {_value(one.code)}{label})"


def _item(one: Value | Span | RestCategory) -> str:
    match one:
        case Value():
            return _value(one)
        case RestCategory(kind):
            return kind.value
        case Span(low, high):
            return f"{_value(low) if low else 'LOWEST'}-{_value(high) if high else 'HIGHEST'}"


def _table(one: TableStatement) -> str:
    title = f" TITLE {_label(one.title)}" if one.title else ""
    text = f"TABLE {one.name.text}{title} AS {_analysis(one.analysis)}"
    if one.where is not None:
        text += f" FOR {condition_text(one.where)}"
    if one.areas is not None:
        text += f" AREABREAK {_reference(one.areas)}"
    if one.percent is not None:
        text += f" PERCENT {one.percent.of.value}"
    if one.per is not None:
        text += f" PER {one.per.value}"
    if one.decimals is not None:
        text += f" DECIMALS {one.decimals.value}"
    return text


def _analysis(one: CountStatement | Indicator) -> str:
    if isinstance(one, CountStatement):
        of = _reference(one.of) if one.of else one.unit.text if one.unit else ""
        text = f"{one.word} OF {of}"
    else:
        text = f"INDICATOR {one.kind.text}"
        if one.numerator is not None:
            text += f" OF {condition_text(one.numerator)}"
        if one.denominator is not None:
            joint = "OF" if one.kind.text == "share" else "TO"
            whole = one.denominator
            text += f" {joint} {whole.text if isinstance(whole, Name) else condition_text(whole)}"
        if one.of is not None:
            text += f" OF {_reference(one.of)}"
    return text + "".join(f" BY {_reference(axis)}" for axis in one.by)
