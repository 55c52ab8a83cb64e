"""What a swap tells the office: before any work what it will meet, afterwards what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.swapping.coordinates import unit_places
from sdcensus.microdata.swapping.earlier import SwapPairs
from sdcensus.microdata.swapping.levels import AreaLevels, area_levels, several_areas
from sdcensus.microdata.swapping.pairing import Failure, Places, failure_reasons, with_partner
from sdcensus.microdata.swapping.reach import region_name
from sdcensus.microdata.swapping.risk import NOT_AT_RISK
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome, at_risk_by_level
from sdcensus.model.sentences import Value, sentence
from sdcensus.model.spec.headings import entity_words

Int64 = npt.NDArray[np.int64]


def _rate_lines(design: SwapDesign, wanted: int) -> Iterator[tuple[Fact, ...]]:
    """Who is at risk, and from which rate on everybody of them is exchanged."""
    risky = sum(int(units.size) for units in at_risk_by_level(design))
    base = max(design.units.settled, 1)
    yield sentence("swap.sizes.at_risk"), risky
    yield sentence("swap.sizes.minimum"), round(risky / base, 6)
    yield sentence("swap.sizes.minimum_apart"), round(min(2 * risky / base, 1.0), 6)
    yield sentence("swap.sizes.wanted"), 2 * wanted


def foreseen_facts(design: SwapDesign, wanted: int) -> tuple[FactTable, ...]:
    """What the office should see before it decides.

    Args:
        design: Who may exchange places with whom.
        wanted: How many pairs the rate asks for.
    """
    risky = at_risk_by_level(design)
    lines = [*_size_lines(design), *_rate_lines(design, wanted)]
    return (
        _table("units", design, lines),
        _donor_table(design, risky),
        *_partnerless_table(design, risky),
    )


def outcome_facts(
    design: SwapDesign, outcome: SwapOutcome, *, moved: bool = True
) -> tuple[FactTable, ...]:
    """What was done: exchanged and failed by level, failures by area, how far units moved.

    Args:
        design: Who may exchange something with whom.
        outcome: What was done.
        moved: Whether units exchange places. Else there may be one area, or none.
    """
    pairs = outcome.pairs
    touched = 2 * len(pairs)
    lines = [
        *_size_lines(design),
        *_rate_lines(design, outcome.wanted),
        (sentence("swap.sizes.touched"), touched),
        (sentence("swap.sizes.rate"), round(touched / max(design.units.settled, 1), 6)),
        (sentence("swap.sizes.kept"), outcome.kept),
    ]
    return (
        _table("units", design, lines),
        _level_table(design, outcome),
        *_profile_table(design, pairs),
        *_failure_table(design, outcome),
        *(_distance_table(design, pairs) if moved else ()),
    )


def _words(design: SwapDesign) -> Value:
    return entity_words(design.units.entity)


def _table(name: str, design: SwapDesign, rows: list[tuple[Fact, ...]]) -> FactTable:
    headings = {
        "units": ("what", "number"),
        "by-level": ("level", "region", "at_risk", "began", "joined", "failed"),
        "profiles": ("profile", "pairs"),
        "donors": ("level", "region", "profile", "at_risk", "with_partner", "donors"),
        "without-partner": ("level", "reason", "number"),
        "failures": ("level", "area", "reason", "number"),
        "distance": ("what", "number"),
    }[name]
    return FactTable(
        name=f"swap-{name}",
        title=sentence(f"swap.titles.{name}", units=_words(design)),
        headings=tuple(sentence(f"swap.headings.{heading}") for heading in headings),
        rows=tuple(rows),
    )


def _size_lines(design: SwapDesign) -> Iterator[tuple[Fact, ...]]:
    units = design.units
    yield sentence("swap.sizes.units", units=_words(design)), len(units)
    for reason, count in units.excluded.items():
        yield sentence(f"swap.sizes.{reason.value}"), count
    if units.outside:
        yield sentence("swap.sizes.outside", units=_words(design)), units.outside


def _regions(design: SwapDesign, level: int) -> str:
    return ", ".join(region_name(region) for region in design.reach.regions[level])


def _level_table(design: SwapDesign, outcome: SwapOutcome) -> FactTable:
    pairs = outcome.pairs
    role = np.zeros(len(design.units), dtype=np.int8)
    role[pairs.initiators], role[pairs.partners] = 1, 2
    rows: list[tuple[Fact, ...]] = []
    for at, risky in enumerate(at_risk_by_level(design)):
        counts = np.bincount(role[risky], minlength=3).tolist()
        name = design.levels.names[at]
        rows.append((name, _regions(design, at), risky.size, counts[1], counts[2], counts[0]))
    others = design.units.movable & (design.risk.level == NOT_AT_RISK)
    counts = np.bincount(role[others], minlength=3).tolist()
    name = sentence("swap.others")
    regions = _regions(design, len(design.levels) - 1)
    rows.append((name, regions, None, counts[1], counts[2], outcome.passed))
    return _table("by-level", design, rows)


def _profile_table(design: SwapDesign, pairs: SwapPairs) -> Iterator[FactTable]:
    if len(design.profiles) > 1:
        counts = np.bincount(pairs.profiles, minlength=len(design.profiles)).tolist()
        rows: list[tuple[Fact, ...]] = [
            (profile.text, count) for profile, count in zip(design.profiles, counts, strict=True)
        ]
        yield _table("profiles", design, rows)


def _donor_table(design: SwapDesign, risky: Any) -> FactTable:
    """By level and profile who at risk has a partner at all, and how many donors fit anybody."""
    movable = np.flatnonzero(design.units.movable)
    rows: list[tuple[Fact, ...]] = []
    for level, units in enumerate(risky):
        initiators = units
        if level == len(risky) - 1 and not any(each.size for each in risky):
            initiators = movable  # nobody is at risk: everybody may be drawn
        for region in design.reach.regions[level][-1:]:
            rules = design.rules(level, region)
            for profile in design.profiles:
                single = replace(rules, profiles=(profile,))
                able = int(with_partner(single, initiators, movable).sum())
                donors = int(with_partner(single, movable, initiators).sum()) if able else 0
                rows.append(
                    (
                        *(design.levels.names[level], _regions(design, level), profile.text),
                        *(int(units.size), able, donors),
                    )
                )
    return _table("donors", design, rows)


def _reasons(design: SwapDesign, level: int, failed: Int64) -> list[Failure]:
    rules = design.rules(level, design.reach.regions[level][-1])
    return failure_reasons(rules, failed, np.flatnonzero(design.units.movable))


def _reason_text(reason: str) -> Sentence:
    return sentence(f"swap.reasons.{reason}")


def _partnerless_table(design: SwapDesign, risky: Any) -> Iterator[FactTable]:
    """Who at risk has no partner at all, whoever chooses first."""
    movable = np.flatnonzero(design.units.movable)
    rows: list[tuple[Fact, ...]] = []
    for level, units in enumerate(risky):
        rules = design.rules(level, design.reach.regions[level][-1])
        alone = units[~with_partner(rules, units, movable)]
        counts = Counter(_reasons(design, level, alone))
        for reason in Failure:
            if counts[reason]:
                name = design.levels.names[level]
                rows.append((name, _reason_text(reason.value), counts[reason]))
    if rows:
        yield _table("without-partner", design, rows)


def _failure_table(design: SwapDesign, outcome: SwapOutcome) -> Iterator[FactTable]:
    """Failures by area of the level at risk, with the reason."""
    rows: list[tuple[Fact, ...]] = []
    for level, failed in enumerate(outcome.failed):
        if not failed.size:
            continue
        area = design.levels.areas(level, design.units.leaf[failed])
        reasons = _reasons(design, level, failed)
        counts = Counter(zip(area.tolist(), (reason.value for reason in reasons), strict=True))
        codes = design.levels.levels[level].codes
        for (position, reason), count in sorted(counts.items()):
            name = design.levels.names[level]
            rows.append((name, codes[position].code, _reason_text(reason), count))
    if rows:
        yield _table("failures", design, rows)


def failure_counts(design: SwapDesign, outcome: SwapOutcome) -> Counter[str]:
    """How many units at risk found no partner, by reason."""
    counts: Counter[str] = Counter()
    for level, failed in enumerate(outcome.failed):
        counts.update(reason.value for reason in _reasons(design, level, failed))
    return counts


def _distance_table(design: SwapDesign, pairs: SwapPairs) -> Iterator[FactTable]:
    """How far units moved: in metres where it is known, else the largest area they left."""
    if not len(pairs):
        return
    places = design.places if design.places is not None else unit_places(design.units)
    rows: list[tuple[Fact, ...]] = []
    if places is not None:
        metres = distances(places, pairs)
        rows.append((sentence("swap.distance.median"), round(float(np.median(metres)))))
        rows.append((sentence("swap.distance.largest"), round(float(metres.max()))))
    levels = _all_levels(design)
    left = np.full(len(pairs), len(levels), dtype=np.int64)
    for level in range(len(levels) - 1, -1, -1):
        area = levels.areas(level, design.units.leaf)
        left[area[pairs.initiators] != area[pairs.partners]] = level
    counts = np.bincount(left, minlength=len(levels) + 1).tolist()
    for level, name in enumerate(levels.names):
        rows.append((sentence("swap.distance.left", level=name), 2 * counts[level]))
    yield _table("distance", design, rows)


def _all_levels(design: SwapDesign) -> AreaLevels:
    """All levels that a unit can leave, also above those at which somebody is at risk."""
    every = area_levels(design.units.store.schema)
    if not set(design.levels.names) <= set(every.names):
        return design.levels  # another hierarchy of the same areas
    return several_areas(every, design.units.leaf[design.units.movable], named=False)


def distances(places: Places, pairs: SwapPairs) -> npt.NDArray[np.float64]:
    """How far the units of each pair are from each other, in metres."""
    across = (places.x[pairs.initiators] - places.x[pairs.partners]).astype(np.float64)
    along = (places.y[pairs.initiators] - places.y[pairs.partners]).astype(np.float64)
    return np.sqrt(across * across + along * along)
