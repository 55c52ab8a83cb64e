"""Values as they stand in a TOML document, for documents that the program writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping


def toml(value: object) -> str:
    """A text, a number, true or false, a list or a table of such values.

    Examples:
        >>> print(toml({"name": 'the "new" one', "at": [1, 2.5], "on": True}))
        { name = "the \\"new\\" one", at = [1, 2.5], on = true }
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # The escapes of JSON are those of TOML, which has one more.
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(key)} = {toml(one)}" for key, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)


def toml_key(name: str) -> str:
    """The name of a value or table, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)
