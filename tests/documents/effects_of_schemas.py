"""What each setting of a schema changes: the census that is loaded, or what is said about it."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import xlsxwriter

from sdcensus.cli.shared.run import run as run_command
from sdcensus.errors import SdcensusError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import Census
from tests.documents.effects import Effect, Files, Way, edited
from tests.hamlet import SCHEMA, Row, rows, write_hamlet

#: Few people, so that loading them takes no time.
PERSONS, HOUSEHOLDS = rows(24, seed=11)


# ------------------------------------------------------------------------------------------ ways


def loaded(files: Files, folder: Path) -> Census | str:
    """The census of a folder, or why it is refused."""
    texts = {name: text for name, text in files.items() if isinstance(text, str)}
    hamlet = write_hamlet(
        folder,
        schema=texts.pop("schema.toml", SCHEMA),
        persons=PERSONS,
        households=HOUSEHOLDS,
        files=texts,
    )
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
    try:
        return hamlet.load()
    except SdcensusError as error:
        return str(error).replace(str(folder), "")


def numbers(files: Files, folder: Path) -> object:
    """Every column of the store, and counts and keys by every variable at all its levels."""
    census = loaded(files, folder)
    if isinstance(census, str):
        return census
    seen: dict[str, object] = {}
    for spec in census.schema.entities:
        kind = spec.entity
        for column in census.store.manifest.columns[kind]:
            seen[f"{kind} {column}"] = census.store.raw(kind, column).tolist()
        for variable in census.schema.usable(kind):
            levels = "+".join(level.name for level in variable.levels())
            heavy = kind is not Entity.FAMILY and "household _digest" in seen
            try:
                cube = census.tabulate(f"{variable.name}@{levels}", of=kind, weights=heavy)
            except SdcensusError as error:
                seen[f"{kind} by {variable.name}@{levels}"] = str(error)
                continue
            assert isinstance(cube, Cube)
            codes = [code.code for code in cube.spec.axes[0].codes]
            weights = None if cube.weight is None else cube.weight.tolist()
            seen[f"{kind} by {variable.name}@{levels}"] = (
                codes,
                cube.count.tolist(),
                cube.key.tolist(),
                weights,
            )
    return seen


def words(files: Files, folder: Path) -> object:
    """What ``describe`` says of the store and of every variable, in Spanish where it can."""
    census = loaded(files, folder)
    if isinstance(census, str):
        return census
    said = [_said("describe", folder / "census.store")]
    for variable in ("married", "ed"):
        said.append(
            _said("describe", folder / "census.store", "--variable", variable, "--language", "es")
        )
    hidden = ("data version", "store  ", "took")
    return [
        line.replace(str(folder), "")
        for text in said
        for line in text.splitlines()
        if not any(one in line for one in hidden)
    ]


def _said(*arguments: object) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run_command([str(argument) for argument in arguments])
    return out.getvalue() + err.getvalue()


def titles(files: Files, folder: Path) -> object:
    """The headings of tables, and the units of figures."""
    census = loaded(files, folder)
    if isinstance(census, str):
        return census
    from sdcensus.model.plan.plan import PlannedIndicator
    from sdcensus.model.spec.headings import table_heading
    from sdcensus.session.figures.indicators import indicator_product

    middle = PlannedIndicator(name="middle", kind="median", variable="age")
    return (
        table_heading(census.spec("ed@parish", "age@broad", measure=None), "en"),
        indicator_product(middle, census.schema).unit.show("en"),
    )


def tied(files: Files, folder: Path) -> object:
    """What keeps a policy closed that offers everything, because units are tied to each other."""
    census = loaded(files, folder)
    if isinstance(census, str):
        return census
    from sdcensus.model.policy.policy import Policy
    from sdcensus.session.gate.tied_units import tie_lines, ties_in_policy

    return tie_lines(ties_in_policy(Policy(name="open", schema=census.schema)))


def risks(files: Files, folder: Path) -> object:
    """What detectors take for sensitive, if nobody says it."""
    from sdcensus.risk.detection.detectors import detect

    census = loaded(files, folder)
    assert isinstance(census, Census)
    return [sorted(set(one.axes.tolist())) for one in detect(census.tabulate("ed", "age"))]


# -------------------------------------------------------------------------------------- versions


def schema(*changes: tuple[str, str], **files: str | bytes) -> Files:
    return {"schema.toml": edited(SCHEMA, *changes), **files}


def effect(
    *changes: tuple[str, str], base: Files | None = None, way: Way = numbers, refused: str = ""
) -> Effect:
    """The schema as it is, and with these changes."""
    before = schema() if base is None else base
    text = before["schema.toml"]
    assert isinstance(text, str)
    after = {**before, "schema.toml": edited(text, *changes)}
    return Effect(before, after, way, refused)


def csv_text(records: list[Row], *, mark: str = ",", end: str = "\n") -> str:
    lines = [mark.join(records[0]), *(mark.join(record.values()) for record in records)]
    return end.join(lines) + end


def changed(records: list[Row], **values: list[str]) -> list[Row]:
    """The same records with other or further fields, over and over."""
    return [
        {**record, **{name: value[at % len(value)] for name, value in values.items()}}
        for at, record in enumerate(records)
    ]


def workbook() -> bytes:
    """Two sheets: everybody, and everybody as if they were one year older."""
    written = io.BytesIO()
    book = xlsxwriter.Workbook(written, {"in_memory": True})
    older = [
        {**one, "age": str(min(int(one["age"]) + 1, 99)) if one["age"] != "999" else "999"}
        for one in PERSONS
    ]
    for name, records in (("first", PERSONS), ("second", older)):
        sheet = book.add_worksheet(name)
        sheet.write_row(0, 0, list(records[0]))
        for row, record in enumerate(records, start=1):
            sheet.write_row(row, 0, [int(x) if x.isdigit() else x for x in record.values()])
    book.close()
    return written.getvalue()


def fixed_width() -> tuple[str, str, str]:
    """The persons without marks between fields; where the fields stand; and another layout."""
    names = list(PERSONS[0])
    lines = ["".join(one[name].ljust(6) for name in names) for one in PERSONS]
    places = [f"{name},{1 + 6 * at},6" for at, name in enumerate(names)]
    narrow = [line.replace(",6", ",3") if line.startswith("income,") else line for line in places]
    head = "name,start,width"
    return (
        "\n".join(lines) + "\n",
        "\n".join([head, *places]) + "\n",
        "\n".join([head, *narrow]) + "\n",
    )


def cspro() -> tuple[str, str]:
    """The persons as records of CSPro, each twice: once more with the sexes exchanged."""
    fields = {"ED": 2, "HOUSE": 3, "NUMBER": 1, "SEX": 1}
    items, at = [], 2
    for name, width in fields.items():
        kind = "Alpha" if name == "ED" else "Numeric"
        items.append(f"[Item]\nLabel={name}\nName={name}\nStart={at}\nLen={width}\nDataType={kind}")
        at += width
    ids, sex = items[:3], items[3]
    head = (
        "[Dictionary]\nVersion=CSPro 7.7\nLabel=H\nName=D\nRecordTypeStart=1\nRecordTypeLen=1\n"
        "Positions=Relative\nZeroFill=No\nDecimalChar=No\n\n[Level]\nLabel=Q\nName=Q\n\n[IdItems]\n\n"
    )
    text = head + "\n\n".join(ids)
    for name, mark in (("PERSON", "1"), ("OTHER", "2")):
        record = f"Label={name}\nName={name}\nRecordTypeValue='{mark}'\nRecordLen=20"
        text += f"\n\n[Record]\n{record}\n\n{sex}"
    lines = []
    for one in PERSONS:
        own = f"{one['ed']}{one['house']:>3}{one['number']}"
        exchanged = {"1": "2", "2": "1", "9": "9"}[one["sex"]]
        lines += [f"1{own}{one['sex']}", f"2{own}{exchanged}"]
    return text + "\n", "\n".join(lines) + "\n"


CSPRO = """\
[census]
name = "Census of the hamlet"
code = "HM1"
languages = ["en", "es"]

[files.person]
path = "census.dat"
entity = "person"
record = "PERSON"
dictionary = "census.dcf"

[entity.person]
id = ["ED", "HOUSE", "NUMBER"]

[variable.sex]
column = "SEX"
codes = { 1 = "Male", 2 = "Female" }
not_stated = [9]
"""
LINES, LAYOUT, OTHER_LAYOUT = fixed_width()
DICTIONARY, RECORDS = cspro()
POINTS = csv_text(
    changed(HOUSEHOLDS, x=["10", "1500", "2500"], y=["5", "1005", "15"], other=["900", "", "10"])
)
GRID = schema(
    (
        'levels = ["parish"]\n',
        'levels = ["parish"]\ngrid = { x = "x", y = "y", epsg = 3035, cell = 1000, extent = [0, 0,'
        " 3000, 2000] }\n",
    ),
    **{"households.csv": POINTS},
)
FAMILIES = schema(
    (
        "[entity.household]",
        '[entity.family]\nid = ["ed", "house", "family"]\nwithin = "household"\n\n'
        "[entity.household]",
    ),
    (
        "[variable.married]",
        '[variable.kind]\nfile = "person"\ncodes = { 1 = "A", 2 = "B" }\nnot_applicable = [9]\n\n'
        "[variable.married]",
    ),
    **{"persons.csv": csv_text(changed(PERSONS, family=["1"], kind=["1"]))},
)
WITH_PERSON = 'path = "persons.csv"\nentity = "person"\n'
COUNTY = (
    "code,label,parent\nE1,Hill,C1\nE2,Shore,C2\nE3,River,C1\nE4,Wood,C2\nE5,Rock,C2\nC1,A,\n"
    "C2,B,\n"
)
OTHER_COUNTY = COUNTY.replace("E2,Shore,C2", "E2,Shore,C1")
HIERARCHY = schema(
    (
        "[variable.tenure]",
        '[[variable.ed.hierarchy]]\nname = "county"\ncodes = "counties.csv"\n\n[variable.tenure]',
    ),
    **{"counties.csv": COUNTY, "others.csv": OTHER_COUNTY},
)
KEYED = schema(
    ("[[impossible]]", '[keys]\ncolumns = { person = { column = "key" } }\n\n[[impossible]]'),
    **{
        "persons.csv": csv_text(
            changed(PERSONS, key=[str(at) for at in range(1, 99)], other=["7", "8", "9"])
        )
    },
)
FRACTIONS = schema(
    (
        "[[impossible]]",
        '[keys]\ncolumns = { person = { column = "key", digits = 4 } }\n\n[[impossible]]',
    ),
    **{"persons.csv": csv_text(changed(PERSONS, key=["0.1234", "0.5", "0.0001"]))},
)
TWO_CHANGE = (
    'age < 15 and married == 1"\n',
    'age < 80 and married == 1"\nbeside = "sex == 1"\n',
)
TWO = schema(TWO_CHANGE)
GAP = schema(TWO_CHANGE, ('"sex == 1"\n', '"sex == 1"\ngap = "age"\nless_than = -200\n'))
HEADS = schema(
    ("[[impossible]]", "[keys]\n\n[[impossible]]"),
    (
        "[variable.married]",
        '[variable.first]\nfile = "person"\nrange = [0, 1]\n\n'
        '[variable.last]\nfile = "person"\nrange = [0, 1]\n\n[variable.married]',
    ),
    **{
        "persons.csv": csv_text(
            [
                {**one, "first": str(int(one is mine[0])), "last": str(int(one is mine[-1]))}
                for one in PERSONS
                for mine in [[each for each in PERSONS if each["house"] == one["house"]]]
            ]
        )
    },
)
ORPHANS = csv_text(changed(PERSONS, house=["", *[one["house"] for one in PERSONS[1:]]]))
MAP = (
    '{"type": "FeatureCollection", "features": ['
    + ", ".join(
        f'{{"type": "Feature", "properties": {{"code": "E{at}"}}, "geometry": {{"type": "Polygon",'
        f' "coordinates": [[[{at}, 0], [{at}.5, 0], [{at}.5, 1], [{at}, 0]]]}}}}'
        for at in range(1, 6)
    )
    + "]}"
)

ADULTS = schema(
    (
        "[variable.sex]",
        '[universe.adults]\ncondition = "age >= 15"\nlabel = "15 and over"\ndescription = "Of age."'
        "\n\n[variable.sex]",
    )
)
WORKBOOK = schema(
    ('path = "persons.csv"', 'path = "persons.xlsx"'),
    (
        "[variable.sex]",
        '[variable.house_]\nfile = "person"\ncolumn = "house"\nrole = "record-id"\nwidth = 4\n\n'
        '[variable.number_]\nfile = "person"\ncolumn = "number"\nrole = "record-id"\nwidth = 1\n\n'
        "[variable.sex]",
    ),
    ('within = "household"', ""),
    **{"persons.xlsx": workbook()},
)

IDENTITY = """
[[identity]]
each = "household"
holds = "person"
when = "tenure == 1"
"""
TIED = {"schema.toml": SCHEMA + IDENTITY}


def identity(*changes: tuple[str, str], refused: str = "") -> Effect:
    return Effect(TIED, {"schema.toml": SCHEMA + edited(IDENTITY, *changes)}, tied, refused)


EFFECTS: dict[str, Effect] = {
    # ------------------------------------------------------------------------------ [[identity]]
    "UniverseSection.condition": effect(("age >= 15", "age >= 18"), base=ADULTS),
    "UniverseSection.label": effect(("15 and over", "Grown up"), base=ADULTS, way=words),
    "UniverseSection.description": effect(("Of age.", "By law."), base=ADULTS, way=words),
    "IdentitySection.each": identity(('"household"', '"person"'), refused="given"),
    "IdentitySection.holds": identity(('"person"', '"household"'), refused="given"),
    "IdentitySection.when": identity(("tenure == 1", "tenure == 2")),
    "IdentitySection.times": identity(("when", "times = 2\nwhen")),
    "VariableSection.counts": effect(
        ('label = "Tenure"', 'label = "Tenure"\ncounts = "persons"'), way=tied
    ),
    "VariableSection.counts_open": Effect(
        {
            "schema.toml": edited(
                SCHEMA, ('label = "Tenure"', 'label = "Tenure"\ncounts = "persons"')
            )
        },
        {
            "schema.toml": edited(
                SCHEMA,
                ('label = "Tenure"', 'label = "Tenure"\ncounts = "persons"\ncounts_open = ["2"]'),
            )
        },
        tied,
    ),
    # ---------------------------------------------------------------------------------- [census]
    "CensusSection.name": effect(("Census of the hamlet", "Another census"), way=words),
    "CensusSection.country": effect(('code = "HM1"', 'code = "HM1"\ncountry = "X"'), way=words),
    "CensusSection.code": effect(('code = "HM1"', 'code = "HM2"')),
    "CensusSection.reference_date": effect(
        ('code = "HM1"', 'code = "HM1"\nreference_date = 2021-04-01'), way=words
    ),
    "CensusSection.languages": effect(
        ('languages = ["en", "es"]', 'languages = ["en"]'),
        base=schema(('label = "Married"', 'label = { en = "Married", es = "Casados" }')),
        way=words,
        refused="given",
    ),
    "CensusSection.measure": effect(('"count"', '"weighted"'), way=titles),
    # ----------------------------------------------------------------------------------- [files]
    "FileSection.path": effect(
        ('path = "persons.csv"', 'path = "others.csv"'),
        base=schema(**{"others.csv": csv_text(PERSONS[3:])}),
    ),
    "FileSection.entity": effect(
        (WITH_PERSON, 'path = "persons.csv"\nentity = "family"\n'), refused="given"
    ),
    "FileSection.format": effect(
        ('path = "persons.dat"', 'path = "persons.dat"\nformat = "csv"'),
        base=schema(('"persons.csv"', '"persons.dat"'), **{"persons.dat": csv_text(PERSONS)}),
        refused="without",
    ),
    "FileSection.encoding": effect(
        (WITH_PERSON, f'{WITH_PERSON}encoding = "latin-1"\n'),
        base=schema(
            ("not_stated = [9]", 'not_stated = ["é"]'),
            **{"persons.csv": csv_text(changed(PERSONS, sex=["1", "é"])).encode("latin-1")},
        ),
        refused="without",
    ),
    "FileSection.delimiter": effect(
        (WITH_PERSON, f'{WITH_PERSON}delimiter = "|"\n'),
        refused="given",
    ),
    "FileSection.decimal": effect(
        (WITH_PERSON, f'{WITH_PERSON}decimal = ","\n'),
        base=schema(**{"persons.csv": csv_text(changed(PERSONS, income=["1,5", "2"]), mark=";")}),
        refused="without",
    ),
    "FileSection.sheet": effect(
        ('path = "persons.xlsx"', 'path = "persons.xlsx"\nsheet = "second"'), base=WORKBOOK
    ),
    "FileSection.layout": effect(
        ('layout = "layout.csv"', 'layout = "other.csv"'),
        base=schema(
            (
                WITH_PERSON,
                'path = "p.txt"\nentity = "person"\nformat = "fixed"\nlayout = "layout.csv"\n',
            ),
            **{"p.txt": LINES, "layout.csv": LAYOUT, "other.csv": OTHER_LAYOUT},
        ),
    ),
    "FileSection.dictionary": effect(
        ('dictionary = "census.dcf"', 'dictionary = "other.dcf"'),
        base={
            "schema.toml": CSPRO,
            "census.dat": RECORDS,
            "census.dcf": DICTIONARY,
            "other.dcf": edited(
                DICTIONARY, ("Name=PERSON", "Name=P"), ("Name=OTHER", "Name=PERSON")
            ),
        },
    ),
    "FileSection.record": effect(
        ('record = "PERSON"', 'record = "OTHER"'),
        base={"schema.toml": CSPRO, "census.dat": RECORDS, "census.dcf": DICTIONARY},
    ),
    # ---------------------------------------------------------------------------------- [entity]
    "EntitySection.id": effect(
        ('id = ["ed", "house", "number"]', 'id = ["house", "number"]\nlink = ["ed", "house"]')
    ),
    "EntitySection.from_content": effect(
        (
            'id = ["ed", "house", "number"]\nwithin = "household"',
            'from_content = true\nwithin = "household"\nlink = ["ed", "house"]',
        )
    ),
    "EntitySection.within": effect(('within = "household"\n', "")),
    "EntitySection.link": effect(
        ('within = "household"', 'within = "household"\nlink = ["to_ed", "to_house"]'),
        base=schema(
            **{
                "persons.csv": csv_text(
                    changed(PERSONS, to_ed=[HOUSEHOLDS[0]["ed"]], to_house=[HOUSEHOLDS[0]["house"]])
                )
            }
        ),
    ),
    "EntitySection.optional": effect(
        ('link = ["home"]', 'link = ["home"]\noptional = true'),
        base=schema(
            ('within = "household"', 'within = "household"\nlink = ["home"]'),
            ('id = ["ed", "house"]', 'id = ["house"]'),
            ('levels = ["parish"]', 'levels = ["parish"]\nnot_applicable = ["none"]'),
            ('2 = "Rented" }', '2 = "Rented" }\nnot_applicable = [9]'),
            **{
                "persons.csv": csv_text(
                    [
                        {**one, "home": "" if at == 0 else one["house"]}
                        for at, one in enumerate(PERSONS)
                    ]
                )
            },
        ),
        refused="without",
    ),
    "EntitySection.id_width": effect(
        ('id = ["ed", "house"]', 'id = ["ed", "house"]\nid_width = [0, 9]'),
    ),
    "EntitySection.id_any_case": effect(
        ('id = ["ed", "house"]', 'id = ["ed", "house"]\nid_any_case = true'),
        base=schema(
            **{"persons.csv": csv_text([{**one, "ed": one["ed"].lower()} for one in PERSONS])}
        ),
        refused="without",
    ),
    # ------------------------------------------------------------------------------------ [keys]
    "KeyColumnSection.column": effect(('column = "key"', 'column = "other"'), base=KEYED),
    "KeyColumnSection.digits": effect(("digits = 4", "digits = 6"), base=FRACTIONS),
    "KeysSection.scope": effect(("[keys]", '[keys]\nscope = "person-number"'), base=HEADS),
    "KeysSection.household": effect(
        ("[keys]", '[keys]\nhousehold = "reference-person"\nreference_person = "first == 1"'),
        base=HEADS,
    ),
    "KeysSection.reference_person": effect(
        ("first == 1", "last == 1"),
        base={
            **HEADS,
            "schema.toml": edited(
                str(HEADS["schema.toml"]),
                (
                    "[keys]",
                    '[keys]\nhousehold = "reference-person"\nreference_person = "first == 1"',
                ),
            ),
        },
    ),
    "KeysSection.modulus": effect(("[keys]", "[keys]\nmodulus = 4096"), base=HEADS),
    "KeysSection.combine": effect(("[keys]", '[keys]\ncombine = "xor"'), base=HEADS),
    "KeysSection.columns": Effect({**KEYED, "schema.toml": SCHEMA}, KEYED, numbers),
    # ------------------------------------------------------------------------------ [[impossible]]
    "ImpossibleSection.when": effect(
        ("age < 15 and married", "age < 80 and married"), refused="given"
    ),
    "ImpossibleSection.label": effect(
        ('married == 1"\n', 'married == 1"\nlabel = "Old and single"\n'),
        base=schema(("age < 15 and married", "age < 80 and married")),
        refused="both",
    ),
    # The rule about two is broken by somebody, and each setting more frees them.
    "ImpossibleSection.beside": effect(
        ('married == 1"\n', 'married == 1"\nbeside = "sex == 1"\n'),
        base=schema(("age < 15 and married", "age < 80 and married")),
        refused="both",
    ),
    "ImpossibleSection.within": effect(
        ('"sex == 1"\n', '"sex == 1"\nwithin = "household"\n'), base=TWO, refused="both"
    ),
    "ImpossibleSection.gap": effect(
        ("less_than = 200", 'gap = "age"\nless_than = 200'),
        base=schema(TWO_CHANGE, ('"sex == 1"\n', '"sex == 1"\nless_than = 200\n')),
        refused="both",
    ),
    "ImpossibleSection.less_than": effect(
        ("less_than = -200", "less_than = 200"), base=GAP, refused="given"
    ),
    "ImpossibleSection.more_than": effect(
        ("less_than = -200", "more_than = -200"), base=GAP, refused="given"
    ),
    # ------------------------------------------------------------------------------------- grids
    "GridSection.x": effect(('x = "x"', 'x = "other"'), base=GRID),
    "GridSection.y": effect(('y = "y"', 'y = "other"'), base=GRID),
    "GridSection.epsg": effect(("epsg = 3035", "epsg = 2154"), base=GRID),
    "GridSection.cell": effect(("cell = 1000", "cell = 500"), base=GRID),
    "GridSection.cells": effect(("cell = 1000", "cells = [1000, 2000]"), base=GRID),
    "GridSection.inhabited": effect(("cell = 1000", "cell = 1000, inhabited = true"), base=GRID),
    "GridSection.epsg_of_coordinates": effect(
        ("epsg = 3035", "epsg = 3035, epsg_of_coordinates = 4326"), base=GRID, refused="given"
    ),
    "GridSection.extent": effect(("3000, 2000]", "3000, 3000]"), base=GRID),
    # ------------------------------------------------------------------------------- hierarchies
    "HierarchySection.name": effect(
        ('name = "county"', 'name = "shire"'), base=HIERARCHY, way=words
    ),
    "HierarchySection.codes": effect(('"counties.csv"', '"others.csv"'), base=HIERARCHY),
    "HierarchySection.levels": effect(
        ('codes = "counties.csv"', 'codes = "counties.csv"\nlevels = ["shire"]'), base=HIERARCHY
    ),
    # -------------------------------------------------------------------------------- [variable]
    "VariableSection.file": effect(
        ('[variable.tenure]\nfile = "household"', '[variable.tenure]\nfile = "person"'),
        base=schema(**{"persons.csv": csv_text(changed(PERSONS, tenure=["1", "2"]))}),
    ),
    "VariableSection.entity": effect(
        ('[variable.kind]\nfile = "person"', '[variable.kind]\nfile = "person"\nentity = "family"'),
        base=FAMILIES,
    ),
    "VariableSection.column": effect(
        (
            '[variable.married]\nfile = "person"',
            '[variable.married]\nfile = "person"\ncolumn = "wed"',
        ),
        base=schema(**{"persons.csv": csv_text(changed(PERSONS, wed=["0"]))}),
    ),
    "VariableSection.label": effect(('label = "Married"', 'label = "Wed"'), way=words),
    "VariableSection.description": effect(
        ('label = "Married"', 'label = "Married"\ndescription = "By law"'), way=words
    ),
    "VariableSection.topic": effect(
        ('label = "Married"', 'label = "Married"\ntopic = "Family"'), way=words
    ),
    "VariableSection.role": effect(
        ('label = "Age"', 'label = "Age"\nrole = "sensitive"'), way=risks
    ),
    "VariableSection.codes": effect(
        ('codes = { 1 = "Male", 2 = "Female" }', 'codes = { 2 = "Female", 1 = "Male" }')
    ),
    "VariableSection.range": effect(("range = [0, 99]", "range = [0, 105]")),
    "VariableSection.not_stated": effect(("not_stated = [9]\n", "not_stated = [9, 7]\n")),
    "VariableSection.not_applicable": effect(
        ("not_stated = [8]\nnot_applicable = [9]", "not_applicable = [8, 9]")
    ),
    "VariableSection.empty": effect(
        (
            'empty = "not_applicable"\nnot_stated = [99999]\n\n[variable.income.levels]',
            'empty = "not_stated"\nnot_stated = [99999]\n\n[variable.income.levels]',
        ),
    ),
    "VariableSection.continuous": effect(
        ("range = [0, 99]\nnot_stated = [999]\n", "continuous = true\nnot_stated = [999]\n")
    ),
    "VariableSection.unit": effect(('label = "Age"', 'label = "Age"\nunit = "years"'), way=titles),
    "VariableSection.decimals": effect(
        ('role = "weight"\ndecimals = 2', 'role = "weight"\ndecimals = 1')
    ),
    "VariableSection.imputed": effect(
        ('label = "Age"', 'label = "Age"\nimputed = "flag"'),
        base=schema(**{"persons.csv": csv_text(changed(PERSONS, flag=["1", "0"]))}),
    ),
    "VariableSection.width": effect(("width = 4", "width = 6"), base=WORKBOOK),
    "VariableSection.levels": effect(('broad = "0,15,65+"', 'broad = "0,15,60+"')),
    "VariableSection.level_labels": effect(
        ('levels = ["parish"]', 'levels = ["parish"]\nlevel_labels = { parish = "Church parish" }'),
        way=titles,
    ),
    "VariableSection.hierarchy": Effect({**HIERARCHY, "schema.toml": SCHEMA}, HIERARCHY, numbers),
    "VariableSection.main": effect(
        ('role = "geography"\n# another', 'role = "geography"\nmain = true\n# another'),
        base=schema(('label = "Tenure"', 'label = "Tenure"\nrole = "geography"\n# another')),
        way=words,
    ),
    "VariableSection.map": effect(
        ('levels = ["parish"]', 'levels = ["parish"]\nmap = "areas.geojson"'),
        base=schema(**{"areas.geojson": MAP}),
        way=words,
    ),
    "VariableSection.grid": Effect({**GRID, "schema.toml": SCHEMA}, GRID, numbers),
}
