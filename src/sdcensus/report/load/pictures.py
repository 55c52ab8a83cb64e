"""Pictures of where the records lie: a map where there is one, and the tree of areas.

Drawn as plain svg in the colours of the page: a load must not need the libraries of other charts,
nor wait for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from sdcensus.ingest.load_facts import GeographyFacts, LevelFacts
from sdcensus.model.schema.area_outlines import for_screen
from sdcensus.model.schema.area_shapes import Shapes, read_shapes
from sdcensus.model.schema.variable import Code
from sdcensus.report.charts import ON_DARK, ON_LIGHT, RAMP
from sdcensus.report.load.blocks import Words
from sdcensus.report.page import Html

#: Sizes in pixels of a wide screen; the page scales pictures down.
_WIDTH, _MAP_HEIGHT, _ROW, _LEGEND = 884, 420, 44, 26
#: About how wide a letter is.
_LETTER = 6.4
#: Slices that are narrower are drawn together.
_THINNEST = 0.7


def area_map(geography: GeographyFacts, words: Words) -> Html:
    """The areas of the finest level that the map draws, darker where more records lie."""
    shapes = _drawn(geography)
    if shapes is None:
        return Html("")
    level, outlines = shapes
    records = {code.code: number for code, number in level.areas}
    classes = _Classes([number for number in records.values() if number], words)
    x, y, height = _places(outlines)
    paths = []
    for area, code in enumerate(outlines.codes):
        rings = np.flatnonzero(outlines.area_of == area).tolist()
        line = "".join(_ring(outlines, ring, x, y) for ring in rings)
        number = records.get(code, 0)
        paths.append(f'<path d="{line}" {classes.paint(number)}/>')
    legend = "".join(classes.legend(height + 8, empty=not all(records.values())))
    alternative = escape(words("map_alternative", units=words.units(geography.entity)))
    size = f"0 0 {_WIDTH} {height + 8 + _LEGEND:.0f}"
    return Html(
        f'<svg viewBox="{size}" role="img" aria-label="{alternative}"'
        ' fill-rule="evenodd" font-size="12" stroke="var(--soft)" stroke-width="0.5">'
        f"{''.join(paths)}{legend}</svg>"
    )


def _drawn(geography: GeographyFacts) -> tuple[LevelFacts, Shapes] | None:
    """The finest level with outlines, and these."""
    if geography.map is None:
        return None
    shapes = read_shapes(geography.map, geography.variable, geography.variable.map)
    for level in geography.levels:
        outlines = shapes.get(level.level.name)
        if outlines is not None:
            return level, for_screen(outlines)
    return None


def _places(outlines: Shapes) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Points on the screen, and how high the map is; degrees of longitude are shorter up north."""
    points = outlines.points.astype(np.float64) * outlines.unit
    x, y = points[:, 0], points[:, 1]
    if outlines.degrees:
        x = x * np.cos(np.radians((y.min() + y.max()) / 2))
    wide, high = max(float(np.ptp(x)), 1e-9), max(float(np.ptp(y)), 1e-9)
    scale = min(_WIDTH / wide, _MAP_HEIGHT / high)
    left = (_WIDTH - wide * scale) / 2
    return (x - x.min()) * scale + left, (y.max() - y) * scale, high * scale


def _ring(
    outlines: Shapes, ring: int, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
) -> str:
    own = slice(int(outlines.starts[ring]), int(outlines.starts[ring + 1]))
    points = zip(x[own].tolist(), y[own].tolist(), strict=True)
    return "M" + "L".join(f"{across:.1f},{down:.1f}" for across, down in points) + "Z"


class _Classes:
    """Four shades with about as many areas each; areas without records stand out."""

    def __init__(self, numbers: Sequence[int], words: Words) -> None:
        ordered = sorted(numbers)
        size = len(RAMP)
        tops = [ordered[len(ordered) * (at + 1) // size - 1] for at in range(size) if ordered]
        self._tops = sorted(set(tops))
        self._least = ordered[0] if ordered else 0
        self._words = words

    def paint(self, number: int) -> str:
        if not number:
            return 'fill="var(--bad-soft)" stroke="var(--bad)" stroke-width="1"'
        at = next(at for at, top in enumerate(self._tops) if number <= top)
        return f'fill="{RAMP[at]}"'

    def legend(self, top: float, *, empty: bool) -> Iterator[str]:
        number, left, low = self._words.number, 0.0, self._least
        entries = [(self.paint(0), self._words("no_records"))] if empty else []
        for high in self._tops:
            text = number(low) if low == high else f"{number(low)}–{number(high)}"
            entries.append((self.paint(high), text))
            low = high + 1
        for paint, text in entries:
            yield f'<rect x="{left + 1:.0f}" y="{top + 1:.0f}" width="16" height="12" {paint}/>'
            yield (
                f'<text x="{left + 22:.0f}" y="{top + 11:.0f}" fill="var(--ink)" stroke="none">'
                f"{escape(text)}</text>"
            )
            left += 40 + len(text) * _LETTER


# ---------------------------------------------------------------- the tree


def area_tree(geography: GeographyFacts, words: Words) -> Html:
    """Every level a row, the coarsest on top; areas as wide as they have records."""
    levels = [*reversed(geography.levels)]
    total = sum(levels[0].records)
    if not total:
        return Html("")
    order = _order(levels)
    parts = []
    for row, level in enumerate(levels):
        name = geography.variable.level_label(level.level.name)
        parts.append(_row_name(words.text(name) or level.level.name, row))
        parts += _slices(level, order, total, row, words)
    height = len(levels) * (_ROW + 18)
    alternative = escape(words("tree_alternative", units=words.units(geography.entity)))
    size = f"0 0 {_WIDTH} {height}"
    return Html(
        f'<svg viewBox="{size}" role="img" aria-label="{alternative}" font-size="12">'
        f"{''.join(parts)}</svg>"
    )


def _order(levels: Sequence[LevelFacts]) -> list[int]:
    """The leaves in an order in which the areas of every level lie together."""
    groups = [level.level.group for level in levels]
    leaves = range(len(groups[0]))
    return sorted(leaves, key=lambda leaf: tuple(group[leaf] for group in groups))


def _row_name(name: str, row: int) -> str:
    return f'<text x="0" y="{row * (_ROW + 18) + 12}" fill="var(--soft)">{escape(name)}</text>'


def _slices(
    level: LevelFacts, order: Sequence[int], total: int, row: int, words: Words
) -> Iterator[str]:
    top = row * (_ROW + 18) + 17
    seen = dict.fromkeys(level.level.group[leaf] for leaf in order)
    left, held = 0.0, 0.0
    for at, position in enumerate(seen):
        records = level.records[position]
        width = _WIDTH * records / total
        held += width
        if held < _THINNEST and at < len(seen) - 1:
            continue
        if held > 0:
            code = level.level.codes[position]
            yield _slice(code, records, left, held, top, at, words)
        left, held = left + held, 0.0


def _slice(
    code: Code, records: int, left: float, width: float, top: int, at: int, words: Words
) -> str:
    shade, ink = (RAMP[2], ON_DARK) if at % 2 else (RAMP[1], ON_LIGHT)
    if code.is_missing:
        shade, ink = "var(--grey)", "var(--ink)"
    label = words.text(code.label) or code.code
    hint = escape(f"{code.code} {label}: {words.number(records)}")
    shown = max(width - 0.5, 0.4)
    drawn = (
        f'<g><title>{hint}</title><rect x="{left:.2f}" y="{top}" width="{shown:.2f}"'
        f' height="{_ROW}" fill="{shade}"/>'
    )
    room = int((width - 8) / _LETTER)
    name = label if len(label) <= room else f"{label[: room - 1]}…" if room > 12 else code.code
    for line, text in enumerate((name, words.number(records))):
        if len(text) <= room:
            drawn += (
                f'<text x="{left + 4:.1f}" y="{top + 18 + 16 * line}" fill="{ink}">'
                f"{escape(text)}</text>"
            )
    return f"{drawn}</g>"
