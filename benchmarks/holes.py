"""Same people, same number: what attacks on equal sets read off, with and without remedies.

``python -m benchmarks --only holes`` makes the demo country and prints the table; with ``--folder``
the country is kept there. A remedy is a method, a rule on published values, or both; the builder's
menu is walked through as the public would, the tables of the national plan are those of the folder
that the demo publishes.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.measure import Line
from sdcensus.attack import GROUP_ATTACKS, Assumptions, run_attacks
from sdcensus.documents.policy.document import read_policy
from sdcensus.formats.read.tables import scan_published
from sdcensus.methods.cell_key import CellKey
from sdcensus.model.cube.pairs import true_values
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.table import Mark, PublishedTable, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer.service import TableService
from sdcensus.session.attack.crawl import MenuWalk, crawl_menu
from sdcensus.session.attack.score import score
from sdcensus.session.attack.score_groups import GroupScore
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.demo.country import noise_for
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.store.secrets import read_secret

#: The smallest group that is broken down, and the values that are hidden, where a remedy says so.
SMALLEST_GROUP, HIDDEN_BELOW = 24, 10
#: How many empty cells are published as 1, and as 2, where zeros are changed too.
CHANGED_ZEROS: Mapping[int, float] = {1: 0.04, 2: 0.02}

#: The finest levels of the menu before, where they were others.
FINER = {"religion": "", "education": "", "occupation": "major", "industry": "section"}

Tables = Sequence[PublishedTable]


def _as_they_are(tables: Tables) -> Tables:
    return tables


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something that an office can do against attacks on equal sets.

    Attributes:
        name: What it is called.
        definition: Whether every definition of a cell has noise of its own.
        changed_zeros: Whether empty cells are changed too; the intruder then knows.
        smallest_group: Groups that are published below this are not broken down.
        hide: What is done to published values.
        dimensions: Variables in a table.
    """

    name: str
    definition: bool = False
    changed_zeros: bool = False
    smallest_group: int | None = None
    hide: Callable[[Tables], Tables] = field(default=_as_they_are)
    dimensions: int = 3


def hide_small_values(tables: Tables, least: int = HIDDEN_BELOW) -> list[PublishedTable]:
    """Values below a limit, zeros too, with one sign."""
    made = []
    for one in tables:
        table = one.table if isinstance(one.table, Table) else one.table.whole()
        made.append(
            replace(one, table=_shown(table, table.published >= least, Mark.BELOW_THRESHOLD))
        )
    return made


def _shown(
    table: Table, shown: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], flag: Mark
) -> Table:
    before = np.zeros(table.shape, dtype=np.uint8) if table.flags is None else table.flags
    flags = np.where((before == 0) & ~shown, flag, before).astype(np.uint8)
    return Table(table.spec, np.where(flags == 0, table.published, 0), flags)


#: What is compared.
REMEDIES = (
    Remedy("set keys"),
    Remedy("set keys, smallest group 24", smallest_group=SMALLEST_GROUP),
    Remedy("definition keys", definition=True),
    Remedy("definition keys, smallest group 24", definition=True, smallest_group=SMALLEST_GROUP),
    Remedy("set keys, values below 10 hidden", hide=hide_small_values),
    Remedy("definition keys, values below 10 hidden", definition=True, hide=hide_small_values),
    Remedy("set keys, zeros changed too", changed_zeros=True),
    Remedy("definition keys, zeros changed too", definition=True, changed_zeros=True),
    Remedy("set keys, two variables in a table", dimensions=2),
)


def method_of(remedy: Remedy, census: Census, secret: Secret, noise: PerturbationDesign) -> CellKey:
    """The method of a remedy: noise by sets or by definitions."""
    design = noise
    if remedy.changed_zeros:
        design = design.with_perturbed_zeros(CHANGED_ZEROS)
    return CellKey(
        design,
        secret=secret,
        lookup=Lookup.DEFINITION if remedy.definition else Lookup.HASHED,
        zeros="perturb" if remedy.changed_zeros else "keep",
        schema=census.schema,
    )


def builder_tables(
    remedy: Remedy, census: Census, policy: Policy, method: CellKey, areas: tuple[str, ...]
) -> Tables:
    """What the builder answers to who walks through its menu, after the remedy."""
    without = replace(policy, online=replace(policy.online, smallest_group=None))
    service = TableService(
        census, without, {Entity.PERSON: method}, smallest_group=remedy.smallest_group
    )
    walk = MenuWalk(areas=areas, dimensions=remedy.dimensions)
    return remedy.hide(crawl_menu(service, walk).tables)


def plan_tables(
    remedy: Remedy, census: Census, method: CellKey, specs: Sequence[TableSpec]
) -> Tables:
    """The tables of a plan, protected by the remedy."""
    made = []
    rule = GroupRule(remedy.smallest_group)
    for number, spec in enumerate(specs):
        protected = rule.protect(spec, method, census.tabulate)
        made.append(PublishedTable(f"{number:04d}", protected.table, protected.provenance))
    return remedy.hide(made)


def scores_of(remedy: Remedy, tables: Tables, census: Census) -> tuple[GroupScore, ...]:
    """What the attacks find in tables of a remedy, beside the truth."""
    known = Assumptions(zeros_known=not remedy.changed_zeros)
    return score(run_attacks(tables, known, attacks=GROUP_ATTACKS), tables, census).groups


def wide(policy: Policy) -> Policy:
    """The menu as the demo opened it before: homes on tables of persons, finer groups."""
    rules = []
    for rule in policy.variables:
        if rule.offered:
            finest = FINER.get(rule.variable, rule.finest_level)
            rule = replace(rule, units=None, finest_level=finest)
        rules.append(rule)
    return replace(policy, variables=tuple(rules))


def persons_shown(tables: Tables, census: Census, *variables: str) -> float | None:
    """The share of persons in shown cells of tables by these variables, mean over the tables."""
    shares = []
    for one in tables:
        table = one.table
        names = [axis.variable.name for axis in table.spec.axes]
        if not isinstance(table, Table) or not set(variables) <= set(names) or len(names) < 3:
            continue
        inside = np.ix_(
            *(
                [at for at, code in enumerate(axis.codes) if not code.is_total]
                for axis in table.spec.axes
            )
        )
        counts = true_values(census.tabulate(table.spec)).reshape(table.shape)[inside]
        shown = np.ones(table.shape, dtype=bool) if table.flags is None else table.flags == 0
        if counts.sum():
            shares.append(float(counts[shown[inside]].sum() / counts.sum()))
    return sum(shares) / len(shares) if shares else None


def lines_of(place: str, remedy: Remedy, scores: Sequence[GroupScore]) -> list[Line]:
    """One line for each attack: all sizes together."""
    made = []
    for attack in GROUP_ATTACKS:
        own = [score for score in scores if score.attack == attack]
        claims, right = sum(one.claims for one in own), sum(one.right for one in own)
        visible = [one.visible for one in own if one.visible is not None]
        found = sum(one.found or 0 for one in own)
        text = f"{claims:,} claims, {right:,} right"
        if visible:
            text += f"; found {found:,} of {sum(visible):,} visible"
        read, codes = sum(one.attributes for one in own), sum(one.attributes_right for one in own)
        guessed = sum(one.guessed_right for one in own)
        text += f"; codes {read:,}, {codes:,} right ({guessed:,} by guessing)"
        made.append(Line(f"{place}: {remedy.name}: {attack}", text))
    return made


def _sdcensus(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "sdcensus", *arguments, "--quiet"], check=True)


def measure(
    folder: Path, *, small: bool = False, remedies: Sequence[Remedy] = REMEDIES
) -> list[Line]:
    """The table attack by remedy, for the builder, the national plan and the European programme."""
    home = folder / "holes"
    if not (home / "policy.toml").exists():
        _sdcensus("demo", "--out", str(home))
    if not small and not (home / "published-eu").exists():
        named = ("--secret", str(home / "demo.secret"), "--revision", "eu-programme")
        accepted = ("--accept-risk", "Benchmark", "--reason", "to attack it")
        _sdcensus("publish", str(home / "eu-plan.toml"), *named, *accepted)
    census = open_store(home / "census.store")
    policy = read_policy(home / "policy.toml", census.schema)
    secret = read_secret(home / "demo.secret")
    noise = noise_for(policy)
    made: list[Line] = []
    for remedy in remedies:
        method = method_of(remedy, census, secret, noise)
        menus = {"builder": policy, "wide menu": wide(policy)}
        areas = ("parish",) if small else ("parish", "country")
        for (menu, offered), area in itertools.product(menus.items(), areas):
            place = f"{menu}, {area}"
            tables = builder_tables(remedy, census, offered, method, (area,))
            made += lines_of(place, remedy, scores_of(remedy, tables, census))
            share = persons_shown(tables, census, "age")
            if share is not None:
                made.append(Line(f"{place}: {remedy.name}: persons in shown cells", f"{share:.1%}"))
        for name in ("national", "published-eu"):
            if (home / name).is_dir() and not (small and name == "published-eu"):
                specs = [table.table.spec for table in scan_published(home / name).tables]
                persons = [spec for spec in specs if spec.of is Entity.PERSON]
                tables = plan_tables(remedy, census, method, persons)
                made += lines_of(name, remedy, scores_of(remedy, tables, census))
    return made
