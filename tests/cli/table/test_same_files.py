"""One table, one file: `protect --out` and a plan of that table write the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sdcensus.model.published.table_format import table_format
from tests.cli.conftest import Run
from tests.formats.write.delivered_made import FOR_ANY_TABLE
from tests.session.publish.plans import Office, new_office

TABLE = """
[[table]]
name = "t"
rows = ["area@parish+district"]
columns = ["sex"]
"""
#: What a plan says besides the table, of which a single command knows nothing.
PLAN = 'store = "census.store"\n{table}\n[protect]\nmethod = "cell-key"\n{rule}\n{more}[output]\n'
OFFICE = """
[office]
name = { en = "Statistical Office" }
legal_basis = { en = "Statistics Act" }
"""


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    return new_office(tmp_path_factory.mktemp("office"), 900)


def published(
    office: Office, folder: str, *, rule: str = "", more: str = "", end: str = ""
) -> Path:
    formats = json.dumps(FOR_ANY_TABLE)
    text = PLAN.format(table=TABLE, rule=rule, more=more)
    text += f'folder = "{folder}"\nformats = {formats}\nlanguages = ["en"]\n{end}'
    path = office.folder / f"{folder}.toml"
    path.write_text(text, encoding="utf-8", newline="\n")
    office.publish(path)
    return office.folder / folder


def protected(run: Run, office: Office, folder: Path, name: str, *options: str) -> None:
    out = folder / f"t{table_format(name).endings[0]}"
    answer = run(
        *("protect", office.store, "--by", "area@parish+district,sex", "--method", "cell-key"),
        *("--secret", office.secret, "--language", "en", "--out", out, *options),
    )
    assert answer.code == 0, answer.err


@pytest.mark.parametrize("smallest", ["", "40"])
def test_protect_and_publish_write_the_same_bytes(
    run: Run, office: Office, tmp_path: Path, smallest: str
) -> None:
    """Every format, with and without signs; nothing differs where the plan adds nothing."""
    rule = f"smallest_group = {smallest}" if smallest else ""
    folder = published(office, f"same{smallest}", rule=rule)
    for name in FOR_ANY_TABLE:
        protected(run, office, tmp_path, name, *(["--smallest-group", smallest] * bool(smallest)))
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(written) == {
        file for name in FOR_ANY_TABLE for file in table_format(name).files("t")
    }
    if smallest:
        assert b",k\n" in written["t.csv"]
    for name, content in written.items():
        assert content == (folder / name).read_bytes(), name


def test_only_what_the_office_says_differs(run: Run, office: Office, tmp_path: Path) -> None:
    folder = published(office, "ours", more=OFFICE, end='date = "2026-03-01"\n')
    protected(run, office, tmp_path, "csv")
    assert (tmp_path / "t.csv").read_bytes() == (folder / "t.csv").read_bytes()
    plain, ours = (
        json.loads((where / "t.about.json").read_text(encoding="utf-8"))
        for where in (tmp_path, folder)
    )
    assert ours.pop("source") == {"en": "Statistical Office"}
    assert ours.pop("date") == "2026-03-01"
    assert ours["notes"].pop() == {"en": "Statistics Act"}
    assert plain == ours
