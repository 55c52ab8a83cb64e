"""A licensed file of the settlement, registered, with three holders: what tests of copies use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.registered import FileEvent, RegisteredFile
from sdcensus.session.licence.register import LicenceRegister
from sdcensus.session.release.release import Release
from sdcensus.store.registered_files import read_registered, write_registered
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.session.release.file_records import settlement_store

HOLDERS = ("Ana Ruiz", "Zoë Émile Ñandú", "李伟")

DOCUMENT = """
name = "lf"
title = "Licensed file"
producer = "Office of the Settlement"
contact = "data@office.example"
store = "census.store"
licence = "licensed-use"

[[design]]
name = "A"
households = 0.5

[acceptance]
expected_matches = 1
population_uniques = 1
not_anonymous = 1
household_risk = 1
composition_uniques = 1
expected_matches_of_file = 1
population_uniques_of_file = 1
not_anonymous_of_file = 1
composition_uniques_of_file = 1

[thresholds]
persons = 0
households = 0

[make]
formats = ["csv", "parquet", "sav", "dta"]
"""


def enter(office: Path, name: str, **changes: Any) -> None:
    """Write a file that was never made into the register of an office."""
    entry = RegisteredFile(
        event=FileEvent.REGISTERED,
        name=name,
        title=name,
        design="A",
        licence=LicenceClass.LICENSED_USE,
        date="2026-01-01",
        names=("Ben Okafor", "Carla Díaz"),
        census="",
        reference_date="2021-03-21",
        data_version="1",
        lineage="",
        secret_id="1",
        records=1,
        folder=f"file-{name}",
    )
    write_registered(office, (*read_registered(office), replace(entry, **changes)))


def licensed(folder: Path, name: str = HOLDERS[0], file: str = "lf") -> str:
    """The number of a licence that is active."""
    register = LicenceRegister(folder / "office")
    day = "2026-01-05"
    number = register.apply(name, [file], project="Ageing", date=day).number
    for decider in ("Ben Okafor", "Carla Díaz"):
        register.decide(number, decider, granted=True, date=day)
    register.agree(number, name, expires="2099-01-01", date=day)
    return number


def prepare(folder: Path, document: str = DOCUMENT, dwellings: int = 900) -> Release:
    """A census, its document and secret, and the file made and registered."""
    settlement_store(folder / "census.store", dwellings)
    write_secret(SECRET, folder / "office.secret")
    (folder / "release.toml").write_text(document, encoding="utf-8", newline="\n")
    release = Release(folder / "release.toml", secret=SECRET)
    release.make(folder / "files")
    release.register(folder / "files", names=("Ben Okafor", "Carla Díaz"), date="2026-01-01")
    return release
