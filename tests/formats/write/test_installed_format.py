"""A format of somebody else's package, as the guide shows it: found wherever tables are written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sdcensus.model.published.table_format import BUILT_IN, table_format

ROOT = Path(__file__).resolve().parents[3]

#: The page that shows how it is done; what it shows is installed as it stands there.
PAGE = (ROOT / "docs" / "guide" / "formats.md").read_text(encoding="utf-8")
SHOWN = PAGE.partition("## Adding a format")[2]

#: What somebody does who has the package, in a process of his own.
SCRIPT = """
import json, sys
from pathlib import Path

import sdcensus as sc
from sdcensus.cli.shared.options import complete_format
from sdcensus.cli.shared.run import run
from sdcensus.documents.plan.help import plan_help
from tests.session.publish.plans import new_office
from tests.web.servers import QUESTION, TABLES, opened

folder, seen = Path(sys.argv[1]), {}
table = '[[table]]\\nname = "t"\\nrows = ["sex"]\\n'
office = new_office(folder / "office", 300, tables=table, formats=["csv", "tsv"])
office.publish()
seen["published"] = (office.published / "t.tsv").read_text(encoding="utf-8")
arguments = ["--by", "sex", "--method", "cell-key", "--strength", "strong", "--quiet"]
secret = ["--secret", str(office.secret)]
for out, *options in (["one.tsv"], ["t", "--format", "tsv"]):
    written = ["--out", str(folder / out), *options]
    assert run(["protect", str(office.store), *arguments, *secret, *written]) == 0
seen["protected"] = (folder / "one.tsv").read_text(encoding="utf-8")
seen["named"] = (folder / "t.tsv").read_text(encoding="utf-8")
seen["mistake"] = run(["plan", "check", str(office.write_plan(table, formats=["tabs"]))])
seen["help"] = plan_help("parts")["output"]
seen["tab"] = complete_format("t")
(folder / "web").mkdir()
with opened(folder / "web") as place:
    by_type = place.client.post(TABLES, json=QUESTION, headers={"accept": "text/x-tsv"})
    link = f"{TABLES}?of=persons&by=area&by=sex&format=tsv&lang=es"
    by_name = place.client.get(link)
    seen["type"] = by_type.headers["content-type"]
    seen["file"] = by_name.headers["content-disposition"]
    seen["answers"] = [by_type.text, by_name.text]
    datasets = place.client.get("/api/v1/datasets?lang=es").json()
    seen["offered"] = datasets["formats"][-1]
    seen["menu"] = place.client.get("/?lang=es").text
    seen["page"] = place.client.get("/api").text
    seen["document"] = place.client.get("/api/v1/openapi.json").text
    path = sc.connect(place.server.url).download("area", "sex", to=folder / "down.tsv")
    seen["downloaded"] = path.read_text(encoding="utf-8")
print("SEEN" + json.dumps(seen))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    package, folder = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("work")
    module, entry = (
        SHOWN.partition(f"```{language}\n")[2].partition("```")[0]
        for language in ("python", "toml")
    )
    (package / "tsv_tables.py").write_text(module, encoding="utf-8", newline="\n")
    about = package / "tsv_tables-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tsv-tables\nVersion: 1.0\n")
    ((group, points),) = tomllib.loads(entry)["project"]["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {place}" for name, place in points.items())]
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8", newline="\n")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(folder)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{ROOT}"},
    )
    assert ran.returncode == 0, ran.stderr
    observed: dict[str, Any] = json.loads(ran.stdout.partition("SEEN")[2])
    return {**observed, "errors": ran.stderr}


def test_a_plan_publishes_in_it_and_protect_writes_the_same(seen: dict[str, Any]) -> None:
    assert [line.split("\t")[0] for line in seen["published"].splitlines()] == ["0", "1", "_T"]
    assert seen["protected"] == seen["named"] == seen["published"]


def test_a_plan_that_calls_it_otherwise_is_told_its_name(seen: dict[str, Any]) -> None:
    assert seen["mistake"] != 0
    assert "There is no format 'tabs'. Did you mean 'tsv'?" in seen["errors"]


def test_help_and_completion_name_it(seen: dict[str, Any]) -> None:
    assert "tsv" in seen["help"].splitlines()[-1]
    assert seen["tab"] == [["tsv", "Columns with tabs."]]


def test_the_api_gives_it_by_type_and_by_name(seen: dict[str, Any]) -> None:
    assert seen["type"] == "text/tab-separated-values; charset=utf-8"
    assert ".tsv" in seen["file"]
    by_type, by_name = seen["answers"]
    assert by_type == by_name == seen["downloaded"]
    assert len(by_type.splitlines()) == 8 * 3


def test_pages_offer_it(seen: dict[str, Any]) -> None:
    assert seen["offered"] == {
        "name": "tsv",
        "label": "Tabs",
        "about": "Columnas con tabuladores.",
        "media_type": "text/tab-separated-values",
        "endings": [".tsv"],
        "areas": False,
    }
    assert "Columnas con tabuladores." in seen["menu"]
    assert "<code>tsv</code>" in seen["page"]
    assert '"tsv"' in seen["document"]


def test_the_guide_has_the_formats_that_there_are() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.partition("| format | files")[2].partition("\n\n")[0].splitlines()[2:]
    ]
    assert [row[:3] for row in rows] == [
        [
            f"`{one.name}`",
            ", ".join(f"`{file}`" for file in one.files("ages")),
            f"`{one.full_media_type}`",
        ]
        for one in map(table_format, BUILT_IN)
    ]
    for row in rows:
        assert row[4].startswith("one file for each") == table_format(row[0][1:-1]).each_language
