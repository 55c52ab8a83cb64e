"""What tells tables apart that must be counted apart."""

from __future__ import annotations

import hashlib
import json

from sdcensus.model.spec.table_spec import TableSpec


def spec_key(spec: TableSpec) -> str:
    """The same for tables with the same cells in the same order.

    Axes in another order are other cells.
    """
    axes = [
        [axis.variable.name, [block.level for block in axis.blocks], axis.digest()]
        for axis in spec.axes
    ]
    text = json.dumps(axes, sort_keys=True, ensure_ascii=False)
    return f"{spec.hash()} {hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"
