"""What each setting of a policy changes: what may be asked, what is shown, what is decided."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sdcensus.documents.policy.document import read_policy
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.policy.policy import Policy, UserRole, menu_of
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import TableService
from sdcensus.session.answer.budgets import open_budgets
from sdcensus.session.answer.sum_budgets import sum_budgets
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.gate.gate import risks_of_menus
from sdcensus.session.policy import conflicts, show
from sdcensus.session.policy.design import design
from sdcensus.session.protect.table import exempting
from sdcensus.testing.island import SECRET
from sdcensus.web.quotas import QuotaExceeded, Quotas
from tests.documents.effects import Effect, Files, Way
from tests.documents.effects_of_plans import PERSONS, offices, published as published_plan

NOISE = CellKey(design_perturbation(5, 4.0), secret=SECRET)
#: Tables that are asked for: areas, fine and coarse, filters, combinations, other units.
TABLES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("ed", "sex"), "", "persons"),
    (("ed@parish", "age"), "", "persons"),
    (("ed@parish", "age@broad"), "", "persons"),
    (("ed", "age@ten_year", "sex"), "", "persons"),
    (("sex",), "married == 1", "persons"),
    (("ed@parish", "sex"), "age == 3", "persons"),
    (("married", "sex"), "", "persons"),
    (("ed", "tenure"), "", "households"),
    # 22 cells, of which one is empty by the schema: children are not married.
    (("age@ten_year", "married"), "", "persons"),
)
PEOPLE = len(PERSONS)


# ------------------------------------------------------------------------------------------ ways


def opened(files: Files, folder: Path) -> tuple[Policy, Census]:
    census = open_store(offices(folder.parent).store)
    text = files["policy.toml"]
    assert isinstance(text, str)
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8", newline="\n")
    return read_policy(path, census.schema), census


def judged(files: Files, folder: Path) -> object:
    """What is said to each role that asks for a table, and what is shown of it."""
    policy, census = opened(files, folder)
    method = exempting(NOISE, policy)

    def published(spec: TableSpec) -> Table:
        table = method.protect(census.tabulate(spec)).table
        assert isinstance(table, Table)
        return table

    seen = []
    for by, where, of in TABLES:
        spec = census.spec(*by, of=of, universe=where or None)
        for role in UserRole:
            decision = show(policy, published(spec), role=role, published=published)
            flags = getattr(decision.table, "flags", None)
            codes = [reason.code for reason in decision.verdict.reasons]
            seen.append(
                (decision.verdict.outcome, codes, None if flags is None else flags.tolist())
            )
    return seen


def numbers(files: Files, folder: Path) -> object:
    """The numbers that are published under the policy."""
    policy, census = opened(files, folder)
    method = exempting(NOISE, policy)
    made = []
    for by, where, of in TABLES:
        table = method.protect(census.tabulate(*by, of=of, universe=where or None)).table
        assert isinstance(table, Table)
        made.append(table.published.tolist())
    return made


def told(files: Files, folder: Path) -> object:
    """What is said about the policy itself."""
    policy, _ = opened(files, folder)
    return [*conflicts(policy), policy.name]


def decided(files: Files, folder: Path) -> object:
    """What the rules of design time find and propose."""
    policy, census = opened(files, folder)
    report = design(policy, census)
    return report.decided, list(report.lines(counts=True))


def answered(files: Files, folder: Path) -> object:
    """What the table builder answers."""
    policy, census = opened(files, folder)
    method = CellKey(design_perturbation(5, 4.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))
    service = TableService(census, policy, dict.fromkeys(Entity, method))
    made = service.answer(Question.from_json({"of": "persons", "by": ["ed", "sex"]}))
    assert made.table is not None
    return [] if made.table.marks is None else made.table.marks.tolist()


def sums(files: Files, folder: Path) -> object:
    """What the table builder answers about amounts."""
    policy, census = opened(files, folder)
    lookup = SECRET.sub_secret(Purpose.LOOKUP, 1)
    method = CellKey(design_perturbation(5, 4.0), secret=lookup)
    of_sums = CellKeySums(secret=lookup)
    service = TableService(
        census, policy, dict.fromkeys(Entity, method), sums=dict.fromkeys(Entity, of_sums)
    )
    seen: list[object] = []
    for measure in ("sum(income)", "mean(income)", "median(income)"):
        for by in (["ed", "sex"], ["age@ten_year"]):
            question = {"of": "persons", "measure": measure, "by": by}
            made = service.answer(Question.from_json(question))
            marks = None if made.table is None else made.table.marks
            codes = [reason.code for reason in made.verdict.reasons]
            seen.append((codes, None if marks is None else marks.tolist()))
    return seen


def sum_noise(files: Files, folder: Path) -> object:
    """Whether enough noise of sums is left."""
    policy, _ = opened(files, folder)
    budgets = sum_budgets(policy, {Entity.PERSON: CellKeySums(secret=SECRET)})
    return [budget.met for budget in budgets]


def said(files: Files, folder: Path) -> object:
    """What the values of the table builder are called."""
    policy, census = opened(files, folder)
    method = CellKey(design_perturbation(5, 4.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))
    service = TableService(census, policy, dict.fromkeys(Entity, method))
    made = service.answer(Question.from_json({"of": "persons", "by": ["ed", "sex"]}))
    assert made.table is not None
    return made.table.values.tolist(), made.table.unit.show("en")


def budgets(files: Files, folder: Path) -> object:
    """What may be found out by averaging, and whether the noise keeps to it."""
    policy, _ = opened(files, folder)
    made = open_budgets(policy, dict.fromkeys((Entity.PERSON, Entity.HOUSEHOLD), NOISE))
    return [(one.of, one.limit, one.met) for one in made]


def gated(files: Files, folder: Path) -> object:
    """What keeps the table builder closed because of small groups."""
    policy, census = opened(files, folder)
    menu = menu_of(policy, census.schema, of=Entity.PERSON)
    report = risks_of_menus(
        census,
        [menu],
        {Entity.PERSON: NOISE},
        smallest_group=policy.online.smallest_group,
        limit=policy.broken_down,
    )
    return [risk.code for risk in report.risks]


def quotas(files: Files, folder: Path) -> object:
    """How many tables of ten cells somebody gets on one day, and how many jobs at a time."""
    policy, _ = opened(files, folder)

    async def used(who: str, since: object) -> tuple[int, int]:
        return 0, 0

    made = []
    for role in UserRole:
        rules = policy.role(role)
        book = Quotas(used, lambda: 0.0)
        asyncio.run(book.know("somebody", rules))
        tables = 0
        try:
            for _ in range(50):
                book.take("somebody", rules, 10)
                tables += 1
        except QuotaExceeded:
            pass
        made.append((tables, rules.jobs))
    return made


def planned(files: Files, folder: Path) -> object:
    """What a plan publishes that exempts more than the policy does."""
    return published_plan(files, folder)


# -------------------------------------------------------------------------------------- versions


def policy(text: str = "", **files: str) -> Files:
    return {"policy.toml": f'name = "Rules"\n{text}', **files}


def effect(without: str, given: str, way: Way = judged, refused: str = "") -> Effect:
    return Effect(policy(without), policy(given), way, refused)


EXEMPTING_PLAN = """\
store = "../of-plans/census.store"

[[table]]
name = "sexes"
rows = ["ed"]
columns = ["sex"]

[protect]
method = "cell-key"
strength = "strong"
exempt = ["ed@parish"]

[policy]
file = "policy.toml"

[output]
folder = "published"
"""
DESIGN = "[design]\n"
ONLINE = "[online]\nmean_cell_size = 3\n"
SMALL_AREA = '[[decided.not_offered]]\nat = "ed"\ncodes = ["E5"]\n'
BROAD = '[[decided.detail]]\nareas = "ed@parish"\ncodes = ["P3"]\nlevels = { age = "broad" }\n'
AMOUNT = "[amount.income]\n"
EXEMPT = '[exempt]\nrecord_sets = [{ by = ["ed"] }]\n'

EFFECTS: dict[str, Effect] = {
    "HeadSection.name": Effect(policy(), {"policy.toml": 'name = "Other"\n'}, told),
    "HeadSection.lock": Effect(
        policy(**{"plan.toml": EXEMPTING_PLAN}),
        policy("lock = true\n", **{"plan.toml": EXEMPTING_PLAN}),
        planned,
        "given",
    ),
    "HeadSection.measure": effect("", 'measure = "weighted"\n', said),
    "LimitsSection.dimensions": effect("", "[limits]\ndimensions = 2\n"),
    "LimitsSection.cells": effect("", "[limits]\ncells = 50\n"),
    # --------------------------------------------------------------------------------- [online]
    "OnlineSection.preset": effect('[online]\npreset = "NZ"\n', '[online]\npreset = "US"\n'),
    "OnlineSection.mean_cell_size": effect("[online]\n", ONLINE),
    "OnlineSection.when_sparse": effect(ONLINE, f'{ONLINE}when_sparse = "refuse-table"\n'),
    "OnlineSection.below": effect(
        f'{ONLINE}when_sparse = "c"\nbelow = 2\n', f'{ONLINE}when_sparse = "c"\nbelow = 9\n'
    ),
    "OnlineSection.mean_cell_size_of_table": effect("", "[online]\nmean_cell_size_of_table = 8\n"),
    "OnlineSection.exclude_structural_zeros": effect(
        f"[online]\nmean_cell_size_of_table = {PEOPLE / 21.5}\n",
        f"[online]\nmean_cell_size_of_table = {PEOPLE / 21.5}\nexclude_structural_zeros = true\n",
    ),
    "OnlineSection.ones": effect("", "[online]\nones = 0.05\n"),
    "OnlineSection.ones_and_twos": effect("", "[online]\nones_and_twos = 0.1\n"),
    "OnlineSection.minimum_population": effect("", "[online]\nminimum_population = 20\n"),
    "OnlineSection.recovery": effect(
        "[limits]\ndimensions = 2\n[online]\nrecovery = 0.99\n",
        "[limits]\ndimensions = 2\n[online]\nrecovery = 0.05\n",
        budgets,
    ),
    "OnlineSection.smallest_group": effect("", "[online]\nsmallest_group = 12\n", answered),
    "OnlineSection.broken_down": effect(
        "[online]\nsmallest_group = 6\nbroken_down = 0.5\n",
        "[online]\nsmallest_group = 6\nbroken_down = 0\n",
        gated,
    ),
    "OnlineSection.brackets": effect("", "[online]\nbrackets = 20\n", answered),
    # --------------------------------------------------------------------------------- [design]
    "DesignSection.minimum_population": effect(
        DESIGN, f"{DESIGN}minimum_population = 30\n", decided
    ),
    "DesignSection.minimum_population_at": effect(
        DESIGN, f'{DESIGN}minimum_population_at = {{ "ed@parish" = 40 }}\n', decided
    ),
    "DesignSection.minimum_category": effect(DESIGN, f"{DESIGN}minimum_category = 9\n", decided),
    "DesignSection.one_household_cells": effect(
        DESIGN, f'{DESIGN}one_household_cells = "report"\n', decided
    ),
    "DetailSection.population": effect(
        '[[design.detail]]\npopulation = 30\nlevels = { age = "age" }\n',
        '[[design.detail]]\npopulation = 90\nlevels = { age = "age" }\n',
        decided,
    ),
    "DetailSection.levels": effect(
        '[[design.detail]]\npopulation = 0\nlevels = { age = "ten_year" }\n',
        '[[design.detail]]\npopulation = 0\nlevels = { age = "broad" }\n',
        decided,
    ),
    # --------------------------------------------------------------------------------- [exempt]
    "ExemptSection.record_sets": effect("", EXEMPT, numbers),
    "RecordSetSection.by": effect(EXEMPT, EXEMPT.replace('"ed"', '"ed@parish"'), numbers),
    "RecordSetSection.of": effect(
        EXEMPT, EXEMPT.replace("{ by", '{ of = "household", by'), numbers
    ),
    "RecordSetSection.where": effect(
        EXEMPT, EXEMPT.replace(" }]", ', where = "married == 1" }]'), numbers
    ),
    "RecordSetSection.name": effect(
        f"{EXEMPT}{SMALL_AREA}",
        EXEMPT.replace("{ by", '{ name = "People of areas", by') + SMALL_AREA,
        told,
    ),
    # ------------------------------------------------------------------- variables, combinations
    "RuleSection.offered": effect("", "[variable.sex]\noffered = false\n"),
    "RuleSection.as_filter": effect("", "[variable.married]\nas_filter = false\n"),
    "RuleSection.finest_level": effect("", '[variable.age]\nfinest_level = "ten_year"\n'),
    "RuleSection.units": effect("", '[variable.tenure]\nunits = ["persons"]\n'),
    "RuleSection.finest_area": effect("", '[variable.sex]\nfinest_area = "ed@parish"\n'),
    "TogetherSection.combinations": effect(
        "", '[never_together]\ncombinations = [["married", "sex"]]\n'
    ),
    # ------------------------------------------------------------------------------- [amount]
    "AmountSection.measures": effect(AMOUNT, f'{AMOUNT}measures = ["median"]\n', sums),
    "AmountSection.by": effect(AMOUNT, f'{AMOUNT}by = ["sex", "ed"]\n', sums),
    "AmountSection.dimensions": effect(AMOUNT, f"{AMOUNT}dimensions = 1\n", sums),
    "AmountSection.finest_area": effect(AMOUNT, f'{AMOUNT}finest_area = "ed@parish"\n', sums),
    "AmountSection.at_least": effect(AMOUNT, f"{AMOUNT}at_least = 40\n", sums),
    "AmountSection.noise_left": effect(
        f'{AMOUNT}by = ["sex", "ed"]\n',
        f'{AMOUNT}by = ["sex", "ed"]\nnoise_left = 0.09\n',
        sum_noise,
    ),
    # ----------------------------------------------------------------------------------- [role]
    "RoleSection.dimensions": effect(
        "[limits]\ndimensions = 2\n", "[limits]\ndimensions = 2\n[role.staff]\ndimensions = 9\n"
    ),
    "RoleSection.cells": effect(
        "[limits]\ncells = 50\n", "[limits]\ncells = 50\n[role.staff]\ncells = 9000\n"
    ),
    "RoleSection.cells_per_hour": effect("", "[role.public]\ncells_per_hour = 200\n", quotas),
    "RoleSection.tables_per_day": effect("", "[role.public]\ntables_per_day = 7\n", quotas),
    "RoleSection.jobs": effect("", "[role.public]\njobs = 2\n", quotas),
    "RoleSection.online": effect(ONLINE, f'{ONLINE}[role.production]\nonline = "off"\n'),
    # -------------------------------------------------------------------------------- [decided]
    "DecidedSection.not_offered": effect("", SMALL_AREA),
    "DecidedSection.detail": effect("", BROAD),
    "NotOfferedSection.at": effect(
        SMALL_AREA, '[[decided.not_offered]]\nat = "ed@parish"\ncodes = ["P3"]\n'
    ),
    "NotOfferedSection.codes": effect(SMALL_AREA, SMALL_AREA.replace("E5", "E4")),
    "DetailOfSection.areas": effect(
        BROAD, BROAD.replace('areas = "ed@parish"\ncodes = ["P3"]', 'areas = "ed"\ncodes = ["E5"]')
    ),
    "DetailOfSection.codes": effect(BROAD, BROAD.replace("P3", "P2")),
    "DetailOfSection.levels": effect(BROAD, BROAD.replace('"broad"', '"ten_year"')),
}
