"""The words in which shapes are said, as JSON Schema."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
MAYBE_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
TIME: Schema = {"type": "string", "format": "date-time"}
MAYBE_TIME: Schema = {"type": ["string", "null"], "format": "date-time"}
ANYTHING: Schema = {"type": "object"}
#: A name of a variable, level or table, as a pattern.
WORD = r"[A-Za-z_][A-Za-z0-9_]{0,60}"


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
