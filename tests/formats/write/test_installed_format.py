"""A format of somebody else's package: it is found wherever tables are written, by nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]

#: One module, and one line that announces it: all that a package needs.
MODULE = """
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.text import Text


def write(table, folder, *, languages, labels):
    path = folder / f"{table.name}.toy"
    numbers = " ".join(map(str, table.values.reshape(-1).tolist()))
    path.write_text(f"{table.title.show(*languages[:1])}: {numbers}", encoding="utf-8")
    return (path,)


TOY = TableFormat(
    name="toy",
    label="Toy",
    about=Text.of({"en": "For children.", "es": "Para niños."}),
    endings=(".toy",),
    media_type="text/x-toy; charset=utf-8",
    accepts=("application/x-toy",),
    aliases=("plaything",),
    most_cells=10_000,
    seconds_per_cell=3.0,
    write=write,
)
"""
ENTRY = "[sdcensus.formats]\ntoy = toy_tables:TOY\n"

#: What somebody does who has the package, in a process of his own.
SCRIPT = """
import json, sys
from pathlib import Path

import sdcensus as sc
from sdcensus.cli.shared.completion import complete_format
from sdcensus.cli.shared.run import run
from sdcensus.documents.plan.help import PART_NOTES
from sdcensus.session.publish.estimate import check_plan
from tests.session.publish.plans import new_office
from tests.web.servers import QUESTION, TABLES, opened

folder, seen = Path(sys.argv[1]), {}
table = '[[table]]\\nname = "t"\\nrows = ["sex"]\\n'
office = new_office(folder / "office", 300, tables=table, formats=["csv", "toy"])
office.publish()
seen["published"] = (office.published / "t.toy").read_text(encoding="utf-8")
seen["seconds"] = check_plan(office.plan, secret=office.secret).seconds
arguments = ["--by", "sex", "--method", "cell-key", "--strength", "strong", "--quiet"]
secret = ["--secret", str(office.secret)]
for out, *options in (["one.toy"], ["t", "--format", "toy"]):
    written = ["--out", str(folder / out), *options]
    assert run(["protect", str(office.store), *arguments, *secret, *written]) == 0
seen["protected"] = (folder / "one.toy").read_text(encoding="utf-8")
seen["named"] = (folder / "t.toy").read_text(encoding="utf-8")
seen["mistake"] = run(["plan", "check", str(office.write_plan(table, formats=["plaything"]))])
seen["help"] = PART_NOTES["output"]
seen["tab"] = complete_format("to")
(folder / "web").mkdir()
with opened(folder / "web") as place:
    by_type = place.client.post(TABLES, json=QUESTION, headers={"accept": "application/x-toy"})
    link = f"{TABLES}?of=persons&by=area&by=sex&format=toy&lang=es"
    by_name = place.client.get(link)
    seen["type"] = by_type.headers["content-type"]
    seen["file"] = by_name.headers["content-disposition"]
    seen["answers"] = [by_type.text.split(": ")[1], by_name.text.split(": ")[1]]
    datasets = place.client.get("/api/v1/datasets?lang=es").json()
    seen["offered"] = datasets["formats"][-1]
    seen["menu"] = place.client.get("/?lang=es").text
    seen["page"] = place.client.get("/api").text
    seen["document"] = place.client.get("/api/v1/openapi.json").text
    path = sc.connect(place.server.url).download("area", "sex", to=folder / "down.toy")
    seen["downloaded"] = path.read_text(encoding="utf-8").split(": ")[1]
print("SEEN" + json.dumps(seen))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    package, folder = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("work")
    (package / "toy_tables.py").write_text(MODULE, encoding="utf-8", newline="\n")
    about = package / "toy_tables-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-tables\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY, encoding="utf-8", newline="\n")
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
    assert seen["published"].startswith("Persons by ")
    assert seen["protected"] == seen["named"] == seen["published"]


def test_what_it_costs_is_part_of_the_estimate(seen: dict[str, Any]) -> None:
    assert 3 * 3.0 < seen["seconds"] < 3 * 3.0 + 10


def test_a_plan_that_calls_it_otherwise_is_told_its_name(seen: dict[str, Any]) -> None:
    assert seen["mistake"] != 0
    assert "There is no format 'plaything'. Did you mean 'toy'?" in seen["errors"]


def test_help_and_completion_name_it(seen: dict[str, Any]) -> None:
    assert "toy" in seen["help"][-1]
    assert seen["tab"] == [["toy", "For children."]]


def test_the_api_gives_it_by_type_and_by_name(seen: dict[str, Any]) -> None:
    assert seen["type"] == "text/x-toy; charset=utf-8"
    assert ".toy" in seen["file"]
    by_type, by_name = seen["answers"]
    assert by_type == by_name == seen["downloaded"]
    assert len(by_type.split()) == 8 * 3


def test_pages_offer_it(seen: dict[str, Any]) -> None:
    assert seen["offered"] == {
        "name": "toy",
        "label": "Toy",
        "about": "Para niños.",
        "media_type": "text/x-toy",
        "endings": [".toy"],
    }
    assert "Para niños." in seen["menu"]
    assert "<code>toy</code>" in seen["page"]
    assert '"toy"' in seen["document"]
