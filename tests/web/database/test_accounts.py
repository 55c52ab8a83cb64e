from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SdcensusError, SpecError, UnknownName
from sdcensus.web.database import COMMAND_LINE, Action, Database, Hashing
from sdcensus.web.database.passwords import Hasher, Patience, check_new_password
from tests.web.database.places import CHEAP, PASSWORD, Place

INJECTIONS = (
    "Robert'); DROP TABLE accounts;--",
    '" OR ""="',
    "' UNION SELECT password_hash FROM accounts --",
    "admin'/*",
    "%_\\",
    ":name",
    "$1 %s ? {x}",
    "{{7*7}}<script>alert(1)</script>",
)


def test_a_password_opens_its_account_only(database: Database) -> None:
    ana = database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    database.accounts.add("Ben", "registered", f"{PASSWORD} of Ben", by=COMMAND_LINE)
    check = database.accounts.check_password
    assert check("Ana", PASSWORD).account == ana
    assert check("  aNA"[2:], PASSWORD).account == ana
    for name, password in [
        ("Ana", PASSWORD + "x"),
        ("Ana", PASSWORD[:-1]),
        ("Ana", ""),
        ("Ben", PASSWORD),
        ("Eve", PASSWORD),
        ("", PASSWORD),
        ("Ana\x00", PASSWORD),
        ("\ud800", "\ud800"),
    ]:
        assert check(name, password).account is None


def test_names_are_data(database: Database, place: Place) -> None:
    ana = database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    for name in INJECTIONS:
        use_everywhere(database, place, name)
    names = {account.name for account in database.accounts.all()}
    assert names == {"Ana", *INJECTIONS}
    assert database.accounts.find("Ana") == ana
    assert database.audit.verify().sound


def use_everywhere(database: Database, place: Place, name: str) -> None:
    """Put a text wherever a text goes."""
    account = database.accounts.add(
        name, "registered", PASSWORD, display_name=name, by=COMMAND_LINE
    )
    assert database.accounts.find(name) == account
    assert database.accounts.check_password(name, PASSWORD).account == account
    database.saved.add(account, name, name, {name: name})
    assert [one.view for one in database.saved.of(account)] == [{name: name}]
    assert database.tokens.make(account, name, by=account.actor()).token.name == name
    assert database.tokens.verify(name) is None
    assert database.sessions.find(name) is None
    database.feedback.add(name, contact=name, question=name)
    database.alarms.report(name, name, 1, {name: name})
    for refused in (
        lambda: database.saved.remove(account, name),
        lambda: database.alarms.acknowledge(name, by=account.actor()),
        lambda: database.feedback.mark_read(name, by=account.actor()),
        lambda: database.tokens.revoke(name, by=account.actor()),
    ):
        with pytest.raises(UnknownName):
            refused()
    assert database.audit.used(name, place.clock.now).tables == 0
    database.accounts.disable(name, by=COMMAND_LINE)
    assert not database.accounts.find(name).active


@given(name=st.text(max_size=30), password=st.text(max_size=30))
def test_whatever_is_typed_at_the_login_is_answered(name: str, password: str) -> None:
    accounts = _SHARED.accounts
    assert accounts.check_password(name, password).account is None


def test_names_differ_in_more_than_large_and_small_letters(database: Database) -> None:
    database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    for name in ("ana", "ANA", " Ana ", "\uff21na"):
        with pytest.raises(SpecError, match="already"):
            database.accounts.add(name, "staff", PASSWORD, by=COMMAND_LINE)


def test_names_that_would_confuse_are_refused(database: Database) -> None:
    for name in ("", "  ", "a\nb", "a\x00b", "x" * 81, "~office", "a\u202eb", "\ud800"):
        with pytest.raises(SpecError):
            database.accounts.add(name, "staff", PASSWORD, by=COMMAND_LINE)
    assert database.accounts.all() == ()


def test_roles_are_registered_and_staff(database: Database, place: Place) -> None:
    with pytest.raises(SpecError, match="There is no role 'admin'"):
        database.accounts.add("Ana", "admin", PASSWORD, by=COMMAND_LINE)
    database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    with pytest.raises(Exception, match=r"accounts_role|CHECK"):
        place.run("UPDATE accounts SET role = 'admin'")


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "elevenchars",
        "aaaaaaaaaaaaaaaa",
        "abababababab",
        "123456789012",
        "abcdefghijklmn",
        "Password1234",
        "Contraseña12",
        "anamaria2026",
        "with\nend of line",
        "x" * 1001,
        "y" * 500 + "abcdefgh" * 100,
    ],
)
def test_passwords_that_anyone_would_try_are_refused(password: str) -> None:
    with pytest.raises(SpecError) as caught:
        check_new_password(password, name="AnaMaria")
    assert password not in str(caught.value)


@pytest.mark.parametrize(
    "password", [PASSWORD, "tR0ub4dor&3xyz", "ñandú überfällt Ωmega", "anamaria likes old maps"]
)
def test_good_passwords_are_taken(password: str) -> None:
    check_new_password(password, name="AnaMaria")


def test_the_same_password_in_another_spelling_is_the_same(database: Database) -> None:
    database.accounts.add("Ana", "staff", "caf\u00e9 and a \ufb01ne map", by=COMMAND_LINE)
    assert database.accounts.check_password("Ana", "cafe\u0301 and a fine map").account


def test_a_disabled_account_is_closed_until_it_is_enabled(database: Database) -> None:
    ana = database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    session = database.sessions.start(ana)
    token = database.tokens.make(ana, "laptop", by=ana.actor()).text
    assert database.tokens.verify(token) == ana
    disabled = database.accounts.disable("ana", by=COMMAND_LINE)
    assert not disabled.active
    assert database.accounts.check_password("Ana", PASSWORD).account is None
    assert database.sessions.find(session.id) is None
    assert database.tokens.verify(token) is None
    for act in (
        lambda: database.sessions.start(ana),
        lambda: database.tokens.make(ana, "other", by=ana.actor()),
    ):
        with pytest.raises(SpecError, match="disabled"):
            act()
    assert database.accounts.enable("Ana", by=COMMAND_LINE) == ana
    assert database.accounts.check_password("Ana", PASSWORD).account == ana
    assert database.tokens.verify(token) == ana
    assert database.sessions.find(session.id) is None


def test_a_new_password_ends_all_sessions(database: Database) -> None:
    ana = database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    ben = database.accounts.add("Ben", "staff", PASSWORD, by=COMMAND_LINE)
    old = [database.sessions.start(ana) for _ in range(3)]
    others = database.sessions.start(ben)
    database.accounts.set_password("Ana", "another good passphrase", by=ana.actor())
    assert [database.sessions.find(one.id) for one in old] == [None] * 3
    assert database.sessions.find(others.id) is not None
    assert database.accounts.check_password("Ana", PASSWORD).account is None
    assert database.accounts.check_password("Ana", "another good passphrase").account == ana


def test_changes_of_accounts_are_in_the_audit_and_passwords_are_not(database: Database) -> None:
    ana = database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    database.accounts.add("Ben", "registered", PASSWORD, by=ana.actor("request-7"))
    database.accounts.disable("Ben", by=ana.actor())
    database.accounts.disable("Ben", by=ana.actor())
    database.accounts.enable("Ben", by=ana.actor())
    database.accounts.set_password("Ben", "another good passphrase", by=ana.actor())
    entries = database.audit.latest()[::-1]
    assert [(entry.who, entry.action, entry.reason) for entry in entries] == [
        ("~office", Action.ACCOUNT_ADDED, "Ana (staff)"),
        ("Ana", Action.ACCOUNT_ADDED, "Ben (registered)"),
        ("Ana", Action.ACCOUNT_DISABLED, "Ben"),
        ("Ana", Action.ACCOUNT_ENABLED, "Ben"),
        ("Ana", Action.ACCOUNT_PASSWORD, "Ben"),
    ]
    assert entries[1].request == "request-7"
    assert PASSWORD not in repr(entries)


def test_a_refused_change_leaves_no_entry(database: Database) -> None:
    database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    with pytest.raises(SdcensusError):
        database.accounts.add("ana", "staff", PASSWORD, by=COMMAND_LINE)
    with pytest.raises(UnknownName, match=r"There is no account 'Anna'. Did you mean 'Ana'"):
        database.accounts.disable("Anna", by=COMMAND_LINE)
    assert len(database.audit.latest()) == 1


def test_old_hashes_are_made_anew_at_the_next_login(place: Place) -> None:
    with place.open() as database:
        database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    before = place.rows("SELECT password_hash FROM accounts")[0][0]
    assert before.startswith("$argon2id$v=19$m=8,t=1,p=1$")
    with Database.open(place.url, hashing=Hashing(passes=2, memory=16, lanes=1)) as database:
        assert database.accounts.check_password("Ana", PASSWORD).account
        after = place.rows("SELECT password_hash FROM accounts")[0][0]
        assert after.startswith("$argon2id$v=19$m=16,t=2,p=1$")
        assert database.accounts.check_password("Ana", PASSWORD).account


def test_a_name_that_does_not_exist_costs_the_work_of_one_that_does() -> None:
    hasher = Hasher(Hashing())
    real, nobody = hasher.hash(PASSWORD), hasher._nobody
    assert real.split("$")[:4] == nobody.split("$")[:4]
    assert [len(part) for part in real.split("$")] == [len(part) for part in nobody.split("$")]
    assert not hasher.matches(PASSWORD, None)
    assert hasher.matches(PASSWORD, real)


def test_the_usual_hash_is_the_second_recommendation_of_rfc_9106() -> None:
    hashed = Hasher(Hashing()).hash(PASSWORD)
    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


# ---------------------------------------------------------------- how fast passwords may be tried


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waiting_doubles_up_to_a_minute_and_is_forgotten() -> None:
    clock = Seconds()
    patience = Patience(clock=clock)
    waits = []
    for _ in range(12):
        assert patience.attempt("ana") == 0
        wait = patience.attempt("ana")
        waits.append(wait)
        if wait == 0:  # the second attempt counted as well
            continue
        clock.now += wait
    # Five attempts are free; then 1, 2, 4 ... seconds.
    assert waits == [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert patience.attempt("ben") == 0
    clock.now += 3_700
    assert [patience.attempt("ana") for _ in range(5)] == [0] * 5


def test_the_right_password_ends_the_waiting_of_its_name_only() -> None:
    patience = Patience(clock=Seconds())
    for _ in range(5):
        patience.attempt("ana")
        patience.attempt("ben")
    assert patience.attempt("ana") > 0
    patience.succeeded("ana")
    assert patience.attempt("ana") == 0
    assert patience.attempt("ben") > 0


def test_memory_of_failures_has_a_bound() -> None:
    patience = Patience(clock=Seconds(), most=100)
    for number in range(1_000):
        patience.attempt(f"name {number}")
    assert len(patience._names) == 100


def test_names_wait_after_failures_whether_they_exist_or_not(database: Database) -> None:
    database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
    for name in ("Ana", "Nobody"):
        answers = [database.accounts.check_password(name, "wrong") for _ in range(6)]
        assert [answer.wait > 0 for answer in answers] == [False] * 5 + [True]
    # Even the right one: otherwise waiting would not slow anybody down.
    assert database.accounts.check_password("ANA", PASSWORD).account is None
    database.accounts.set_password("Ana", PASSWORD, by=COMMAND_LINE)
    assert database.accounts.check_password("Ana", PASSWORD).account


@pytest.fixture(scope="module", autouse=True)
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One database for all examples of a property."""
    global _SHARED
    path = tmp_path_factory.mktemp("shared") / "builder.db"
    with Database.open(path, hashing=CHEAP) as _SHARED:
        yield


_SHARED: Database
