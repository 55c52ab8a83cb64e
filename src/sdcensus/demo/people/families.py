"""Families of the demo country: who belongs to which, of what type it is, and who is married.

A family is a couple, or a lone parent, with the children who live with them and have neither
partner nor child of their own there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcensus.demo.documents.questionnaire import categories
from sdcensus.demo.people.households import Households
from sdcensus.demo.people.members import FEMALE, MALE, Members, group
from sdcensus.demo.people.shares import (
    CHILD,
    CONSENSUAL,
    DOMESTIC,
    GRANDCHILD,
    HEAD,
    HOMELESS,
    INSTITUTION,
    LODGER,
    MARRIED,
    MARRIED_SAME,
    OTHER,
    PARTNER,
    PRIVATE,
    RESIDENT,
    SECOND_PARENT,
    SECOND_PARTNER,
    numbers_of,
    shares_of,
)
from sdcensus.demo.words import Draws, Ints

(
    HUSBAND_WIFE,
    SAME_SEX_SPOUSE,
    UNION_PARTNER,
    LONE_PARENT,
    OF_COUPLE,
    OF_LONE_PARENT,
    NO_FAMILY_STATUS,
    FAMILY_STATUS_UNKNOWN,
) = categories("family_status")
(IN_FAMILY, ALONE, WITH_OTHERS, PRIVATE_UNKNOWN, IN_INSTITUTION, NO_HOME) = categories(
    "household_status"
)
(NEVER, WED, WED_SAME, SEPARATED, WIDOWED, DIVORCED, _) = categories("marital_status")
(LIVES_WITH_SPOUSE, COMMON_LAW, VISITING, NO_UNION, TOO_YOUNG, _) = categories("union_status")
#: Relationship to the head, by the role in the household and for those outside the family.
RELATIONSHIP_OF_ROLE = np.array([0, 2, 3, 3, 4, 5, 8, 11, 0], dtype=np.int32)
RELATIONSHIP_OF_OTHER = np.array([6, 7, 5, 8, 8, 9, 10], dtype=np.int32)
SPOUSE = 1
NO_RELATIONSHIP = categories("relationship")[-1]
#: Positions in the code lists of types of families and households.
LONE_FATHER_TYPE, LONE_MOTHER_TYPE, NO_FAMILY_TYPE = 9, 11, categories("family_type")[-1]
NO_FAMILY_SIZE = categories("family_size")[-1]
NO_CHILDREN_BORN = categories("children_born")[-2]
MOST_CHILDREN = NO_CHILDREN_BORN - 1
TWO_FAMILIES, NOT_PRIVATE = categories("household_type")[-2:]
NOT_PRIVATE_SIZE = categories("household_size")[-1]


@dataclass(frozen=True, slots=True, eq=False)
class Families:
    """What follows from who lives together: columns of households and of persons.

    ``number`` is the number of a person's family in the household, 0 for none; ``count`` is how
    many families there are.
    """

    number: Ints
    count: int
    household: dict[str, Ints]
    person: dict[str, Ints]


def make_families(draws: Draws, homes: Households, people: Members) -> Families:
    """Find the families and everything that follows from them."""
    first = ((homes.partner > 0) | (homes.children > 0)).astype(np.int32)
    second = (homes.second > 0).astype(np.int32)
    in_first = np.isin(people.role, (HEAD, PARTNER, CHILD))
    in_second = np.isin(people.role, (SECOND_PARENT, SECOND_PARTNER, GRANDCHILD))
    home = people.household
    number = np.where(in_first, first[home], np.where(in_second, first[home] + 1, 0))

    # Families one after the other: the first of each household, then the second.
    index = home * 2 + in_second
    count = 2 * len(homes)
    member = number > 0
    size = np.bincount(index[member], minlength=count)
    is_child = member & np.isin(people.role, (CHILD, GRANDCHILD))
    children = np.bincount(index[is_child], minlength=count)
    youngest = np.full(count, 999)
    np.minimum.at(youngest, index[is_child], people.age[is_child])
    with_child = np.where(children == 0, 0, np.where(youngest < 25, 1, 2))

    couple = np.full(count, -1, np.int32)
    couple[0::2] = homes.couple
    kinds = draws.choose("second couple kind", homes.units, shares_of("couple_kind"), 1)
    # A second couple in a household is a man and a woman.
    couple[1::2] = np.where(homes.second > 1, np.where(kinds == MARRIED, MARRIED, CONSENSUAL), -1)
    # Nobody marries before 18.
    young = np.bincount(index[(people.age < 18) & ~is_child & member], minlength=count) > 0
    couple = np.where((couple == MARRIED) & young, CONSENSUAL, couple)
    father = np.zeros(count, dtype=np.bool_)
    lone = member & ~is_child & (couple[index] < 0)
    father[index[lone & (people.sex == MALE)]] = True
    kind = _family_type(couple, father, with_child)

    family_type = np.where(member, kind[index], NO_FAMILY_TYPE)
    family_size = np.where(member, np.minimum(size[index], 11) - 2, NO_FAMILY_SIZE)
    own_couple = np.where(member, couple[index], -1)
    status = _family_status(member, is_child, own_couple)
    person = {
        "family_type": family_type,
        "family_size": family_size,
        "relationship": _relationship(people, own_couple),
        "family_status": status,
        "household_status": _household_status(homes, people, status),
    }
    person |= _unions(draws, people, own_couple, ~is_child & member)
    person["children_born"] = _children_born(draws, people, children[index] * (member & ~is_child))
    household = {
        "household_kind": homes.kind,
        "household_type": _household_type(homes, first + second, kind),
        "household_size": np.where(homes.private, np.minimum(homes.size, 11) - 1, NOT_PRIVATE_SIZE),
    }
    return Families(
        number=number.astype(np.int32),
        count=int((first + second).sum()),
        household={name: column.astype(np.int32) for name, column in household.items()},
        person={name: column.astype(np.int32) for name, column in person.items()},
    )


def _family_type(couple: Ints, father: np.ndarray, with_child: np.ndarray) -> Ints:
    """The position of the type of each family: by couple, and by the youngest child."""
    lone = np.where(father, LONE_FATHER_TYPE, LONE_MOTHER_TYPE) + with_child - 1
    married = np.where(couple == MARRIED_SAME, 3, 0) + with_child
    union = 6 + with_child
    kind = np.where(couple < 0, lone, np.where(couple % 2 == 0, married, union))
    return kind.astype(np.int32)


def _family_status(member: np.ndarray, is_child: np.ndarray, couple: Ints) -> Ints:
    partner = np.where(couple == MARRIED, HUSBAND_WIFE, UNION_PARTNER)
    partner = np.where(couple == MARRIED_SAME, SAME_SEX_SPOUSE, partner)
    parent = np.where(couple >= 0, partner, LONE_PARENT)
    child = np.where(couple >= 0, OF_COUPLE, OF_LONE_PARENT)
    status = np.where(is_child, child, parent)
    return np.where(member, status, NO_FAMILY_STATUS).astype(np.int32)


def _relationship(people: Members, couple: Ints) -> Ints:
    found = RELATIONSHIP_OF_ROLE[people.role]
    married = (people.role == PARTNER) & np.isin(couple, (MARRIED, MARRIED_SAME))
    found = np.where(married, SPOUSE, found)
    other = RELATIONSHIP_OF_OTHER[np.maximum(people.other_kind, 0)]
    return np.where(people.role == OTHER, other, found).astype(np.int32)


def _household_status(homes: Households, people: Members, status: Ints) -> Ints:
    home = people.household
    single = homes.size[home] == 1
    found = np.where(single, ALONE, WITH_OTHERS)
    found = np.where(status == NO_FAMILY_STATUS, found, IN_FAMILY)
    found = np.where(homes.kind[home] == INSTITUTION, IN_INSTITUTION, found)
    return np.where(homes.kind[home] == HOMELESS, NO_HOME, found).astype(np.int32)


def _household_type(homes: Households, families: np.ndarray, kind: Ints) -> Ints:
    """By the only family, or by how many there are."""
    only = np.where((homes.partner > 0) | (homes.children > 0), kind[0::2], kind[1::2])
    couple = 2 + only % 3
    lone = 5 + only - LONE_FATHER_TYPE
    found = np.where(only < LONE_FATHER_TYPE, couple, lone)
    found = np.where(families == 0, np.minimum(homes.size - 1, 1), found)
    found = np.where(families > 1, TWO_FAMILIES, found)
    return np.where(homes.kind == PRIVATE, found, NOT_PRIVATE).astype(np.int32)


def _unions(
    draws: Draws, people: Members, couple: Ints, parent: np.ndarray
) -> dict[str, np.ndarray]:
    """Legal marital status, and the union that somebody lives in."""
    units, age = people.units, people.age
    by_age = group(age, numbers_of("marital_ages"))
    alone = draws.choose("marital", units, shares_of("marital_alone"), by_age, people.sex)
    partner = draws.choose("marital union", units, shares_of("marital_consensual"), by_age)
    couple = np.where(parent, couple, -1)
    marital = np.where(couple < 0, alone, partner)
    marital = np.where(couple == MARRIED, WED, marital)
    marital = np.where(couple == MARRIED_SAME, WED_SAME, marital)
    marital = np.where(age < 18, NEVER, marital)

    chance = numbers_of("visiting")[group(age, numbers_of("visiting_ages"))]
    visiting = draws.happens("visiting", units, chance) & (people.role < RESIDENT)
    union = np.where(visiting, VISITING, NO_UNION)
    union = np.where(couple >= 0, COMMON_LAW, union)
    union = np.where(np.isin(couple, (MARRIED, MARRIED_SAME)), LIVES_WITH_SPOUSE, union)
    return {"marital_status": marital, "union_status": np.where(age < 15, TOO_YOUNG, union)}


def _children_born(draws: Draws, people: Members, at_home: np.ndarray) -> np.ndarray:
    """Children ever born: at least those who live with their mother."""
    born = draws.choose(
        "born", people.units, shares_of("children_born"), group(people.age, numbers_of("born_ages"))
    )
    born = np.minimum(np.maximum(born, at_home), MOST_CHILDREN)
    asked = (people.sex == FEMALE) & (people.age >= 15)
    return np.where(asked, born, NO_CHILDREN_BORN)


def unclear_relationship(draws: Draws, people: Members, columns: dict[str, Ints]) -> None:
    """Some members outside the family do not state how they belong to the household."""
    unclear = (people.role == OTHER) & (people.other_kind != LODGER)
    unclear &= people.other_kind != DOMESTIC
    unclear &= draws.happens("unclear", people.units, 60_000)
    columns["relationship"][unclear] = NO_RELATIONSHIP
    columns["family_status"][unclear] = FAMILY_STATUS_UNKNOWN
    columns["household_status"][unclear] = PRIVATE_UNKNOWN
