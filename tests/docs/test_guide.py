"""Everything that the guide shows was run, and shows what it says."""

from __future__ import annotations

import contextlib
import doctest
import json
import shutil
from pathlib import Path

import pytest

from sdcensus.demo.write import write_country
from sdcensus.model.secret import Secret
from sdcensus.session.census.census import load
from sdcensus.session.demo.country import choose_country
from sdcensus.store.secrets import read_secret, write_secret
from tests.docs.pages import (
    EXAMPLES,
    GUIDE,
    ROOT,
    answer_of,
    answers_as_shown,
    blocks,
    comparable,
    page_text,
    rows,
    section,
    steps,
    words,
)

#: The folder of the examples in which the commands of a page are typed.
FOLDER = {
    "demo.md": "palm-cay",
    "first-census.md": "palm-cay",
    "files.md": "palm-cay",
    "grids.md": "grid",
    "keys-and-secrets.md": "vectors",
    "languages.md": "palm-cay",
    "perturbation-tables.md": "palm-cay",
    "problems.md": "problems",
    "python.md": "palm-cay",
    "store.md": "palm-cay",
    "tables.md": "palm-cay",
}
#: Pages with a test of their own: in a folder of their own, or with commands that stay.
OWN_TEST = ("before-counting.md", "first-day.md", "handing-out.md", "researchers.md")
#: What their stores are called.
STORES = {"grid": "census.store", "palm-cay": "palm.store", "vectors": "vectors.store"}
#: Pages that begin without a secret and without a store.
MAKE_A_SECRET = ("first-census.md", "problems.md")
#: The secret of the published vectors: the bytes 0 to 31.
VECTOR_SECRET = bytes(range(32)).hex()


@pytest.fixture(autouse=True)
def terminal(plain_terminal: None) -> None:
    """All commands are typed in a terminal of 80 signs."""


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A copy of the examples, in which commands may write."""
    return shutil.copytree(EXAMPLES, tmp_path / "examples")


def pages() -> list[str]:
    return sorted(page.name for page in GUIDE.glob("*.md"))


def test_every_page_with_commands_has_a_folder_to_run_them_in() -> None:
    with_commands = {page for page in pages() if blocks(page, "console")}
    assert "first-census.md" in with_commands
    assert with_commands <= {*FOLDER, *OWN_TEST}


@pytest.mark.parametrize(
    "page", [page for page in pages() if blocks(page, "console") and page not in OWN_TEST]
)
def test_commands_answer_what_the_page_shows(page: str, examples: Path) -> None:
    folder = examples / FOLDER[page]
    own_secret = page in MAKE_A_SECRET
    if not own_secret:
        prepare(folder)
    for block in blocks(page, "console"):
        for command, shown in steps(block):
            code, answer = answer_of(command, folder)
            place = f"{page}, line {block.line}: {command}\n{answer}"
            assert (code != 0) == ("error: " in shown), place
            assert answers_as_shown(answer, shown, random_secret=own_secret), place


def vector_secret(folder: Path) -> Secret:
    """The secret of the published vectors, written into a folder."""
    typed = folder / "typed.txt"
    typed.touch(mode=0o600)
    typed.write_text(VECTOR_SECRET, encoding="utf-8", newline="\n")
    secret = read_secret(typed)
    typed.unlink()
    write_secret(secret, folder / "office.secret")
    return secret


def prepare(folder: Path) -> None:
    """What the first page leaves behind: a secret above the folder, and the store."""
    secret = vector_secret(folder.parent)
    load(folder / "schema.toml", folder / STORES[folder.name], secret=secret)


def test_an_assessment_of_the_demo_country_says_what_the_page_shows(tmp_path: Path) -> None:
    """With the secret of the vectors; long lines are broken on the page."""
    files = write_country(tmp_path / "country", country=choose_country(None, None), seed=2021)
    load(files.schema, tmp_path / "census.store", secret=vector_secret(tmp_path))
    [(command, shown)] = steps(blocks("assess.md", "text")[0])
    code, answer = answer_of(command, tmp_path)
    assert code == 0
    said = " ".join(comparable(answer, random_secret=False).split())
    for part in comparable(shown, random_secret=False).split("\n...\n"):
        assert " ".join(part.split()) in said


@pytest.mark.parametrize("page", [page for page in pages() if blocks(page, "pycon")])
def test_python_sessions_answer_what_the_page_shows(page: str, examples: Path) -> None:
    folder = examples / FOLDER[page]
    prepare(folder)
    known: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    report: list[str] = []
    with contextlib.chdir(folder):
        for block in blocks(page, "pycon"):
            test = doctest.DocTestParser().get_doctest(block.text, known, page, page, block.line)
            runner.run(test, out=report.append, clear_globs=False)
            known = test.globs
    assert runner.summarize(verbose=False).attempted > 0
    assert report == []


@pytest.mark.parametrize("script", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.name)
def test_scripts_stand_in_a_page_as_they_are(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    shown = [block.text for page in pages() for block in blocks(page, "python")]
    assert text in shown
    assert str(ROOT) not in text


def test_parts_of_files_that_the_first_page_shows_stand_in_the_files() -> None:
    files = [path for path in (EXAMPLES / "palm-cay").rglob("*") if path.is_file()]
    lines = {line for path in files for line in path.read_text(encoding="utf-8").splitlines()}
    shown = [*blocks("first-census.md", "toml"), *blocks("first-census.md", "text")]
    assert len(shown) == 4
    for block in shown:
        assert set(block.text.splitlines()) - {"..."} <= lines, block.line


def test_the_store_page_lists_the_files_of_a_store(examples: Path) -> None:
    folder = examples / "palm-cay"
    prepare(folder)
    first, *listed = blocks("store.md", "text")[0].text.split()
    assert first == "palm.store/"
    store = folder / "palm.store"
    found = [path.relative_to(store).as_posix() for path in store.rglob("*") if path.is_file()]
    assert sorted(listed) == sorted(found)


def test_the_store_page_explains_the_manifest(examples: Path) -> None:
    folder = examples / "palm-cay"
    prepare(folder)
    manifest = json.loads((folder / "palm.store" / "manifest.json").read_text(encoding="utf-8"))
    table = rows(section(page_text("store.md"), "## What is in it"))
    explained = {name for cells in table for name in words(cells[0]) if ".bin" not in name}
    assert explained == set(manifest)
