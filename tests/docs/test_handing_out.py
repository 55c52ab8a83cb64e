"""The walk from the application to the sanction, as it is written, on the demo country."""

from __future__ import annotations

import contextlib
from pathlib import Path

from sdcensus import confidential
from sdcensus.demo.write import write_country
from sdcensus.session.census.census import load
from sdcensus.session.demo.country import SECRET, STORE, choose_country
from sdcensus.store.secrets import write_secret
from tests.docs.pages import answer_of, blocks, steps
from tests.docs.test_guide import vector_secret

PAGE = "handing-out.md"


def test_the_walk_goes_as_it_is_written(tmp_path: Path, plain_terminal: None) -> None:
    demo = tmp_path / "demo"
    demo.mkdir()
    files = write_country(demo / "country", country=choose_country(None, None), seed=2021)
    secret = vector_secret(demo)
    write_secret(secret, demo / SECRET)
    load(files.schema, demo / STORE, secret=secret)
    (document,) = blocks(PAGE, "toml")
    (demo / "licensed.toml").write_text(document.text, encoding="utf-8", newline="\n")
    for command, shown in (step for block in blocks(PAGE, "console") for step in steps(block)):
        code, answer = answer_of(command, demo)
        assert (code != 0) == shown.startswith("error: "), f"{command}\n{answer}"
        for line in shown.strip().splitlines():
            assert line in answer, f"{command}\n{answer}"
    assert (demo / "site" / "index.html").is_file()
    register = confidential.LicenceRegister(demo / "office")
    assert [holding.number for holding in register.holdings().values()] == ["2026-001", "2026-002"]
    (session,) = blocks(PAGE, "python")
    known: dict[str, object] = {}
    with contextlib.chdir(demo):
        exec(compile(session.text, PAGE, "exec"), known)
    number = str(known["number"])
    assert [each.name for each in register.holding(number).decisions] == ["Ana Ruiz"]
