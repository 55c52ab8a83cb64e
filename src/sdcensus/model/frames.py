"""Columns as a data frame, where pandas is at hand. The model itself needs no data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from sdcensus.errors import MissingExtra


def frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A data frame of pandas with these columns."""
    # By name: whoever imports the model must not import pandas with it.
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise MissingExtra("frames", needed_for="A data frame") from None
    return pandas.DataFrame(columns)
