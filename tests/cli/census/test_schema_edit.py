"""``schema edit`` on the command line: what it refuses, how it begins and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.architecture.test_optional_parts import run_without_extras
from tests.cli.conftest import ROOT, Run, start
from tests.session.schema_editing.country import make_draft
from tests.web.servers import PATIENCE


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--host", "0.0.0.0"], 5, "only on this machine, 127.0.0.1"),
        (["--host", "192.168.1.5"], 5, "Leave --host out"),
        (["-l", "tlh"], 5, "There is no language 'tlh'"),
        (["--port", "70000"], 2, "less than or equal to 65535"),
    ],
)
def test_what_is_refused(
    run: Run, tmp_path: Path, arguments: list[str], code: int, text: str
) -> None:
    answer = run("schema", "edit", make_draft(tmp_path), *arguments)
    assert answer.code == code
    assert text in " ".join(answer.err.split())


def test_a_folder_without_a_schema_names_the_draft(run: Run, tmp_path: Path) -> None:
    answer = run("schema", "edit", tmp_path)
    assert answer.code == 5
    assert "sdcensus schema draft" in answer.err
    assert run("schema", "edit", tmp_path / "none.toml").code == 5


def test_without_the_extra_its_name_is_told(tmp_path: Path) -> None:
    schema = make_draft(tmp_path)
    code = f"""
from sdcensus.cli.shared.run import run
sys.exit(run(["schema", "edit", {str(schema)!r}]))
"""
    done = run_without_extras(code, ROOT / "src")
    assert done.returncode == 10
    assert "pip install 'sdcensus[web]'" in done.stderr


def opened(process: subprocess.Popen[bytes]) -> str:
    """The address that is told."""
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(rb"http://127\.0\.0\.1:\d+/\S+", line)
        if found is not None:
            return found.group().decode()
    raise AssertionError("no address was told")


def test_the_page_is_saved_and_closed_and_the_command_ends(tmp_path: Path, run: Run) -> None:
    schema = make_draft(tmp_path)
    process = start("schema", "edit", tmp_path, "--no-browser", "-l", "es")
    try:
        with httpx.Client(timeout=PATIENCE, verify=False, follow_redirects=True) as client:
            page = client.get(opened(process))
            assert 'lang="es"' in page.text
            base = str(page.url)
            ours = {"origin": f"http://{page.url.netloc.decode()}"}
            version = client.get(f"{base}api/state").json()["version"]
            body = {"what": "role", "variable": "sexo", "value": "sensitive", "version": version}
            changed = client.post(f"{base}api/change", json=body, headers=ours).json()
            body = {"version": changed["state"]["version"], "close": True}
            saved = client.post(f"{base}api/save", json=body, headers=ours)
            assert saved.json()["written"] == ["schema.toml"]
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, err) == (0, b"")
    assert b"sdcensus schema check" in out
    assert 'role = "sensitive"' in schema.read_text(encoding="utf-8")
    assert run("schema", "check", schema).code == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_ctrl_c_ends_it_and_says_how_to_go_on(tmp_path: Path) -> None:
    schema = make_draft(tmp_path)
    process = start("schema", "edit", schema, "--no-browser")
    try:
        with httpx.Client(timeout=PATIENCE, verify=False, follow_redirects=True) as client:
            page = client.get(opened(process))
            ours = {"origin": f"http://{page.url.netloc.decode()}"}
            body = {"what": "role", "variable": "sexo", "value": "", "version": 1}
            assert client.post(f"{page.url}api/change", json=body, headers=ours).status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, err) == (0, b"")
    assert b"Go on with: sdcensus schema edit" in out
    assert schema.with_name("schema.toml.editing").exists()
