"""Texts in JSON that others may have written."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """What a text in JSON says.

    Python's own parser calls itself for every bracket, and gives up with an error that is no
    mistake in a value when there are a thousand of them within each other.

    Raises:
        ValueError: It is no JSON, or nested deeper than anything that this program writes.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
