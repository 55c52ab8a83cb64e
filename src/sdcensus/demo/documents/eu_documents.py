"""Documents that go with the demo country: its mapping to the European programme, and a plan."""

from __future__ import annotations

import csv
import io
from itertools import groupby

from sdcensus.demo.census import DemoCensus
from sdcensus.demo.documents.builder_policy import NOISE_FILE
from sdcensus.demo.documents.eu import eu_mapping
from sdcensus.demo.documents.questionnaire import DemoQuestion
from sdcensus.documents.toml.text import toml, toml_key

#: What the documents are called.
MAPPING_FILE, PLAN_FILE = "eu-mapping.toml", "eu-plan.toml"
#: The folder that the plan publishes into.
EU_FOLDER = "published-eu"
#: Lists with more codes than this stand in a file of their own.
_MOST_INLINE = 30

_HEAD = """\
# How this census has what the European census programme asks for. Made by sdcensus.
#
# Each breakdown is mapped once, at its finest: AGE.M and AGE.L follow from AGE.H. The code of a
# group of ours stands for all codes in it. "" says that such records are outside the breakdown.

programme = "eu-2021"
country = "{country}"                         # code of national totals, and start of grid cells

[geography]
variable = "ed"
nuts1 = "region"
nuts2 = "district"
nuts3 = "parish"
lau = "ed"

[grid]
variable = "ed_grid"

[units.private_households]
condition = "household_kind == '1'"

[units.families]                       # all of them
of = "families"

[units.conventional_dwellings]
condition = "living_quarters@kind == 'C'"

[units.occupied_conventional_dwellings]
condition = "living_quarters@kind == 'C' and occupancy == '1'"

[units.living_quarters]                # those that somebody lives in
condition = "occupancy == '1'"
"""

_PLAN = """\
# The European census programme for the demo country. Made by sdcensus.

store = "{store}"
programme = "eu-2021"
tables = ["*"]                         # or some of them: ["1.*", "9.2", "grid"]
mapping = "{mapping}"

[protect]
method = "cell-key"
perturbation = "{noise}"             # as in the national plan: equal groups, equal numbers

[output]
folder = "{folder}"                # for everybody
office_folder = "{office}"               # for the office only; the same for all publications
date = 2021-12-31
formats = ["csv"]
languages = ["en"]
notes = true
evaluation = false
"""
#: Numbers that are written as ranges, which say the same as the lines of the mapping.
_RANGES = {"AGE.H": {"0..99": "1.1.1..6.3.5", "100..120": "6.4"}}
_PLACE_OF_WORK = "place_of_work"


def eu_documents(census: DemoCensus) -> dict[str, str]:
    """The mapping of a demo country to the European programme: files and texts."""
    files: dict[str, str] = {}
    parts = [_HEAD.format(country=_letters(census.country.name))]
    for breakdown, rows in groupby(eu_mapping(), key=lambda row: row.breakdown):
        eu_codes = list(rows)
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
    return _PLAN.format(
        store=store, mapping=mapping, folder=EU_FOLDER, office=office, noise=NOISE_FILE
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
    made = {}
    for to, run in groupby(codes, key=lambda one: codes[one]):
        found = list(run)
        made[found[0] if len(found) == 1 else f"{found[0]}..{found[-1]}"] = to
    return made


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
