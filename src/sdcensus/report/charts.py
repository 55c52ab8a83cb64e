"""The look of every chart, and pictures made from charts without a browser and the internet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Any

from sdcensus.errors import MissingExtra

INK, SOFT, LINE, GREY = "#17212b", "#5b6773", "#dde2e6", "#eceff1"
#: Told apart also by those who do not see red and green, and in grey print.
SERIES = ("#d1603d", "#e8b54a", "#0a6a72")
STRONG, WEAK = "#0a6a72", "#8fbfc3"
#: What should be looked at.
BAD = "#9b2c2c"
#: Around marks and labels that lie upon others, so that they stand out; the colour of the page.
PAPER = "#ffffff"
#: From nothing to everything. The same in light and in dark, so its numbers have own colours.
RAMP = ("#eaf4f4", "#a3d0d2", "#35939a", "#06474e")
#: From this share on, numbers on the ramp are white.
DARK_FROM = 0.5
ON_LIGHT, ON_DARK = "#17212a", "#fffffe"

#: Colours that have another shade on a dark page: by name, for the style of pages.
SHADES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "ink": (INK, "#e4eaef"),
        "soft": (SOFT, "#a6b2bd"),
        "line": (LINE, "#36414b"),
        "grey": (GREY, "#2a333c"),
        "series-1": (SERIES[0], "#e98a69"),
        "series-2": (SERIES[1], "#e8b54a"),
        "strong": (STRONG, "#5cbac2"),
        "weak": (WEAK, "#3c7d84"),
        "bad": (BAD, "#f19a95"),
        "paper": (PAPER, "#171e25"),
    }
)

_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif"
_MARGIN = 16


def require_libraries() -> None:
    """Say at once if what draws is not installed."""
    altair_library()
    _converter()


def as_svg(chart: Any, description: str, *, margin: int = _MARGIN, themed: bool = False) -> str:
    """A chart as svg, with a description for those who cannot see it.

    Args:
        chart: The chart.
        description: What it shows, in words.
        margin: Room around it.
        themed: For a page: without a ground, in the colours of the page, light or dark.
    """
    background = "transparent" if themed else "white"
    text = str(_converter().vegalite_to_svg(_styled(chart, margin, background).to_dict()))
    if themed:
        text = _own_names(_PAINT.sub(_as_variable, text))
    words = f'role="img" aria-label="{escape(description)}"'
    return text.replace("<svg ", f"<svg {words} ", 1)


def as_png(chart: Any) -> bytes:
    """A chart as png, sharp enough to be printed."""
    return bytes(_converter().vegalite_to_png(_styled(chart, _MARGIN, "white").to_dict(), scale=2))


_NAME = re.compile(r'\bid="([^"]+)"')
_PAINT = re.compile(r'\b(fill|stroke)="([^"]+)"')
_VARIABLES = {
    **{light: f"var(--{name})" for name, (light, _) in SHADES.items()},
    "white": "var(--paper)",
}


def _as_variable(found: re.Match[str]) -> str:
    """A colour as the page names it; colours without a dark shade stay as they are."""
    kind, colour = found.groups()
    return f'{kind}="{_VARIABLES.get(colour.lower(), colour)}"'


def _own_names(text: str) -> str:
    """Give parts that are referred to names that no other chart of a page has.

    The converter counts them through all charts that it ever made, so that the same chart would
    not be the same text again.
    """
    names = list(dict.fromkeys(_NAME.findall(text)))
    plain = _NAME.sub("", text)
    for name in names:
        plain = plain.replace(f"url(#{name})", "")
    digest = hashlib.blake2b(plain.encode(), digest_size=6).hexdigest()
    for at, name in enumerate(names):
        for mark in ('id="{}"', "url(#{})"):
            text = text.replace(mark.format(name), mark.format(f"c{digest}-{at}"))
    return text


def _styled(chart: Any, margin: int, background: str) -> Any:
    """The same look for every chart."""
    return (
        # What a chart shows is said once, by its description, and not again by every mark.
        chart.configure(font=_FONT, background=background, padding=margin, aria=False)
        .configure_title(
            color=INK,
            fontSize=15,
            fontWeight=600,
            anchor="start",
            subtitleColor=SOFT,
            subtitleFontSize=12,
            subtitlePadding=6,
            offset=14,
        )
        .configure_axis(
            labelColor=INK,
            titleColor=SOFT,
            gridColor=LINE,
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
        )
        .configure_legend(labelFontSize=12, labelColor=INK)
        .configure_view(stroke=None)
    )


def altair_library() -> Any:
    """Altair, where it is installed."""
    try:
        import altair
    except ImportError:
        raise MissingExtra("reports", needed_for="Drawing a chart") from None
    return altair


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("reports", needed_for="Writing a picture") from None
    return vl_convert
