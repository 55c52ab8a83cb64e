"""Every example of the pages about records before counting runs on the demo country."""

from __future__ import annotations

import contextlib
import csv
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sdcensus.demo.write import write_country
from sdcensus.session.census.census import load
from sdcensus.session.demo.country import SECRET, STORE, choose_country
from sdcensus.session.release.designed import designed
from sdcensus.session.release.opened import open_release
from sdcensus.store.owner_only import write_owner_only
from sdcensus.store.secrets import read_secret, write_secret
from tests.docs.pages import GUIDE, Block, answer_of, answers_as_shown, blocks, page_text, steps
from tests.docs.test_guide import vector_secret

MICRODATA = GUIDE.parent / "microdata"
PAGES = [f"../microdata/{path.name}" for path in sorted(MICRODATA.glob("*.md"))]
LANGUAGES = ("console", "toml", "python")
#: The document to which parts of one on these pages are added: what the pages say about it.
DOCUMENT = """
store = "census.store"
name = "file"

[[design]]
name = "A"
households = 0.05

[[design]]
name = "B"
households = 0.05
recode = { age = "0,10,...,70+", occupation = "skill" }

[risk]
ladder = ["age", "sex", "marital_status", "occupation"]
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's census and its secret, once for all pages."""
    folder = tmp_path_factory.mktemp("demo")
    files = write_country(folder / "country", country=choose_country(None, None), seed=2021)
    secret = vector_secret(folder)
    write_secret(secret, folder / SECRET)
    load(files.schema, folder / STORE, secret=secret)
    return folder


@pytest.fixture
def folder(demo: Path, tmp_path: Path) -> Path:
    """The folder of the demo as a page finds it."""
    shutil.copytree(demo / STORE, tmp_path / STORE)
    write_secret(read_secret(demo / SECRET), tmp_path / SECRET)
    return tmp_path


def impute(folder: Path) -> None:
    """What the system of the office does: it fills what is blank, and nothing else."""
    with (folder / "to-impute.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    blanked, religion = (lines[0].index(name) for name in ("confidential_blanked", "religion"))
    some = next(line[religion] for line in lines[1:] if line[religion])
    for line in lines[1:]:
        if line[blanked] == "1":
            line[religion] = some
    text = "\n".join(map(",".join, lines)) + "\n"
    write_owner_only(folder / "imputed.csv", text.encode())


#: What happens elsewhere before an example that reads it, by a word that stands in it.
BEFORE: Mapping[str, Callable[[Path], None]] = {"returned-imputation": impute}


def try_commands(block: Block, folder: Path) -> None:
    for command, shown in steps(block):
        code, answer = answer_of(command, folder)
        assert (code != 0) == ("error: " in shown), f"{command}\n{answer}"
        assert answers_as_shown(answer, shown, random_secret=False), f"{command}\n{answer}"


def try_document(block: Block, folder: Path) -> None:
    """A part of a release document: the records of each of its designs are told."""
    path = folder / "release.toml"
    path.write_text(DOCUMENT + block.text, encoding="utf-8", newline="\n")
    opened = open_release(path, secret=folder / SECRET)
    without = path.with_name("without.toml")
    without.write_text(DOCUMENT, encoding="utf-8", newline="\n")
    plain = open_release(without, secret=folder / SECRET)
    assert opened.plan != plain.plan
    for design in opened.designs():
        assert designed(opened, design).records.codes


def try_python(block: Block, folder: Path, known: dict[str, object]) -> None:
    with contextlib.chdir(folder):
        exec(compile(block.text, f"line {block.line}", "exec"), known)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
def test_examples_run_on_the_demo(page: str, folder: Path, plain_terminal: None) -> None:
    known: dict[str, object] = {}
    every = [block for language in LANGUAGES for block in blocks(page, language)]
    for block in sorted(every, key=lambda block: block.line):
        for word, prepare in BEFORE.items():
            if word in block.text:
                prepare(folder)
        if block.reason:
            continue
        if block.language == "console":
            try_commands(block, folder)
        elif block.language == "toml":
            try_document(block, folder)
        else:
            try_python(block, folder, known)


def test_pages_say_why_an_example_is_not_run() -> None:
    """And only few are not; a page whose commands are all left out would show nothing."""
    marked = {
        page: [block.reason for language in LANGUAGES for block in blocks(page, language)]
        for page in PAGES
    }
    reasons = [reason for each in marked.values() for reason in each if reason]
    assert len(reasons) == 2
    assert all("not run" not in page_text(page) or any(marked[page]) for page in PAGES)
    assert not [block for page in PAGES for block in blocks(page, "console") if block.reason]
