"""``sdcensus impute``: values are blanked and imputed anew."""

from __future__ import annotations

from sdcensus.cli.derive.commands import Family, family_command
from sdcensus.cli.shared.options import examples

IMPUTE = Family(
    "impute",
    "way to impute",
    {"over": "over-imputation", "returned": "returned-imputation"},
)
EXAMPLES = examples(
    "sdcensus impute census.store --variables tenure --rate 0.05 --plan",
    "sdcensus impute census.store --variables tenure --rate 0.05 --out imputed.store",
)
impute = family_command(
    IMPUTE, "Make a store in which values of some records were blanked and imputed anew."
)
