"""The guide's first day, from raw files to an open table builder, as it is written."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.docs.first_day import go_through
from tests.docs.pages import ROOT, answer_of, answers_as_shown, blocks, page_text, steps
from tests.docs.puerto_claro import records, write
from tests.docs.staying import opened, stays

PAGE = "first-day.md"
#: Where a server is, unless somebody says otherwise.
SERVER = "http://127.0.0.1:8080"


def try_command(command: str, shown: str, folder: Path) -> str:
    """Run a command that ends; it answers what the page shows."""
    code, answer = answer_of(command, folder)
    assert code == 0, f"{command}\n{answer}"
    assert answers_as_shown(answer, shown, random_secret=True), f"{command}\n{answer}"
    return answer


def test_the_first_day_goes_as_it_is_written(tmp_path: Path, plain_terminal: None) -> None:
    write(tmp_path / "censo")
    schema = tmp_path / "censo" / "schema" / "schema.toml"
    settings, rules = (block.text for block in blocks(PAGE, "toml"))
    said: dict[str, str] = {}
    with ExitStack() as open_until_the_end:
        for command, shown in (step for block in blocks(PAGE, "console") for step in steps(block)):
            if "schema edit" in command:
                with opened(command, tmp_path) as address:
                    answers(address)
                go_through(schema)
                written = schema.read_text(encoding="utf-8").splitlines()
                assert set(settings.splitlines()) <= set(written)
            elif stays(command):
                address = open_until_the_end.enter_context(opened(command, tmp_path))
                answers(address)
            elif SERVER in command:
                try_command(command.replace(SERVER, address), shown, tmp_path)
            else:
                if "--replace" in command:
                    assert set(rules.strip().split("\n\n")) <= set(proposals(said["load"]))
                    add(schema, rules)
                said[command.split()[1]] = try_command(command, shown, tmp_path)
    # What is proposed is understood as it is, and is then not proposed again.
    add(schema, "\n\n".join(proposals(said["load"])))
    again = "sdcensus load censo/schema/schema.toml --out again.store --secret office.secret"
    assert proposals(try_command(again, "", tmp_path)) == []
    lists = [block.text for block in blocks(PAGE, "text") if block.text.startswith("code,")]
    areas = (schema.parent / "codes" / "comuna.csv").read_text(encoding="utf-8")
    assert [areas.startswith(text) for text in lists] == [True]


def answers(address: str) -> None:
    """Whether a page stands there."""
    answer = httpx.get(address, follow_redirects=True)
    assert answer.status_code == 200, address
    assert "<html" in answer.text


def add(schema: Path, rules: str) -> None:
    """Copy rules to the end of a schema."""
    with schema.open("a", encoding="utf-8", newline="\n") as file:
        file.write(f"\n{rules}")


def proposals(answer: str) -> list[str]:
    """The rules that a load proposes, as they stand in a schema."""
    lines = answer.splitlines()
    places = [place for place, line in enumerate(lines) if line == "[[impossible]]"]
    return [f"[[impossible]]\n{lines[place + 1]}" for place in places]


def test_the_files_are_what_the_page_says(tmp_path: Path) -> None:
    rows = records()
    text = page_text(PAGE)
    for table, units in (("viviendas", "dwellings"), ("hogares", "households")):
        assert f"{len(rows[table]):,} {units}" in text
    assert f"{len(rows['personas']):,} persons" in text
    folder = write(tmp_path / "censo")
    with (folder / "viviendas.csv").open(encoding="utf-8", newline="") as file:
        dwellings = list(csv.DictReader(file, delimiter=";"))
    with (folder / "hogares.csv").open(encoding="utf-8", newline="") as file:
        households = list(csv.DictReader(file, delimiter=";"))
    # One id in two widths, and codes that repeat across levels.
    assert {len(row["ID_VIV"]) for row in dwellings} == {8}
    assert {len(row["ID_VIV"]) for row in households} == {1, 2, 3, 4}
    assert {row["REGION"] for row in dwellings} & {row["PROVINCIA"] for row in dwellings} == {"11"}


@pytest.mark.parametrize("name", ["schema", "load", "builder"])
def test_screens_are_small(name: str) -> None:
    picture = ROOT / "docs" / "images" / f"first-day-{name}.png"
    assert picture.name in page_text(PAGE)
    assert picture.stat().st_size < 150_000
