"""The walk through before counting, as it is written, on the demo country under a fixed secret."""

from __future__ import annotations

from pathlib import Path

from sdcensus.demo.write import write_country
from sdcensus.session.census.census import load
from sdcensus.session.demo.country import SECRET, STORE, choose_country
from sdcensus.store.secrets import write_secret
from tests.docs.pages import ROOT, answer_of, answers_as_shown, blocks, page_text, steps
from tests.docs.test_guide import vector_secret

PAGE = "before-counting.md"
FROM_ORIGINAL, FROM_SWAPPED = 'store = "census.store"', 'store = "swapped.store"'


def prepare(folder: Path) -> None:
    """What the page begins with: the demo's store, the plan, and the plan of the other line."""
    folder.mkdir()
    files = write_country(folder / "country", country=choose_country(None, None), seed=2021)
    secret = vector_secret(folder)
    write_secret(secret, folder / SECRET)
    load(files.schema, folder / STORE, secret=secret)
    (plan,) = blocks(PAGE, "toml")
    (folder / "every-cell.toml").write_text(plan.text, encoding="utf-8", newline="\n")
    other = plan.text.replace('folder = "every-cell"', 'folder = "original"')
    (folder / "original.toml").write_text(other, encoding="utf-8", newline="\n")


def test_the_walk_through_goes_as_it_is_written(tmp_path: Path, plain_terminal: None) -> None:
    demo = tmp_path / "demo"
    prepare(demo)
    first, *walk = (step for block in blocks(PAGE, "console") for step in steps(block))
    assert first[0] == "sdcensus demo --out demo"
    for command, shown in walk:
        if command.startswith("sdcensus publish every-cell.toml"):
            plan = demo / "every-cell.toml"
            text = plan.read_text(encoding="utf-8")
            assert FROM_SWAPPED in page_text(PAGE)
            plan.write_text(text.replace(FROM_ORIGINAL, FROM_SWAPPED), encoding="utf-8")
        code, answer = answer_of(command, demo)
        assert (code != 0) == ("error: " in shown), f"{command}\n{answer}"
        assert answers_as_shown(answer, shown, random_secret=False), f"{command}\n{answer}"


def test_the_screen_is_small() -> None:
    picture = ROOT / "docs" / "images" / "before-counting-report.png"
    assert picture.name in page_text(PAGE)
    assert picture.stat().st_size < 150_000
