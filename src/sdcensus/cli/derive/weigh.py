"""``sdcensus weigh``: households count for more or less, or only some of them."""

from __future__ import annotations

from sdcensus.cli.derive.commands import Family, family_command
from sdcensus.cli.shared.options import examples

WEIGH = Family(
    "weigh",
    "way to weigh",
    {"weights": "perturbation-weights", "sample": "systematic-sample"},
)
EXAMPLES = examples(
    "sdcensus weigh census.store --one-in 10 --level total --plan",
    "sdcensus weigh census.store --one-in 10 --level total --out weighed.store",
    "sdcensus weigh census.store --how sample --out third.store",
)
weigh = family_command(
    WEIGH,
    "Make a store whose records have weights: its tables are weighted counts.",
)
