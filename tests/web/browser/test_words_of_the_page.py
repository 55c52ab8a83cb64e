"""What the page and the server do with words and numbers is the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sdcensus.model.letters import plain_letters
from sdcensus.model.quantities import decimal_text, number_text, share_text
from sdcensus.model.text import LANGUAGES
from tests.web.browser.building import Builder
from tests.web.servers import Place

#: Latin with its extensions, Greek and Cyrillic, and ligatures; no marks that stand alone.
RANGES = (range(0x20, 0x300), range(0x370, 0x483), range(0x48A, 0x530), range(0x1E00, 0x1F00))
SIGNS = [chr(at) for signs in (*RANGES, range(0xFB00, 0xFB07)) for at in signs if at != 0x37A]
FOLD = """async (texts) => {
  const { folded } = await import("/static/shared/folding.js");
  return texts.map(folded);
}"""
WRITE = """async ([numbers, figures, shares]) => {
  const { formatNumber, formatPercent } = await import("/static/shared/numbers.js");
  const { language } = await import("/static/shared/texts.js");
  return [
    numbers.map((n) => formatNumber(n, language)),
    figures.map((n) => formatNumber(n, language, 1, 1)),
    shares.map((n) => formatPercent(n, language, 1)),
  ];
}"""


def test_page_and_server_fold_letters_alike(builder: Callable[..., Builder]) -> None:
    texts = [*SIGNS, "Aysén", "ÑUÑOA", "Straße", "ΟΔΟΣ", "İstanbul", "ŒUVRE", "ﬁn"]
    assert builder().page.evaluate(FOLD, texts) == [plain_letters(text) for text in texts]


def test_areas_are_found_without_their_accents(place: Place) -> None:
    link = "/api/v1/datasets/persons/areas"
    areas = place.client.get(link, params={"level": "parish", "lang": "es", "limit": 1_000}).json()[
        "areas"
    ]
    accented = [area for area in areas if not area["label"].isascii()]
    assert accented
    for area in accented[:5]:
        for search in (plain_letters(area["label"]), area["label"].upper()):
            found = place.client.get(
                link, params={"level": "parish", "lang": "es", "search": search}
            ).json()["areas"]
            assert area["code"] in [other["code"] for other in found], search


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_on_the_page_are_written_as_in_notes(
    language: str, builder: Callable[..., Builder]
) -> None:
    numbers, figures, shares = [0, 999, 1_000, 1_234, 1_234_567, -4_321], [0.5, 1_234.5], [0.123]
    page = builder(locale=language).page
    written = page.evaluate(WRITE, [numbers, figures, shares])
    assert written[0] == [number_text(number, language) for number in numbers]
    assert written[1] == [decimal_text(figure, 1, language) for figure in figures]
    percent = share_text(shares[0], language=language)
    assert [text.replace("\u00a0", " ") for text in written[2]] == [percent]
