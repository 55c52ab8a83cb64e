from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from sdcensus.documents.release.document import release_from_document
from sdcensus.documents.release.preset_files import presets
from sdcensus.documents.release.sections import LISTS, TABLES, HeadSection
from sdcensus.documents.schema.sections import Section
from sdcensus.documents.toml.lines import parse_toml
from tests.docs.pages import Block, blocks, page_text

PAGE = "release-document.md"


@pytest.mark.parametrize("block", blocks(PAGE, "toml"), ids=lambda block: f"line {block.line}")
def test_documents_of_the_page_are_read(block: Block) -> None:
    plan = release_from_document(parse_toml(Path("folder/release.toml"), block.text))
    assert plan.designs


def test_the_page_names_every_table_setting_and_preset() -> None:
    named = set(re.findall(r"`([^`\n]+)`", page_text(PAGE)))
    names = {re.sub(r"[\[\]]", "", name).split(" = ")[0] for name in named}
    sections: list[type[Section]] = [HeadSection, *TABLES.values(), *LISTS.values()]
    settings = {setting for section in sections for setting in section.model_fields}
    assert settings - names == set()
    assert set(TABLES) | set(LISTS) | set(presets()) <= names


def test_sessions_of_the_page_answer_what_it_shows() -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for block in blocks(PAGE, "python"):
        session = doctest.DocTestParser().get_doctest(block.text, {}, PAGE, PAGE, block.line)
        runner.run(session, out=report.append)
    assert runner.summarize(verbose=False).attempted > 0
    assert report == []
