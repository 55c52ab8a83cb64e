from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from sdcensus.cli.builder.served import tables_offered
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.session.answer import open_service
from sdcensus.web.database import Database
from sdcensus.web.numbers import open_numbers
from tests.cli.conftest import Run, Village, start

POLICY = """
name = "Village builder"
[limits]
dimensions = 2
[online]
recovery = 0.9
smallest_group = 12
"""

#: Noise that is strong enough for the village.
NOISE = ("--scheme", "CP3")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY, encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def secret(run: Run, village: Village, tmp_path: Path) -> Path:
    path = tmp_path / "server.secret"
    assert run("secret", "lookup", village.secret, path, "-q").code == 0
    return path


def words(text: str) -> str:
    return " ".join(text.split())


def test_check_says_what_would_open_and_opens_nothing(
    run: Run, village: Village, policy: Path, secret: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    given = ("serve", village.store, "--policy", policy, "--state", state, "--check", *NOISE)
    answer = run(*given, "--secret", secret)
    assert (answer.code, answer.err) == (0, "")
    assert "Village census: Village builder" in answer.out
    assert re.search(r"persons: \d+ variables, at most [\d,]+ tables of up to 2", answer.out)
    assert "Look budget: all tables together are worth" in words(answer.out)
    assert "All is well" in answer.out
    assert not state.exists()


def test_of_an_office_secret_it_is_said_that_a_part_would_do(
    run: Run, village: Village, policy: Path
) -> None:
    answer = run(
        "serve", village.store, "--policy", policy, "--check", *NOISE, "--secret", village.secret
    )
    assert answer.code == 0
    assert "A server needs its look-up part only" in words(answer.err)


def test_noise_that_is_too_small_keeps_it_closed(
    run: Run, village: Village, policy: Path, secret: Path
) -> None:
    strict = POLICY.replace("0.9", "0.05")
    policy.write_text(strict, encoding="utf-8", newline="\n")
    given = ("serve", village.store, "--policy", policy, "--secret", secret, "--check")
    answer = run(*given, "--strength", "light", "--lookup", "hashed")
    assert answer.code == 4
    assert "The noise is too small" in words(answer.err)
    assert "What would do, one of these:" in words(answer.err)
    assert "sdcensus ptable design" in answer.err


def test_what_is_wrong_is_said_before_anything_is_opened(
    run: Run, village: Village, policy: Path, secret: Path, tmp_path: Path
) -> None:
    given = ("serve", village.store, "--policy", policy, "--check")
    for more, code, text in (
        ((*NOISE,), 7, "The look-up secret is needed"),
        (("--plan", tmp_path / "plan.toml", "--scheme", "CP3"), 2, "Say once how tables"),
        (("--feedback", "javascript:alert(1)"), 2, "--feedback is an address"),
        (("--proxy", "nobody"), 2, "is not the address of a proxy"),
        (("--metrics-port", "8080"), 2, "The metrics need a port of their own"),
        (("--secret", secret, "--method", "random-rounding"), 4, "protects tables by cell keys"),
        (("--secret", secret, "--key-version", "2", *NOISE), 7, "lookup version 2 is needed"),
        (("--secret", tmp_path / "none", *NOISE), 7, "does not exist"),
    ):
        answer = run(*given, *more)
        assert (answer.code, text in words(answer.err)) == (code, True), answer.err


def test_numbers_of_tables() -> None:
    assert tables_offered([], 3) == 1
    assert tables_offered([2, 3], None) == (1 + 2) * (1 + 3)
    assert tables_offered([1] * 10, 2) == 1 + 10 + 45


def said(process: subprocess.Popen[bytes], pattern: str) -> str:
    """What a process said that looks like this, once it has."""
    assert process.stdout is not None
    heard = ""
    for line in process.stdout:
        heard += line.decode()
        found = re.search(pattern, heard)
        if found:
            return found[1]
    raise AssertionError(heard)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@pytest.mark.skipif(os.name == "nt", reason="Windows ends programs in other ways")
def test_it_answers_until_it_is_told_to_stop(
    village: Village, policy: Path, secret: Path, tmp_path: Path, name: str
) -> None:
    process = start(
        *("serve", village.store, "--policy", policy, "--port", "0", "--state", tmp_path / "s"),
        *("--office", "Village office", "--feedback", "office@village.example", *NOISE),
        SDCENSUS_SECRET_FILE=str(secret),
        PYTHONUNBUFFERED="1",
    )
    try:
        url = said(process, r"Table builder on (http://127\.0\.0\.1:\d+)")
        with urllib.request.urlopen(f"{url}/api/v1/datasets", timeout=20) as answer:
            assert json.load(answer)["census"]["name"] == "Village census"
        with urllib.request.urlopen(f"{url}/about", timeout=20) as answer:
            page = answer.read().decode()
        assert "mailto:office@village.example" in page
        assert "Village office" in page
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err.decode()
    assert "Stopped." in out.decode()
    assert "error" not in err.decode()
    assert oct((tmp_path / "s" / "builder.db").stat().st_mode)[-2:] == "00"


def reloaded(run: Run, village: Village, folder: Path, change: dict[str, tuple[str, str]]) -> Path:
    """The village again, with some texts of its files replaced."""
    files = folder / "files"
    shutil.copytree(village.schema.parent, files)
    for name, (old, new) in change.items():
        path = files / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="\n")
    store = folder / "other.store"
    given = (files / village.schema.name, "--out", store, "--secret", village.secret, "-q")
    assert run("load", *given).code == 0
    return store


def test_other_data_open_under_a_name_only(
    run: Run, village: Village, policy: Path, secret: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    options = MethodOptions(scheme="CP3")
    service = open_service(village.store, policy, options=options, secret=secret)
    with Database.open(state / "builder.db") as database:
        open_numbers(service, database)
    given = ("--policy", policy, "--state", state, "--check", *NOISE, "--secret", secret)
    assert run("serve", village.store, *given).code == 0
    lines = (village.schema.parent / "persons.csv").read_text(encoding="utf-8").splitlines(True)
    first = lines[1]
    other = reloaded(run, village, tmp_path, {"persons.csv": (first, "")})
    answer = run("serve", other, *given)
    assert answer.code == 4
    assert "Published numbers are permanent" in words(answer.err)
    named = ("--revision", "2027", "--old-store", village.store)
    answer = run("serve", other, *given, *named)
    assert answer.code == 4
    assert "The revision would show who was corrected" in words(answer.err)
    answer = run("serve", other, *given, "--rekey")
    assert (answer.code, "--rekey needs --revision NAME" in words(answer.err)) == (2, True)
    renamed = reloaded(
        run, village, tmp_path / "renamed", {village.schema.name: ('"NW1"', '"NW2"')}
    )
    answer = run("serve", renamed, *given)
    assert answer.code == 4
    assert "'NW2' are those that were published as 'NW1'" in words(answer.err)
