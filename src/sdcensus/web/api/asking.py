"""The shapes of questions and programs, with patterns of what the server understands."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.spec.question import (
    LONGEST_AXIS,
    LONGEST_CODE,
    LONGEST_CONDITION,
    LONGEST_LABEL,
    MOST_AXES,
    MOST_GROUPS,
)
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.web.api.shapes import WORD, Schema, listed, object_of

#: Characters of the name of a table of a program.
LONGEST_TABLE_NAME = 200

#: Characters that can be shown; texts of questions have no others.
_PLAIN = r"^[^\x00-\x1f\x7f]*$"
#: The name of a group: something to be seen, and no control signs.
_LABEL = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
#: A name: the same, without signs that cannot be seen at all. Those beyond the first 65,536 stand
#: here themselves: dialects of patterns write them differently.
_BEYOND = (
    *((0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x13430, 0x13438), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0001, 0xE0001), (0xE0020, 0xE007F)),
)
_UNSEEN = (
    r"\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
) + "".join(f"{chr(first)}-{chr(last)}" for first, last in _BEYOND)
NAME = rf"^[^{_UNSEEN}]*[^\s{_UNSEEN}][^{_UNSEEN}]*$"
#: An axis in the grammar of plans.
AXIS = rf"^{WORD}(@{WORD})?(\+{WORD}){{0,9}}(\+total|-total)?$"
_QUOTED = r"(\"[^\"\x00-\x1f\x7f]{0,200}\"|'[^'\x00-\x1f\x7f]{0,200}')"
_VALUE = rf"(-?[0-9]{{1,18}}|{_QUOTED})"
_OPERAND = rf"{WORD}( *@ *{WORD})?"
_SIGN = r"(==|!=|<=|>=|<|>)"
_LIST = rf"( +(not|NOT))? +(in|IN) *\( *{_VALUE}( *, *{_VALUE})* *\)"
_NOT = r"((not|NOT) +){0,3}"
_AND = r" +(and|or|AND|OR) +"
_TERM = rf"({_OPERAND}( *{_SIGN} *{_VALUE}|{_LIST})|{_VALUE} *{_SIGN} *{_OPERAND})"
#: How deep parentheses may lie in parentheses: no regular expression can count them.
_DEEPEST = 1


def _condition(deep: int) -> str:
    inside = rf"|\( *{_condition(deep - 1)} *\)" if deep else ""
    part = rf"{_NOT}({_TERM}{inside})"
    return rf"{part}({_AND}{part})*"


CONDITION = rf"^( *{_condition(_DEEPEST)} *)?$"
ABOUT_CONDITION = (
    "A condition of at most 4,000 characters, such as `age >= 15 and sex in (1, 2)` or"
    " `not (ed@parish == 'N' or age@broad == '0-14')`. The server also reads parentheses that lie"
    " deeper than in this pattern, and names of variables that are not ASCII."
)
_ABOUT_PROGRAM = (
    "A program of the command language. Programs of one table fit this pattern; the server reads"
    " the whole language, with several tables, any conditions and definitions: clients that are"
    " made from this document should not check programs against it."
)


def program_pattern(kind: str, variables: Sequence[str]) -> str:
    """Programs of one table, by the variables that there are; the language has more.

    A variable stands once in a table: rows and columns are chosen from different ones.
    """
    every = rf"{kind}\.({'|'.join(variables)})"
    row = rf"{kind}\.({'|'.join(variables[::2])})"
    column = rf"{kind}\.({'|'.join(variables[1::2] or ['sex'])})"
    title = r"( TITLE '[A-Za-z0-9][A-Za-z0-9 ,.-]{0,80}')?"
    digits = "( DECIMALS [0-6])?"
    shown = "|".join(
        [
            rf"FREQUENCY OF {every}( PERCENT TOTAL{digits})?",
            rf"CROSSTABS OF {row} BY {column}( PERCENT (ROW|COLUMN|TOTAL){digits})?",
            rf"COUNT OF {kind}( BY {every})?",
            rf"DISTRIBUTION OF {row}( BY {column})?{digits}",
        ]
    )
    return rf"^TABLE [a-z]_[a-z0-9_]{{1,30}}{title} AS ({shown})$"


def program_schema(pattern: str) -> Schema:
    """A program."""
    return {"type": "string", "pattern": pattern, "description": _ABOUT_PROGRAM}


def program_table_schema() -> Schema:
    """The name of a table of a program."""
    return {"type": "string", "maxLength": LONGEST_TABLE_NAME, "pattern": r"^[^\x00]*$"}


def codes_schema(*, linked: bool = False) -> Schema:
    """For some axes, by variable, the codes to show.

    Args:
        linked: In an address, which has room for some of them only.
    """
    return _by_variable(_codes(linked), linked)


def groups_schema(*, linked: bool = False) -> Schema:
    """For some axes, by variable, groups of codes.

    Args:
        linked: In an address, which has room for some of them only.
    """
    group = object_of(
        {
            "label": {
                "type": "string",
                "minLength": 1,
                "maxLength": 20 if linked else LONGEST_LABEL,
                "pattern": _LABEL,
            },
            "codes": _codes(linked),
        }
    )
    most = 4 if linked else MOST_GROUPS
    return _by_variable(listed(group, minItems=1, maxItems=most, uniqueItems=True), linked)


def _codes(linked: bool) -> Schema:
    code = {"type": "string", "maxLength": 20 if linked else LONGEST_CODE, "pattern": _PLAIN}
    return listed(code, minItems=1, **({"maxItems": 12} if linked else {}))


def _by_variable(values: Schema, linked: bool) -> Schema:
    return {
        "type": ["object", "null"],
        "maxProperties": 2 if linked else MOST_AXES,
        "propertyNames": {"pattern": f"^{WORD}$"},
        "additionalProperties": values,
    }


def measure_schema() -> Schema:
    """What is said of an amount."""
    figures = "|".join(figure.value for figure in AmountFigure)
    return {
        "type": "string",
        "maxLength": LONGEST_AXIS,
        "pattern": rf"^(count|({figures})\({WORD}\))?$",
        "description": "What is said of an amount, such as `sum(income)` or `mean(income)`, where"
        " it is offered; else how many there are.",
    }


def question_schema(populations: Sequence[str]) -> Schema:
    """A question.

    Args:
        populations: What can be counted.
    """
    question = object_of(
        {},
        {
            "of": {"type": "string", "enum": list(populations), "description": "What is counted."},
            "measure": {**measure_schema(), "type": ["string", "null"]},
            "by": listed(
                {"type": "string", "maxLength": LONGEST_AXIS, "pattern": AXIS},
                maxItems=MOST_AXES,
                uniqueItems=True,
                description="Axes in the grammar of plans, such as `ed@parish` or `sex`.",
            ),
            "where": {
                "type": ["string", "null"],
                "maxLength": LONGEST_CONDITION,
                "pattern": CONDITION,
                "description": ABOUT_CONDITION,
            },
            "codes": {**codes_schema(), "description": "For some axes the codes to show."},
            "groups": {
                **groups_schema(),
                "description": "For some axes groups of codes: sums of published values.",
            },
        },
    )
    # Codes and groups are those of axes. As anyOf, makers of clients would take it for two shapes.
    question["if"] = {"properties": {"codes": {"maxProperties": 0}, "groups": {"maxProperties": 0}}}
    question["else"] = {"required": ["by"], "properties": {"by": {"minItems": 1}}}
    return question
