"""The walk through files for researchers, as it is written, on the demo country."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

import sdcensus as sc
from sdcensus.demo import make_country
from sdcensus.model.progress import no_progress
from sdcensus.session.demo.country import make_demonstration
from sdcensus.session.demo.researchers import make_demo_file
from tests.docs.pages import ROOT, answer_of, answers_as_shown, blocks, page_text, steps

PAGE = "researchers.md"


def prepare(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page begins with: the demo country under one secret, and the second document."""
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "token_bytes", lambda size: bytes(range(size)))
        made = make_demonstration(
            folder,
            country=make_country("small-island"),
            seed=2021,
            file_format="parquet",
            progress=no_progress,
        )
    sc.publish(made.plan, secret=made.secret)
    assert not isinstance(make_demo_file(made), str)
    (licensed,) = blocks(PAGE, "toml")
    (folder / "licensed.toml").write_text(licensed.text, encoding="utf-8", newline="\n")


@pytest.mark.slow
def test_the_walk_through_goes_as_it_is_written(
    tmp_path: Path, plain_terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = tmp_path / "demo"
    prepare(demo, monkeypatch)
    first, *walk = (step for block in blocks(PAGE, "console") for step in steps(block))
    assert first[0] == "sdcensus demo --out demo"
    for command, shown in walk:
        code, answer = answer_of(command, demo)
        assert (code != 0) == ("error: " in shown), f"{command}\n{answer}"
        assert answers_as_shown(answer, shown, random_secret=False), f"{command}\n{answer}"


def test_the_screen_is_small() -> None:
    picture = ROOT / "docs" / "images" / "release-assessment.png"
    assert picture.name in page_text(PAGE)
    assert picture.stat().st_size < 150_000
