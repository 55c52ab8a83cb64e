"""The report on a load as a page. Confidential."""

from __future__ import annotations

from html import escape

from sdcensus.report import page as shell
from sdcensus.report.load.blocks import (
    AreaPicture,
    Cell,
    Content,
    Listing,
    Part,
    Piece,
    SchemaLines,
    ShareCell,
    Words,
)
from sdcensus.report.load.pictures import area_map, area_tree
from sdcensus.report.page import Html, PageCell, Tile, Tone

#: Bars are drawn beside shares; a whole one is so many letters wide.
_BAR = 6
#: Here and not in the style of all pages, which published ones share.
_BAR_STYLE = "display:inline-block;height:.6em;margin-right:6px"
_LINES_STYLE = (
    "white-space:pre-wrap;line-height:1.35;background:var(--accent-soft);border-radius:8px;"
    "padding:9px 14px"
)


def load_page(content: Content) -> str:
    """The whole page; it says on every printed sheet that it is confidential."""
    words = Words(content.language)
    tone = Tone.BAD if content.refused else Tone.PLAIN
    tiles = shell.tiles(Tile(number, name, tone) for number, name in content.sizes)
    return shell.page(
        content.title,
        tiles,
        _findings(content, words),
        *(
            [shell.contents(*(part.title for part in content.parts))]
            if len(content.parts) > 2
            else []
        ),
        *(_part(part, words) for part in content.parts),
        facts=content.facts,
        lead=content.lead,
        stamp=words("stamp"),
        closing=words("closing"),
        language=content.language,
    )


def _findings(content: Content, words: Words) -> Html:
    if content.findings:
        return shell.note(words("look_at"), shell.bullets(content.findings))
    return Html("") if content.refused else shell.note(words("nothing_found"), tone=Tone.GOOD)


def _part(part: Part, words: Words) -> Html:
    return shell.section(part.title, *(_piece(piece, words) for piece in part.pieces))


def _piece(piece: Piece, words: Words) -> str:
    match piece:
        case Listing():
            rows = [[_cell(cell, words) for cell in row] for row in piece.rows]
            return shell.table(
                piece.caption, piece.head, rows, words=piece.words, wrapped=piece.words > 1
            )
        case SchemaLines():
            return shell.details(words("lines"), _lines(piece.text))
        case AreaPicture():
            return _pictures(piece, words)
        case _:
            return piece


def _pictures(picture: AreaPicture, words: Words) -> Html:
    units = words.units(picture.geography.entity)
    drawn = []
    outlines = area_map(picture.geography, words)
    if outlines:
        drawn.append(shell.drawing(outlines, title=words("map", units=units)))
    tree = area_tree(picture.geography, words)
    if tree:
        caption = words("tree_caption", units=units)
        drawn.append(shell.drawing(tree, title=words("tree", units=units), caption=caption))
    return Html("".join(drawn))


def _cell(cell: Cell, words: Words) -> PageCell | str:
    if not isinstance(cell, ShareCell):
        return cell
    if not cell.part:
        return ""
    colour = "var(--series-1)" if cell.tone is Tone.WARN else "var(--weak)"
    width = f"width:{max(cell.share * _BAR, 0.1):.2f}em"
    bar = f'<span style="{_BAR_STYLE};background:{colour};{width}"></span>'
    share = f'<span style="white-space:nowrap">{bar}{words.share(cell)}</span>'
    return PageCell(Html(share), cell.tone)


def _lines(text: str) -> Html:
    """Lines to be copied into a file."""
    return Html(f'<pre style="{_LINES_STYLE}"><code>{escape(text)}</code></pre>\n')
