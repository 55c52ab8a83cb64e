"""What else to know about a table that may be asked for: the rules that are still to come."""

from __future__ import annotations

from collections.abc import Iterator

from sdcensus.errors import Sentence, told
from sdcensus.model.policy.policy import OnlineRules, WhenSparse


def still_to_come(rules: OnlineRules) -> Iterator[Sentence]:
    """What published numbers decide, for a table that rules on code lists let pass."""
    if rules.mean_cell_size is not None:
        size = float(rules.mean_cell_size)
        match rules.when_sparse:
            case WhenSparse.WITHHOLD_AREA:
                yield told(
                    "note.sparse-area",
                    "Published numbers decide further: below {size} units for each cell, the area"
                    " is withheld.",
                    size=size,
                )
            case WhenSparse.REFUSE_TABLE:
                yield told(
                    "note.sparse-refused",
                    "Published numbers decide further: below {size} units for each cell, the table"
                    " is refused.",
                    size=size,
                )
            case WhenSparse.C:
                yield told(
                    "note.sparse-small",
                    "Published numbers decide further: below {size} units for each cell, values"
                    " below {below} become c.",
                    size=size,
                    below=rules.below,
                )
    if rules.mean_cell_size_of_table is not None:
        yield told(
            "note.sparse-table",
            "Published numbers decide further: below {size} units for each cell of the whole table,"
            " it is refused.",
            size=float(rules.mean_cell_size_of_table),
        )
    if rules.minimum_population is not None:
        yield told(
            "note.small-population",
            "Published numbers decide further: areas below {size} units are withheld.",
            size=float(rules.minimum_population),
        )
    if rules.ones is not None or rules.ones_and_twos is not None:
        yield told(
            "note.ones",
            "Published numbers decide further: a table with too many ones or twos is refused.",
        )
