"""A town of which an office hands out two files, as in the study: single years, and bands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.release.registered import FileEvent, RegisteredFile
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.secret import Secret
from sdcensus.session.release.assess.cumulation import line_of
from sdcensus.session.release.designed import designed
from sdcensus.session.release.make.shown import shown_file, write_shown
from sdcensus.session.release.opened import OpenRelease, open_release
from sdcensus.store.census_store import CensusStore
from sdcensus.store.registered_files import read_registered, write_registered
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units, write_store

P, H = Entity.PERSON, Entity.HOUSEHOLD
AGES, TRADES, AREAS = 80, 24, 6
NAMES = ("A. Ruiz", "B. Li")

DOCUMENT = """\
store = "{store}"
office = "{office}"
name = "{name}"
licence = "licensed-use"

[risk]
ladder = ["age", "sex", "trade"]

[acceptance]
expected_matches = {accepted}
population_uniques = 1.0
not_anonymous = 1.0
household_risk = 1.0
composition_uniques = 1.0
expected_matches_of_file = 1.0
population_uniques_of_file = 1.0
not_anonymous_of_file = 1.0
composition_uniques_of_file = 1.0

[thresholds]
persons = 1
households = 1
exempt = {{ born = "made up", trade = "made up", age = "made up" }}

[[design]]
name = "A"
households = {share}
{design}

[make]
design = "A"
formats = ["csv"]
"""
#: What the two files tell; both tell the number of the household and where people were born.
YEARS = {"name": "years", "share": "0.05", "design": 'drop = ["trade"]'}
BANDS = {"name": "bands", "share": "0.10", "design": 'recode = { age = "ten_year" }'}


def plain(size: int, *, start: int = 0) -> tuple[Code, ...]:
    return tuple(Code(str(at + start)) for at in range(size))


def town_schema(*, later: bool = False, code: str = "T1", moved: bool = False) -> Schema:
    """The schema; ``later`` with one more trade, ``moved`` with its codes in another order."""
    bands = Level("ten_year", plain(AGES // 10), tuple(age // 10 for age in range(AGES)))
    trades = plain(TRADES + later)
    if moved:
        trades = (trades[-1], *trades[:-1])
    unknown = Code("?", kind=CodeKind.NOT_STATED)
    none = Code("-", kind=CodeKind.NOT_APPLICABLE)
    return Schema(
        census=CensusInfo(name="Town", code=(code,), reference_date="2021-04-01"),
        entities=(
            EntitySpec(entity=P, id=("p",), within=H, optional=True),
            EntitySpec(entity=H, id=("h",)),
        ),
        variables=(
            Variable(name="area", entity=H, role=Role.GEOGRAPHY, codes=(*plain(AREAS), none)),
            Variable(name="tenure", entity=H, codes=(*plain(3), none)),
            Variable(name="sex", entity=P, codes=plain(2)),
            Variable(
                name="age", entity=P, codes=plain(AGES), hierarchies=(Hierarchy("bands", (bands,)),)
            ),
            Variable(name="trade", entity=P, codes=(*trades, unknown)),
            Variable(name="born", entity=P, codes=plain(200)),
        ),
    )


def town(
    path: Path,
    *,
    households: int = 900,
    secret: Secret = SECRET,
    without: int = 0,
    seed: int = 5,
    **schema: Any,
) -> CensusStore:
    """Write the town; ``without`` its first persons where it was corrected."""
    draw = np.random.default_rng(seed)
    home = np.repeat(np.arange(households), 1 + draw.integers(0, 5, households))
    size = home.size
    digests = draw.choice(1 << 62, size + households, replace=False).astype(np.uint64)
    declared = town_schema(**schema)
    trade_at = {code.code: at for at, code in enumerate(declared.variable("trade").codes)}
    places = np.array([trade_at[str(at)] for at in range(TRADES)])
    persons = {
        "sex": draw.integers(0, 2, size),
        "age": draw.integers(0, AGES, size),
        "trade": places[draw.integers(0, TRADES, size)],
        "born": draw.integers(0, 200, size),
    }
    kept = slice(without, None)
    units = {
        H: Units(
            keys=np.arange(households, dtype=np.uint32),
            digests=digests[size:],
            leaves={
                "area": draw.integers(0, AREAS, households),
                "tenure": draw.integers(0, 3, households),
            },
        ),
        P: Units(
            keys=np.arange(size, dtype=np.uint32)[kept],
            digests=digests[:size][kept],
            leaves={name: codes[kept] for name, codes in persons.items()},
            parents={H: home[kept]},
        ),
    }
    return write_store(path, declared, units, secret_id=secret.id)


def document(
    folder: Path, file: dict[str, str], *, accepted: str = "0.5", more: str = "", **paths: Path
) -> Path:
    """The release document of one of the files."""
    text = DOCUMENT.format(
        **file,
        accepted=accepted,
        store=paths.get("store", folder / "census.store").as_posix(),
        office=paths.get("office", folder / "office").as_posix(),
    )
    path = folder / f"{file['name']}.toml"
    path.write_text(text + more, encoding="utf-8")
    return path


def opened(path: Path, secret: Secret = SECRET) -> OpenRelease:
    return open_release(path, secret=secret)


def records_of(release: OpenRelease) -> FileRecords:
    """What the file of the first design tells."""
    return designed(release, release.designs()[0]).records


def put_out(release: OpenRelease, **changes: Any) -> RegisteredFile:
    """Register the file of a plan as it would be made, without making it."""
    records = records_of(release)
    plan, info = release.plan, release.store.schema.census
    shown = shown_file(records, release.store, plan.name, plan.acceptance.expected_matches)
    folder = plan.office / f"file-{plan.name}"
    folder.mkdir(parents=True, exist_ok=True)
    entry = RegisteredFile(
        event=FileEvent.REGISTERED,
        name=plan.name,
        title=plan.name,
        design="A",
        licence=plan.licence,
        date="2026-01-01",
        names=NAMES,
        census="|".join(info.code),
        reference_date=info.reference_date,
        data_version=records.store.manifest.data_version,
        lineage=line_of(records.store),
        secret_id=release.secret.id,
        records=shown.rows.size,
        folder=folder.name,
        shown=write_shown(shown, release.store, folder),
    )
    entry = replace(entry, **changes)
    write_registered(plan.office, (*read_registered(plan.office), entry))
    return entry
