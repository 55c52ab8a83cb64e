"""``sdcensus swap``: records exchange places, or attributes."""

from __future__ import annotations

from sdcensus.cli.derive.commands import Family, family_command
from sdcensus.cli.shared.options import examples

SWAP = Family(
    "swap",
    "way to swap",
    {
        "targeted": "targeted-swap",
        "random": "random-swap",
        "proportional": "proportional-swap",
        "attributes": "attribute-swap",
    },
)
EXAMPLES = examples(
    "sdcensus swap c.store --risk-variables sex,age --rate 0.05 --plan",
    "sdcensus swap c.store --risk-variables sex,age --rate 0.05 --out swapped.store",
    "sdcensus swap c.store --how random --rate 0.1 --out swapped.store",
)
swap = family_command(
    SWAP,
    "Make a store in which some households have exchanged places, or persons attributes.",
)
