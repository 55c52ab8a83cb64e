"""How the codes of the demo country become those of the European census programme.

``data/eu_mapping.csv`` names for each breakdown (at its finest, Regulation (EU) 2017/543) the
code, the variable of the demo census and one of its codes. A code of a group stands for all its
leaves: natives are one European category, wherever in the country they were born. An empty
European code means that records with that code are outside the population of the breakdown: the
tenure of an institution, the occupants of a vacant dwelling.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.demo.documents.questionnaire import rows


@dataclass(frozen=True, slots=True)
class EuCode:
    """One line of the mapping."""

    breakdown: str
    eu_code: str
    variable: str
    code: str


def eu_mapping() -> tuple[EuCode, ...]:
    """The whole mapping.

    Examples:
        >>> [row for row in eu_mapping() if row.breakdown == "SEX"][0]
        EuCode(breakdown='SEX', eu_code='1', variable='sex', code='1')
    """
    return tuple(
        EuCode(row["breakdown"], row["eu_code"], row["variable"], row["code"])
        for row in rows("eu_mapping")
    )
