"""A perturbation in words, for commands and pages."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sdcensus.model.quantities import share_text
from sdcensus.report.perturbation.summary import Summary

#: A bias below this comes from the number of keys, not from the design.
_UNAVOIDABLE = 1e-6


def signed(value: int) -> str:
    """A deviation.

    Examples:
        >>> signed(-2), signed(0), signed(3)
        ('−2', '0', '+3')
    """
    return f"{value:+d}".replace("-", "−") if value else "0"


def probability(share: float, digits: int = 4) -> str:
    """A probability of a table, without the 0 before its point; what is not zero has a sign.

    Examples:
        >>> probability(0.37967), probability(1), probability(0), probability(0.00001)
        ('.3797', '1', '-', '+0')
    """
    if share == 0:
        return "-"
    if share == 1:
        return "1"
    text = f"{share:.{digits}f}"
    if not float(text):
        return "+0"
    return text.removeprefix("0") if float(text) < 1 else "1-"


def small(value: float) -> str:
    """A bias: 0, a few digits, or a power of ten where these would show nothing.

    Examples:
        >>> small(0), small(0.565), small(-2.3e-10)
        ('0', '+0.565', '-2.3e-10')
    """
    if not value:
        return "0"
    return f"{value:+.3f}" if abs(value) >= 0.0005 else f"{value:+.1e}"


def key_space_text(keys: int) -> str:
    """How many keys there are.

    Examples:
        >>> key_space_text(2**32), key_space_text(10**8), key_space_text(256), key_space_text(999)
        ('2**32', '10**8', '256', '999')
    """
    if keys > 65_536:
        for base in (2, 10):
            for power in range(16, 33):
                if base**power == keys:
                    return f"{base}**{power}"
    digits = str(keys)
    if keys >= 10_000 and digits.strip("0") == "1":
        return f"10**{len(digits) - 1}"
    return digits


def in_words(summary: Summary) -> str:
    """What happens to counts, for those who do not read tables of probabilities."""
    large = summary.large
    most, usual = max(map(abs, large.chances)), _usual_change(large.chances)
    nearly = f" (nearly always by at most {usual})" if usual < most else ""
    said = [
        f"A large count changes by at most {most}{nearly} and by {large.size:.2f} on average;"
        f" {share_text(large.stay)} stay as they are."
    ]
    ones = next((row for row in summary.rows if row.count == 1), None)
    if ones is not None and ones.becomes_zero:
        said.append(f"Of the ones, {share_text(ones.becomes_zero)} are published as 0.")
    said.append("Empty cells stay empty." if summary.zeros_stay else "Empty cells can grow.")
    if summary.multiples_of:
        said.append(f"Only multiples of {summary.multiples_of} are published.")
    elif summary.blocked:
        said.append(f"{never_published(summary.blocked).capitalize()}.")
    said.append(bias_sentence(summary))
    return " ".join(said)


def _usual_change(chances: Mapping[int, float]) -> int:
    """What all but one in a thousand changes do not exceed."""
    sizes = sorted(map(abs, chances))
    return next(
        size
        for size in sizes
        if math.fsum(share for value, share in chances.items() if abs(value) > size) < 0.001
    )


def never_published(blocked: int) -> str:
    """Which counts never appear.

    Examples:
        >>> never_published(1), never_published(2)
        ('counts of 1 are never published', 'counts of 1 and 2 are never published')
        >>> never_published(4)
        'counts of 1 to 4 are never published'
    """
    which = {1: "1", 2: "1 and 2"}.get(blocked, f"1 to {blocked}")
    return f"counts of {which} are never published"


def bias_sentence(summary: Summary) -> str:
    """Whether counts change on average."""
    biased = summary.biased
    if not biased:
        return "On average, no count grows or shrinks."
    most = max(biased, key=lambda row: abs(row.bias))
    if abs(most.bias) < _UNAVOIDABLE:
        return (
            f"On average, no count grows or shrinks by more than {abs(most.bias):.1g}, which whole"
            " numbers of keys cannot avoid."
        )
    which = ", ".join(str(row.count) for row in biased[:4]) + (" ..." if len(biased) > 4 else "")
    return (
        f"On average, counts change by up to {small(most.bias)}"
        f" (count{'s' if len(biased) > 1 else ''} {which})."
    )


def lookup_sentence() -> str:
    """What the figures of look-ups mean."""
    return (
        "Someone who knows this table adds two large published parts and compares with their"
        " published total. The gap tells something about what was added to each part; how much"
        " depends on how cell keys are looked up."
    )


def scrambled_sentence(summary: Summary) -> str:
    """Whose scrambled order the figures are for."""
    if summary.own_order:
        return "Scrambled: the order of the secret that was given."
    return "Scrambled: the mean of two hundred orders; with the secret, that of the office itself."


def distinction_sentence(summary: Summary) -> str:
    """How well a published number tells a count from the next one."""
    distinction = summary.distinction
    return (
        "How well one published number tells a count from the next (delta at epsilon 1; 0 is best,"
        f" 1 is certain): {distinction.large:.3f} for large counts, {distinction.empty:.3f} for"
        " empty against one."
        " An indicator, not a promise: the same number is used in every table."
    )
