"""Take the picture of the table builder for the README and its guide page, in a real browser.

Usage: python scripts/builder_picture.py ADDRESS OUT.png
where ADDRESS is that of a table builder of the demo country: make serve.
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt
from playwright.sync_api import sync_playwright

_BROWSER = "/usr/bin/chromium"
_WIDTH, _HEIGHT = 1440, 900
#: A table with areas, a hierarchy and a total, all of it within the policy of the demo.
_QUESTION = (("of", "persons"), ("by", "ed@parish"), ("by", "age@broad"), ("by", "sex"))
_VIEW = (("rows", "ed"), ("columns", "sex,age"), ("lang", "en"))

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Bits of each colour that are kept, fewer where a palette is too small for them: pages have few
#: colours, and their edges have many.
_KEPT = (5, 4, 3)
_PALETTE = 256

Pixels = npt.NDArray[np.uint8]


def pixels(png: bytes) -> Pixels:
    """The picture of a browser: 8 bits for each of three colours, not interlaced."""
    at, packed = len(_SIGNATURE), b""
    width = height = depth = 0
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        content = png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", content)
            depth = {2: 3, 6: 4}[content[9]]
        elif kind == b"IDAT":
            packed += content
        at += size + 12
    stored = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * depth)
    lines = np.zeros((height + 1, width + 1, depth), np.int64)
    for row, line in enumerate(stored, start=1):
        shown = line[1:].reshape(width, depth).astype(np.int64)
        above = lines[row - 1]
        for column in range(1, width + 1):
            a, b, c = lines[row, column - 1], above[column], above[column - 1]
            guess = (0, a, b, (a + b) // 2, None)[line[0]]
            if guess is None:
                far = np.abs(np.array((b - c, a - c, a + b - 2 * c)))
                guess = np.choose(far.argmin(0), (a, b, c))
            lines[row, column] = (shown[column - 1] + guess) % 256
    return lines[1:, 1:, :3].astype(np.uint8)


def small_png(picture: Pixels) -> bytes:
    """A picture with a palette: a third of the size of one without."""
    for bits in _KEPT:
        coarse = (picture >> (8 - bits)) << (8 - bits)
        coarse |= coarse >> bits
        colours, number = np.unique(coarse.reshape(-1, 3), axis=0, return_inverse=True)
        if len(colours) <= _PALETTE:
            break
    else:
        raise SystemExit(f"{len(colours)} colours are too many for a palette.")
    height, width, _ = picture.shape
    lines = np.zeros((height, width + 1), np.uint8)
    lines[:, 1:] = number.reshape(height, width)

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    return b"".join(
        (
            _SIGNATURE,
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            chunk(b"PLTE", colours.astype(np.uint8).tobytes()),
            chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            chunk(b"IEND", b""),
        )
    )


Question = tuple[tuple[str, str], ...]


def take(address: str, out: Path, question: Question = _QUESTION + _VIEW) -> None:
    """Open a table and keep what a reader sees of it at once."""
    take_page(f"{address.rstrip('/')}/?{urlencode(question)}", out, "main table tbody td")


def take_page(address: str, out: Path, shown: str) -> None:
    """Open a page, wait until something is shown on it, and keep what is seen at once."""
    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=_BROWSER, args=["--no-sandbox", "--disable-lcd-text"]
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
        page.goto(address)
        page.wait_for_selector(shown)
        page.wait_for_load_state("networkidle")
        out.write_bytes(small_png(pixels(page.screenshot())))
        browser.close()


if __name__ == "__main__":
    take(sys.argv[1], Path(sys.argv[2]))
