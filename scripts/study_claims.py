"""The founding study beside ours, under several secrets: figures for the documentation."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.claim_texts import SECRETS, secret_of, short, table
from sdcensus.demo import PRESETS, make_country, study_axes, write_country
from sdcensus.methods.perturbation.schemes import SCHEMES
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.figures import counted_as_printed, measures
from sdcensus.report.study.published import COUNTRIES, Published, published
from sdcensus.report.study.results import Study, StudyTable
from sdcensus.session.census.census import load, open_store
from sdcensus.session.study.candidates import scheme_candidates
from sdcensus.session.study.study import compare
from sdcensus.session.study.tables import prefixes


@dataclass(frozen=True, slots=True)
class Runs:
    """The studies of one preset, one for each secret."""

    preset: str
    printed: Published
    studies: tuple[Study, ...]

    @property
    def tables(self) -> tuple[StudyTable, ...]:
        """The tables of the first study; those of the others have the same axes."""
        return self.studies[0].tables

    def each(
        self, table: StudyTable, name: str, draw: NoiseDraw, measure: str, *, all_sums: bool = False
    ) -> list[float]:
        """A measure of one scheme on one table under every secret."""
        values = []
        for study in self.studies:
            alike = next(other for other in study.tables if other.name == table.name)
            result = alike.result(name, draw)
            assert result is not None
            found = measures(result)
            if not all_sums:
                shares = counted_as_printed(result)
                found["disclosed_cells_pct"], found["small_cells_disclosed_pct"] = shares
            value = found[measure]
            if value is not None:
                values.append(value)
        return values


def runs_of(preset: str, folder: Path) -> Runs:
    """Make a preset, load it under every secret and compare the schemes."""
    country = make_country(preset)
    write_country(folder / preset, country=country, file_format="parquet")
    studies = []
    for number in range(SECRETS):
        secret = secret_of(number)
        store = folder / f"{preset}-{number}.store"
        load(folder / preset / "schema.toml", store, secret=secret)
        census = open_store(store)
        candidates = scheme_candidates(draws=list(NoiseDraw), secret=secret)
        tables = prefixes(census, study_axes(country))
        generator = np.random.default_rng(number)
        studies.append(compare(census, tables, candidates, generator=generator))
        print(f"  {preset}, secret {number + 1} of {SECRETS}")
    return Runs(preset, published(COUNTRIES[preset]), tuple(studies))


def study() -> Mapping[str, str]:
    """The founding study beside ours, under several secrets."""
    with tempfile.TemporaryDirectory() as folder:
        presets = [runs_of(preset, Path(folder)) for preset in PRESETS]
    return {"risk/study.md": "\n\n".join((*map(figures_of, presets), agreement(presets)))}


def between(values: Sequence[float], digits: int) -> str:
    """The smallest and the largest, once where they are the same."""
    least, most = (_small(value, digits) for value in (min(values), max(values)))
    return least if least == most else f"{least}–{most}"


def _small(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    if not float(text):
        return "0" if value == 0 else f"<.{'1'.zfill(digits)}"
    return text


def figures_of(runs: Runs) -> str:
    """The tables of one preset."""
    wide = [table for table in runs.tables if len(table.spec.axes) > 2]
    names = [table.name for table in wide]
    main = NoiseDraw.ASCENDING
    parts = [f"### {runs.preset}: {runs.printed.country}", _profile(runs)]
    parts.append(
        "Disclosed cells, %: printed → here, counted alike (here, by all sums); smallest and"
        " largest of"
        f" {SECRETS} secrets."
    )
    rows = []
    for name in SCHEMES:
        cells = [name]
        for each in wide:
            printed = runs.printed.of(each, name).get("disclosed_cells_pct", 0.0)
            alike = runs.each(each, name, main, "disclosed_cells_pct")
            all_sums = runs.each(each, name, main, "disclosed_cells_pct", all_sums=True)
            cells.append(f"{_small(printed, 2)} → {between(alike, 2)} ({between(all_sums, 2)})")
        rows.append(cells)
    parts += [table(["scheme", *names], rows), "Risk R: printed → here."]
    rows = [
        [
            name,
            *(
                f"{runs.printed.of(each, name).get('R', 0.0):.3f}"
                f" → {between(runs.each(each, name, main, 'R'), 3)}"
                for each in wide
            ),
        ]
        for name in SCHEMES
    ]
    parts.append(table(["scheme", *names], rows))
    parts += [*_drawn(runs, wide), *_by_look_up(runs, wide)]
    return "\n\n".join(parts)


def _profile(runs: Runs) -> str:
    rows = []
    for each in runs.tables:
        printed, ours = runs.printed.of(each), each.original
        rows.append(
            [
                each.name,
                f"{printed['mean_cell_size']:g} → {_size(ours.mean_cell_size)}",
                f"{printed['pct_cells_1_2']:.1f} → {100 * ours.share_small:.1f}",
                f"{printed['pct_cells_0_1_2']:.1f} → {100 * ours.share_small_or_empty:.1f}",
                f"{printed['R']:.2f} → {ours.risk or 0:.2f}",
            ]
        )
    return table(["table", "mean cell size", "cells of 1–2, %", "cells of 0–2, %", "R"], rows)


def _size(mean: float) -> str:
    return f"{mean:.0f}" if mean >= 10 else f"{mean:.2f}"


def _drawn(runs: Runs, tables: Sequence[StudyTable]) -> Iterator[str]:
    """Independent noise beside noise by keys, where both were printed."""
    rows = []
    for name in SCHEMES:
        for each in tables:
            printed = runs.printed.of(each, name)
            fresh = printed.get("disclosed_pct_independent", 0.0)
            if not fresh:
                continue
            ours = [
                between(runs.each(each, name, draw, "disclosed_cells_pct"), 2)
                for draw in (NoiseDraw.INDEPENDENT, NoiseDraw.ASCENDING)
            ]
            known = f"{fresh:.2f}, {printed['disclosed_cells_pct']:.2f}"
            rows.append([name, each.name, known, ", ".join(ours)])
    if rows:
        yield (
            "Independent noise and noise coupled by keys, disclosed cells in percent, counted"
            " alike (Table 12)."
        )
        yield table(
            ["scheme", "table", "printed: independent, keys", "here: independent, keys"], rows
        )


def _by_look_up(runs: Runs, tables: Sequence[StudyTable]) -> Iterator[str]:
    """The draw of the founding study beside the one that publications come nearest to."""
    rows = []
    for name in SCHEMES:
        cells = [name]
        for each in tables:
            ours = [
                between(runs.each(each, name, draw, "disclosed_cells_pct", all_sums=True), 2)
                for draw in (NoiseDraw.ASCENDING, NoiseDraw.HASHED)
            ]
            cells.append(", ".join(ours))
        rows.append(cells)
    yield "Disclosed cells in percent, by all sums: `ascending`, `hashed`."
    yield table(["scheme", *(each.name for each in tables)], rows)


def agreement(presets: Sequence[Runs]) -> str:
    """How far the means over secrets are from what was printed, and the order of schemes."""
    parts = ["### How far they agree"]
    rows = []
    for ways in (2, 3, 4, 5):
        cells = [f"{ways} axes"]
        for measure in ("mean_absolute_distance", "hellinger", "R"):
            farthest = 0.0
            moves = 0.0
            for runs in presets:
                each = next(one for one in runs.tables if len(one.spec.axes) == ways)
                for name in SCHEMES:
                    printed = runs.printed.of(each, name).get(measure)
                    values = runs.each(each, name, NoiseDraw.ASCENDING, measure)
                    if printed is not None and values:
                        farthest = max(farthest, abs(statistics.fmean(values) - printed))
                        moves = max(moves, max(values) - min(values))
            cells.append(f"{short(farthest, 3)} ({short(moves, 3)})")
        rows.append(cells)
    parts.append(
        f"The largest distance between a printed figure and our mean of {SECRETS} secrets, over"
        " all schemes and"
        " countries; in brackets how far two secrets differ at most."
    )
    parts.append(table(["", "mean change", "Hellinger", "R"], rows))
    parts += [_order(presets), _small_cells(presets)]
    return "\n\n".join(parts)


def _order(presets: Sequence[Runs]) -> str:
    """In which tables the schemes stand in the printed order of R."""
    agree = compared = 0
    apart: dict[tuple[str, str], int] = {}
    for runs in presets:
        for each in runs.tables:
            if len(each.spec.axes) == 2:
                continue
            ours = {
                name: statistics.fmean(runs.each(each, name, NoiseDraw.ASCENDING, "R"))
                for name in SCHEMES
            }
            printed = {name: runs.printed.of(each, name)["R"] for name in SCHEMES}
            for first in SCHEMES:
                for second in SCHEMES:
                    if printed[first] > printed[second]:
                        compared += 1
                        if ours[first] > ours[second]:
                            agree += 1
                        else:
                            apart[first, second] = apart.get((first, second), 0) + 1
    text = (
        f"Of {compared} pairs of schemes that were printed with different R in one table of"
        " three or more axes,"
        f" {agree} stand in the same order here, by the mean over secrets."
    )
    if apart:
        listed = ", ".join(f"{first} and {second} ({n})" for (first, second), n in apart.items())
        text += f" The others, with the number of tables: {listed}."
    return text


def _small_cells(presets: Sequence[Runs]) -> str:
    """What CP1 gives away of the few small cells of the largest country."""
    runs = presets[-1]
    each = next(one for one in runs.tables if len(one.spec.axes) == 3)
    results = [study.tables[1].result("CP1", NoiseDraw.ASCENDING) for study in runs.studies]
    small = [result.small_cells for result in results if result is not None]
    shares = runs.each(each, "CP1", NoiseDraw.ASCENDING, "small_cells_disclosed_pct")
    printed = runs.printed.of(each, "CP1").get("small_cells_disclosed_pct", 0.0)
    return (
        f"CP1, three axes, `{runs.preset}`: of {small[0]} small cells {between(shares, 1)} % are"
        " given away,"
        f" {statistics.fmean(shares):.1f} % on average; printed were {printed:.1f} %."
    )
