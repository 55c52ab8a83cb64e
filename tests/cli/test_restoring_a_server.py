"""What docs/guide/serving.md says should be backed up is enough to have the same server again."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sdcensus.web.database import Database
from tests.cli.builder.test_serve import NOISE, POLICY, said
from tests.cli.conftest import Run, Village, start
from tests.web.servers import until

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "serving.md"
QUESTIONS = ("by=sex", "by=age&by=sex", "by=sex&where=age>%3D15")


@contextmanager
def serving(folder: Path, store: Path) -> Iterator[str]:
    """A server with everything in one folder but the store."""
    process = start(
        *("serve", store, "--policy", folder / "policy.toml", "--port", "0"),
        *("--state", folder / "state", *NOISE),
        SDCENSUS_SECRET_FILE=str(folder / "server.secret"),
        PYTHONUNBUFFERED="1",
    )
    try:
        yield said(process, r"Table builder on (http://127\.0\.0\.1:\d+)")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err.decode()
    finally:
        process.kill()
        process.communicate()


def actions_of(database: Database) -> list[str]:
    """What the audit says was done, the oldest first."""
    return [one.action for one in database.audit.latest(limit=1_000)][::-1]


def asked(url: str, path: str, token: str, body: object = None) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/api/v1/{path}", sent, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def numbers(url: str, token: str) -> list[Any]:
    return [asked(url, f"tables?{one}", token)["value"] for one in QUESTIONS]


def test_the_guide_lists_what_the_test_backs_up() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    part = text.split("## What to back up")[1].split("\n## ")[0]
    for word in ("database", "audit", "policy", "plan", "perturbation", "store", "look-up secret"):
        assert re.search(rf"^\|[^|]*{word}", part, flags=re.MULTILINE), word


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows ends programs in other ways")
def test_a_server_is_the_same_after_everything_was_lost(
    run: Run, village: Village, tmp_path: Path
) -> None:
    old, kept, new = (tmp_path / name for name in ("old", "kept", "new"))
    old.mkdir()
    kept.mkdir(mode=0o700)
    (old / "policy.toml").write_text(POLICY, encoding="utf-8", newline="\n")
    assert run("secret", "lookup", village.secret, old / "server.secret", "-q").code == 0
    password = tmp_path / "password.txt"
    password.write_text("correct horse battery staple\n", encoding="utf-8", newline="\n")
    database = ("--database", old / "state" / "builder.db")
    with serving(old, village.store) as url:
        added = run(
            *("account", "add", "ana", "--role", "registered"),
            *("--password-file", password, *database),
        )
        assert added.code == 0, added.err
        made = run("account", "token", "ana", "--name", "nightly", *database)
        token = re.findall(r"sdc_[\w-]+", made.out)[0]
        first = numbers(url, token)
        question = {"of": "persons", "by": ["sex"], "where": "age >= 15"}
        asked(url, "saved", token, {"name": "Adults", "question": question, "view": {"tab": "map"}})
        # Entries are written a moment after their answers.
        with Database.open(old / "state" / "builder.db") as opened:
            until(lambda: actions_of(opened).count("table") == len(QUESTIONS))
        # The list of the guide, while the server runs.
        backup = run("account", "backup", kept / "builder.backup", *database)
        assert backup.code == 0, backup.err
        assert run("account", "audit", "verify", *database).code == 0
        for name in ("policy.toml", "server.secret"):
            shutil.copy2(old / name, kept / name)
    shutil.rmtree(old)

    (new / "state").mkdir(parents=True, mode=0o700)
    for name in ("policy.toml", "server.secret"):
        shutil.copy2(kept / name, new / name)
    database = ("--database", new / "state" / "builder.db")
    restored = run("account", "restore", kept / "builder.backup", *database)
    assert restored.code == 0, restored.err
    checked = run("secret", "check", new / "server.secret", "--store", village.store)
    assert checked.code == 0, checked.err
    with serving(new, village.store) as url:
        assert numbers(url, token) == first
        (saved,) = asked(url, "saved", token)["saved"]
        assert (saved["name"], saved["question"], saved["view"]) == (
            *("Adults", question, {"tab": "map"}),
        )
    proved = run("account", "audit", "verify", *database)
    assert proved.code == 0, proved.err
    with Database.open(new / "state" / "builder.db") as opened:
        actions = actions_of(opened)
        assert opened.audit.verify().sound
    # One chain goes through the backup: what was asked before is still in it.
    assert actions.count("table") == 2 * len(QUESTIONS)
    at = actions.index("restore")
    assert actions[0] == "start"
    assert actions[at + 1] == "start"
    assert actions[-1] == "stop"
