"""The schema of the demo country, as an office would write it by hand, and its code lists."""

from __future__ import annotations

import csv
import io

from sdcensus.demo.census import Census
from sdcensus.demo.questionnaire import FILES, Code, Question, Tree
from sdcensus.documents.toml_text import toml

#: The first line of a schema that we wrote: only such a folder is ever written over.
MARK = "# A demo country, made by sdcensus. Nobody in it exists."

ENTITIES = """\
[entity.building]
id = ["ed", "building_no"]

[entity.dwelling]                      # vacant dwellings have no household
id = ["ed", "dwelling_no"]
within = "building"

[entity.household]                     # private ones, institutions, and the homeless
id = ["ed", "household_no"]
within = "dwelling"

[entity.family]                        # derived: persons of a household with one family number
id = ["ed", "household_no", "family_no"]
within = "household"

[entity.person]
id = ["ed", "household_no", "person_no"]
within = "household"

[keys]
scope = "census"
household = "own"
"""

_BORN = ", ".join(f"'{number:02}'" for number in range(11))
#: Structural zeros and edit rules: what they are about, and the condition.
IMPOSSIBLE = (
    (
        ("Married before 18", "Casados antes de los 18"),
        "age < 18 and marital_status in ('2', '3', '4', '5', '6')",
    ),
    (
        ("Head's partner before 18", "Pareja de la persona de referencia antes de los 18"),
        "age < 18 and relationship in ('02', '03')",
    ),
    (("Working children", "Niños que trabajan"), "age < 15 and activity in ('1', '2')"),
    (
        ("Adults with the activity of children", "Adultos con la actividad de niños"),
        "age >= 15 and activity == '7'",
    ),
    (
        ("Children with the education of adults", "Niños con educación de adultos"),
        "age < 15 and education@broad in ('L', 'S', 'T')",
    ),
    (("Doctorate before 25", "Doctorado antes de los 25"), "age < 25 and education == '80'"),
    (
        ("Men who gave birth", "Hombres que dieron a luz"),
        f"sex == '1' and children_born in ({_BORN})",
    ),
    (
        ("Newborns with an earlier residence", "Recién nacidos con residencia anterior"),
        "age == 0 and previous_residence in ('1', '2', '3', '4', '5')",
    ),
    (
        ("Born abroad and never arrived", "Nacidos en el exterior que nunca llegaron"),
        "birthplace@origin == 'ABROAD' and arrival_year == 8888",
    ),
    (
        ("Institutions in dwellings", "Instituciones en viviendas"),
        "household_kind == '2' and living_quarters@kind == 'C'",
    ),
    (
        ("Private households in institutions", "Hogares particulares en instituciones"),
        "household_kind == '1' and living_quarters@kind == 'I'",
    ),
    (
        ("One person with several members", "Una persona con varios miembros"),
        "household_type == '11' and household_size != '01'",
    ),
    (
        ("Vacant with occupants", "Desocupadas con ocupantes"),
        "occupancy in ('2', '3', '4') and occupants != '00'",
    ),
)


def schema_text(census: Census, ending: str, extent: tuple[int, int, int, int]) -> str:
    """The whole schema; ``ending`` is that of the data files, ``extent`` that of the grid."""
    parts = [MARK, "", _head(census), _files(ending), ENTITIES]
    parts += [_impossible(label, when) for label, when in IMPOSSIBLE]
    file = ""
    for question in census.questionnaire:
        if question.file != file:
            file = question.file
            parts.append(f"# ---- {file}s {'-' * (70 - len(file))}\n")
        parts.append(_variable(question, extent))
    return "\n".join(parts)


def code_files(census: Census) -> dict[str, str]:
    """The code lists that stand in files of their own: file name and text."""
    found = {}
    for question in census.questionnaire:
        if question.listed:
            found[f"{question.listed}.csv"] = _code_list((*question.groups, *question.codes))
        for tree in question.trees:
            found[tree_file(question, tree)] = _code_list(tree.codes)
    return found


def tree_file(question: Question, tree: Tree) -> str:
    """The file of a further tree over the codes of a variable."""
    return f"{question.name}_{tree.name}.csv"


def _code_list(codes: tuple[Code, ...]) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    with_parents = any(code.parent for code in codes)
    table.writerow(["code", "label", "label_es", *(["parent"] if with_parents else [])])
    for code in codes:
        parent = [code.parent] if with_parents else []
        table.writerow([code.code, code.label, code.label_es, *parent])
    return out.getvalue()


def _both(text: tuple[str, str]) -> str:
    return f"{{ en = {toml(text[0])}, es = {toml(text[1])} }}"


def _head(census: Census) -> str:
    return (
        "[census]\n"
        'name = "Population and Housing Census 2021"\n'
        f"country = {toml(census.country.name)}\n"
        'code = "DEMO2021"\n'
        "reference_date = 2021-04-01\n"
        'languages = ["en", "es"]\n'
    )


def _files(ending: str) -> str:
    return "\n".join(
        f'[files.{file}]\npath = "{file}s.{ending}"\nentity = "{file}"\n' for file in FILES
    )


def _impossible(label: tuple[str, str], when: str) -> str:
    return f"[[impossible]]\nwhen = {toml(when)}\nlabel = {_both(label)}\n"


def _variable(question: Question, extent: tuple[int, int, int, int]) -> str:
    table = f"variable.{question.name}"
    lines = [f"[{table}]", f'file = "{question.file}"']
    if question.entity != question.file:
        lines.append(f'entity = "{question.entity}"  # the same for all members')
    lines.append(f"label = {_both(question.label)}")
    if question.topic:
        lines.append(f"topic = {_both(question.topic)}")
    if question.role:
        lines.append(f'role = "{question.role}"')
    if question.range:
        lines.append(f"range = [{question.range[0]}, {question.range[1]}]")
    if question.listed:
        lines.append(f'codes = "codes/{question.listed}.csv"')
    if question.levels:
        lines.append(f"levels = {toml(question.levels)}")
    for key, code in (
        ("not_applicable", question.not_applicable),
        ("not_stated", question.not_stated),
    ):
        if code:
            lines.append(f"{key} = [{toml(code)}]")
    if question.continuous:
        lines += ["continuous = true", f"unit = {toml(question.unit)}"]
    if question.decimals:
        lines.append(f"decimals = {question.decimals}")
    if question.empty:
        lines.append(f'empty = "{question.empty}"')
    if question.imputed:
        lines.append(f'imputed = "{question.imputed}"  # 1 where the office filled the value in')
    if question.role == "geography":
        lines.append('map = "codes/areas.geojson"  # metres of EPSG 3035')
        lines.append(
            'grid = { x = "easting", y = "northing", epsg = 3035, cell = 1000,'
            f" extent = {list(extent)} }}"
        )
    if question.codes and not question.listed and not question.range:
        lines += ["", f"[{table}.codes]"]
        lines += [f"{one.code} = {_both((one.label, one.label_es))}" for one in question.codes]
    if question.bounds:
        lines += ["", f"[{table}.levels]"]
        lines += [f"{level} = {toml(bounds)}" for level, bounds in question.bounds]
    for tree in question.trees:
        lines += [
            "",
            f"[[{table}.hierarchy]]  # not nested in the first",
            f'name = "{tree.name}"',
            f'codes = "codes/{tree_file(question, tree)}"',
            f"levels = {toml(tree.levels)}",
        ]
    return "\n".join(lines) + "\n"
