from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from sdcensus.web.database import Database
from tests.cli.conftest import Run

PASSWORD = "correct horse battery staple"


@pytest.fixture
def passphrase(tmp_path: Path) -> Path:
    path = tmp_path / "password.txt"
    path.write_text(f"{PASSWORD}\nand a note below it\n", encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def builder(run: Run, passphrase: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with one account, named in the environment."""
    path = tmp_path / "builder.db"
    monkeypatch.setenv("SDCENSUS_DATABASE", str(path))
    answer = run("account", "add", "Ana", "--role", "staff", "--password-file", passphrase)
    assert (answer.code, answer.err) == (0, "")
    return path


def test_an_account_is_made_and_can_log_in(run: Run, passphrase: Path, tmp_path: Path) -> None:
    path = tmp_path / "builder.db"
    options = ("--password-file", passphrase, "--database", path)
    answer = run("account", "add", "Ana", "--role", "staff", "--display-name", "Ana M.", *options)
    assert answer.code == 0
    assert f"Made the account Ana (staff) in {path}." in answer.out
    assert f"sdcensus account token Ana --name laptop --database {path}" in answer.out
    assert PASSWORD not in answer.out + answer.err
    with Database.open(path) as database:
        account = database.accounts.check_password("ana", PASSWORD).account
    assert account is not None
    assert (account.role, account.display_name) == ("staff", "Ana M.")
    again = run("account", "add", "ana", "--role", "staff", *options)
    assert again.code == 2
    assert "There is an account 'ana' already" in again.err


def test_a_password_is_typed_twice_or_read_from_a_file(
    run: Run, builder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("another good passphrase\n"))
    answer = run("account", "add", "Ben", "--role", "registered")
    assert answer.code == 2
    assert "Nobody can type a password here" in answer.err
    assert run("account", "password", "Ana", "--password-file", "-").code == 0
    with Database.open(builder) as database:
        assert database.accounts.check_password("Ana", "another good passphrase").account
        assert len(database.accounts.all()) == 1
    for text, said in [("short\n", "at least 12 characters"), ("\n", "is empty")]:
        file = tmp_path / "bad.txt"
        file.write_text(text, encoding="utf-8", newline="\n")
        answer = run("account", "password", "Ana", "--password-file", file)
        assert answer.code != 0
        assert said in answer.err
    assert "cannot be read" in run("account", "password", "Ana", "--password-file", "none").err


def test_accounts_are_listed_disabled_and_enabled(run: Run, builder: Path) -> None:
    assert run("account", "list").out.splitlines()[-1].split()[:2] == ["Ana", "staff"]
    assert "Disabled the account Ana" in run("account", "disable", "ana").out
    with Database.open(builder) as database:
        assert not database.accounts.find("Ana").active
    assert "can be used again" in run("account", "enable", "ana").out
    with Database.open(builder) as database:
        assert database.accounts.find("Ana").active
    unknown = run("account", "disable", "Anna")
    assert unknown.code == 2
    assert "There is no account 'Anna'. Did you mean 'Ana'?" in unknown.err


def test_a_token_is_shown_once_and_can_be_revoked(run: Run, builder: Path) -> None:
    made = run("account", "token", "Ana", "--name", "laptop", "--days", 30, "--quiet")
    text = made.out.strip()
    assert (made.code, made.err) == (0, "")
    with Database.open(builder) as database:
        account = database.tokens.verify(text)
    assert account is not None
    assert account.name == "Ana"
    secret = text.split("_")[2]
    listed = run("account", "tokens", "Ana")
    assert text.split("_")[1] in listed.out
    assert secret not in listed.out
    assert secret not in run("account", "audit", "show", "--json").out
    # People paste all of it.
    revoked = run("account", "revoke", text)
    assert "Revoked the token" in revoked.out
    assert secret not in revoked.out
    with Database.open(builder) as database:
        assert database.tokens.verify(text) is None
    assert run("account", "revoke", "aaaaaaaaaa").code == 2


def test_the_audit_is_shown_and_proven(run: Run, builder: Path) -> None:
    run("account", "disable", "Ana")
    (newest, oldest) = map(json.loads, run("account", "audit", "show", "--json").out.splitlines())
    assert (newest["action"], oldest["action"]) == ("account-disabled", "account-added")
    assert "account-added" in run("account", "audit", "show", "--limit", 5).out
    assert run("account", "audit", "show", "--action", "logn").code == 2
    proven = run("account", "audit", "verify")
    assert "The audit is sound: 2 entries, 1 to 2." in proven.out
    end = proven.out.split()[-1]
    assert end == f"2:{newest['hash']}"
    assert run("account", "audit", "verify", "--known", end).code == 0
    other = run("account", "audit", "verify", "--known", f"2:{'0' * 64}")
    assert other.code == 5
    assert "Entry 2 or one before it" in other.err
    assert run("account", "audit", "verify", "--known", "two").code == 2
    assert "nothing was removed" in run("account", "audit", "retain", "--days", 30).out


def test_a_backup_is_made_and_restored(run: Run, builder: Path, tmp_path: Path) -> None:
    text = run("account", "token", "Ana", "--name", "laptop", "--quiet").out.strip()
    copy, new = tmp_path / "copy.db", tmp_path / "new.db"
    assert "Only you can read it" in run("account", "backup", copy).out
    assert run("account", "backup", copy).code == 8
    answer = run("account", "restore", copy, "--database", new)
    assert answer.code == 0
    assert "Restored 1 accounts, 1 tokens" in answer.out
    with Database.open(new) as database:
        assert database.tokens.verify(text) is not None
    assert run("account", "restore", copy, "--database", new).code == 8


def test_a_database_must_be_named_and_must_be_one(run: Run, tmp_path: Path) -> None:
    nothing = run("account", "list")
    assert nothing.code == 2
    assert "--database FILE, or SDCENSUS_DATABASE" in nothing.err
    missing = run("account", "list", "--database", tmp_path / "none.db")
    assert missing.code == 5
    assert "does not exist" in missing.err
    assert not (tmp_path / "none.db").exists()
    server = run("account", "list", "--database", "postgresql://ana:opensesame77@127.0.0.1:1/x")
    assert server.code == 5
    assert "cannot be reached" in server.err
    assert "opensesame77" not in server.out + server.err


def test_groups_without_a_command_show_their_help(run: Run) -> None:
    for words in (("account",), ("account", "audit")):
        answer = run(*words)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.startswith(f"Usage: sdcensus {' '.join(words)}")


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment of the tests says."""
    monkeypatch.delenv("SDCENSUS_DATABASE", raising=False)
