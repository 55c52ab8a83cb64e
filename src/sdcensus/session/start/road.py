"""Where an office stands between its raw files and an open site, by the files that are there."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sdcensus.documents.schema.document import read_schema
from sdcensus.documents.toml.text import toml
from sdcensus.errors import DocumentError, InputError, SdcensusError, SpecError
from sdcensus.formats.write import new_file
from sdcensus.model.schema.source import FORMAT_OF_ENDING
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import speak
from sdcensus.session.census.census import open_store
from sdcensus.session.census.secret_file import SECRET_VARIABLE
from sdcensus.session.publish.workplace import MANIFEST
from sdcensus.session.recommend.recommendation import (
    PERTURBATION_FILE,
    PLAN_FILE,
    POLICY_FILE,
    RecommendedProduct,
)
from sdcensus.session.start.raw_files import DICTIONARY_ENDINGS

SCHEMA_FOLDER, STORE, ADVICE = "schema", "census.store", "advice"
ANSWERS_FILE, COMMANDS_FILE = "start.toml", "next-commands.txt"
RELEASE_FILE, ASSESSMENT = "release.toml", "release-assessment"
SECRET, SHEET, SERVER_SECRET = "office.secret", "office-secret-sheet.txt", "server.secret"

#: Endings of what a load writes beside its store.
_REPORTS = (".report.txt", ".problems.txt")


class StartProduct(StrEnum):
    """What an office may want to publish."""

    REPORT = "report"
    PROGRAMME = "programme"
    BUILDER = "builder"
    MICRODATA = "microdata"


@dataclass(frozen=True, slots=True)
class Answers:
    """What an office has said about what it will publish.

    Attributes:
        products: What, in the order of the question.
        builder_later: Whether a table builder may be opened one day: its noise is chosen now.
    """

    products: tuple[StartProduct, ...]
    builder_later: bool = False

    @classmethod
    def named(cls, names: str, *, builder_later: bool = False) -> Answers:
        """Products by their names or by their numbers in the question.

        Examples:
            >>> Answers.named("builder, 1").products
            (<StartProduct.REPORT: 'report'>, <StartProduct.BUILDER: 'builder'>)
        """
        every = list(StartProduct)
        wanted = set()
        for word in filter(None, (name.strip().lower() for name in names.split(","))):
            if word.isdecimal() and 1 <= int(word) <= len(every):
                wanted.add(every[int(word) - 1])
            elif word in every:
                wanted.add(StartProduct(word))
            else:
                raise SpecError(f"There is no product {word!r}. There are: {', '.join(every)}.")
        if not wanted:
            raise SpecError(f"Say what will be published: {', '.join(every)}, or several of them.")
        return cls(tuple(product for product in every if product in wanted), builder_later)

    @property
    def recommended(self) -> tuple[RecommendedProduct, ...]:
        """What advice is asked for; a builder that may come later shares its noise."""
        names: list[str] = [
            product.value for product in self.products if product is not StartProduct.MICRODATA
        ]
        if self.builder_later:
            names.append(RecommendedProduct.BUILDER)
        return RecommendedProduct.several(names or [RecommendedProduct.PROGRAMME])

    def shares_advice(self, other: Answers) -> bool:
        """Whether tables and noise are the same: a file for researchers changes neither."""
        return (self.recommended, self.builder_later) == (other.recommended, other.builder_later)

    @property
    def opens(self) -> bool:
        """Whether a table builder is opened."""
        return StartProduct.BUILDER in self.products


@dataclass(frozen=True, slots=True)
class Road:
    """The files of a road, as far as they are there.

    Attributes:
        folder: Where everything of the road is written.
        files: Raw files of the census in it, and what lies beside them.
        schema: The schema, if there is one.
        secret: The file of the office secret, there or not.
        store: The store, if there is one.
        answers: What was said about what will be published, if anything was.
        mistakes: What keeps the schema from being read.
    """

    folder: Path
    files: tuple[Path, ...]
    schema: Path | None
    secret: Path
    store: Path | None
    answers: Answers | None
    mistakes: str = ""

    @property
    def language(self) -> str | None:
        """The first language of the census, as far as its schema or its store can be read."""
        if self.complete and self.schema is not None:
            return read_schema(self.schema).census.languages[0]
        if self.store is not None:
            return open_store(self.store).schema.census.languages[0]
        return None

    @property
    def complete(self) -> bool:
        """Whether there is a schema that can be read."""
        return self.schema is not None and not self.mistakes

    @property
    def advice(self) -> Path:
        """The folder of plan, policy and noise."""
        return self.folder / ADVICE

    @property
    def plan(self) -> Path:
        """The plan, there or not."""
        return self.advice / PLAN_FILE

    @property
    def policy(self) -> Path:
        """The policy, there or not."""
        return self.advice / POLICY_FILE

    @property
    def is_advised(self) -> bool:
        """Whether plan and policy are there."""
        return self.plan.is_file() and self.policy.is_file()

    @property
    def release(self) -> Path:
        """The document of files for researchers, there or not."""
        return self.advice / RELEASE_FILE

    @property
    def assessments(self) -> tuple[Path, ...]:
        """Where the designs of such files were measured, or will be: the last is not there yet."""
        number, folders = 1, [self.advice / ASSESSMENT]
        while folders[-1].exists():
            number += 1
            folders.append(self.advice / f"{ASSESSMENT}-{number}")
        return tuple(folders)

    @property
    def researchers(self) -> Path:
        """The folder of the file for researchers, there or not."""
        return self.advice / "researchers"

    @property
    def has_persons(self) -> bool:
        """Whether the census has persons: no file for researchers is made without them."""
        return self.store is not None and any(
            spec.entity is Entity.PERSON for spec in open_store(self.store).schema.entities
        )

    @property
    def published(self) -> Path:
        """The published folder of the plan, there or not."""
        return self.advice / "published"

    @property
    def is_published(self) -> bool:
        """Whether something was published."""
        return (self.published / MANIFEST).is_file()

    @property
    def new_store(self) -> Path:
        """Where a store is made."""
        return self.folder / STORE

    @property
    def sheet(self) -> Path:
        """Where the recovery sheet of a new secret is written."""
        return self.secret.with_name(f"{self.secret.stem}-secret-sheet.txt")

    @property
    def server_secret(self) -> Path:
        """Where the look-up part of the secret is written."""
        own = "" if self.secret.name == SECRET else f"{self.secret.stem}-"
        return self.secret.with_name(f"{own}{SERVER_SECRET}")


def find_road(folder: str | Path, *, secret: str | Path | None = None) -> Road:
    """Look at which files of the road are in a folder.

    Args:
        folder: A folder with raw files, a schema or a store; or a store.
        secret: The file of the office secret; else the one that the environment names, else one
            beside the folder: never in it, since the store is there.

    Raises:
        InputError: There is nothing from which a road could begin, or more than one beginning.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(
            f"{place} is not a folder. Put the files of the census into a folder, and name that."
        )
    stores = [place] if _is_store(place) else sorted(filter(_is_store, place.iterdir()))
    if place in stores:
        place = place.resolve().parent
    store = _single(stores, "store")
    schema = _single(list(_schemas(place)), "schema")
    mistakes = ""
    if schema is not None:
        try:
            read_schema(schema)
        except DocumentError as error:
            mistakes = str(error)
    files = tuple(_raw_files(place))
    if store is None and schema is None and not any(map(_may_hold_records, files)):
        endings = ", ".join(FORMAT_OF_ENDING)
        raise InputError(
            f"{place} holds no file of a census ({endings}), no schema.toml and no store."
        )
    beside = near(str(place.resolve().parent / SECRET))
    named = secret or os.environ.get(SECRET_VARIABLE) or beside
    return Road(place, files, schema, Path(named), store, read_answers(place), mistakes)


def near(word: str) -> str:
    """A full path as it is called from the folder in which somebody stands; else the word.

    Examples:
        >>> near(str(Path.cwd() / "censo" / "plan.toml")) == str(Path("censo", "plan.toml"))
        True
        >>> near("--check")
        '--check'
    """
    path, here = Path(word), Path.cwd()
    inside = path.is_absolute() and path != here and path.is_relative_to(here)
    return str(path.relative_to(here)) if inside else word


def _is_store(path: Path) -> bool:
    if not path.is_dir() or not (path / "manifest.json").is_file():
        return False
    try:
        open_store(path)
    except SdcensusError:
        return False
    return True


def _single(paths: list[Path], what: str) -> Path | None:
    if len(paths) > 1:
        names = ", ".join(str(path) for path in paths)
        raise InputError(
            f"There is more than one {what}: {names}. Start in a folder that has one of them."
        )
    return paths[0] if paths else None


def _schemas(folder: Path) -> list[Path]:
    """The schemas in a folder or one folder below, other documents aside."""
    nearest = sorted(folder.glob("*.toml"))
    below = sorted(folder.glob("*/schema.toml"))
    return [path for path in (*nearest, *below) if _is_schema(path)]


def _is_schema(path: Path) -> bool:
    if path.name == "schema.toml":
        return True
    content = _toml(path)
    return isinstance(content.get("census"), dict) and "files" in content


def _raw_files(folder: Path) -> list[Path]:
    own = {COMMANDS_FILE, SECRET, SHEET, PERTURBATION_FILE}
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file()
        and path.suffix.lower() in {*FORMAT_OF_ENDING, *DICTIONARY_ENDINGS}
        and path.name not in own
        and not path.name.endswith(_REPORTS)
        and not path.name.startswith((".", "~"))
    )


def _may_hold_records(path: Path) -> bool:
    return path.suffix.lower() in FORMAT_OF_ENDING


def read_answers(folder: Path) -> Answers | None:
    """What was answered before in a folder; ``None`` if nothing was."""
    path = folder / ANSWERS_FILE
    content = _toml(path)
    products = content.get("products")
    if not isinstance(products, list):
        return None
    later = content.get("builder_later") is True
    return Answers.named(",".join(map(str, products)), builder_later=later)


def keep_answers(folder: Path, answers: Answers, language: str | None = None) -> None:
    """Keep what was answered, for the next time."""
    text = "\n".join(
        [
            speak("start.answers_head", language),
            f"products = {toml([product.value for product in answers.products])}",
            f"builder_later = {toml(answers.builder_later)}",
            "",
        ]
    )
    with new_file(folder / ANSWERS_FILE) as file:
        file.write(text.encode())


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}
