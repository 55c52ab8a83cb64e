"""The words of the product: one folder for each language, and nothing in code.

``words/en/notes.toml`` has the English words of the area ``notes``. A language is a folder with the
same files: the list of languages is the list of folders. An office adds its own beside the package,
in a folder that ``SDCENSUS_WORDS`` names; there it can also put single texts of ours otherwise.
English is whole: what a language of an office lacks, or cannot be filled as the English text can,
is shown in English, and ``sdcensus words check`` lists it. An area is read when one of its texts
is first needed.
"""

from __future__ import annotations

import os
import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

#: The folder of the words of the package.
FOLDER = Path(__file__).resolve().parents[1] / "words"
#: The variable of the environment that names a folder with languages of the office.
VARIABLE = "SDCENSUS_WORDS"
#: The language that has every text, and is shown where another one lacks it.
FIRST = "en"
#: The file with what a language is called and how it writes numbers; it makes a folder a language.
OWN = "language"
#: What a language is called in a plan and a link: two or three letters, and perhaps a country.
_NAME = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")


def office_folder() -> Path | None:
    """The folder in which an office has languages of its own, if it named one."""
    named = os.environ.get(VARIABLE, "").strip()
    return Path(named).expanduser() if named else None


def languages_in(folder: Path) -> tuple[str, ...]:
    """The languages that have a folder, in the order of their names."""
    if not folder.is_dir():
        return ()
    return tuple(
        sorted(
            path.name
            for path in folder.iterdir()
            if _NAME.fullmatch(path.name) and (path / f"{OWN}.toml").is_file()
        )
    )


def _spoken() -> tuple[str, ...]:
    """Every language that has a folder, English first."""
    own = office_folder()
    names = {*languages_in(FOLDER), *(() if own is None else languages_in(own))}
    return tuple(sorted(names, key=lambda name: (name != FIRST, name)))


#: The languages that the product speaks; read once, when the package is first imported. Labels of
#: a census come in the languages of the census.
LANGUAGES = _spoken()


@cache
def catalogue(area: str, language: str) -> Mapping[str, str]:
    """The texts of an area in one language by their keys, such as ``example.listed``.

    Members of a list have their numbers as keys. Every key of English is there.
    """
    english = dict(_flat(read_area(FOLDER / FIRST / f"{area}.toml")))
    texts = dict(english)
    own = office_folder()
    for folder in (FOLDER, *(() if own is None else (own,))):
        try:
            spoken = dict(_flat(read_area(folder / language / f"{area}.toml")))
        except (ValueError, OSError):
            continue  # ``words check`` says why; a reader gets what there is, and no error
        for key, text in english.items():
            if key in spoken and places(spoken[key]) == places(text):
                texts[key] = spoken[key]
    return MappingProxyType(texts)


def read_area(path: Path) -> Mapping[str, Any]:
    """What a file of words says.

    Raises:
        ValueError: It is no text in UTF-8, or no TOML.
        OSError: It cannot be read.
    """
    return tomllib.loads(path.read_text(encoding="utf-8"))


def areas(folder: Path = FOLDER / FIRST) -> tuple[str, ...]:
    """The areas that the folder of a language has, such as ``notes`` and ``web/pages``."""
    paths = folder.rglob("*.toml")
    return tuple(sorted(path.relative_to(folder).with_suffix("").as_posix() for path in paths))


def by_language(key: str) -> tuple[tuple[str, str], ...]:
    """A text by its area and key, such as ``notes.protected``, in every language."""
    area, _, name = key.partition(".")
    if name not in catalogue(area, FIRST):
        raise KeyError(key)
    return tuple((language, catalogue(area, language)[name]) for language in LANGUAGES)


def lines(texts: Mapping[str, str], key: str) -> tuple[str, ...]:
    """The members of a list of texts.

    Examples:
        >>> lines({"a.0": "One.", "a.1": "Two.", "b": "Three."}, "a")
        ('One.', 'Two.')
    """
    return tuple(text for name, text in texts.items() if name.startswith(f"{key}."))


@cache
def places(text: str) -> frozenset[str] | None:
    """What has to be filled in, such as ``limit`` in ``at most {limit}``; ``None``: unreadable.

    Examples:
        >>> sorted(places("{name!r}: at most {limit}")), places("{")
        (['limit', 'name'], None)
    """
    try:
        return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name)
    except ValueError:
        return None


def _flat(document: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        if isinstance(value, list):
            value = {str(at): member for at, member in enumerate(value)}
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", str(value)


def problems(folder: Path) -> Iterator[str]:
    """What the folder of a language lacks or has too much, each in a sentence with its file.

    Nothing if it is complete: every text of English, and each with the same places to fill.
    """
    if not _NAME.fullmatch(folder.name):
        yield f"{folder.name}: call the folder by the code of its language, such as pt or pt-BR."
    known = areas()
    for area in (*known, *(other for other in areas(folder) if other not in known)):
        path, file = folder / f"{area}.toml", f"{folder.name}/{area}.toml"
        if area not in known:
            yield f"{file}: English has no such file, and nothing of it is shown."
        elif not path.is_file():
            yield f"{file} is missing."
        else:
            try:
                own = dict(_flat(read_area(path)))
            except (ValueError, OSError) as problem:
                yield f"{file} cannot be read: {problem}"
            else:
                english = dict(_flat(read_area(FOLDER / FIRST / f"{area}.toml")))
                yield from _differences(file, english, own)


def _differences(file: str, english: Mapping[str, str], own: Mapping[str, str]) -> Iterator[str]:
    for key, text in english.items():
        if key not in own:
            yield f"{file}: {key} is missing. English: {text!r}"
        elif places(own[key]) != places(text):
            wanted = ", ".join(f"{{{name}}}" for name in sorted(places(text) or ()))
            yield f"{file}: {key} must have the places {wanted or 'of none'}, and no other."
        elif text and not own[key]:
            yield f"{file}: {key} is empty. English: {text!r}"
    for key in own:
        if key not in english:
            yield f"{file}: English has no {key}, and it is never shown."
