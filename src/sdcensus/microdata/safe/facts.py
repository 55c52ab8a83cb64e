"""What the office is told about SAFE: before, what it will meet; afterwards, what was reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable, OfficeFile
from sdcensus.microdata.safe.combinations import Combinations
from sdcensus.microdata.safe.controls import LayerKey, level_of
from sdcensus.microdata.safe.layers import Layers, coarser_codes
from sdcensus.microdata.safe.searching import Ended, Found
from sdcensus.microdata.safe.variables import ListedVariables, spelled
from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import share_text
from sdcensus.model.sentences import figure, sentence
from sdcensus.model.spec.headings import entity_words
from sdcensus.model.text import plain_cell

Int64 = npt.NDArray[np.int64]

#: The deviations that the report counts one by one or in classes: from, to.
_CLASSES = ((1, 2), (3, 5), (6, None))
CELLS_FILE = "safe-control-cells.csv"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outcome(Confidential):
    """What SAFE made of the combinations.

    Attributes:
        found: The combinations.
        layers: The control cells.
        least: How many units a combination has that has any.
        search: What was found, and how.
        counts: How many units each combination has now.
        cells: For each unit its combination now.
        bound: What no solution is below, in the measure of the search.
        programs: How many integer programs were solved.
    """

    found: Combinations
    layers: Layers
    least: int
    search: Found
    counts: Int64
    cells: Int64
    bound: int
    programs: int

    def __repr__(self) -> str:
        return "<Outcome: confidential>"

    @property
    def changed(self) -> int:
        """How many units have another combination."""
        return int((self.cells != self.found.homes).sum())

    @property
    def proven(self) -> bool:
        """Whether no solution has a smaller largest deviation."""
        return self.search.score.worst <= self.bound


def foreseen_facts(
    found: Combinations, layers: Layers, least: int, bound: int
) -> tuple[FactTable, ...]:
    """The combinations that there are, groups that are too small, and the control tables."""
    small = found.small(least)
    units = int(found.counts[small].sum())
    rows: list[tuple[Fact, ...]] = [
        (_row("combinations"), int(found.counts.size)),
        (_row("small", least=least), int(small.sum())),
        (_row("small_units", least=least), units),
        (_row("share_small"), _share_text(units, found.rows.size)),
        (_row("control_cells"), int(layers.sizes.sum())),
        (_row("bound"), _weighted(bound, layers)),
    ]
    tables = [
        FactTable(
            name="safe-combinations",
            title=_title(found),
            headings=_headings("what", "number"),
            rows=tuple(rows),
            note=_stays(found.listed),
        )
    ]
    blocks = found.too_small_blocks(least)
    if blocks.size:
        tables.append(
            FactTable(
                name="safe-too-small",
                title=sentence(
                    "safe.facts.too_small_title",
                    least=least,
                    units=entity_words(found.listed.unit),
                ),
                headings=_headings("group"),
                rows=tuple((found.name_of_block(int(block)),) for block in blocks),
                note=sentence("safe.facts.too_small_note"),
            )
        )
    names = [(_label(found.listed, key), weight) for key, weight in _weights(layers)]
    tables.append(
        FactTable(
            name="safe-controls",
            title=sentence("safe.facts.controls_title", n=len(layers.keys)),
            headings=_headings("table", "weight", "cells"),
            rows=tuple(
                (name, weight, int(size))
                for (name, weight), size in zip(names, layers.sizes, strict=True)
            ),
        )
    )
    return tuple(tables)


def outcome_facts(outcome: Outcome) -> tuple[FactTable, ...]:
    """What was reached, deviations by control table and level, and codes that nobody has now."""
    return (_combinations(outcome), _reached(outcome), _deviations(outcome), _vanished(outcome))


def _combinations(outcome: Outcome) -> FactTable:
    found, least = outcome.found, outcome.least
    small = found.small(least)
    left = (outcome.counts > 0) & (outcome.counts < least)
    rows: list[tuple[Fact, ...]] = [
        (_row("combinations"), int(found.counts.size), int((outcome.counts > 0).sum())),
        (_row("small", least=least), int(small.sum()), int(left.sum())),
        (
            _row("small_units", least=least),
            int(found.counts[small].sum()),
            int(outcome.counts[left].sum()),
        ),
        (_row("changed"), None, outcome.changed),
        (_row("share_changed"), None, _share_text(outcome.changed, found.rows.size)),
    ]
    return FactTable(
        name="safe-combinations",
        title=_title(found),
        headings=_headings("what", "before", "after"),
        rows=tuple(rows),
        note=_stays(found.listed),
    )


def _reached(outcome: Outcome) -> FactTable:
    layers, score = outcome.layers, outcome.search.score
    rows: list[tuple[Fact, ...]] = [
        (_row("worst"), _weighted(score.worst, layers)),
        (_row("ties"), score.ties if score.worst else 0),
        (_row("control_cells"), int(layers.sizes.sum())),
        (_row("bound"), _weighted(outcome.bound, layers)),
        (_row("looked"), outcome.search.looked),
        (_row("programs"), outcome.programs),
    ]
    ended = "proven" if outcome.proven else outcome.search.ended.value
    return FactTable(
        name="safe-reached",
        title=sentence("safe.facts.reached_title"),
        headings=_headings("what", "number"),
        rows=tuple(rows),
        note=sentence(f"safe.ended.{ended}"),
    )


def _deviations(outcome: Outcome) -> FactTable:
    found, layers = outcome.found, outcome.layers
    deviations = layers.totals(outcome.counts - found.counts)
    rows: list[tuple[int, tuple[Fact, ...]]] = []
    for at, (key, weight) in enumerate(_weights(layers)):
        own = np.abs(deviations[layers.starts[at] : layers.starts[at + 1]])
        largest = int(own.max(initial=0))
        classes = [
            int(((own >= low) & (own <= (largest if high is None else high))).sum())
            for low, high in _CLASSES
        ]
        row: tuple[Fact, ...] = (
            *(_label(found.listed, key), weight, int(own.size)),
            *(_mean(own == 0), *classes, _mean(own), largest),
        )
        rows.append((-largest * (layers.multiple // weight), row))
    rows.sort(key=lambda pair: (pair[0], str(pair[1][0])))
    return FactTable(
        name="safe-deviations",
        title=sentence("safe.facts.deviations_title"),
        headings=_headings(
            *("table", "weight", "cells", "unchanged_share", "by_one", "by_three", "by_six"),
            *("mean", "largest"),
        ),
        rows=tuple(row for _, row in rows),
        note=sentence("safe.facts.deviations_note"),
    )


def _vanished(outcome: Outcome) -> FactTable:
    """Codes of single variables that had units and have none any more."""
    found, counts = outcome.found, outcome.counts
    rows: list[tuple[Fact, ...]] = []
    for at, each in enumerate(found.listed.all):
        size = len(each.level.codes)
        before, after = (
            np.bincount(found.codes[:, at], weights=number, minlength=size).astype(np.int64)
            for number in (found.counts, counts)
        )
        gone = (before > 0) & (after == 0)
        rows.append(
            (spelled(each), int((before > 0).sum()), int(gone.sum()), int(before[gone].sum()))
        )
    return FactTable(
        name="safe-vanished",
        title=sentence("safe.facts.vanished_title"),
        headings=_headings("variable", "codes", "vanished", "vanished_units"),
        rows=tuple(rows),
        note=sentence("safe.facts.vanished_note"),
    )


def control_cells_file(outcome: Outcome) -> OfficeFile:
    """Every control cell that has changed, with its units before and afterwards."""
    found, layers = outcome.found, outcome.layers
    before, after = layers.totals(found.counts), layers.totals(outcome.counts)
    tables, cells, changed = [], [], []
    for at, key in enumerate(layers.keys):
        start = int(layers.starts[at])
        own = np.flatnonzero(
            before[start : start + layers.sizes[at]] != after[start : start + layers.sizes[at]]
        )
        # Some combination of each control cell: all of them have its codes.
        member = np.zeros(int(layers.sizes[at]), dtype=np.int64)
        member[layers.index[:, at]] = np.arange(found.counts.size)
        names = list(_names(found, key, member[own]))
        tables += [_label(found.listed, key)] * own.size
        cells += [plain_cell("|".join(parts)) for parts in zip(*names, strict=True)]
        changed.append(start + own)
    rows = np.concatenate(changed) if changed else np.zeros(0, dtype=np.int64)
    return OfficeFile(
        name=CELLS_FILE,
        columns={
            "table": np.array(tables, dtype=object),
            "cell": np.array(cells, dtype=object),
            "before": before[rows],
            "after": after[rows],
        },
    )


def _names(found: Combinations, key: LayerKey, members: Int64) -> Iterator[list[str]]:
    """For each axis of a layer the codes of some combinations."""
    places = {each.variable.name: at for at, each in enumerate(found.listed.all)}
    for name, level in key:
        groups, _ = coarser_codes(found.listed, name, level)
        codes = level_of(found.listed, name, level).codes
        numbers = groups[found.codes[members, places[name]]].tolist()
        yield [codes[number].code for number in numbers]


def notes_of(outcome: Outcome, unlisted: Sequence[str]) -> tuple[Sentence, ...]:
    """What else the office should know."""
    notes = []
    if outcome.search.ended in (Ended.CLOCK, Ended.STOPPED):
        notes.append(sentence(f"safe.notes.{outcome.search.ended.value}"))
    if not outcome.changed:
        notes.append(sentence("safe.notes.nothing", least=outcome.least))
    if unlisted:
        notes.append(sentence("safe.notes.unlisted", variables=", ".join(unlisted)))
    return tuple(notes)


def _title(found: Combinations) -> Sentence:
    return sentence(
        "safe.facts.combinations_title",
        variables=", ".join(spelled(each) for each in found.listed.all),
        units=entity_words(found.listed.unit),
        n=int(found.rows.size),
    )


def _stays(listed: ListedVariables) -> Sentence | None:
    """Which variables stay as they are, so that their totals are exact."""
    if not listed.fixed:
        return None
    return sentence(
        "safe.facts.stays_note", variables=", ".join(spelled(each) for each in listed.fixed)
    )


def _label(listed: ListedVariables, key: LayerKey) -> str:
    """A layer as axes are written."""
    parts = []
    for name, level in key:
        own = listed.named(name)
        assert own is not None
        parts.append(name if level == own.variable.leaf_level else f"{name}@{level}")
    return ",".join(parts)


def _weights(layers: Layers) -> list[tuple[LayerKey, int]]:
    return list(zip(layers.keys, layers.weights.tolist(), strict=True))


def _weighted(level: int, layers: Layers) -> Fact:
    """A deviation in the measure of the search, as it is divided by weights."""
    return level // layers.multiple if level % layers.multiple == 0 else level / layers.multiple


def _share_text(part: int, whole: int) -> Fact:
    return figure(lambda language: share_text(part / whole, language)) if whole else None


def _mean(numbers: npt.NDArray[Any]) -> Fact:
    return float(numbers.mean()) if numbers.size else None


def _row(name: str, **values: int) -> Sentence:
    return sentence(f"safe.rows.{name}", **values)


def _headings(*names: str) -> tuple[Sentence, ...]:
    return tuple(sentence(f"safe.facts.{name}") for name in names)
