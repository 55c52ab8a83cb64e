"""The mapping of the demo country to the European census programme, and a plan for it.

``data/eu_mapping.csv`` names for each breakdown (at its finest, Regulation (EU) 2017/543) the
code, the variable of the demo census and one of its codes. A code of a group stands for all its
leaves: natives are one European category, wherever in the country they were born. An empty
European code means that records with that code are outside the population of the breakdown: the
tenure of an institution, the occupants of a vacant dwelling.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import groupby

from sdcensus.demo.census import DemoCensus
from sdcensus.demo.documents.office_documents import NOISE_FILE
from sdcensus.demo.documents.questionnaire import DemoQuestion, data_text, rows
from sdcensus.documents.toml.text import toml, toml_key

#: What the documents are called.
MAPPING_FILE, PLAN_FILE = "eu-mapping.toml", "eu-plan.toml"
#: The folder that the plan publishes into.
EU_FOLDER = "published-eu"
#: Lists with more codes than this stand in a file of their own.
_MOST_INLINE = 30

#: Numbers that are written as ranges, which say the same as the lines of the mapping.
_RANGES = {"AGE.H": {"0..99": "1.1.1..6.3.5", "100..120": "6.4"}}
_PLACE_OF_WORK = "place_of_work"


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


def eu_documents(census: DemoCensus) -> dict[str, str]:
    """The mapping of a demo country to the European programme: files and texts."""
    files: dict[str, str] = {}
    parts = [data_text("eu_mapping.txt", country=_letters(census.country.name))]
    for breakdown, group in groupby(eu_mapping(), key=lambda row: row.breakdown):
        eu_codes = list(group)
        codes = {row.code: row.eu_code for row in eu_codes}
        variable = eu_codes[0].variable
        name = breakdown
        if variable == _PLACE_OF_WORK:  # the country also knows in which of its areas
            name, codes = "LPW.L", _places_of_work(census.questionnaire[variable], codes)
        parts.append(_breakdown(name, variable, _RANGES.get(name) or _runs(codes), files))
    files[MAPPING_FILE] = "\n".join(parts)
    return files


def eu_plan(store: str, mapping: str, office: str = "office") -> str:
    """A plan that publishes the European programme for a demo country.

    Args:
        store, mapping: The census store and the mapping, from the folder of the plan.
        office: The folder for the office only.
    """
    return data_text(
        "eu_plan.txt",
        store=store,
        mapping=mapping,
        folder=EU_FOLDER,
        office=office,
        noise=NOISE_FILE,
    )


def _letters(name: str) -> str:
    """Two letters for a country of that name."""
    first = [word[0].upper() for word in name.split() if word[0].isascii() and word[0].isalpha()]
    return "".join([*first, "X", "X"][:2])


def _places_of_work(question: DemoQuestion, codes: dict[str, str]) -> dict[str, str]:
    """Areas under their own codes; what is somewhere in the country under a code of its own."""
    areas = [code.code for code in question.codes if code.parent == "IN"]
    inside = {area: "1.unknown" if area == "D00" else area for area in areas}
    return inside | {code: to for code, to in codes.items() if code != "IN"}


def _runs(codes: dict[str, str]) -> dict[str, str]:
    """Long lists of numbers that go to the same code, as ranges."""
    if len(codes) <= _MOST_INLINE or not all(code.isdecimal() for code in codes):
        return codes
    ranges = {}
    for to, run in groupby(codes, key=lambda code: codes[code]):
        first, *others = run
        ranges[f"{first}..{others[-1]}" if others else first] = to
    return ranges


def _breakdown(name: str, variable: str, codes: dict[str, str], files: dict[str, str]) -> str:
    lines = [f"[breakdown.{name}]", f"variable = {toml(variable)}"]
    if len(codes) > _MOST_INLINE:
        file = f"codes/eu_{variable}.csv"
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([("code", "to"), *codes.items()])
        files[file] = out.getvalue()
        lines.append(f"codes = {toml(file)}")
    else:
        lines += ["", f"[breakdown.{name}.codes]"]
        lines += [f"{toml_key(code)} = {toml(to)}" for code, to in codes.items()]
    return "\n".join(lines) + "\n"
