"""A smoothed grid as a picture: colours from little to much, and the words that say what it is.

No number of it stands in the picture: smoothed values are no data.
"""

from __future__ import annotations

import base64
import struct
import textwrap
import zlib
from dataclasses import dataclass
from html import escape

import numpy as np
import numpy.typing as npt

from sdcensus.model.quantities import number_text
from sdcensus.model.text import said

#: From little to much, as in the table builder.
COLOURS = ("#d9ecec", "#abd3d4", "#76b5b8", "#3f9297", "#0f6c73", "#05474d")
_WIDE, _TALLEST, _MARGIN, _LINE = 720, 900, 24, 22
#: How many letters of the title, and of what stands below, fit beside each other.
_TITLE_LETTERS, _LETTERS = 76, 96


@dataclass(frozen=True, slots=True, eq=False)
class SmoothedMap:
    """A picture of smoothed published values.

    Attributes:
        title: What the table shows.
        values: For each square of the plane what it is coloured by, from the south; NaN where
            nothing is drawn.
        width: How far the kernel reaches, in metres.
        withheld: Squares without a published number, which count for nothing.
        language: The language of the words.
    """

    title: str
    values: npt.NDArray[np.float64]
    width: int
    withheld: int
    language: str | None = None

    def sentences(self) -> tuple[str, ...]:
        """What stands under the picture."""
        width = number_text(self.width, self.language)
        lines = [said("figures.smoothed.picture", self.language, width=width)]
        if self.withheld:
            number = number_text(self.withheld, self.language)
            lines.append(said("figures.smoothed.withheld", self.language, n=number))
        return tuple(lines)

    def svg(self) -> str:
        """The picture as a drawing; the same values give the same text."""
        rows, columns = self.values.shape
        scale = min(_WIDE / columns, _TALLEST / rows)
        wide, high = columns * scale, rows * scale
        title = textwrap.wrap(self.title, _TITLE_LETTERS)
        top = _MARGIN + _LINE * max(len(title), 1)
        lines = [line for words in self.sentences() for line in textwrap.wrap(words, _LETTERS)]
        bottom = top + high + _LINE
        height = bottom + _LINE * (len(lines) + 1) + _MARGIN
        image = base64.b64encode(_png(_classes(self.values))).decode("ascii")
        swatches = "".join(
            f'<rect x="{_MARGIN + 28 * at}" y="{bottom - 8:.0f}" width="28" height="14"'
            f' fill="{colour}"/>'
            for at, colour in enumerate(COLOURS)
        )
        words = said("figures.smoothed.scale", self.language)
        texts = [(_MARGIN + 28 * len(COLOURS) + 8, bottom + 4, words)]
        texts += [(_MARGIN, bottom + _LINE * (at + 1) + 8, line) for at, line in enumerate(lines)]
        drawn = "".join(
            f'<text x="{x:.0f}" y="{y:.0f}" font-size="14">{escape(text)}</text>'
            for x, y, text in texts
        )
        heading = "".join(
            f'<text x="{_MARGIN}" y="{_MARGIN + _LINE * at}" font-size="17">{escape(line)}</text>'
            for at, line in enumerate(title)
        )
        full = " ".join((self.title, *lines))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE + 2 * _MARGIN}'
            f' {height:.0f}" font-family="sans-serif" role="img" aria-label="{escape(full)}">'
            '<rect width="100%" height="100%" fill="#ffffff"/>'
            f'{heading}<image x="{_MARGIN}" y="{top}" width="{wide:.2f}" height="{high:.2f}"'
            f' preserveAspectRatio="none" style="image-rendering:pixelated"'
            f' href="data:image/png;base64,{image}"/>{swatches}{drawn}</svg>\n'
        )


def _classes(values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """The colour of each square: as many squares in each; 0 for none, north first."""
    there = np.isfinite(values)
    shares = np.arange(1, len(COLOURS)) / len(COLOURS)
    limits = np.unique(np.quantile(values[there], shares)) if there.any() else np.zeros(0)
    kind = np.searchsorted(limits, np.where(there, values, 0), side="left") + 1
    return np.where(there, kind, 0).astype(np.uint8)[::-1]


def _png(classes: npt.NDArray[np.uint8]) -> bytes:
    """Classes as an image with a palette, whose first colour is transparent."""
    rows, columns = classes.shape
    palette = bytes.fromhex("ffffff" + "".join(colour[1:] for colour in COLOURS))
    lines = np.hstack([np.zeros((rows, 1), dtype=np.uint8), classes]).tobytes()
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"tRNS", b"\x00"),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    written = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + written
