"""Which methods and steps there are: those of this package, and those that other packages bring.

All of them register by entry point. Those of this package stand in a list beside this module, with
what may be said about them, so that neither the help nor a plan has to load a method or to look
for packages; ``python scripts/methods.py`` writes the list. Others are looked for where a name is
in no list, or where all are to be shown. Formats and measures are found and loaded in the same way.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from sdcensus.errors import SpecError, UnknownName, unknown
from sdcensus.model.method.parameter import (
    Declaration,
    MethodOptions,
    Parameter,
    Setting,
    Spelling,
    ValueKind,
    WrongSettingError,
    as_option,
    checked,
)

Result = TypeVar("Result")

#: The list of what this package brings.
LIST = Path(__file__).with_name("built_in.json")
#: Stands between the names of a method and of the steps after it.
ARROW = " → "
#: Of how many methods the help names those that have a parameter.
_FEW = 3


class Part(StrEnum):
    """What packages bring, by the group of its entry points."""

    METHOD = "sdcensus.methods"
    STEP = "sdcensus.steps"
    PRE_TABULAR = "sdcensus.microdata"

    @property
    def called(self) -> str:
        """What messages call it."""
        return _CALLED[self]


_CALLED = {
    Part.METHOD: "method",
    Part.STEP: "step after a method",
    Part.PRE_TABULAR: "pre-tabular method",
}
#: What protects tables.
TABULAR = (Part.METHOD, Part.STEP)


@cache
def built_in(part: Part) -> Mapping[str, Declaration]:
    """What this package brings, by name."""
    listed = json.loads(LIST.read_text(encoding="utf-8"))[part.value]
    return MappingProxyType({entry["name"]: _read(entry) for entry in listed})


def methods_for_counts() -> tuple[str, ...]:
    """The methods of this package that protect counts."""
    methods = built_in(Part.METHOD).values()
    return tuple(
        method.name for method in methods if not method.for_sums and not method.for_samples
    )


def methods_for_sums() -> tuple[str, ...]:
    """The methods of this package that protect sums of amounts, and no counts."""
    return tuple(method.name for method in built_in(Part.METHOD).values() if method.for_sums)


class Registered(Mapping[str, Declaration]):
    """All methods or steps by name, those of this package first.

    Other packages are asked only where the list has no such name, or where all are to be shown;
    what cannot be loaded is then left out.
    """

    def __init__(self, part: Part) -> None:
        self.part = part

    def __getitem__(self, name: str) -> Declaration:
        if name in built_in(self.part):
            return built_in(self.part)[name]
        for entry in _installed(self.part):
            if entry.name == name:
                return _declared(entry)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        yield from built_in(self.part)
        for entry in _installed(self.part):
            with suppress(SpecError):
                yield _declared(entry).name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def declared(part: Part, name: str) -> Declaration:
    """What is known of a method or step of that name.

    Raises:
        UnknownName: There is none, in this package or in another.
    """
    known = Registered(part)
    if name not in known:
        raise UnknownName(part.called, name, known=known)
    return known[name]


def load(part: Part, name: str) -> Any:
    """The class of a method or step."""
    declaration = declared(part, name)
    return loaded(Announced(name, declaration.target, declaration.package), lambda kind: kind)


def closing_of(method: str) -> str:
    """What a method asks of all other products for the cells that it withholds.

    Args:
        method: How provenances call it: with the steps after it.
    """
    try:
        return declared(Part.METHOD, method.split(ARROW)[0]).closes
    except SpecError:  # by a package that is no longer installed
        return ""


def takers_of(method: str, then: Sequence[str] = ()) -> list[Declaration]:
    """A method and the steps after it."""
    return [declared(Part.METHOD, method), *(declared(Part.STEP, step) for step in then)]


def parameters_of(takers: Iterable[Declaration]) -> dict[str, Parameter]:
    """What may be said about some methods or steps, each name once.

    Where two have parameters of one name, the first stands for both, with the words of all.
    """
    merged: dict[str, Parameter] = {}
    for taker in takers:
        for parameter in taker.takes:
            first = merged.setdefault(parameter.name, parameter)
            words = dict.fromkeys((*first.words, *parameter.words))
            if len(words) > len(first.words):
                merged[parameter.name] = replace(first, words=tuple(words))
    return merged


def owners_of(name: str, parts: Sequence[Part] = TABULAR) -> list[str]:
    """The methods and steps that have a parameter of that name; pre-tabular ones if asked for."""
    for listed in (built_in, Registered):  # packages only where no list has it
        takers = [taker for part in parts for taker in listed(part).values()]
        owners = [taker.name for taker in takers if taker.parameter(name) is not None]
        if owners:
            return owners
    return []


def meaning(parameter: Parameter, language: str | None = None) -> str:
    """What a parameter means, with whose it is where that are few."""
    owners, sentence = owners_of(parameter.name), parameter.sentence(language)
    return sentence if len(owners) > _FEW else owned(owners, sentence)


def owned(owners: Sequence[str], sentence: str) -> str:
    """What a parameter means, with whose it is."""
    return f"{', '.join(owners)}: {sentence[:1].lower()}{sentence[1:]}"


def parsed_settings(
    texts: Iterable[str], takers: Sequence[Declaration], said: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What is said as ``NAME=VALUE``, as a method and the steps after it take it.

    Args:
        texts: What is said.
        takers: About what: a method, and the steps after it.
        said: What is said already; no name may be said twice.
    """
    values = dict(said or {})
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or name in values:
            raise SpecError(f"Settings are written NAME=VALUE, each name once, and not {text!r}.")
        parameter = parameters_of(takers).get(name)
        try:
            values[name] = value if parameter is None else parameter.parsed(value)
        except WrongSettingError as error:
            raise SpecError(f"{name}: {error}") from None
    return values


def checked_options(method: str, then: Sequence[str], options: MethodOptions) -> dict[str, Setting]:
    """What is said about a method and its steps, as they take it.

    Raises:
        SpecError: Something of it is wrong, or nobody takes it.
    """
    values, mistakes = checked_settings(takers_of(method, then), options.given(), as_option)
    for _, reason in mistakes:
        raise SpecError(reason)
    return values


def checked_settings(
    takers: Sequence[Declaration],
    said: Mapping[str, object],
    spelling: Spelling,
    parts: Sequence[Part] = TABULAR,
) -> tuple[dict[str, Setting], list[tuple[str, str]]]:
    """What is said about a method and its steps, as they take it, and what is wrong with it.

    Args:
        takers: The method and the steps after it.
        said: What is said, by name.
        spelling: How messages write a parameter.
        parts: Among whom the owner of a parameter is looked for that these do not take.

    Returns:
        The values without mistakes, and for each mistake its parameter and a sentence.
    """
    known, untaken = parameters_of(takers), []
    for name in (name for name in said if name not in known):
        reason: str = unknown("setting", name, known)
        if owners := owners_of(name, parts):
            kind = "option" if spelling is as_option else "setting"
            what = " and ".join(taker.name for taker in takers)
            reason = f"{spelling(name, '')} is no {kind} of {what}. It is for: {', '.join(owners)}."
        untaken.append((name, reason))
    values, wrong = checked(takers, said, spelling)
    return values, [*untaken, *wrong]


def _read(entry: Mapping[str, Any]) -> Declaration:
    takes = []
    for values in entry["takes"]:
        tuples = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        takes.append(Parameter(**{**values, **tuples, "kind": ValueKind(values["kind"])}))
    return Declaration(**{**entry, "takes": tuple(takes)})


def _installed(part: Part) -> Iterator[Announced]:
    return (entry for entry in announced(part) if entry.name not in built_in(part))


def _declared(entry: Announced) -> Declaration:
    return loaded(entry, lambda kind: declaration_of(kind, entry.name, entry.target, entry.package))


class Announced(NamedTuple):
    """What stands at a place, as entry points name it: ``module:name``; nothing is loaded yet."""

    name: str
    target: str
    package: str = ""


def announced(group: str) -> list[Announced]:
    """What the packages that are installed bring by entry points of a group."""
    return [entry for of_group, entry in _entry_points(tuple(sys.path)) if of_group == group]


@cache
def _entry_points(path: tuple[str, ...]) -> tuple[tuple[str, Announced], ...]:
    """Our entry points of all packages on a path, which is looked through once, by their groups."""
    # Here and not above: most commands never look for others.
    from importlib.metadata import distributions

    texts = ((package, package.read_text("entry_points.txt")) for package in distributions())
    ours = [package for package, text in texts if text and "[sdcensus." in text]
    # A package that stands on the path twice is the first of them.
    once = {package.name: package for package in reversed(ours)}
    order = dict.fromkeys(package.name for package in ours)
    return tuple(
        (point.group, Announced(point.name, point.value, name))
        for name in order
        for point in once[name].entry_points
    )


def loaded(entry: Announced, read: Callable[[Any], Result]) -> Result:
    """What stands at a place, as it is read there.

    Raises:
        SpecError: It is not there, or is not what it should be.
    """
    module, _, attribute = entry.target.partition(":")
    try:
        return read(getattr(import_module(module), attribute))
    except Exception as error:
        whose = f" of {entry.package}" if entry.package else ""
        kind = "" if isinstance(error, SpecError) else f"{type(error).__name__}: "
        raise SpecError(f"{entry.name!r}{whose} cannot be loaded: {kind}{error}") from error


def declaration_of(kind: Any, name: str, target: str, package: str = "") -> Declaration:
    """What the class of a method or step declares."""
    if getattr(kind, "name", None) != name:
        raise SpecError(f"{target} is registered as {name!r}, and that is not its name.")
    return Declaration(
        name=name,
        summary=kind.summary,
        takes=tuple(kind.takes),
        target=target,
        shows_truth=getattr(kind, "shows_truth", False),
        for_sums=getattr(kind, "for_sums", False),
        for_samples=getattr(kind, "for_samples", False),
        closes=str(kind.closing()) if hasattr(kind, "closing") else "",
        linked=hasattr(kind, "protect_together"),
        package=package,
    )
