"""The demo country, from nothing to tables: made, loaded under a secret of its own, tabulated."""

from __future__ import annotations

import json
import secrets
import shutil
import time
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from sdcensus.demo import (
    EU_FOLDER,
    GROUPINGS_FILE,
    MAPPING_FILE,
    NATIONAL_FOLDER,
    NATIONAL_PLAN_FILE,
    NOISE_FILE,
    PLAN_FILE,
    POLICY_FILE,
    PRESETS,
    RELEASE_FILE,
    RESEARCHERS_FOLDER,
    Country,
    builder_policy,
    eu_plan,
    make_country,
    national_plan,
    write_country,
)
from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import OutputError, SpecError
from sdcensus.formats.perturbation import ExchangeFormat, write_perturbation
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.policy.policy import Policy
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import parse_json
from sdcensus.risk.looks.budget import look_budgets
from sdcensus.risk.looks.chance import Requirement
from sdcensus.session.answer.budgets import open_menu
from sdcensus.session.census.census import load, open_store
from sdcensus.session.looks.budget import LIMIT, design_for, needed
from sdcensus.session.office.secret import make_lookup_secret, make_secret
from sdcensus.session.protect.smallest_group import LEAST, suggested_smallest_group

#: What the folder of a demonstration holds. The mark tells that the folder is ours.
COUNTRY, SECRET, STORE, MARK = "country", "demo.secret", "census.store", "demo.json"
#: The same census with some households in the place of others.
SWAPPED = "swapped.store"
#: The part of the secret that a server needs.
SERVER_SECRET = "server.secret"
#: What is made of it afterwards: for anyone, and for the office only.
PUBLISHED, OFFICE = "published", "office"
#: What a server keeps that is started in the folder: it knows which numbers it has given out.
SERVER_STATE = "sdcensus-server"
_MADE_BY = "sdcensus demo"
#: A new demonstration has a new secret: what was published with the old one does not go with it.
_OURS = frozenset(
    {
        *(COUNTRY, SECRET, SERVER_SECRET, STORE, MARK, PUBLISHED, OFFICE, SERVER_STATE),
        *(SWAPPED, f"{SWAPPED}.office"),
        *(NATIONAL_PLAN_FILE, NATIONAL_FOLDER, PLAN_FILE, EU_FOLDER, POLICY_FILE, NOISE_FILE),
        *(RELEASE_FILE, GROUPINGS_FILE, RESEARCHERS_FOLDER),
    }
)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A demo country in its folder: files, secret and store.

    Attributes:
        folder: Where all of it stands.
        country: The name of the country.
        schema, secret, server_secret, store, plan, policy: What the commands need.
        files: The census files with their sizes in bytes.
        records: How many records of each kind the store holds.
        seconds: How long each step took.
        study_axes: The axes of the founding study.
    """

    folder: Path
    country: str
    schema: Path
    secret: Path
    server_secret: Path
    store: Path
    plan: Path
    policy: Path
    files: tuple[tuple[Path, int], ...]
    records: tuple[tuple[Entity, int], ...]
    seconds: tuple[tuple[str, float], ...]
    study_axes: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class DemoTable(Confidential):
    """A table of the demo country and how long it took. Of nobody who exists."""

    cube: AnyCube
    seconds: float

    def __repr__(self) -> str:
        return f"<DemoTable {self.cube.spec.title}: confidential>"


def choose_country(preset: str | None, persons: int | None) -> Country:
    """The country that was asked for: one of the presets, or one with so many persons."""
    if preset is not None and persons is not None:
        raise SpecError("Ask for a preset or for a number of persons, not for both.")
    if persons is not None:
        return make_country(persons)
    return make_country(preset or next(iter(PRESETS)))


def make_demonstration(
    out: Path,
    *,
    country: Country,
    seed: int,
    file_format: str,
    progress: Progress,
) -> Demonstration:
    """Make a demo country and load it; the folder appears when everything is in it.

    A folder of an earlier demonstration is made anew; what others have put into it stays. Any
    other folder that is not empty is refused.
    """
    old = _names_of_ours(out)
    partial = out.with_name(f"{out.name}.partial-{secrets.token_hex(4)}")
    try:
        demonstration = _make(partial, country, seed, file_format, progress)
        _put_in_place(partial, out, old)
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return _moved(demonstration, out)


def demo_tables(made: Demonstration) -> tuple[DemoTable, ...]:
    """A few tables of the country: small ones first, the one of the founding study last.

    Each is made twice and the second time counts: the first one may have to compile.
    """
    census = open_store(made.store)
    tables = []
    for axes, of in (
        (("age@broad", "sex"), Entity.PERSON),
        (("ed@parish+district", "sex", "age@five_year"), Entity.PERSON),
        (("ed@parish", "tenure", "household_size"), Entity.HOUSEHOLD),
        (made.study_axes, Entity.PERSON),
    ):
        census.tabulate(*axes, of=of)
        began = time.perf_counter()
        cube = census.tabulate(*axes, of=of)
        tables.append(DemoTable(cube, time.perf_counter() - began))
    return tuple(tables)


def _names_of_ours(out: Path) -> frozenset[str]:
    """What an earlier demonstration has made in the folder; refuses a folder of somebody else."""
    if Path.cwd().is_relative_to(out.resolve()):
        raise OutputError(f"{out} is the folder you are in, or holds it. Choose one below it.")
    if not out.exists() and not out.is_symlink():
        return frozenset()
    try:
        if out.is_dir() and not any(out.iterdir()):
            return frozenset()
        content = parse_json((out / MARK).read_text(encoding="utf-8"))
        if content["made_by"].startswith(_MADE_BY):
            return _OURS
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise OutputError(
        f"{out} was not made by sdcensus demo, so it is left alone. Choose another folder:"
        " --out FOLDER"
    )


def _make(
    folder: Path, country: Country, seed: int, file_format: str, progress: Progress
) -> Demonstration:
    folder.mkdir(parents=True)
    began = time.perf_counter()
    files = write_country(
        folder / COUNTRY, country=country, seed=seed, file_format=file_format, progress=progress
    )
    written = time.perf_counter()
    secret = make_secret(folder / SECRET)
    server_secret = make_lookup_secret(folder / SECRET, folder / SERVER_SECRET)
    report = load(files.schema, folder / STORE, secret=secret.path, progress=progress)
    loaded = time.perf_counter()
    _write_mark(folder, country, seed)
    census = open_store(report.store)

    def policy(smallest_group: int) -> str:
        return builder_policy(
            tuple(variable.name for variable in census.schema.variables if variable.is_axis),
            store=STORE,
            plan=NATIONAL_PLAN_FILE,
            secret=SERVER_SECRET,
            smallest_group=smallest_group,
        )

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text, encoding="utf-8", newline="\n")

    # The noise follows from what is open, and the smallest group from the noise.
    write(POLICY_FILE, policy(LEAST))
    noise = noise_for(read_policy(folder / POLICY_FILE, census.schema))
    smallest = suggested_smallest_group(census, noise.max_deviation)
    write(POLICY_FILE, policy(smallest))
    write(NATIONAL_PLAN_FILE, national_plan(STORE, OFFICE, smallest_group=smallest))
    write(PLAN_FILE, eu_plan(STORE, f"{COUNTRY}/{MAPPING_FILE}", OFFICE))
    write_perturbation(noise, folder / NOISE_FILE, ExchangeFormat.PLAIN)
    return Demonstration(
        folder=folder,
        country=country.name,
        schema=files.schema,
        secret=secret.path,
        server_secret=server_secret.path,
        store=report.store,
        plan=folder / NATIONAL_PLAN_FILE,
        policy=folder / POLICY_FILE,
        files=tuple((path, path.stat().st_size) for path in files.files.values()),
        records=tuple(report.rows.items()),
        seconds=(("making the country", written - began), ("loading it", loaded - written)),
        study_axes=files.study_axes,
    )


def noise_for(policy: Policy) -> PerturbationDesign:
    """The smallest noise that withstands everything that a policy opens, for all units.

    Raises:
        SpecError: No noise does.
    """
    limit = policy.online.recovery or LIMIT
    opened = {entity.entity: open_menu(policy, entity.entity) for entity in policy.schema.entities}
    menus = {of: menu for of, menu in opened.items() if menu is not None}
    requirements = [needed(budget, limit) for budget in look_budgets(policy.schema, menus).values()]
    return design_for(reduce(Requirement.also, requirements))


def _write_mark(folder: Path, country: Country, seed: int) -> None:
    content = {
        "made_by": _MADE_BY,
        "note": "A fictional country. The secret is for this demonstration only: a real one never"
        " lies beside a store.",
        "country": country.name,
        "persons": country.persons,
        "seed": seed,
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (folder / MARK).write_text(text, encoding="utf-8", newline="\n")


def _put_in_place(new: Path, out: Path, ours: frozenset[str]) -> None:
    """Give the new folder its name, with what others have put into the old one."""
    if not out.exists():
        new.replace(out)
        return
    for entry in out.iterdir():
        if entry.name not in ours:
            entry.replace(new / entry.name)
    old = new.with_name(f"{new.name}.old")
    out.replace(old)
    new.replace(out)
    shutil.rmtree(old, ignore_errors=True)


def _moved(made: Demonstration, out: Path) -> Demonstration:
    """The same demonstration with the paths that it has now."""

    def now(path: Path) -> Path:
        return out / path.relative_to(made.folder)

    return Demonstration(
        folder=out,
        country=made.country,
        schema=now(made.schema),
        secret=now(made.secret),
        server_secret=now(made.server_secret),
        store=now(made.store),
        plan=now(made.plan),
        policy=now(made.policy),
        files=tuple((now(path), size) for path, size in made.files),
        records=made.records,
        seconds=made.seconds,
        study_axes=made.study_axes,
    )
