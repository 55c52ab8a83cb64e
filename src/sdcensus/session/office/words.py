"""Languages of an office: how one is begun, and what it still lacks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.model.catalogue import (
    FOLDER,
    LANGUAGES,
    OWN,
    VARIABLE,
    catalogue,
    languages_in,
    office_folder,
    problems,
)


@dataclass(frozen=True, slots=True)
class SpokenLanguage:
    """A language that the product speaks.

    Attributes:
        code: What it is called in links and plans.
        name: What its speakers call it.
        folder: Where its words stand.
        lacks: How many problems ``words check`` would list.
    """

    code: str
    name: str
    folder: Path
    lacks: int


def spoken_languages() -> Iterator[SpokenLanguage]:
    """Every language, those of the office among them."""
    of_package, own = languages_in(FOLDER), office_folder()
    for code in LANGUAGES:
        folder = (FOLDER if own is None or code in of_package else own) / code
        name = catalogue(OWN, code)["name"]
        yield SpokenLanguage(code, name, folder, sum(1 for _ in problems(folder)))


def copy_language(language: str, target: Path) -> Path:
    """Begin a language: a copy of one that there is, to be translated line by line.

    Raises:
        UnknownName: There is no such language.
        OutputError: The target exists.
    """
    if language not in LANGUAGES:
        raise UnknownName("language", language, known=LANGUAGES)
    if target.exists() or target.is_symlink():
        raise OutputError(f"{target} already exists. Choose another folder or remove it first.")
    source = next(spoken.folder for spoken in spoken_languages() if spoken.code == language)
    unfinished = target.with_name(f".{target.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, unfinished)
    unfinished.replace(target)
    return target


def check_language(folder: Path) -> tuple[str, ...]:
    """What a language lacks; nothing if it is complete.

    Raises:
        SpecError: There is no such folder.
    """
    if not folder.is_dir():
        raise SpecError(f"There is no folder {folder}. Begin one: sdcensus words copy en {folder}")
    return tuple(problems(folder))


def check_office_folder() -> None:
    """Refuse a folder of languages that is not there.

    Raises:
        SpecError: The environment names a folder that does not exist, or one without a language.
    """
    own = office_folder()
    if own is None:
        return
    if not own.is_dir():
        raise SpecError(f"{VARIABLE} names {own}, which is no folder. Correct it, or take it away.")
    if not any((own / name).is_dir() for name in languages_in(FOLDER)) and not languages_in(own):
        inside = " Name the folder around it." if (own / f"{OWN}.toml").is_file() else ""
        raise SpecError(
            f"{VARIABLE} names {own}, which holds no folder of a language with the file"
            f" {OWN}.toml, such as {own / 'xx' / f'{OWN}.toml'}.{inside}"
        )
