"""Published values in an office's own workbooks."""

from __future__ import annotations

from sdcensus.formats.fill import Filled, fill_template

__all__ = ["Filled", "fill_template"]
