"""The formula of a model: ``income ~ age + sex``, or ``activity == 1 ~ age + sex``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sdcensus.errors import SpecError

_NAME = re.compile(r"[^\W\d]\w*(?:@\w+)?")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class ModelError(SpecError):
    """A model that cannot be compared for a file; the rest of a report can be made without it."""


@dataclass(frozen=True, slots=True)
class ModelFormula:
    """What a formula says.

    Attributes:
        outcome: The name of an amount, or a condition in the grammar of plans.
        amount: Whether it is an amount: a linear model, else a logistic one.
        terms: The names of the variables that explain it, in their order.
    """

    outcome: str
    amount: bool
    terms: tuple[str, ...]


def parse_formula(text: str, model: str) -> ModelFormula:
    """Read a formula.

    Raises:
        SpecError: It is none, or names a variable twice.

    Examples:
        >>> parse_formula("income ~ age + sex", "pay").terms
        ('age', 'sex')
        >>> parse_formula("activity == 1 ~ age", "work").amount
        False
    """
    plain = _QUOTED.sub(lambda quoted: "x" * len(quoted.group()), text)
    if plain.count("~") != 1:
        raise SpecError(
            f"Model {model!r}: the formula {text!r} should have one ~ between what is explained and"
            " what explains it, such as 'income ~ age + sex'."
        )
    at = plain.index("~")
    outcome, explained_by = text[:at].strip(), text[at + 1 :]
    terms = tuple(term.strip() for term in explained_by.split("+"))
    for term in terms:
        if _NAME.fullmatch(term) is None:
            raise SpecError(
                f"Model {model!r}: {term!r} in the formula {text!r} is no name of a variable. Join"
                " names with +, such as 'income ~ age + sex'; products and functions are not known."
            )
    twice = next((term for term in terms if terms.count(term) > 1), None)
    if twice is not None:
        raise SpecError(f"Model {model!r}: {twice!r} stands twice in the formula. Name it once.")
    if not outcome:
        raise SpecError(
            f"Model {model!r}: nothing stands before the ~ of {text!r}. Name an amount, or a"
            " condition such as activity == 1."
        )
    return ModelFormula(outcome, _NAME.fullmatch(outcome) is not None, terms)
