"""What an answer says of itself beyond the notes of its method, in the languages of the product."""

from __future__ import annotations

from sdcensus.model.text import Text

#: How groups of somebody's own are called, so that nobody takes them for codes of the office. The
#: first characters are ours: what users write never starts a cell of a spreadsheet.
OWN_GROUP = Text.named("answers.own_group")
#: A code of which the condition chooses a part only.
IN_PART = "{label} *"

SUMS = Text.named("answers.sums")
PARTLY = Text.named("answers.partly")
LOW_RELIABILITY = Text.named("answers.low_reliability")
WITHHELD_AREAS = Text.named("answers.withheld_areas")
