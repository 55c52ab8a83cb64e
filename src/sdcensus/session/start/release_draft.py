"""A first release document: two designs of a file for researchers, to be measured and changed."""

from __future__ import annotations

from sdcensus.documents.release.document import release_from_document
from sdcensus.documents.toml.lines import parse_toml
from sdcensus.documents.toml.text import toml, toml_key
from sdcensus.errors import DocumentError, InputError, SpecError
from sdcensus.formats.write import new_file
from sdcensus.model.release.plan import LargeHouseholds
from sdcensus.model.schema.roles import IndicatorRole, variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.session.census.census import open_store
from sdcensus.session.recommend.files import path_from
from sdcensus.session.release.opened import schema_of
from sdcensus.session.start.road import Road

_HEAD = """\
# Files for researchers: what could be made of the census, and what is measured of it.
# Drafted by sdcensus start. Read it, change it, and then it is yours. sdcensus release assess says
# what each design gives away and what would change that; nothing is made before that.
"""
#: Single years of age end here in the detailed design; the coarse one tells children and adults.
_TOP, _BANDS = 75, "0,15+"
#: Households with more persons are known by their size, and treated as that.
_LARGE, _TREATMENT = 8, LargeHouseholds.APART


def write_release(road: Road) -> bool:
    """Draft the release document of a road; whether there was anything to write.

    What is there already is left alone, and no file is made of a census without persons.
    """
    if road.store is None or road.release.exists() or not road.has_persons:
        return False
    schema = open_store(road.store).schema
    store = path_from(road.advice, road.store)
    for age in (_name(IndicatorRole.AGE, schema), ""):
        text = _text(store, schema, age)
        try:
            document = parse_toml(road.release, text, what="release document")
            release_from_document(document, schema_of)
        except DocumentError:
            continue  # ages that are no single years are told as the census has them
        road.advice.mkdir(exist_ok=True)
        with new_file(road.release) as file:
            file.write(text.encode())
        return True
    raise InputError(f"No release document can be drafted for {road.store}. Write one yourself.")


def _text(store: str, schema: Schema, age: str) -> str:
    """Two designs: all that the census says of a tenth, and little of a twentieth."""
    sex = _name(IndicatorRole.SEX, schema)
    keys = [each.name for each in schema.variables if each.role is Role.KEY]
    by_households = any(spec.entity is Entity.HOUSEHOLD for spec in schema.entities)
    share = "households" if by_households else "persons"
    lines = [_HEAD, f"store = {toml(store)}", 'office = "office"', 'licence = "public-use"', ""]
    ladder = list(dict.fromkeys(filter(None, (age, sex))))
    if ladder and not keys:
        lines += [
            "[risk]",
            f"ladder = {toml(ladder)}  # what may be known, the best known first",
            "",
        ]
    lines += ["[[design]]", 'name = "detailed"', f"{share} = 0.1"]
    if age:
        lines.append(f"top_code = {{ {toml_key(age)} = {_TOP} }}")
    lines += ["", "[[design]]", 'name = "coarse"', f"{share} = 0.05"]
    amounts = [
        each.name for each in schema.variables if each.continuous and each.role is not Role.WEIGHT
    ]
    dropped = [name for name in (*keys, *amounts) if name not in ladder]
    if dropped:
        lines.append(f"drop = {toml(dropped)}")
    if age:
        lines.append(f"recode = {{ {toml_key(age)} = {toml(_BANDS)} }}")
    lines += ["", "[thresholds]  # smaller categories are merged, by groups that you approve"]
    lines += ["persons = 250", "households = 60", ""]
    if by_households:
        lines += ["[large_households]  # they are known by their size"]
        lines += [f"above = {_LARGE}", f"treatment = {toml(_TREATMENT.value)}", ""]
    lines += ["[make]", 'design = "coarse"', ""]
    return "\n".join(lines)


def _name(role: IndicatorRole, schema: Schema) -> str:
    """The variable with a role; nothing where nobody says which it is."""
    try:
        variable = variable_for(role, schema)
    except SpecError:
        return ""
    return variable.name if variable.entity is Entity.PERSON else ""
