"""The table builder of a weighted sample says what its numbers are, everywhere it shows them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sdcensus.model.spec.table_spec import Measure
from sdcensus.model.text import LANGUAGES, catalogue
from sdcensus.session.commands import compile_program, finish
from sdcensus.web.languages import text
from sdcensus.web.reading import about_page
from tests.session.answer.services import METHOD, asked, service
from tests.web.servers import opened

WEIGHTED = service(measure=Measure.WEIGHTED)
COUNTED = service(measure=Measure.COUNT)


def test_the_api_says_it_and_gives_weighted_counts(tmp_path: Path) -> None:
    spec = WEIGHTED.census.spec("area", "sex", measure="weighted")
    wanted = METHOD.protect(WEIGHTED.census.tabulate(spec)).table.whole().published
    with opened(tmp_path, WEIGHTED) as place:
        assert place.client.get("/api/v1/datasets").json()["measure"] == "weighted"
        link = "/api/v1/tables?of=persons&by=area,sex&lang="
        for language in ("en", "es", "fr", "nl", "pt"):
            answer = place.client.get(link + language).json()
            assert answer["value"] == wanted.reshape(-1).tolist()
            (measure,) = answer["role"]["metric"]
            word = catalogue("headings", language)["weighted"]
            (unit,) = answer["dimension"][measure]["category"]["unit"].values()
            assert word in unit["label"]
            assert catalogue("notes", language)["weighted"] in answer["note"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_about_the_figures_says_it_where_it_holds(language: str) -> None:
    say = partial(text, language)
    said = say("pages.about.weighted")
    for served, holds in ((WEIGHTED, True), (COUNTED, False)):
        page = str(about_page(served.reading, language, say))
        assert (said in page) is holds


def test_commands_count_by_weights_and_figures_are_of_them() -> None:
    program = compile_program(
        "RUNDEF a SELECTION ALL\nTABLE t AS FREQUENCY OF sex AREABREAK area@district",
        WEIGHTED.census.schema,
    )
    (table,) = program.tables
    for served in (WEIGHTED, COUNTED):
        answer = served.answer(table.question).table
        assert answer is not None
        shown = finish(table, answer)
        weighted = served is WEIGHTED
        assert ("weighted" in shown.unit.show("en")) is weighted
        other = served.answer(asked("area@district", "sex")).table
        assert other is not None
        assert np.sort(shown.values.ravel()).tolist() == np.sort(other.values.ravel()).tolist()
