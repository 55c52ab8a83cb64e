"""Exchanges of places for a file: between the areas that it tells, and what of it shows there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sdcensus.errors import Sentence, SpecError
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.pram.areas import moves_of
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.swapping.levels import ANYWHERE, main_levels
from sdcensus.model.method.registry import Part, declared, parsed_settings
from sdcensus.model.quantities import share_text
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import RiskRules
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.risk.records.ladder import record_risk
from sdcensus.session.release.assess.told_units import ToldUnits
from sdcensus.session.release.columns import shown_columns
from sdcensus.store.census_store import CensusStore

#: Methods that exchange areas: only for files that tell one.
MOVES_AREAS = ("targeted-swap", "random-swap", "proportional-swap", "geographic-pram")


def between_told_areas(method: str, design: FileDesign, schema: Schema) -> str:
    """A method as one line that exchanges places between areas that a file tells.

    Partners in one area of the file would change nothing that anybody sees. Where the office does
    not say otherwise, partners differ in the areas of the file.

    Raises:
        SpecError: What is said makes partners live in one area of the file.
    """
    name, *words = shlex.split(method) or [""]
    geography = schema.geography
    if name not in MOVES_AREAS or geography is None:
        return method
    said = parsed_settings(words, [declared(Part.PRE_TABULAR, name)])
    told = _told(design, geography)
    if told is None:
        if not said.get("carry") and not said.get("rederive"):
            raise SpecError(_not_told(name, design, geography))
        return method
    if name == "geographic-pram":
        _check_moves(said.get("move", ()), geography, told.level)
        return method
    _check_regions(name, said, geography, told)
    return shlex.join([name, *words, *_levels(name, said, geography, told.level)])


def _told(design: FileDesign, geography: Variable) -> FileVariable | None:
    """The areas of the main geography as the file tells them, the finest ones."""
    held = [each for each in design.geographies if each.source.name == geography.name]
    return max(held, key=lambda each: len(each.level.codes), default=None)


def _not_told(name: str, design: FileDesign, geography: Variable) -> str:
    return (
        f"{name} exchanges places of {geography.name!r}, and design {design.design.name!r} tells"
        " none of them: nobody would see a difference. Keep an area of it, keep ="
        f' ["{geography.name}@LEVEL"], or take the exchange out.'
    )


def _is_inside(level: Level | None, told: Level) -> bool:
    """Whether areas of a level lie inside those that a file tells."""
    return level is not None and level.refines(told)


def _level(geography: Variable, name: str) -> Level | None:
    plain = name.removeprefix(f"{geography.name}@")
    return None if plain == ANYWHERE else geography.level(plain)


def _check_regions(
    name: str, said: Mapping[str, Any], geography: Variable, told: FileVariable
) -> None:
    """Refuse regions inside one area of the file, and levels that are finer than it tells."""
    larger = [level.name for level in main_levels(geography) if not _is_inside(level, told.level)]
    within = str(said.get("within", ""))
    if within and _is_inside(_level(geography, within), told.level):
        remedy = " or ".join(["leave within out", *(f"name {each}" for each in larger)])
        raise SpecError(
            f"within = {within}: [swap] and {name} would look for partners inside one area that"
            f" the file tells ({told.name}), which changes nothing that anybody sees. For places"
            f" that differ in the file, {remedy}."
        )
    finer = [*said.get("levels", ()), *([said["between"]] if said.get("between") else [])]
    for text in finer:
        level = _level(geography, str(text))
        if level is not None and _is_inside(level, told.level) and not told.level.refines(level):
            raise SpecError(
                f"{name} exchanges places between areas of {level.name!r}, and the file tells"
                f" {told.name!r}, which is coarser: partners may live in one area of the file,"
                " which changes nothing that anybody sees. Leave the level out: partners then"
                " live in different areas of the file."
            )


def _levels(name: str, said: Mapping[str, Any], geography: Variable, told: Level) -> Iterator[str]:
    """The settings that let partners differ in the areas of a file, where nothing is said."""
    coarser = [
        level
        for level in geography.levels()
        if not level.universe and told.refines(level) and len(level.codes) > 1
    ]
    if not coarser:
        return
    finest = max(coarser, key=lambda level: len(level.codes))
    if name == "targeted-swap":
        if not said.get("levels"):
            every = [each.name for each in main_levels(geography) if finest.refines(each)]
            yield f"levels={','.join(every if finest.name in every else [finest.name])}"
        return
    if not said.get("between"):
        yield f"between={finest.name}"
    # Without a word partners lie in one of the largest areas, which the file may tell.
    if name == "random-swap" and not said.get("within"):
        largest = main_levels(geography)[0]
        if largest.refines(finest):
            yield f"within={ANYWHERE}"


def _check_moves(moves: Sequence[str], geography: Variable, told: Level) -> None:
    chosen = moves_of(geography, moves)
    if chosen and all(_is_inside(move.within, told) for move in chosen):
        raise SpecError(
            "geographic-pram moves households inside one area that the file tells, which changes"
            " nothing that anybody sees. Move them between larger areas:"
            f" move={main_levels(geography)[0].name}=0.06."
        )


# ------------------------------------------------------------------------------ what it did


def moved_facts(
    store: CensusStore, records: FileRecords, rules: RiskRules, known: int
) -> tuple[tuple[FactTable, ...], tuple[Sentence, ...]]:
    """How many records of a file tell another area than that where they were counted.

    Args:
        store: The census as it was counted.
        records: The file.
        rules: How few are too few, and how missing keys are counted.
        known: How many keys of the ladder are known.
    """
    areas = records.design.geographies
    exchanged = any(step.method in MOVES_AREAS for step in records.store.manifest.lineage)
    already = {step.method for step in store.manifest.lineage}
    if not areas or not exchanged or not known or already & set(MOVES_AREAS):
        return (), ()
    sampled = records.sample.taken(Entity.PERSON, records.store.rows(Entity.PERSON))
    columns = shown_columns(records)[:known]
    matches = record_risk(columns, sampled, missing=rules.missing).population_matches
    told = ToldUnits(records, store, Entity.PERSON)
    elsewhere = ~told.true_of(tuple({each.source.name: each.source for each in areas}.values()))
    few = matches < rules.k
    lines: list[tuple[Fact, ...]] = []
    for words, chosen in (("all", np.ones(few.size, bool)), ("few", few), ("unique", matches <= 1)):
        number, moved = int(chosen.sum()), int((chosen & elsewhere).sum())
        part = round(moved / number, 6) if number else None
        lines.append((sentence(f"release.moved.{words}", k=rules.k), number, moved, part))
    table = FactTable(
        name="moved-records",
        title=sentence("release.moved.title"),
        headings=tuple(
            sentence(f"release.moved.{head}") for head in ("what", "records", "moved", "share")
        ),
        rows=tuple(lines),
        note=sentence("release.moved.note"),
    )
    part = float((few & elsewhere).sum() / few.sum()) if few.any() else None
    share = in_every_language(lambda language: share_text(part, language, digits=1))
    note = sentence("release.moved.said", share=share, n=int(few.sum()), k=rules.k)
    return (table,), ((note,) if few.any() else ())
