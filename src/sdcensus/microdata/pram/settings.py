"""What is said about single targets: probabilities to stay, similarity, files of matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from sdcensus.errors import SpecError, UnknownName
from sdcensus.microdata.pram.targets import TOGETHER, Target, by_name
from sdcensus.model.confidential import Confidential
from sdcensus.model.exact_numbers import BadNumber, exact
from sdcensus.model.schema.variable import Level


class Similar(StrEnum):
    """To which codes a record goes that does not stay."""

    FREQUENCY = "frequency"
    EQUAL = "equal"
    NEIGHBOURS = "neighbours"
    LEVEL = "level"


@dataclass(frozen=True, slots=True)
class Similarity:
    """To which codes a record goes, with the level where that is how they are told.

    Attributes:
        kind: How.
        variable, level: The level within whose groups values stay.
    """

    kind: Similar
    variable: str = ""
    level: Level | None = None


@dataclass(frozen=True, slots=True, repr=False)
class TargetSettings(Confidential):
    """What is said about one target.

    Attributes:
        target: The target.
        stay: The probability to stay; ``None`` with a matrix.
        similar: To which codes a record goes else.
        matrix: The file of its matrix, if one is given.
    """

    target: Target
    stay: Fraction | None
    similar: Similarity
    matrix: Path | None


def settings_of(
    targets: Sequence[Target], stay: Sequence[str], similar: Sequence[str], matrix: Sequence[str]
) -> tuple[TargetSettings, ...]:
    """What is said about each target.

    Raises:
        SpecError: Something is said that cannot be understood, about a variable that does not
            change, or twice; or too little is said.
    """
    stays = dict(_said("stay", _parts(stay), targets))
    kinds = dict(_similar(similar, targets))
    files = dict(_said("matrix", matrix, targets))
    if "" in files:
        raise SpecError(
            f"--matrix {files['']} does not say of which variable it is the matrix. Write --matrix"
            f" {targets[0].name}={files['']}."
        )
    chosen = []
    for target in targets:
        name = target.name
        if name in files and (name in stays or name in kinds):
            raise SpecError(
                f"{name!r} has a matrix from a file, and --stay or --similar say another one."
                " Choose one of them."
            )
        text = stays.get(name, stays.get(""))
        if name not in files and text is None:
            raise SpecError(
                f"pram needs for {name!r} how likely a value stays, such as --stay {name}=0.9, or"
                f" its matrix: --matrix {name}=FILE."
            )
        similarity = kinds.get(name, kinds.get("", Similarity(Similar.FREQUENCY)))
        if similarity.kind is Similar.NEIGHBOURS and target.is_compound and name not in files:
            raise SpecError(
                f"Combinations of {name} have no order, and so no neighbours. Say --similar"
                f" {name}=frequency."
            )
        chosen.append(
            TargetSettings(
                target=target,
                stay=None if name in files else _share(str(text)),
                similar=similarity,
                matrix=Path(files[name]) if name in files else None,
            )
        )
    return tuple(chosen)


def _parts(texts: Sequence[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _said(
    option: str, texts: Sequence[str], targets: Sequence[Target]
) -> Iterator[tuple[str, str]]:
    """For each text the target that it is about, empty for all of them, and what it says."""
    known = by_name(targets)
    seen: set[str] = set()
    for text in texts:
        named, equals, value = text.partition("=")
        name = TOGETHER.join(sorted(part.strip() for part in named.split(TOGETHER)))
        if not equals:
            name, value = "", text
        elif name not in known:
            raise UnknownName("variable that changes", name, known=list(known))
        if not value.strip():
            raise SpecError(f"--{option} {text} says nothing behind the sign '='.")
        if name in seen:
            about = f" for {name!r}" if name else ""
            raise SpecError(f"--{option} is said twice{about}. Say it once.")
        seen.add(name)
        yield name, value.strip()


def _share(text: str) -> Fraction:
    try:
        share = exact(text, fraction=True)
    except BadNumber as error:
        raise SpecError(f"--stay: {error}. Write a number between 0 and 1.") from None
    if not 0 <= share <= 1:
        raise SpecError(f"--stay {text}: a probability lies between 0 and 1.")
    return share


def _similar(texts: Sequence[str], targets: Sequence[Target]) -> Iterator[tuple[str, Similarity]]:
    said = []
    for text in _parts(texts):
        # A level names its variable, and so the target: age@five_year.
        own = text.partition("@")[0]
        owner = [target for target in targets if any(own == v.name for v in target.variables)]
        plain = "@" in text and "=" not in text and owner
        said.append(f"{owner[0].name}={text}" if plain else text)
    for name, word in _said("similar", said, targets):
        yield name, _similarity(name, word, targets)


def _similarity(name: str, word: str, targets: Sequence[Target]) -> Similarity:
    words = [kind.value for kind in Similar if kind is not Similar.LEVEL]
    if word in words:
        return Similarity(Similar(word))
    if "@" not in word or not name:
        hint = " or a level, such as age@five_year"
        raise SpecError(f"--similar {word}: should be {', '.join(words)}{hint}.")
    variable, _, level = word.partition("@")
    target = by_name(targets)[name]
    for own in target.variables:
        if own.name == variable:
            return Similarity(Similar.LEVEL, variable, own.level(level))
    raise SpecError(f"--similar {name}={word}: {variable!r} is not one of the variables of {name}.")
