"""A client that a generator makes from the document of the API reads tables, with nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.web.servers import Place

#: Asks for a table by its link, as a body and where most is withheld; shows what it was given.
READER = """
import json, sys
from census import AuthenticatedClient, Client
from census.api.datasets import list_datasets
from census.api.tables import get_table, post_table
from census.models import Error, GetTableOf, Question, Table

client = Client(base_url=sys.argv[1])
if len(sys.argv) > 2:
    client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
linked = get_table.sync(client=client, of=GetTableOf.PERSONS, by=["area", "sex"])
assert isinstance(linked, Table), linked
question = Question.from_dict({"of": "persons", "by": ["area", "sex"]})
posted = post_table.sync(client=client, body=question)
assert isinstance(posted, Table), posted
assert posted.value == linked.value
wrong = get_table.sync(client=client, by=["nothing"])
assert isinstance(wrong, Error), wrong
print(json.dumps({
    "value": linked.value,
    "id": linked.id,
    "areas": linked.dimension["area"].category.index,
    "label": linked.dimension["sex"].label,
    "cells": linked.extension.sdcensus.cells,
    "error": wrong.error.code,
    "datasets": [each.id for each in list_datasets.sync(client=client).datasets],
}))
"""
SETTINGS = "package_name_override: census\nproject_name_override: census\npost_hooks: []\n"


def generator() -> Path:
    """The command that makes clients: of the environment beside ours, else on the path."""
    folder = Path(sys.prefix) / "generator" / ("Scripts" if os.name == "nt" else "bin")
    path = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
    command = shutil.which("openapi-python-client", path=path)
    if command is None:
        pytest.skip("openapi-python-client is not installed: make install-dev")
    return Path(command)


@pytest.fixture(scope="module")
def made(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the client; the generator had nothing to complain about."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_bytes(place.client.get("/api/v1/openapi.json").content)
    (folder / "settings.yml").write_text(SETTINGS, encoding="utf-8")
    done = subprocess.run(
        [
            *(str(generator()), "generate", "--path", "openapi.json", "--config", "settings.yml"),
            *("--meta", "none", "--output-path", "census", "--fail-on-warning"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    (folder / "reader.py").write_text(READER, encoding="utf-8")
    return folder


def read(made: Path, place: Place, *more: str) -> dict[str, Any]:
    python = generator().with_name("python.exe" if os.name == "nt" else "python")
    command = [str(python), "-W", "error", "reader.py", f"{place.server.url}/api/v1", *more]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.slow
def test_a_generated_client_reads_a_table(place: Place, made: Path) -> None:
    ours = place.client.get("/api/v1/tables?of=persons&by=area&by=sex").json()
    theirs = read(made, place)
    assert theirs["value"] == ours["value"]
    assert theirs["id"] == ours["id"]
    assert theirs["areas"] == ours["dimension"]["area"]["category"]["index"]
    assert theirs["label"] == ours["dimension"]["sex"]["label"]
    assert theirs["cells"] == ours["extension"]["sdcensus"]["cells"]
    assert (theirs["error"], theirs["datasets"]) == ("unknown-name", ["persons"])


@pytest.mark.slow
def test_a_generated_client_asks_with_a_token(place: Place, made: Path) -> None:
    token = place.token("generated")["authorization"].removeprefix("Bearer ")
    assert read(made, place, token)["cells"] == 24


@pytest.mark.slow
def test_every_operation_becomes_a_function_of_its_name(place: Place, made: Path) -> None:
    document = place.client.get("/api/v1/openapi.json").json()
    named = {
        operation["operationId"].lower(): operation["tags"]
        for item in document["paths"].values()
        for method, operation in item.items()
        if method in ("get", "post", "delete")
    }
    assert len(named) >= 32
    modules = {
        path.stem.replace("_", ""): path.parent.name
        for path in (made / "census" / "api").glob("*/*.py")
        if path.stem != "__init__"
    }
    assert modules == {name: tag for name, (tag,) in named.items()}
