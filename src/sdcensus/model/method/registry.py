"""Which methods and steps there are: those of this package, and those that other packages bring.

All of them register by entry point. Those of this package stand in a list beside this module, with
what may be said about them, so that neither the help nor a plan has to load a method or to look
for packages; ``python scripts/methods.py`` writes the list. Others are looked for where a name is
in no list, or where all are to be shown.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The list of what this package brings.
LIST = Path(__file__).with_name("built_in.json")
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


def declared(part: Part, name: str) -> Declaration:
    """What is known of a method or step of that name.

    Raises:
        UnknownName: There is none, in this package or in another.
    """
    if name in built_in(part):
        return built_in(part)[name]
    for point in _installed(part):
        if point.name == name:
            return _described(point, _loaded(point))
    raise UnknownName(part.called, name, known=every(part))


def every(part: Part) -> Mapping[str, Declaration]:
    """All there are, those of this package first; those that cannot be loaded are left out."""
    found = dict(built_in(part))
    for point in _installed(part):
        try:
            found.setdefault(point.name, _described(point, _loaded(point)))
        except SpecError:
            continue
    return found


class RegisteredNames(Collection[str]):
    """The names of all methods or steps; other packages are asked only if they have to be."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __contains__(self, name: object) -> bool:
        known = name in built_in(self.part)
        return known or any(point.name == name for point in _installed(self.part))

    def __iter__(self) -> Iterator[str]:
        return iter(every(self.part))

    def __len__(self) -> int:
        return len(every(self.part))


def load(part: Part, name: str) -> Any:
    """The class of a method or step."""
    module, _, attribute = declared(part, name).target.partition(":")
    return getattr(import_module(module), attribute)


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


def owners_of(name: str) -> list[str]:
    """The methods and steps that have a parameter of that name."""
    for listed in (built_in, every):  # packages only where no list has it
        takers = [taker for part in TABULAR for taker in listed(part).values()]
        owners = [taker.name for taker in takers if taker.parameter(name) is not None]
        if owners:
            return owners
    return []


def meaning(parameter: Parameter, language: str | None = None) -> str:
    """What a parameter means, with whose it is where that are few."""
    owners, sentence = owners_of(parameter.name), parameter.sentence(language)
    if len(owners) > _FEW:
        return sentence
    return f"{', '.join(owners)}: {sentence[:1].lower()}{sentence[1:]}"


def parsed_settings(
    texts: Iterable[str], method: str, then: Sequence[str], said: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What is said as ``NAME=VALUE``, as a method and the steps after it take it.

    Args:
        texts: What is said.
        method, then: About what.
        said: What is said already; no name may be said twice.
    """
    values = dict(said or {})
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or name in values:
            raise SpecError(f"Settings are written NAME=VALUE, each name once, and not {text!r}.")
        parameter = parameters_of(takers_of(method, then)).get(name)
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
    takers, said = takers_of(method, then), options.given()
    for _, reason in untaken(takers, said, as_option):
        raise SpecError(reason)
    values, mistakes = checked(takers, said, as_option)
    for _, reason in mistakes:
        raise SpecError(reason)
    return values


def untaken(
    takers: Sequence[Declaration], said: Mapping[str, object], spelling: Spelling
) -> Iterator[tuple[str, str]]:
    """What is said that none of them takes, and whose it is."""
    for name in said:
        if any(taker.parameter(name) is not None for taker in takers):
            continue
        owners = owners_of(name)
        what = " and ".join(taker.name for taker in takers)
        if owners:
            kind = "option" if spelling is as_option else "setting"
            reason = f"{spelling(name, '')} is no {kind} of {what}. It is for: {', '.join(owners)}."
        else:
            reason = unknown("setting", name, parameters_of(takers))
        yield name, reason


def listing(targets: Mapping[str, Mapping[str, str]]) -> str:
    """The text of the list of what this package brings.

    Args:
        targets: For each group of entry points the names, and where they are.
    """
    groups = {}
    for part in Part:
        entries = []
        for name, target in targets[part.value].items():
            module, _, attribute = target.partition(":")
            described = _declaration(getattr(import_module(module), attribute), name, target)
            plain = {key: value for key, value in asdict(described).items() if value}
            takes = [
                {
                    key: value
                    for key, value in one.items()
                    if value is not False and value not in (None, "", ())
                }
                for one in map(asdict, described.takes)
            ]
            entries.append({**plain, "takes": takes})
        groups[part.value] = entries
    return json.dumps(groups, indent=1, ensure_ascii=False) + "\n"


def _read(entry: Mapping[str, Any]) -> Declaration:
    takes = []
    for one in entry["takes"]:
        tuples = {key: tuple(value) for key, value in one.items() if isinstance(value, list)}
        takes.append(Parameter(**{**one, **tuples, "kind": ValueKind(one["kind"])}))
    return Declaration(**{**entry, "takes": tuple(takes)})


def _installed(part: Part) -> Iterator[EntryPoint]:
    """What other packages bring; nothing of it is loaded."""
    for point in _entry_points(tuple(sys.path)):
        if point.group == part and point.name not in built_in(part):
            yield point


@cache
def _entry_points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Our entry points of all packages on a path, which is looked through once."""
    from importlib.metadata import distributions

    texts = ((package, package.read_text("entry_points.txt")) for package in distributions())
    ours = [package for package, text in texts if text and "[sdcensus." in text]
    return tuple(point for package in ours for point in package.entry_points)


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        package = "another package" if point.dist is None else point.dist.name
        raise SpecError(
            f"{point.name!r} of {package} cannot be loaded: {type(error).__name__}: {error}"
        ) from error


def _described(point: EntryPoint, found: Any) -> Declaration:
    package = "" if point.dist is None else point.dist.name
    return _declaration(found, point.name, point.value, package)


def _declaration(found: Any, name: str, target: str, package: str = "") -> Declaration:
    if getattr(found, "name", None) != name:
        raise SpecError(f"{target} is registered as {name!r}, and that is not its name.")
    return Declaration(
        name=name,
        summary=found.summary,
        takes=tuple(found.takes),
        target=target,
        shows_truth=getattr(found, "shows_truth", False),
        package=package,
    )
