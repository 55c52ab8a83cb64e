"""Pages can be read by everyone, in light and dark, and say what is confidential."""

from __future__ import annotations

import re

import pytest

from sdcensus.report import page as shell
from sdcensus.report.charts import SHADES, altair_library, as_svg
from sdcensus.report.page import RUNNING_STAMP, PageCell, Tile, Tone, shades
from tests.report.reading import read_page


def chart() -> object:
    alt = altair_library()
    values = [{"x": at, "y": at * at} for at in range(4)]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_point(color=SHADES["strong"][0])
        .encode(x="x:Q", y="y:Q")
    )


def everything(stamp: str | None) -> str:
    """A page with every block."""
    return shell.page(
        "Title <one> & two",
        shell.tiles([("12", "people <5"), Tile("3 %", "given away", Tone.BAD)]),
        shell.contents("First part", "Second part"),
        shell.section(
            "First part",
            "Plain & simple.",
            shell.bullets(["One <b>", shell.together(shell.strong("Two."), " & three")]),
            shell.table(
                "A table",
                ["name", "a", "b"],
                [["x <y>", PageCell("1", Tone.BAD), "2"], ["z", PageCell("–", Tone.SOFT), "4"]],
                groups=[("", 1), ("both", 2)],
                picked=[1],
            ),
            shell.section("A detail", shell.note("Look", "here <now>"), level=3),
        ),
        shell.section(
            "Second part",
            shell.figure(chart(), 'four points, "rising"', caption="Read it.", title="Points"),
            shell.side_by_side(shell.paragraph("left", soft=True), "right"),
            shell.details("More", shell.code("sdcensus assess --help")),
        ),
        facts="Facts <all>",
        lead="What was found.",
        stamp=stamp,
        closing="The end.",
    )


def test_a_page_is_whole_and_needs_nothing_but_itself() -> None:
    page = read_page(everything("For the office only."))
    for words in ("Title <one> & two", "people <5", "x <y>", "here <now>", "One <b>", "Facts"):
        assert words in page.text
    assert [one.tag for one in page.of("h1", "h2", "h3")] == ["h1", "h2", "h3", "h2"]


def test_a_confidential_page_says_so_on_every_sheet() -> None:
    text = everything("For the office only.")
    assert "Confidential. For the office only." in read_page(text).text
    assert f'@bottom-left{{content:"{RUNNING_STAMP}"' in text
    assert 'name="robots" content="noindex"' in text


def test_a_public_page_has_no_stamp_anywhere() -> None:
    text = everything(None)
    read_page(text)
    assert "onfidential" not in text
    assert "noindex" not in text
    assert "office" not in text


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


#: Which text stands on which ground.
TEXTS = [
    *((ink, ground) for ink in ("ink", "soft") for ground in ("paper", "ground", "accent-soft")),
    *((ink, "paper") for ink in ("bad", "warn", "ok", "strong")),
    *((name, f"{name}-soft") for name in ("warn", "bad", "ok")),
    ("bad", "accent-soft"),
]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_text_can_be_read_on_its_ground(text: str, ground: str, theme: int) -> None:
    """The contrast that WCAG asks for at level AA."""
    assert contrast(shades()[text][theme], shades()[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("mark", ["strong", "bad", "series-1"])
def test_marks_can_be_seen_on_the_page(mark: str, theme: int) -> None:
    assert contrast(shades()[mark][theme], shades()["paper"][theme]) >= 3


def test_charts_of_a_page_follow_its_theme() -> None:
    drawn = as_svg(chart(), "points", themed=True)
    painted = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawn))
    assert "var(--strong)" in painted
    assert "var(--ink)" in painted
    assert not painted & {light for light, _ in SHADES.values()}
    named = {one[6:-1] for one in painted if one.startswith("var(--")}
    assert named <= set(shades())
    assert "var(--" not in as_svg(chart(), "points")


def test_every_colour_of_the_style_is_defined() -> None:
    text = everything("x")
    used = set(re.findall(r"var\(--([\w-]+)\)", text))
    for theme in (":root{color-scheme", "prefers-color-scheme:dark"):
        start = text.index(theme)
        defined = set(re.findall(r"--([\w-]+):#", text[start : text.index("}", start)]))
        assert used <= defined


def test_a_heading_is_linked_to_by_its_words() -> None:
    assert shell.anchor("Qué se pierde, y cuánto") == "que-se-pierde-y-cuanto"
    assert shell.anchor("…") == "part"
