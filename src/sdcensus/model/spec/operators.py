"""The signs of conditions: how comparisons and the words between them may be written."""

from __future__ import annotations

from typing import Literal, get_args

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in"]

#: How comparisons may be written, also by those who know other programs.
OPERATORS: dict[str, Operator] = {
    **{sign: sign for sign in get_args(Operator) if not sign.endswith("in")},
    "=": "==",
    "<>": "!=",
}
#: Signs that others write for words that join conditions.
JOINING_SIGNS = {"and": ("&", "&&"), "or": ("|", "||")}
#: Signs that may follow the name of a universe.
AFTER_A_UNIVERSE = frozenset((")", *JOINING_SIGNS["and"], *JOINING_SIGNS["or"]))
#: Two signs that somebody wrote the wrong way round.
REVERSED = {"=>": ">=", "=<": "<=", "><": "<>"}
