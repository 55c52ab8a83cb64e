"""The shapes of what the API takes and gives, as JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.web.api.asking import NAME, program_schema, program_table_schema, question_schema
from sdcensus.web.api.shapes import (
    ANYTHING,
    COUNT,
    MAYBE_COUNT,
    MAYBE_TEXT,
    MAYBE_TIME,
    TEXT,
    TIME,
    WHOLE,
    Schema,
    listed,
    object_of,
    ref,
)


def components(populations: Sequence[str], program: str) -> Schema:
    """Every shape by its name.

    Args:
        populations: What can be counted.
        program: A pattern of simple programs.
    """
    return {
        "Question": question_schema(populations),
        **_PROBLEM_SHAPES,
        **_OFFERED_SHAPES,
        **_ANSWER_SHAPES,
        "Program": object_of({"program": program_schema(program)}),
        "ProgramTable": object_of(
            {"program": program_schema(program)}, {"table": program_table_schema()}
        ),
        "Compiled": _COMPILED,
        **_ACCOUNT_SHAPES,
        **_STAFF_SHAPES,
        "State": object_of({"status": TEXT}),
        "Document": object_of({"openapi": TEXT, "paths": ANYTHING}, closed=False),
    }


_ERROR = object_of(
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
_PROBLEM_SHAPES: Schema = {
    "ErrorMember": _ERROR,
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


_PARENT = {
    "anyOf": [object_of({"level": TEXT, "code": TEXT}), {"type": "null"}],
}
_CODE = object_of(
    {
        "code": TEXT,
        "label": TEXT,
        "kind": {"type": "string", "enum": ["valid", "not_stated", "not_applicable"]},
        "parent": _PARENT,
    }
)
_VARIABLE = {
    "name": TEXT,
    "label": TEXT,
    "topic": TEXT,
    "description": TEXT,
    "kind": {"type": "string", "enum": ["geography", "ordinary"]},
    "filter": {"type": "boolean"},
    "default_level": TEXT,
}
_DESCRIBED = {"name": TEXT, "label": TEXT, "map": {"type": "boolean"}}
_LEVEL = object_of({**_DESCRIBED, "codes": COUNT})
_OFFERED_SHAPES: Schema = {
    "Code": _CODE,
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
                        "universes": listed(
                            object_of({"name": TEXT, "label": TEXT, "description": TEXT})
                        ),
                        "limits": object_of({"variables": MAYBE_COUNT, "cells": MAYBE_COUNT}),
                    }
                )
            ),
            "formats": listed(
                object_of(
                    {
                        "name": TEXT,
                        "label": TEXT,
                        "about": TEXT,
                        "media_type": TEXT,
                        "endings": listed(TEXT),
                    }
                )
            ),
            "start": ref("AskedQuestion"),
        }
    ),
    "Variables": object_of(
        {"variables": listed(object_of({**_VARIABLE, "levels": listed(_LEVEL)}))}
    ),
    "Variable": object_of(
        {**_VARIABLE, "levels": listed(object_of({**_DESCRIBED, "codes": listed(ref("Code"))}))}
    ),
    "Areas": object_of(
        {
            "variable": TEXT,
            "level": TEXT,
            "total": COUNT,
            "areas": listed(object_of({"code": TEXT, "label": TEXT, "parent": _PARENT})),
        }
    ),
    "Map": object_of(
        {"type": {"const": "FeatureCollection"}, "features": listed(ANYTHING)}, closed=False
    ),
}


_ABOUT = object_of(
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
        "weak": listed(COUNT),
        "example": {"type": ["object", "null"]},
        "own_groups": ANYTHING,
        "versions": ref("Versions"),
    }
)
_ANSWER_SHAPES: Schema = {
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
            "extension": object_of({"sdcensus": _ABOUT}, closed=False),
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
            "notes": listed(TEXT),
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
}
_COMPILED = object_of(
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
)


_TOKEN = {
    "id": TEXT,
    "name": TEXT,
    "created": TIME,
    "last_used": MAYBE_TIME,
    "expires": MAYBE_TIME,
}
_WINDOW = object_of({"limit": MAYBE_COUNT, "left": MAYBE_COUNT, "reset": MAYBE_COUNT})
_SAVED = {
    "id": TEXT,
    "name": TEXT,
    "question": ref("AskedQuestion"),
    "view": ANYTHING,
    "link": TEXT,
    "created": TIME,
}
_ACCOUNT_SHAPES: Schema = {
    "Account": object_of(
        {
            "account": {
                "anyOf": [object_of({"name": TEXT, "display_name": TEXT}), {"type": "null"}]
            },
            "role": {"type": "string", "enum": ["public", "registered", "staff"]},
            "quota": object_of({"tables": _WINDOW, "cells": _WINDOW, "jobs": _WINDOW}),
        }
    ),
    "Token": object_of(_TOKEN),
    "Tokens": object_of({"tokens": listed(ref("Token"))}),
    "MadeToken": object_of({"secret": TEXT, "token": ref("Token")}),
    "NewToken": object_of(
        {
            "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": 80,
                "pattern": NAME,
            }
        },
        {"days": {"type": ["integer", "null"], "minimum": 1, "maximum": 3650}},
    ),
    "Saved": object_of(_SAVED),
    "SavedTables": object_of({"saved": listed(ref("Saved"))}),
    "NewSaved": object_of(
        {
            "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "pattern": NAME,
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


_ALARM = object_of(
    {
        "id": TEXT,
        "pattern": TEXT,
        "who": TEXT,
        "score": {"type": "number"},
        "explanation": ANYTHING,
        "first": TIME,
        "last": TIME,
        "count": COUNT,
        "acknowledged_by": MAYBE_TEXT,
        "acknowledged": MAYBE_TIME,
    }
)
_MESSAGE = object_of(
    {
        "id": TEXT,
        "time": TIME,
        "text": TEXT,
        "contact": TEXT,
        "question": TEXT,
        "read_by": MAYBE_TEXT,
        "read": MAYBE_TIME,
    }
)
_ACCOUNT = object_of(
    {
        "name": TEXT,
        "role": {"type": "string", "enum": ["registered", "staff"]},
        "display_name": TEXT,
        "created": TIME,
        "disabled": MAYBE_TIME,
    }
)
_WORDS = {"type": "string", "maxLength": 200, "pattern": NAME}
_SUMMARY = {
    **dict.fromkeys(("load", "outcomes", "refusals", "watch", "versions"), ANYTHING),
    **dict.fromkeys(("groups", "audit"), ANYTHING),
    "slowest": listed(ANYTHING),
    "alarms": listed(ref("Alarm")),
}
_STAFF_SHAPES: Schema = {
    "Summary": object_of(_SUMMARY),
    "Alarm": _ALARM,
    "SeenAlarm": object_of({"alarm": ref("Alarm")}),
    "Message": _MESSAGE,
    "Messages": object_of({"feedback": listed(ref("Message"))}),
    "ReadMessage": object_of({"feedback": ref("Message")}),
    "KnownAccount": _ACCOUNT,
    "Accounts": object_of({"accounts": listed(ref("KnownAccount"))}),
    "MadeAccount": object_of({"account": ref("KnownAccount")}),
    "NewAccount": object_of(
        {"name": _WORDS, "password": {"type": "string", "minLength": 12, "maxLength": 1_000}},
        {
            "role": {"type": "string", "enum": ["registered", "staff"]},
            "display_name": {"type": "string", "maxLength": 200},
        },
    ),
}
