"""A grid of parameters: every combination of their values is a method of the study."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from sdcensus.errors import SpecError, UnknownName
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.pipeline import Pipeline
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.registry import Part, declared
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.secret import Secret
from sdcensus.report.study.results import Candidate
from sdcensus.session.census.census import Census
from sdcensus.session.study.candidates import (
    BAR,
    MethodText,
    built_method,
    check_steps,
    parsed_method,
)

#: So many points are compared without a word.
MOST_POINTS = 100
#: The method of a grid for which none is named.
PLAIN = "cell-key"
#: What a perturbation is designed from, and what is taken where the grid does not say it.
DESIGN: Mapping[str, float | None] = {
    "max_deviation": 3,
    "variance": 1.0,
    "blocked": 0,
    "stay": None,
}
_WHOLE = ("max_deviation", "blocked")
#: What a design takes the place of.
_NOISE = ("strength", "scheme", "perturbation")


@dataclass(frozen=True, slots=True, repr=False)
class Grid(Confidential):
    """Parameters with their values.

    Attributes:
        values: For each parameter, with the method that takes it in front where it is named, its
            values.
    """

    values: Mapping[str, tuple[str, ...]]

    @property
    def points(self) -> int:
        """How many combinations there are."""
        return math.prod(map(len, self.values.values()))

    def combinations(self) -> Iterator[dict[str, str]]:
        """Every combination, the last parameter changing fastest."""
        for chosen in itertools.product(*self.values.values()):
            yield dict(zip(self.values, chosen, strict=True))


def read_grid(texts: Sequence[str]) -> Grid:
    """Read a grid: ``rate=0.02,0.05 max_deviation=3,4,5 variance=1,2``."""
    values: dict[str, tuple[str, ...]] = {}
    try:
        words = [word for text in texts for word in shlex.split(text)]
    except ValueError:
        raise SpecError("In --grid a quotation mark is not closed.") from None
    for word in words:
        name, sign, listed = word.partition("=")
        name = name.strip().replace("-", "_") if "." not in name else name.strip()
        chosen = tuple(dict.fromkeys(part.strip() for part in listed.split(",") if part.strip()))
        if not sign or not name or not chosen or name in values:
            raise SpecError(
                "A grid is written NAME=VALUE,VALUE, each name once, such as"
                f' --grid "rate=0.02,0.05 max_deviation=3,4", and not {word!r}.'
            )
        values[name] = chosen
    if not values:
        raise SpecError('A grid needs a parameter, such as --grid "max_deviation=3,4,5".')
    return Grid(values)


def check_points(number: int, *, agreed: bool) -> None:
    """Refuse more points than somebody may have meant."""
    if number > MOST_POINTS and not agreed:
        raise SpecError(
            f"The grid has {number:,} points, and more than {MOST_POINTS} take a while and can"
            " hardly be read. Give fewer values, or say --yes."
        )


def grid_candidates(
    census: Census,
    grid: Grid,
    texts: Sequence[str] = (),
    *,
    of: str,
    secret: Path | Secret | None = None,
) -> tuple[tuple[Candidate, ...], tuple[tuple[str, str], ...]]:
    """The points of a grid over each method.

    Args:
        census: Whose tables.
        grid: The parameters.
        texts: The methods; cell keys if there is none.
        of: What is counted.
        secret: The office secret or its file.

    Returns:
        The points, and those that cannot be designed with the reason.
    """
    candidates: list[Candidate] = []
    left_out: list[tuple[str, str]] = []
    designs: dict[tuple[float | None, ...], PerturbationDesign | SpecError] = {}
    methods = [parsed_method(text) for text in texts or (PLAIN,)]
    number = 0
    for asked in methods:
        owners = {name: _owner(name, asked) for name in grid.values}
        designed = [name for name in grid.values if owners[name] is None]
        if designed:
            _check_designed(asked, designed[0])
        for combination in grid.combinations():
            number += 1
            point = asked
            for name, value in combination.items():
                owner = owners[name]
                if owner is not None:
                    point = _with(point, owner, name.rpartition(".")[2], value)
            title = " ".join(f"{name}={value}" for name, value in combination.items())
            if len(methods) > 1:
                title = f"{_names(asked)}: {title}"
            title = f"P{number} {title}"
            noise: PerturbationDesign | None = None
            if designed:
                wanted = _design_values({name: combination[name] for name in designed})
                design = _designed(wanted, designs)
                if isinstance(design, SpecError):
                    left_out.append((title, str(design)))
                    continue
                noise = design
            check_steps(census, point, secret)
            method = built_method(census, point, of=of, secret=secret)
            if noise is not None:
                method = _with_noise(cast(Method, method), noise)
            candidates.append(
                Candidate(name=title, method=method, before=point.steps, point=number)
            )
    if not candidates:
        reasons = "\n".join(f"  {title}: {reason}" for title, reason in left_out[:3])
        raise SpecError(f"No point of the grid can be made:\n{reasons}")
    return tuple(candidates), tuple(left_out)


def _names(asked: MethodText) -> str:
    names = [words[0] for words in asked.before]
    return f" {BAR} ".join([*names, asked.name] if asked.name else names)


def _takers(asked: MethodText) -> dict[str, set[str]]:
    """The names of the methods of a text, with what each takes."""
    takers = {
        words[0]: {each.name for each in declared(Part.PRE_TABULAR, words[0]).takes}
        for words in asked.before
    }
    if asked.name:
        takers[asked.name] = {each.name for each in declared(Part.METHOD, asked.name).takes}
    return takers


def _owner(name: str, asked: MethodText) -> str | None:
    """The method that takes a parameter; ``None`` for one from which noise is designed."""
    takers = _takers(asked)
    method, _, parameter = name.rpartition(".")
    if method:
        parameter = parameter.replace("-", "_")
        if method not in takers or parameter not in takers[method]:
            known = [f"{taker}.{each}" for taker, takes in takers.items() for each in takes]
            raise UnknownName("parameter of the grid", name, known=sorted(known))
        return method
    owners = [taker for taker, takes in takers.items() if parameter in takes]
    if len(owners) > 1:
        raise SpecError(
            f"{name!r} is a parameter of {' and of '.join(owners)}. Write {owners[0]}.{name} in"
            " the grid."
        )
    if owners:
        return owners[0]
    if name in DESIGN:
        return None
    every = {*DESIGN, *(each for takes in takers.values() for each in takes)}
    raise UnknownName("parameter of the grid", name, known=sorted(every))


def _check_designed(asked: MethodText, name: str) -> None:
    """Refuse parameters of noise for a method that draws none, or has its own."""
    if not asked.name or "perturbation" not in _takers(asked)[asked.name]:
        raise SpecError(
            f"The grid has {name!r}, from which noise is designed, and {asked.title!r} has no"
            f' method that takes it. Add one: --method "{_names(asked)} {BAR} {PLAIN}".'
        )
    said = [text for text in asked.settings if text.partition("=")[0] in _NOISE]
    if said:
        raise SpecError(
            f"The grid designs the noise ({name!r}), and {said[0]!r} names another one. Leave one"
            " of the two away."
        )


def _with(asked: MethodText, owner: str, name: str, value: str) -> MethodText:
    """The same text with another value of a parameter."""
    name = name.replace("-", "_")

    def changed(settings: Sequence[str]) -> tuple[str, ...]:
        kept = [
            text for text in settings if text.partition("=")[0].strip().replace("-", "_") != name
        ]
        return (*kept, f"{name}={value}")

    if asked.name == owner:
        return replace(asked, settings=changed(asked.settings))
    before = tuple(
        (words[0], *changed(words[1:])) if words[0] == owner else words for words in asked.before
    )
    return replace(asked, before=before)


def _design_values(texts: Mapping[str, str]) -> tuple[float | None, ...]:
    values = dict(DESIGN)
    for name, text in texts.items():
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or (name in _WHOLE and not number.is_integer()):
            kind = "whole numbers" if name in _WHOLE else "numbers"
            raise SpecError(f"{name} of the grid takes {kind}, and not {text!r}.")
        values[name] = number
    return tuple(values.values())


def _designed(
    wanted: tuple[float | None, ...],
    designs: dict[tuple[float | None, ...], PerturbationDesign | SpecError],
) -> PerturbationDesign | SpecError:
    """A perturbation, designed once for all points that have it; or why there is none."""
    if wanted not in designs:
        deviation, variance, blocked, stay = wanted
        try:
            designs[wanted] = design_perturbation(
                int(deviation or 0), variance or 0.0, int(blocked or 0), stay
            )
        except SpecError as error:
            designs[wanted] = error
    return designs[wanted]


def _with_noise(method: Method, noise: PerturbationDesign) -> Method:
    """The same method with another perturbation."""
    first: Any = method.first
    if "perturbation" not in {each.name for each in fields(first)}:
        raise SpecError(f"The noise of {method.first.name!r} cannot be designed by a grid.")
    changed: Method = replace(first, perturbation=noise)
    return Pipeline(changed, *method.steps) if method.steps else changed
