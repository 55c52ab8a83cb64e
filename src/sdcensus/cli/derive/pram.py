"""``sdcensus pram``: codes change by chance, with known probabilities."""

from __future__ import annotations

from sdcensus.cli.derive.commands import Family, family_command
from sdcensus.cli.shared.options import examples

PRAM = Family("pram", "way of PRAM", {"variables": "pram", "geographic": "geographic-pram"})
EXAMPLES = examples(
    "sdcensus pram census.store --variables tenure --plan",
    "sdcensus pram census.store --variables tenure --out changed.store",
)
pram = family_command(
    PRAM, "Make a store in which codes of some records were changed, with known probabilities."
)
