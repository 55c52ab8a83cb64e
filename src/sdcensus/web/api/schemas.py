"""The shapes of what the API takes and gives, as JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdcensus.model.question import (
    LONGEST_AXIS,
    LONGEST_CODE,
    LONGEST_LABEL,
    MOST_AXES,
    MOST_GROUPS,
)

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
MAYBE_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
TIME: Schema = {"type": "string", "format": "date-time"}
MAYBE_TIME: Schema = {"type": ["string", "null"], "format": "date-time"}
ANYTHING: Schema = {"type": "object"}

#: Characters that can be shown; texts of questions have no others.
_PLAIN = r"^[^\x00-\x1f\x7f]*$"
#: The name of a group: something to be seen, and no control signs.
_LABEL = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
#: A name: the same, without signs that cannot be seen at all.
_UNSEEN = (
    r"\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
)
_NAME = rf"^[^{_UNSEEN}]*[^\s{_UNSEEN}][^{_UNSEEN}]*$"
#: An axis in the grammar of plans.
AXIS = r"^[A-Za-z_][A-Za-z0-9_]{0,60}(@[A-Za-z_][A-Za-z0-9_]{0,60})?(-total)?$"
_WORD = r"[A-Za-z_][A-Za-z0-9_]{0,60}"
_QUOTED = r"(\"[^\"\x00-\x1f\x7f]{0,200}\"|'[^'\x00-\x1f\x7f]{0,200}')"
_VALUE = rf"(-?[0-9]{{1,18}}|{_QUOTED})"
_OPERAND = rf"{_WORD}( *@ *{_WORD})?"
_SIGN = r"(==|!=|<=|>=|<|>)"
_COMPARED = rf"({_OPERAND} *{_SIGN} *{_VALUE}|{_VALUE} *{_SIGN} *{_OPERAND})"
_INSIDE = rf"{_OPERAND} +((not|NOT) +)?(in|IN) *\( *{_VALUE}( *, *{_VALUE})* *\)"
_NOT = r"((not|NOT) +){0,3}"
_AND = r" +(and|or|AND|OR) +"
_TERM = rf"{_NOT}({_COMPARED}|{_INSIDE})"
_CHAIN = rf"{_TERM}({_AND}{_TERM})*"
_PART = rf"({_TERM}|{_NOT}\( *{_CHAIN} *\))"
#: Conditions, but for parentheses in parentheses, which no regular expression can count.
CONDITION = rf"^( *{_PART}({_AND}{_PART})* *)?$"
ABOUT_CONDITION = (
    "A condition of at most 4,000 characters, such as `age >= 15 and sex in (1, 2)` or"
    " `not (ed@parish == 'N' or age@broad == '0-14')`. The server also reads parentheses within"
    " parentheses, and names of variables that are not ASCII, which this pattern leaves out."
)


def program_pattern(kind: str, variables: Sequence[str]) -> str:
    """Simple programs of one table, by the variables that there are; the language has more."""
    variable = rf"{kind}\.({'|'.join(variables)})"
    title = r"( TITLE '[A-Za-z0-9][A-Za-z0-9 ,.-]{0,80}')?"
    shown = (
        rf"(FREQUENCY OF {variable}|COUNT OF {kind}( BY {variable})?|DISTRIBUTION OF {variable})"
    )
    return rf"^TABLE [a-z]_[a-z0-9_]{{1,30}}{title} AS {shown}$"


def ref(name: str) -> Schema:
    """A shape by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def listed(items: Schema, **more: Any) -> Schema:
    """A list of something."""
    return {"type": "array", "items": items, **more}


def object_of(required: Schema, optional: Schema | None = None, *, closed: bool = True) -> Schema:
    """An object with these members."""
    made: Schema = {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }
    if closed:
        made["additionalProperties"] = False
    return made


def components(populations: Sequence[str], program: str) -> Schema:
    """Every shape by its name.

    Args:
        populations: What can be counted.
        program: A pattern of simple programs.
    """
    return {
        **_questions(populations),
        **_told(),
        **_offered(),
        **_answers(program),
        **_accounts(),
    }


def codes_schema() -> Schema:
    """For some axes, by variable, the codes to show."""
    codes = listed(
        {"type": "string", "maxLength": LONGEST_CODE, "pattern": _PLAIN},
        minItems=1,
    )
    return _by_variable(codes)


def groups_schema() -> Schema:
    """For some axes, by variable, groups of codes."""
    group = object_of(
        {
            "label": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_LABEL,
                "pattern": _LABEL,
            },
            "codes": listed(
                {"type": "string", "maxLength": LONGEST_CODE, "pattern": _PLAIN},
                minItems=1,
            ),
        }
    )
    return _by_variable(listed(group, minItems=1, maxItems=MOST_GROUPS, uniqueItems=True))


def _by_variable(values: Schema) -> Schema:
    return {
        "type": ["object", "null"],
        "maxProperties": MOST_AXES,
        "propertyNames": {"pattern": r"^[A-Za-z_][A-Za-z0-9_]{0,60}$"},
        "additionalProperties": values,
    }


def _questions(populations: Sequence[str]) -> Schema:
    question = object_of(
        {},
        {
            "of": {"type": "string", "enum": list(populations), "description": "What is counted."},
            "by": listed(
                {"type": "string", "maxLength": LONGEST_AXIS, "pattern": AXIS},
                maxItems=MOST_AXES,
                uniqueItems=True,
                description="Axes in the grammar of plans, such as `ed@parish` or `sex`.",
            ),
            "where": {
                "type": ["string", "null"],
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
    # Codes and groups are those of axes.
    question["anyOf"] = [
        {"required": ["by"], "properties": {"by": {"minItems": 1}}},
        {"properties": {"codes": {"maxProperties": 0}, "groups": {"maxProperties": 0}}},
    ]
    return {"Question": question}


def _told() -> Schema:
    error = object_of(
        {
            "status": WHOLE,
            "code": {
                "type": "string",
                "enum": [
                    *("bad-question", "unknown-name", "not-found", "unauthorised", "forbidden"),
                    *("refused", "too-large", "unsupported", "quota", "busy", "csrf", "internal"),
                ],
            },
            "message": TEXT,
            "place": MAYBE_TEXT,
            "at": MAYBE_COUNT,
            "reasons": listed(ref("Reason")),
            "remedies": listed(ref("Remedy")),
            "request": TEXT,
        }
    )
    return {
        "ErrorMember": error,
        "Error": object_of({"error": ref("ErrorMember")}),
        "Reason": object_of(
            {"code": TEXT, "text": TEXT, "variables": listed(TEXT), "values": ANYTHING}
        ),
        "AskedQuestion": object_of(
            {"of": TEXT, "by": listed(TEXT)},
            {"where": TEXT, "codes": ANYTHING, "groups": ANYTHING},
        ),
        "Remedy": object_of(
            {
                "kinds": listed(TEXT),
                "text": TEXT,
                "question": ref("AskedQuestion"),
                "available": MAYBE_COUNT,
                "areas": MAYBE_COUNT,
            }
        ),
        "Versions": object_of(
            {"data": TEXT, "keys": WHOLE, "method": TEXT, "package": TEXT, "policy": TEXT}
        ),
    }


def _offered() -> Schema:
    parent = {
        "anyOf": [object_of({"level": TEXT, "code": TEXT}), {"type": "null"}],
    }
    code = object_of(
        {
            "code": TEXT,
            "label": TEXT,
            "kind": {"type": "string", "enum": ["valid", "not_stated", "not_applicable"]},
            "parent": parent,
        }
    )
    variable = {
        "name": TEXT,
        "label": TEXT,
        "topic": TEXT,
        "description": TEXT,
        "kind": {"type": "string", "enum": ["geography", "ordinary"]},
        "filter": {"type": "boolean"},
        "default_level": TEXT,
    }
    described = {"name": TEXT, "label": TEXT, "map": {"type": "boolean"}}
    level = object_of({**described, "codes": COUNT})
    return {
        "Code": code,
        "Datasets": object_of(
            {
                "census": object_of(
                    {
                        "name": TEXT,
                        "country": TEXT,
                        "reference_date": TEXT,
                        "languages": listed(TEXT),
                    }
                ),
                "version": object_of({"data": TEXT, "keys": WHOLE}),
                "datasets": listed(
                    object_of(
                        {
                            "id": TEXT,
                            "label": TEXT,
                            "variables": COUNT,
                            "limits": object_of({"variables": MAYBE_COUNT, "cells": MAYBE_COUNT}),
                        }
                    )
                ),
                "start": ref("AskedQuestion"),
            }
        ),
        "Variables": object_of(
            {"variables": listed(object_of({**variable, "levels": listed(level)}))}
        ),
        "Variable": object_of(
            {**variable, "levels": listed(object_of({**described, "codes": listed(ref("Code"))}))}
        ),
        "Areas": object_of(
            {
                "variable": TEXT,
                "level": TEXT,
                "total": COUNT,
                "areas": listed(object_of({"code": TEXT, "label": TEXT, "parent": parent})),
            }
        ),
        "Map": object_of(
            {"type": {"const": "FeatureCollection"}, "features": listed(ANYTHING)}, closed=False
        ),
    }


def _answers(program: str) -> Schema:
    about = object_of(
        {
            "question": ref("AskedQuestion"),
            "link": TEXT,
            "hash": TEXT,
            "cells": COUNT,
            "limit": MAYBE_COUNT,
            "variables": COUNT,
            "most_variables": MAYBE_COUNT,
            "outcome": {"type": "string", "enum": ["allowed", "withheld"]},
            "areas": {"type": ["object", "null"]},
            "withheld": listed(object_of({"variable": TEXT, "level": TEXT, "codes": listed(TEXT)})),
            "reasons": listed(ref("Reason")),
            "remedies": listed(ref("Remedy")),
            "parts": {"type": ["array", "null"], "items": COUNT},
            "example": {"type": ["object", "null"]},
            "own_groups": ANYTHING,
            "versions": ref("Versions"),
        }
    )
    return {
        "Table": object_of(
            {
                "version": {"const": "2.0"},
                "class": {"const": "dataset"},
                "label": TEXT,
                "id": listed(TEXT),
                "size": listed(COUNT),
                "role": ANYTHING,
                "dimension": ANYTHING,
                "value": {"type": ["array", "object"]},
                "extension": object_of({"sdcensus": about}, closed=False),
            },
            {"note": listed(TEXT), "status": ANYTHING, "source": TEXT, "updated": TEXT},
        ),
        "Check": object_of(
            {
                "question": ref("AskedQuestion"),
                "link": TEXT,
                "cells": COUNT,
                "limit": MAYBE_COUNT,
                "variables": COUNT,
                "most_variables": MAYBE_COUNT,
                "outcome": {"type": "string", "enum": ["allowed", "withheld", "refused"]},
                "reasons": listed(ref("Reason")),
                "remedies": listed(ref("Remedy")),
            }
        ),
        "Job": object_of(
            {
                "job": object_of(
                    {
                        "id": TEXT,
                        "status": {
                            "type": "string",
                            "enum": ["waiting", "running", "done", "failed", "expired"],
                        },
                        "progress": {"type": "number", "minimum": 0, "maximum": 1},
                        "stage": TEXT,
                        "result": MAYBE_TEXT,
                        "expires": TIME,
                        "error": {"anyOf": [ref("ErrorMember"), {"type": "null"}]},
                    }
                )
            }
        ),
        "Program": object_of({"program": _program(program)}),
        "ProgramTable": object_of(
            {"program": _program(program)},
            {"table": {"type": "string", "maxLength": 60, "pattern": r"^[A-Za-z_]*$"}},
        ),
        "Compiled": object_of(
            {
                "tables": listed(
                    object_of(
                        {
                            "name": TEXT,
                            "title": TEXT,
                            "question": ref("AskedQuestion"),
                            "link": TEXT,
                            "share": MAYBE_TEXT,
                            "computed": {"type": "boolean"},
                            "result": TEXT,
                        },
                        closed=False,
                    )
                )
            },
            closed=False,
        ),
    }


def _program(pattern: str) -> Schema:
    about = (
        "A program of the command language. Simple programs of one table fit this pattern; the"
        " server reads the whole language, with several tables, conditions and definitions: clients"
        " that are made from this document should not check programs against it."
    )
    return {"type": "string", "pattern": pattern, "description": about}


def _accounts() -> Schema:
    token = {
        "id": TEXT,
        "name": TEXT,
        "created": TIME,
        "last_used": MAYBE_TIME,
        "expires": MAYBE_TIME,
    }
    window = object_of({"limit": MAYBE_COUNT, "left": MAYBE_COUNT, "reset": MAYBE_COUNT})
    saved = {
        "id": TEXT,
        "name": TEXT,
        "question": ref("AskedQuestion"),
        "view": ANYTHING,
        "link": TEXT,
        "created": TIME,
    }
    return {
        "Account": object_of(
            {
                "account": {
                    "anyOf": [object_of({"name": TEXT, "display_name": TEXT}), {"type": "null"}]
                },
                "role": {"type": "string", "enum": ["public", "registered", "staff"]},
                "quota": object_of({"tables": window, "cells": window, "jobs": window}),
            }
        ),
        "Token": object_of(token),
        "Tokens": object_of({"tokens": listed(ref("Token"))}),
        "MadeToken": object_of({"secret": TEXT, "token": ref("Token")}),
        "NewToken": object_of(
            {
                "name": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 80,
                    "pattern": _NAME,
                }
            },
            {"days": {"type": ["integer", "null"], "minimum": 1, "maximum": 3650}},
        ),
        "Saved": object_of(saved),
        "SavedTables": object_of({"saved": listed(ref("Saved"))}),
        "NewSaved": object_of(
            {
                "name": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 200,
                    "pattern": _NAME,
                },
                "question": ref("Question"),
            },
            {
                "view": {"type": "object"},
            },
        ),
        "NewFeedback": object_of(
            {
                "text": {
                    "type": "string",
                    "maxLength": 4_000,
                    "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$",
                }
            },
            {
                "contact": {"type": "string", "maxLength": 200, "pattern": r"^[^\x00]*$"},
                "question": {"type": ["object", "null"]},
            },
        ),
        "Received": object_of({"id": TEXT}),
    }
