"""The look of every chart, and pictures made from charts without a browser and the internet."""

from __future__ import annotations

from html import escape
from typing import Any

from sdcensus.errors import MissingExtra

INK, SOFT, LINE, GREY = "#17212b", "#5b6773", "#dde2e6", "#eceff1"
#: Told apart also by those who do not see red and green, and in grey print.
SERIES = ("#d1603d", "#e8b54a", "#0a6a72")
STRONG, WEAK = "#0a6a72", "#8fbfc3"
#: From nothing to everything.
RAMP = ("#eaf4f4", "#a3d0d2", "#35939a", "#06474e")
#: From this share on, numbers on the ramp are white.
DARK_FROM = 0.5

_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif"
_MARGIN = 16


def require_libraries() -> None:
    """Say at once if what draws is not installed."""
    altair_library()
    _converter()


def as_svg(chart: Any, description: str, *, margin: int = _MARGIN) -> str:
    """A chart as svg, with a description for those who cannot see it."""
    text = str(_converter().vegalite_to_svg(_styled(chart, margin).to_dict()))
    words = f'role="img" aria-label="{escape(description)}"'
    return text.replace("<svg ", f"<svg {words} ", 1)


def as_png(chart: Any) -> bytes:
    """A chart as png, sharp enough to be printed."""
    return bytes(_converter().vegalite_to_png(_styled(chart, _MARGIN).to_dict(), scale=2))


def _styled(chart: Any, margin: int) -> Any:
    """The same look for every chart."""
    return (
        chart.configure(font=_FONT, background="white", padding=margin)
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
