"""The page of the language: its programs are programs, and its words are ours."""

from __future__ import annotations

import re

import pytest

from sdcensus.errors import QuestionError
from sdcensus.session.commands import RESERVED, compile_program, pointer
from tests.session.commands.ebnf import PAGE, blocks
from tests.session.commands.programs import demo_schema


def test_the_programs_of_the_page_compile() -> None:
    programs = [block for block in blocks("text") if not block.startswith("line ")]
    assert len(programs) == 6
    tables = [compile_program(program, demo_schema()).tables for program in programs]
    assert [len(table) for table in tables] == [3, 6, 1, 2, 3, 8]


def test_the_mistake_of_the_page_is_made_as_it_is_shown() -> None:
    (shown,) = [block for block in blocks("text") if block.startswith("line ")]
    source = shown.splitlines()[1]
    with pytest.raises(QuestionError) as caught:
        compile_program(source, demo_schema())
    assert caught.value.at is not None
    assert f"{caught.value}\n{pointer(source, caught.value.at)}\n" == shown


def test_the_page_lists_the_words_of_the_language() -> None:
    (listed,) = re.findall(r"Words of the language: `([^`]*)`", PAGE.read_text(encoding="utf-8"))
    assert listed.split() == sorted(RESERVED)
