"""What each setting of a plan changes: the tables that are published, or the files about them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from python_calamine import CalamineWorkbook

from sdcensus.errors import SdcensusError
from sdcensus.model.published.table import Table
from sdcensus.session.publish.products import Product, PublishedPart
from sdcensus.session.publish.resolution import Resolved, resolve
from sdcensus.session.publish.run import publish
from tests.documents.effects import Effect, Files, Way, edited
from tests.hamlet import Hamlet, rows, write_hamlet

#: Those of the store that plans name as a rule.
PERSONS = rows(60, seed=5)[0]
PLAN = """\
store = "../of-plans/census.store"

[[table]]
name = "sexes"
rows = ["ed"]
columns = ["sex"]

[[indicator]]
name = "figure"
kind = "share"
by = ["ed@parish"]
numerator = "sex == 2"

[protect]
method = "cell-key"
strength = "strong"

[output]
folder = "published"
date = 2026-03-01
formats = ["csv"]
"""


# ------------------------------------------------------------------------------------------ ways


def offices(beside: Path) -> Hamlet:
    """The stores that plans name, made once beside their folders."""
    made = Hamlet(beside / "of-plans", (), ())
    if not made.store.exists():
        for name, houses in (("of-plans", 60), ("of-others", 40)):
            persons, households = rows(houses, seed=5)
            write_hamlet(beside / name, persons=persons, households=households).load()
    return made


def _written(files: Files, folder: Path) -> Path:
    """Write the documents; the secret that they are used with."""
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return offices(folder.parent).secret


def run(files: Files, folder: Path) -> Path | str:
    """The published folder of a plan, or why it is refused."""
    secret = _written(files, folder)
    try:
        for plan in sorted(file for file in files if file.startswith("plan")):
            publish(folder / plan, secret=secret)
    except SdcensusError as error:
        return str(error).replace(str(folder), "")
    return folder


def numbers(files: Files, folder: Path) -> object:
    """The values and signs of all tables and figures, without files and without a policy."""
    secret = _written(files, folder)
    try:
        resolved = resolve(folder / "plan.toml", secret=secret)
        return {product.name: _delivered(resolved, product) for product in resolved.products}
    except SdcensusError as error:
        return str(error).replace(str(folder), "")


def _delivered(resolved: Resolved, product: Product) -> object:
    parts = []
    for spec in product.specs:
        protected = resolved.method(spec).protect(resolved.census.tabulate(spec))
        assert isinstance(protected.table, Table)
        parts.append(PublishedPart(protected.table, protected.provenance))
    made = product.delivered(parts, resolved.heading)
    marks = () if made.marks is None else made.marks.tolist()
    signs = [made.sign(mark) for mark in made.used_marks()]
    return [axis.codes for axis in made.axes], made.values.tolist(), marks, signs, made.decimals


def published(files: Files, folder: Path) -> object:
    """The same from the published files."""
    made = run(files, folder)
    if isinstance(made, str):
        return made
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8-sig")
        for path in sorted(made.glob("published*/*.csv"))
    }


def texts(files: Files, folder: Path) -> object:
    """All published files that are text, without what says how they were made."""
    made = run(files, folder)
    if isinstance(made, str):
        return made
    endings = (".csv", ".html", ".px", ".json")
    return {
        path.name: re.sub(r"[0-9a-f]{32,}", "", path.read_text(encoding="utf-8-sig"))
        for path in sorted(made.glob("published*/*"))
        if path.suffix in endings and path.name != "manifest.json"
    }


def names(files: Files, folder: Path) -> object:
    """The files that the run left, those of the office included."""
    made = run(files, folder)
    if isinstance(made, str):
        return made
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def evaluations(files: Files, folder: Path) -> object:
    """What the evaluation of the office says."""
    made = run(files, folder)
    if isinstance(made, str):
        return made
    (path,) = folder.rglob("evaluation*.xlsx")
    book = CalamineWorkbook.from_path(path)
    return [book.get_sheet_by_name(name).to_python() for name in book.sheet_names]


# -------------------------------------------------------------------------------------- versions


def effect(
    *changes: tuple[str, str], base: Files | None = None, way: Way = numbers, refused: str = ""
) -> Effect:
    """The plan as it is, and with these changes."""
    before = {"plan.toml": PLAN} if base is None else base
    text = before["plan.toml"]
    assert isinstance(text, str)
    return Effect(before, {**before, "plan.toml": edited(text, *changes)}, way, refused)


def plan(*changes: tuple[str, str], **files: str) -> Files:
    return {"plan.toml": edited(PLAN, *changes), **files}


CELL_KEY = 'method = "cell-key"\nstrength = "strong"'
FIGURE = 'kind = "share"\nby = ["ed@parish"]\nnumerator = "sex == 2"'


def figure(settings: str) -> Files:
    return plan((FIGURE, settings))


def noise(*rows: str) -> str:
    """A perturbation file: for each count its deviations with their probabilities."""
    return "\n".join(["count,deviation,probability", "0,0,1", *rows]) + "\n"


NOISE = noise("1,-1,0.25", "1,0,0.5", "1,1,0.25", "2,-1,0.25", "2,0,0.5", "2,1,0.25")
WIDE_NOISE = noise("1,-1,0.4", "1,0,0.2", "1,1,0.4", "2,-1,0.4", "2,0,0.2", "2,1,0.4")
UNEVEN = noise("1,-1,0.4", "1,0,0.2", "1,1,0.4", "2,0,1")
BIASED = noise("1,0,0.5", "1,1,0.5", "2,-1,0.25", "2,0,0.5", "2,1,0.25")
POLICY = 'name = "Rules"\n[online]\nminimum_population = 40\n[role.production]\nonline = "off"\n'
OBEYING = {
    **plan(("[output]", '[policy]\nfile = "policy.toml"\nrole = "public"\n\n[output]')),
    "policy.toml": POLICY,
    "none.toml": 'name = "None"\n',
}
SPARSE = 'strength = "strong"\nthen = ["withhold-sparse-areas"]\n'
WIDE = 'rows = ["ed"]\ncolumns = ["sex", "age@ten_year"]'
SEXES = 'rows = ["ed"]\ncolumns = ["sex"]'
WIDER = (SEXES, WIDE)
MAPPING = """\
programme = "eu-2021"
country = "HM"

[geography]
variable = "ed"
nuts3 = "parish"
lau = "ed"

[breakdown.SEX]
variable = "sex"

[breakdown.SEX.codes]
1 = "1"
2 = "2"
9 = ""

[breakdown.AGE.H]
variable = "age"

[breakdown.AGE.H.codes]
"0..99" = "1.1.1..6.3.5"
999 = ""
"""
PROGRAMME = {
    "plan.toml": edited(
        PLAN,
        (
            'census.store"\n',
            'census.store"\nprogramme = "eu-2021"\ntables = ["3.1"]\nmapping = "map.toml"\n',
        ),
    ),
    "map.toml": MAPPING,
    "other.toml": MAPPING.replace('1 = "1"\n2 = "2"', '1 = "2"\n2 = "1"'),
}
FIRST = edited(PLAN, ('"published"', '"published"\noffice_folder = "office"'))
SECOND = edited(
    PLAN,
    (CELL_KEY, 'method = "random-rounding"'),
    ('"published"', '"published2"\noffice_folder = "office"'),
)


PERCENTILE = 'kind = "percentile"\npercent = 20\nvariable = "income"'
DIFFERENCE = (
    'kind = "difference"\nvariable = "income"\nfirst = "sex == 2"\nsecond = "sex == 1"\nfewest = 3'
)


def settings_of(
    name: str, without: str, given: str, *, table: str = WIDE, refused: str = ""
) -> Effect:
    """A plan of one method without and with a setting of it."""
    files = {"noise.csv": NOISE, "wide.csv": WIDE_NOISE, "biased.csv": BIASED, "uneven.csv": UNEVEN}
    made = [
        {**plan((SEXES, table), (CELL_KEY, f'method = "{name}"\n{said}')), **files}
        for said in (without, given)
    ]
    return Effect(made[0], made[1], numbers, refused)


EFFECTS: dict[str, Effect] = {
    "PlanHead.store": effect(("of-plans", "of-others")),
    "PlanHead.measure": effect(('census.store"\n', 'census.store"\nmeasure = "weighted"\n')),
    "PlanHead.programme": Effect({"plan.toml": PLAN}, PROGRAMME, numbers),
    "PlanHead.tables": effect(('tables = ["3.1"]\n', ""), base=PROGRAMME, refused="given"),
    "PlanHead.mapping": effect(("map.toml", "other.toml"), base=PROGRAMME),
    # -------------------------------------------------------------------------------- [[table]]
    "TableSection.name": effect(('name = "sexes"', 'name = "other"')),
    "TableSection.title": effect(('name = "sexes"', 'name = "sexes"\ntitle = "Mine"'), way=texts),
    "TableSection.universe": effect(
        ('name = "sexes"', 'name = "sexes"\nuniverse = "age@broad == \'15-64\'"')
    ),
    "TableSection.where": effect(('name = "sexes"', 'name = "sexes"\nwhere = "age >= 15"')),
    "TableSection.rows": effect(('rows = ["ed"]', 'rows = ["ed@parish"]')),
    "TableSection.columns": effect(('columns = ["sex"]', 'columns = ["married"]')),
    "TableSection.of": effect(
        ('columns = ["tenure"]', 'columns = ["tenure"]\nof = "households"'),
        base=plan(('columns = ["sex"]', 'columns = ["tenure"]')),
    ),
    "TableSection.measure": effect(
        ('columns = ["sex"]', 'columns = ["sex"]\nmeasure = "weighted"')
    ),
    "TableSection.protect": effect(
        ('columns = ["sex"]', 'columns = ["sex"]\nprotect = { method = "random-rounding" }')
    ),
    # ---------------------------------------------------------------------------- [[indicator]]
    "IndicatorSection.name": effect(('name = "figure"', 'name = "women"')),
    "IndicatorSection.title": effect(
        ('name = "figure"', 'name = "figure"\ntitle = "X"'), way=texts
    ),
    "IndicatorSection.kind": effect(
        ('kind = "median"', 'kind = "mean"'), base=figure('kind = "median"\nvariable = "age"')
    ),
    "IndicatorSection.by": effect(('by = ["ed@parish"]', 'by = ["ed"]')),
    "IndicatorSection.of": effect(
        ('"tenure == 2"', '"tenure == 2"\nof = "households"'),
        base=figure('numerator = "tenure == 2"'),
    ),
    "IndicatorSection.universe": effect(
        ('kind = "share"', 'kind = "share"\nuniverse = "age@broad == \'15-64\'"')
    ),
    "IndicatorSection.numerator": effect(('"sex == 2"', '"sex == 1"')),
    "IndicatorSection.denominator": effect(('"sex == 2"', '"sex == 2"\ndenominator = "age >= 15"')),
    "IndicatorSection.variable": effect(
        ('variable = "age"', 'variable = "income"'),
        base=figure('kind = "median"\nvariable = "age"'),
    ),
    "IndicatorSection.per": effect(
        ('kind = "sex-ratio"', 'kind = "sex-ratio"\nper = 1000'), base=figure('kind = "sex-ratio"')
    ),
    "IndicatorSection.percent": effect(("percent = 20", "percent = 30"), base=figure(PERCENTILE)),
    "IndicatorSection.first": effect(("sex == 2", "sex == 9"), base=figure(DIFFERENCE)),
    "IndicatorSection.second": effect(("sex == 1", "sex == 9"), base=figure(DIFFERENCE)),
    "IndicatorSection.figure": effect(
        ('kind = "difference"', 'kind = "difference"\nfigure = "sum"'), base=figure(DIFFERENCE)
    ),
    "IndicatorSection.fewest": effect(
        ('kind = "percentile"', 'kind = "percentile"\nfewest = 40'), base=figure(PERCENTILE)
    ),
    "IndicatorSection.decimals": effect(('kind = "share"', 'kind = "share"\ndecimals = 3')),
    # --------------------------------------------------------------------------------- [office]
    "OfficeSection.name": effect(("[output]", '[office]\nname = "Bureau"\n\n[output]'), way=texts),
    "OfficeSection.legal_basis": effect(
        ("[output]", '[office]\nlegal_basis = "Act 7"\n\n[output]'), way=texts
    ),
    "OfficeSection.contact": effect(
        ("[output]", '[office]\ncontact = "a@b.org"\n\n[output]'), way=texts
    ),
    "OfficeSection.symbols": effect(
        ("[output]", '[office]\nsymbols = { not_available = "-" }\n\n[output]'),
        base=figure('numerator = "sex == 2"\ndenominator = "unasked == 1"'),
    ),
    # -------------------------------------------------------------------------------- [protect]
    "ProtectSection.method": effect((CELL_KEY, 'method = "random-rounding"')),
    "ProtectSection.then": effect((CELL_KEY, f'{CELL_KEY}\nthen = ["additivity"]')),
    "ProtectSection.smallest_group": effect(
        (CELL_KEY, f"{CELL_KEY}\nsmallest_group = 12"), way=published
    ),
    "ProtectSection.import_published": Effect(
        {"plan1.toml": FIRST, "plan2.toml": SECOND},
        {
            "plan1.toml": FIRST,
            "plan2.toml": edited(SECOND, ("[output]", "import_published = true\n\n[output]")),
        },
        published,
        "without",
    ),
    # ------------------------------------------------------------------------ [policy], [output]
    "PolicyOfPlan.file": effect(("policy.toml", "none.toml"), base=OBEYING, way=published),
    "PolicyOfPlan.role": effect(
        ('role = "public"', 'role = "production"'), base=OBEYING, way=published
    ),
    "OutputSection.folder": effect(('folder = "published"', 'folder = "published-2"'), way=names),
    "OutputSection.office_folder": effect(
        ('folder = "published"', 'folder = "published"\noffice_folder = "own"'), way=names
    ),
    "OutputSection.date": effect(("2026-03-01", "2026-03-02"), way=texts),
    "OutputSection.formats": effect(('formats = ["csv"]', 'formats = ["csv", "px"]'), way=names),
    "OutputSection.languages": effect(
        ('formats = ["px"]', 'formats = ["px"]\nlanguages = ["es"]'),
        base=plan(('formats = ["csv"]', 'formats = ["px"]')),
        way=texts,
    ),
    "OutputSection.notes": effect(("formats", "notes = false\nformats"), way=texts),
    "OutputSection.evaluation": effect(("formats", "evaluation = true\nformats"), way=names),
    "OutputSection.original_store": effect(
        ("formats", 'original_store = "../of-others/census.store"\nformats'),
        base=plan(("formats", "evaluation = true\nformats")),
        way=evaluations,
    ),
    "OutputSection.labels": effect(("formats", "labels = false\nformats"), way=texts),
}

#: For each method and step a plan without and with each of its settings.
OF_METHODS: dict[str, Effect] = {
    "cell-key.perturbation": settings_of(
        "cell-key", 'perturbation = "noise.csv"', 'perturbation = "wide.csv"'
    ),
    "cell-key.allow_bias": settings_of(
        "cell-key",
        'perturbation = "biased.csv"',
        'perturbation = "biased.csv"\nallow_bias = true',
        refused="without",
    ),
    "cell-key.repeat": settings_of(
        "cell-key", 'perturbation = "uneven.csv"', 'perturbation = "uneven.csv"\nrepeat = 2'
    ),
    "cell-key.scheme": settings_of("cell-key", 'scheme = "CP3"', 'scheme = "CP4"'),
    "cell-key.strength": effect(('"strong"', '"light"')),
    "cell-key.lookup": effect((CELL_KEY, f'{CELL_KEY}\nlookup = "ascending"')),
    "cell-key.key_version": effect((CELL_KEY, f"{CELL_KEY}\nkey_version = 2")),
    "cell-key.zeros": effect(
        (CELL_KEY, f'{CELL_KEY}\nzeros = "perturb"\nzero_share = 0.5'), base=plan(WIDER)
    ),
    "cell-key.zero_share": effect(
        ("zero_share = 0.1", "zero_share = 0.9"),
        base=plan(WIDER, (CELL_KEY, f'{CELL_KEY}\nzeros = "perturb"\nzero_share = 0.1')),
    ),
    "cell-key.exempt": effect((CELL_KEY, f'{CELL_KEY}\nexempt = ["ed"]')),
    "random-rounding.base": settings_of("random-rounding", "base = 3", "base = 5"),
    "random-rounding.lookup": settings_of(
        "random-rounding", 'lookup = "ascending"', 'lookup = "hashed"'
    ),
    "random-rounding.key_version": settings_of(
        "random-rounding", 'lookup = "hashed"', 'lookup = "hashed"\nkey_version = 2'
    ),
    "semi-controlled-rounding.base": settings_of(
        "semi-controlled-rounding", "base = 3", "base = 5"
    ),
    "semi-controlled-rounding.to": settings_of(
        "semi-controlled-rounding", 'to = "grand-total"', 'to = "areas"\narea = "ed"'
    ),
    "semi-controlled-rounding.area": settings_of(
        "semi-controlled-rounding",
        'to = "areas"\narea = "ed"',
        'to = "areas"\narea = "sex"',
    ),
    "semi-controlled-rounding.key_version": settings_of(
        "semi-controlled-rounding", "", "key_version = 2"
    ),
    "conventional-rounding.base": settings_of("conventional-rounding", "base = 3", "base = 5"),
    "small-cell-adjustment.base": settings_of("small-cell-adjustment", "base = 3", "base = 5"),
    "small-cell-adjustment.threshold": settings_of(
        "small-cell-adjustment", "base = 3\nthreshold = 3", "base = 3\nthreshold = 9"
    ),
    "small-count-rounding.base": settings_of("small-count-rounding", "base = 3", "base = 5"),
    "small-count-rounding.threshold": settings_of(
        "small-count-rounding", "base = 3\nthreshold = 3", "base = 3\nthreshold = 9"
    ),
    "small-count-rounding.force": settings_of("small-count-rounding", "", "force = true"),
    "small-count-rounding.inner_check": replace(
        settings_of(
            "small-count-rounding",
            "base = 8",
            'base = 8\ninner_check = "none"',
            table='rows = ["age@ten_year+broad"]',
        ),
        way=published,
    ),
    "small-count-rounding.key_version": settings_of(
        "small-count-rounding", "base = 5", "base = 5\nkey_version = 2"
    ),
    "per-unit-deviations.units": settings_of("per-unit-deviations", "units = 1", "units = 2"),
    "per-unit-deviations.totals": settings_of(
        "per-unit-deviations", 'totals = "added"', 'totals = "own"'
    ),
    "per-unit-deviations.key_version": settings_of("per-unit-deviations", "", "key_version = 2"),
    "light-touch.perturbation": settings_of(
        "light-touch", 'perturbation = "noise.csv"', 'perturbation = "wide.csv"'
    ),
    "light-touch.allow_bias": settings_of(
        "light-touch",
        'perturbation = "biased.csv"',
        'perturbation = "biased.csv"\nallow_bias = true',
        refused="without",
    ),
    "light-touch.repeat": settings_of(
        "light-touch", 'perturbation = "uneven.csv"', 'perturbation = "uneven.csv"\nrepeat = 2'
    ),
    "light-touch.scheme": settings_of("light-touch", 'scheme = "CP1"', 'scheme = "CP4"'),
    "light-touch.strength": settings_of("light-touch", 'strength = "light"', 'strength = "strong"'),
    "light-touch.lookup": settings_of(
        "light-touch", 'strength = "strong"', 'strength = "strong"\nlookup = "ascending"'
    ),
    "light-touch.key_version": settings_of(
        "light-touch", 'strength = "strong"', 'strength = "strong"\nkey_version = 2'
    ),
    "threshold-and-rounding.threshold": settings_of(
        "threshold-and-rounding", "threshold = 5\nbase = 5", "threshold = 10\nbase = 5"
    ),
    "threshold-and-rounding.base": settings_of(
        "threshold-and-rounding", "threshold = 10\nbase = 5", "threshold = 10\nbase = 10"
    ),
    "threshold-and-rounding.zeros": settings_of(
        "threshold-and-rounding", 'zeros = "withhold"', 'zeros = "show"'
    ),
    "additivity.mode": settings_of(
        "cell-key",
        'strength = "strong"\nthen = ["additivity"]\nmode = "exact"',
        'strength = "strong"\nthen = ["additivity"]\nmode = "fast"',
    ),
    "withhold-sparse-areas.area": settings_of(
        "cell-key",
        f'{SPARSE}area = "ed"',
        f'{SPARSE}area = "sex"',
    ),
    "withhold-sparse-areas.mean_cell_size": settings_of(
        "cell-key", f'{SPARSE}area = "ed"', f'{SPARSE}area = "ed"\nmean_cell_size = 0.1'
    ),
    "withhold-sparse-areas.below": settings_of(
        "cell-key", f'{SPARSE}area = "ed"\nbelow = 3', f'{SPARSE}area = "ed"\nbelow = 9'
    ),
}
