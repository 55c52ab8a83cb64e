"""Presets: designs that others have published, each with its source."""

from __future__ import annotations

from functools import cache
from importlib import resources

from sdcensus.errors import UnknownName

_FOLDER = resources.files("sdcensus.documents.release") / "presets"

PRESET_NAMES = ("us-virgin-islands", "ipums", "grenada", "trinidad-and-tobago")


#: What a preset cannot know.
_HEAD = """\
# The census store and the office folder, from where this document lies: write yours.
store = "census.store"
office = "office"

"""

#: What stands below every preset, since none of them passes by today's levels.
_TAIL = """
# ---- What passes by the levels of sdcensus

# As other offices have published them, these designs are refused (release assess says by how much,
# and what would help). The lines below pass on the demo country. Take the marks away, write the
# names of your variables, assess, and make it: sdcensus release make FILE --design today.
#> [risk]
#> ladder = ["age", "sex", "marital_status", "education", "birthplace", "occupation"]
#>
#> [large_households]
#> above = 5
#> treatment = "apart"
#>
#> [[design]]
#> name = "today"
#> households = 0.05
#> drop = ["religion", "ethnicity", "locality_size"]
#>
#> [design.recode]
#> age = "0,15,65+"
#> occupation = "skill"
#> industry = "sector"
#> birthplace = "origin"
#> citizenship = "origin"
#> education = "broad"
#> arrival_year = "decade"
#> hours_worked = "band"
#> place_of_work = "place"
"""


def presets() -> tuple[str, ...]:
    """The names of the presets that a release document may start from."""
    return PRESET_NAMES


@cache
def preset_text(name: str) -> str:
    """A preset as the document that it is, with its source in the comments.

    Raises:
        UnknownName: There is none of that name.
    """
    if name not in PRESET_NAMES:
        raise UnknownName("preset", name, known=PRESET_NAMES)
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def preset_document(name: str) -> str:
    """A preset as a document of an office: it begins with the places that the office has to name.

    Raises:
        UnknownName: There is none of that name.
    """
    return _HEAD + preset_text(name) + _TAIL
