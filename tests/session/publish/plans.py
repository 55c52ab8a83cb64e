"""A plan on disk with everything that it names: a store of the island, its secret, a document."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.model.progress import Progress, no_progress
from sdcensus.session.publish.run import PublishOptions, PublishReport, publish as publish_plan
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island_units
from sdcensus.testing.stores import Units
from tests.session.publish.publications import stored

TABLES = """
[[table]]
name = "marital"
rows = ["area@parish+district"]
columns = ["married", "sex"]

[[table]]
name = "ages"
title = { en = "Ages of the islanders" }
rows = ["age@age+class"]
columns = ["sex"]

[[table]]
name = "wed"
rows = ["area@district"]
columns = ["sex"]
measure = "share(married == '1')"

[[indicator]]
name = "men"
kind = "sex-ratio"
by = ["area@parish"]
"""
PROTECT = """
[protect]
method = "cell-key"
strength = "strong"
"""
OUTPUT = """
[output]
folder = "published"
date = "2026-03-01"
formats = {formats}
evaluation = true
"""


@dataclass(frozen=True)
class Office:
    """A folder with a store, the secret of its keys, and a plan."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "census.store"

    @property
    def secret(self) -> Path:
        return self.folder / "office.secret"

    @property
    def plan(self) -> Path:
        return self.folder / "plan.toml"

    @property
    def published(self) -> Path:
        return self.folder / "published"

    @property
    def office(self) -> Path:
        return self.folder / "published.office"

    @property
    def own(self) -> Path:
        """What the office keeps about the publication."""
        return self.office / "plan"

    def write_plan(
        self,
        tables: str = TABLES,
        *,
        formats: Sequence[str] = ("csv",),
        protect: str = PROTECT,
        more: str = "",
        output: str = "",
        head: str = "",
        name: str = "plan.toml",
    ) -> Path:
        path = self.folder / name
        text = f'store = "census.store"\n{head}{tables}{protect}{more}'
        text += OUTPUT.format(formats=str(list(formats)).replace("'", '"')) + output
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def publish(self, plan: Path | None = None, **asked: Any) -> PublishReport:
        progress = asked.pop("progress", no_progress)
        options = PublishOptions(**{"secret": self.secret, **asked})
        return publish_plan(plan or self.plan, options, progress=progress)

    def replace_store(self, units: Units, **options: Any) -> None:
        shutil.rmtree(self.store)
        stored(self.store, units, **options)

    def files(self) -> dict[str, bytes]:
        """Every file of the published folder."""
        return contents(self.published)

    def beside(self) -> set[str]:
        """What lies beside the published folder."""
        return {path.name for path in self.folder.iterdir()}


def new_office(folder: Path, people: int = 2000, *, seed: int = 7, **plan: Any) -> Office:
    """An office with a census of its own, and a plan."""
    folder.mkdir(parents=True, exist_ok=True)
    office = Office(folder)
    stored(office.store, island_units(people, seed=seed))
    write_secret(SECRET, office.secret)
    office.write_plan(**plan)
    return office


def copy_of(office: Office, folder: Path) -> Office:
    """The same office at another place, without what it has published."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(office.store, folder / "census.store")
    for path in (office.secret, office.plan):
        shutil.copy(path, folder / path.name)
    return Office(folder)


class Stop(Exception):
    """Somebody pulls the plug."""


def stopped_after(products: int) -> Progress:
    """Stops a run when so many products are finished, as a failure of one of them would."""
    calls = 0

    def progress(stage: str, done: float) -> None:
        nonlocal calls
        calls += stage == "making the tables"
        if calls > products + 1:  # the first call is before any of them
            raise Stop

    return progress


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its way from there; folders end with a slash."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[f"{name}/" if path.is_dir() else name] = b"" if path.is_dir() else path.read_bytes()
    return found
