"""The report on a load as plain text, for terminals, mails within the office and printers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from sdcensus.report.load.blocks import (
    AreaPicture,
    Cell,
    Content,
    Listing,
    Piece,
    SchemaLines,
    ShareCell,
    Words,
)
from sdcensus.report.page import PageCell

_WIDTH = 100
#: Columns of words are not made narrower than this.
_NARROWEST = 16


def load_text(content: Content) -> str:
    """The whole report; it says on top that it is confidential."""
    words = Words(content.language)
    lines = [words("mark"), "", content.title, "=" * len(content.title)]
    lines += [line for line in (content.facts,) if line]
    lines += ["", *_wrapped(content.lead)]
    if content.findings:
        lines += ["", words("look_at")]
        for sentence in content.findings:
            lines += textwrap.wrap(sentence, _WIDTH, initial_indent="- ", subsequent_indent="  ")
    for part in content.parts:
        lines += ["", "", part.title, "-" * len(part.title)]
        for piece in part.pieces:
            lines += ["", *_piece(piece, words)]
    return "\n".join(line.rstrip() for line in lines).replace("\n\n\n\n", "\n\n\n") + "\n"


def _piece(piece: Piece, words: Words) -> Iterator[str]:
    match piece:
        case str():
            yield from _wrapped(piece)
        case SchemaLines():
            yield from (f"    {line}" for line in piece.text.splitlines())
        case Listing():
            yield from _wrapped(piece.caption)
            yield ""
            yield from _table(piece, words)
        case AreaPicture():
            return  # the table below says the same


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH)


def _table(listing: Listing, words: Words) -> Iterator[str]:
    """Columns side by side; long words go on in the next line."""
    rows = [[_cell(cell, words) for cell in row] for row in (listing.head, *listing.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    # The longest words get what is left of a line.
    while sum(widths) + 2 * len(widths) > _WIDTH and max(widths[: listing.words]) > _NARROWEST:
        longest = max(range(listing.words), key=lambda at: widths[at])
        widths[longest] -= 1
    for at, row in enumerate(rows):
        yield from _lines(row, widths, listing.words)
        if at == 0:
            yield "  ".join("-" * width for width in widths)


def _cell(cell: Cell, words: Words) -> str:
    if isinstance(cell, ShareCell):
        return words.share(cell)
    return cell.text if isinstance(cell, PageCell) else cell


def _lines(row: Sequence[str], widths: Sequence[int], words: int) -> Iterator[str]:
    pieces = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
    for line in range(max(map(len, pieces))):
        cells = []
        for at, (piece, width) in enumerate(zip(pieces, widths, strict=True)):
            text = piece[line] if line < len(piece) else ""
            cells.append(text.ljust(width) if at < words else text.rjust(width))
        yield "  ".join(cells)
