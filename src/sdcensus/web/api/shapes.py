"""The words in which shapes are said, as JSON Schema."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

#: A name of a variable, level or table, as a pattern.
WORD = r"[A-Za-z_][A-Za-z0-9_]{0,60}"


def ref(name: str) -> Schema:
    """A shape by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def listed(items: Schema, **more: Any) -> Schema:
    """A list of something."""
    return {"type": "array", "items": items, **more}


def object_of(required: Schema, optional: Schema | None = None) -> Schema:
    """An object with these members."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }
