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
        **_told(),
        **_offered(),
        **_answers(program),
        **_accounts(),
        **_staff(),
        "State": object_of({"status": TEXT}),
        "Document": object_of({"openapi": TEXT, "paths": ANYTHING}, closed=False),
    }


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
            "weak": listed(COUNT),
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
        "Program": object_of({"program": program_schema(program)}),
        "ProgramTable": object_of(
            {"program": program_schema(program)},
            {"table": program_table_schema()},
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
                    "pattern": NAME,
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


def _staff() -> Schema:
    alarm = object_of(
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
    message = object_of(
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
    account = object_of(
        {
            "name": TEXT,
            "role": {"type": "string", "enum": ["registered", "staff"]},
            "display_name": TEXT,
            "created": TIME,
            "disabled": MAYBE_TIME,
        }
    )
    words = {"type": "string", "maxLength": 200, "pattern": NAME}
    summary = {
        **dict.fromkeys(("load", "outcomes", "refusals", "watch", "versions"), ANYTHING),
        **dict.fromkeys(("groups", "audit"), ANYTHING),
        "slowest": listed(ANYTHING),
        "alarms": listed(ref("Alarm")),
    }
    return {
        "Summary": object_of(summary),
        "Alarm": alarm,
        "SeenAlarm": object_of({"alarm": ref("Alarm")}),
        "Message": message,
        "Messages": object_of({"feedback": listed(ref("Message"))}),
        "ReadMessage": object_of({"feedback": ref("Message")}),
        "KnownAccount": account,
        "Accounts": object_of({"accounts": listed(ref("KnownAccount"))}),
        "MadeAccount": object_of({"account": ref("KnownAccount")}),
        "NewAccount": object_of(
            {"name": words, "password": {"type": "string", "minLength": 12, "maxLength": 1_000}},
            {
                "role": {"type": "string", "enum": ["registered", "staff"]},
                "display_name": {"type": "string", "maxLength": 200},
            },
        ),
    }
