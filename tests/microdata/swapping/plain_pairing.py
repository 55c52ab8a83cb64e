"""The search for partners as it is defined, one donor after the other: slow, and easy to check."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Alike = Callable[[int, int, int], bool]
Allowed = Callable[[int, int], bool]


def plain_pairs(
    initiators: Sequence[int],
    donors: Sequence[int],
    profiles: int,
    alike: Alike,
    allowed: Allowed,
    used: set[int],
    quota: int | None = None,
) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Pairs with the profile by which they were found, and those who found nobody."""
    pairs: list[tuple[int, int, int]] = []
    failed: list[int] = []
    for unit in initiators:
        if quota is not None and len(pairs) >= quota:
            break
        if unit in used:
            continue
        choice = next(
            (
                (donor, profile)
                for profile in range(profiles)
                for donor in donors
                if donor not in used and allowed(unit, donor) and alike(profile, unit, donor)
            ),
            None,
        )
        if choice is None:
            failed.append(unit)
            continue
        used |= {unit, choice[0]}
        pairs.append((unit, *choice))
    return pairs, failed
