"""How large the smallest group should be: larger than any private household, whatever the noise.

The members of a household share its variables, so a cell of one household tells of each of them
what it tells of all. K = t + D + 1 guarantees that no cell of t or fewer units is broken down,
where D is the largest deviation; t is the size of the largest private household.
"""

from __future__ import annotations

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.kernels.tabulate import NO_ROW
from sdcensus.methods.method import Method
from sdcensus.model.entity import Entity
from sdcensus.model.universe import universe_of
from sdcensus.session.census import Census
from sdcensus.session.smallest_group import judging_method

#: Where nothing says which households are private, larger ones are taken for institutions.
LARGEST_PRIVATE = 25
#: The households of a census that has none: few private ones anywhere are larger.
WITHOUT_HOUSEHOLDS = 12


def suggested_smallest_group(census: Census, method: Method, *, private: str = "") -> int:
    """The smallest group that offices should begin with. Public, as any size that is in force.

    Args:
        census: The census.
        method: How its tables are protected.
        private: Which households are private ones, as a condition on their variables, such as
            ``"household_kind == 1"``; without it, those of at most ``LARGEST_PRIVATE`` persons.

    Raises:
        SpecError: The method has no limit for every number.
    """
    largest = judging_method(method).largest_deviation or 0
    return largest_private_household(census, private) + largest + 1


def largest_private_household(census: Census, private: str = "") -> int:
    """How many persons the largest private household has; confidential."""
    schema, store = census.schema, census.kept_store
    path = schema.path(Entity.PERSON, Entity.HOUSEHOLD) if _has_households(census) else None
    if store is None or not path:
        if private:
            raise SpecError("There are no households in this census that could be private.")
        return WITHOUT_HOUSEHOLDS
    rows = store.household_rows(Entity.PERSON)[slice(0, store.rows(Entity.PERSON))]
    size = np.bincount(rows[rows != NO_ROW], minlength=store.rows(Entity.HOUSEHOLD))
    if not private:
        size = size[size <= LARGEST_PRIVATE]
        return int(size.max(initial=1))
    universe = universe_of(private, schema)
    every = slice(0, store.rows(Entity.HOUSEHOLD))
    place = []
    for variable, classes in zip(universe.variables, universe.classes, strict=True):
        if schema.path(Entity.HOUSEHOLD, variable.entity) is None:
            raise SpecError(f"{variable.name!r} does not describe households.")
        place.append(classes[store.column(Entity.HOUSEHOLD, variable)[every].astype(np.int64)])
    held = np.broadcast_to(universe.truth[tuple(place)], size.shape)
    if not held.any():
        raise SpecError(f"No household is a private one by the condition {private!r}.")
    return int(size[held].max())


def _has_households(census: Census) -> bool:
    return any(one.entity is Entity.HOUSEHOLD for one in census.schema.entities)
