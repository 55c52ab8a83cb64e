"""The methods of a study, as somebody writes them: schemes, methods, changes of records before."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import SpecError, UnknownName
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method, member
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.model.confidential import Confidential
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.method.registry import Part, Registered, declared, parsed_settings, takers_of
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.results import Candidate
from sdcensus.session.census.census import Census
from sdcensus.session.derive.step import step_from_text
from sdcensus.session.protect.table import build_method

_THEN = "then="
#: What stands between a change of records and what is done to the table afterwards.
BAR = "|"


@dataclass(frozen=True, slots=True, repr=False)
class MethodText(Confidential):
    """A method of a study as it is written.

    Attributes:
        before: Changes of records, each a name with what is said about it.
        name: The method that protects the table; empty where counts are published as they are.
        settings: What is said about it.
        then: Steps after it.
    """

    before: tuple[tuple[str, ...], ...]
    name: str
    settings: tuple[str, ...]
    then: tuple[str, ...]

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes of records, each as one line."""
        return tuple(shlex.join(words) for words in self.before)

    @property
    def title(self) -> str:
        """The whole in one line."""
        then = [f"{_THEN}{','.join(self.then)}"] if self.then else []
        table = [" ".join([self.name, *self.settings, *then])] if self.name else []
        return f" {BAR} ".join([*(" ".join(words) for words in self.before), *table])


def parsed_method(text: str) -> MethodText:
    """Read a method: ``random-swap rate=0.1 | cell-key strength=medium then=additivity``.

    Raises:
        SpecError: It names no method, or a change of records behind a method for tables.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise SpecError(f"In {text!r} a quotation mark is not closed.") from None
    parts: list[list[str]] = [[]]
    for word in words:
        if word == BAR:
            parts.append([])
        else:
            parts[-1].append(word)
    if any(not part for part in parts):
        raise SpecError(
            "A method of a study is written by its name, such as random-rounding; changes of"
            f" records before it are followed by {BAR!r}."
        )
    known = Registered(Part.PRE_TABULAR)
    before = [tuple(part) for part in parts if _changes_records(part, last=part is parts[-1])]
    tables = [part for part in parts if tuple(part) not in before]
    if len(tables) > 1 or (tables and parts[-1] is not tables[0]):
        if tables[0][0] not in Registered(Part.METHOD):
            names = [*known, *Registered(Part.METHOD)]
            raise UnknownName("method", tables[0][0], known=names)
        raise SpecError(
            f"{text!r}: records are changed before tables are protected, and one method protects"
            f" a table. Write the changes of records first, then {BAR!r} and the method."
        )
    if not tables:
        return MethodText(tuple(before), "", (), ())
    name, *settings = tables[0]
    steps = [part.removeprefix(_THEN) for part in settings if part.startswith(_THEN)]
    return MethodText(
        tuple(before),
        name,
        tuple(part for part in settings if not part.startswith(_THEN)),
        tuple(step for part in steps for step in part.split(",")),
    )


def _changes_records(words: Sequence[str], *, last: bool) -> bool:
    """Whether a part of a method changes records before they are counted.

    Some names are those of a method for records and of one for tables: the latter is meant at the
    end, unless something is said that only the former takes.
    """
    name, *settings = words
    known = Registered(Part.PRE_TABULAR)
    if name not in known:
        return False
    if not last or name not in Registered(Part.METHOD):
        return True
    said = {setting.partition("=")[0].replace("-", "_") for setting in settings}
    for_tables = {parameter.name for parameter in declared(Part.METHOD, name).takes}
    for_records = {parameter.name for parameter in known[name].takes}
    return bool(said & (for_records - for_tables))


def built_method(
    census: Census,
    asked: MethodText,
    *,
    of: str,
    secret: Path | Secret | None = None,
) -> Method | None:
    """The method that protects tables; ``None`` where counts are published as they are."""
    if not asked.name:
        return None
    options = MethodOptions(**parsed_settings(asked.settings, takers_of(asked.name, asked.then)))
    return build_method(asked.name, census, of=of, then=asked.then, options=options, secret=secret)


def check_steps(census: Census, asked: MethodText, secret: Path | Secret | None) -> None:
    """Refuse changes of records that cannot be made, before anything is counted."""
    if asked.before and census.kept_store is None:
        raise SpecError(
            "Records are changed in a census that was loaded into a store. Load this one first:"
            " sdcensus load SCHEMA --out STORE."
        )
    for step in asked.steps:
        step_from_text(census.store, step, secret=secret)


def method_candidates(
    census: Census, texts: Iterable[str], *, of: str, secret: Path | Secret | None = None
) -> tuple[Candidate, ...]:
    """Methods of any package for a study, each called as it is written.

    An intruder is taken to know what the method says; of one that says nothing, the largest change
    in the table.

    Args:
        census: Whose tables.
        texts: ``NAME``, and behind it what is said about it: ``random-rounding base=5``. Steps
            after it are written ``then=additivity``; changes of records before it stand in front,
            followed by ``|``, and may stand alone.
        of: What is counted.
        secret: The office secret or its file.
    """
    candidates = []
    for text in texts:
        asked = parsed_method(text)
        check_steps(census, asked, secret)
        method = built_method(census, asked, of=of, secret=secret)
        candidates.append(Candidate(name=asked.title, method=method, before=asked.steps))
    return tuple(candidates)


def scheme_candidates(
    schemes: Iterable[str] = SCHEMES,
    draws: Iterable[NoiseDraw | str] = (NoiseDraw.ASCENDING, NoiseDraw.INDEPENDENT),
    *,
    secret: Secret | SubSecret | None = None,
    zeros_known: bool = False,
) -> tuple[Candidate, ...]:
    """Schemes by their names, each drawn in several ways.

    Args:
        schemes: Names of published schemes, however they are spelled.
        draws: How their noise is drawn; ``hashed`` needs the secret.
        secret: The office secret.
        zeros_known: Whether an intruder knows that empty cells are published as 0. The founding
            study takes it that nothing but the largest change is known.
    """
    chosen = [member(NoiseDraw, "draw", draw) for draw in draws]
    candidates = []
    for design in {design.name: design for design in map(scheme, schemes)}.values():
        knowledge = Knowledge(max_deviation=design.max_deviation, zeros_known=zeros_known)
        for draw in dict.fromkeys(chosen):
            lookup = Lookup.HASHED if draw is NoiseDraw.HASHED else Lookup.ASCENDING
            candidates.append(
                Candidate(
                    name=design.name,
                    method=CellKey(design, secret=secret, lookup=lookup),
                    knowledge=knowledge,
                    draw=draw,
                    perturbation=design,
                )
            )
    return tuple(candidates)
