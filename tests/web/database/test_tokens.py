from __future__ import annotations

import threading

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.web.database import COMMAND_LINE, Account, Action, Database
from sdcensus.web.database.passwords import VerifiedTokens
from sdcensus.web.database.tokens import MOST_TOKENS
from tests.web.database.places import PASSWORD, Place


@pytest.fixture
def ana(database: Database) -> Account:
    return database.accounts.add("Ana", "registered", PASSWORD, by=COMMAND_LINE)


def make(database: Database, account: Account, days: int | None = 365) -> str:
    return database.tokens.make(account, "laptop", days=days, by=account.actor()).text


def test_a_token_is_its_accounts(database: Database, ana: Account, place: Place) -> None:
    made = database.tokens.make(ana, "nightly run", days=30, by=ana.actor())
    prefix, public, secret = made.text.split("_")
    assert (prefix, public) == ("sdc", made.token.id)
    assert len(secret) * 5 > 256
    assert database.tokens.verify(made.text) == ana
    (token,) = database.tokens.of(ana)
    assert (token.name, token.created, token.last_used) == (
        "nightly run",
        place.clock.now,
        place.clock.now,
    )
    assert token.expires is not None
    assert (token.expires - token.created).days == 30


def test_the_secret_is_shown_once(database: Database, ana: Account, place: Place) -> None:
    made = database.tokens.make(ana, "laptop", by=ana.actor())
    secret = made.text.split("_")[2]
    stored = str(place.rows("SELECT * FROM tokens")) + str(place.rows("SELECT * FROM audit"))
    assert "$argon2id$" in stored
    assert secret not in stored + repr(made) + repr(database.tokens.of(ana))
    entry = database.audit.latest(limit=1)[0]
    assert (entry.action, entry.reason) == (Action.TOKEN_MADE, f"{made.token.id} of Ana")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(data=st.data())
def test_a_token_with_one_sign_altered_is_nobodys(database: Database, data: st.DataObject) -> None:
    account = next(iter(database.accounts.all()), None) or database.accounts.add(
        "Ana", "registered", PASSWORD, by=COMMAND_LINE
    )
    text = next(iter(_MADE.get(id(database), [])), "") or make(database, account)
    _MADE[id(database)] = [text]
    at = data.draw(st.integers(0, len(text) - 1))
    sign = data.draw(st.characters(codec="utf-8").filter(lambda one: one != text[at]))
    assert database.tokens.verify(text[:at] + sign + text[at + 1 :]) is None
    assert database.tokens.verify(text) == account


_MADE: dict[int, list[str]] = {}


def test_malformed_tokens_cost_no_work(database: Database, ana: Account) -> None:
    _, public, secret = make(database, ana).split("_")
    places = database._hasher._places
    # Whoever needs a hash now waits for ever.
    assert [places.acquire(blocking=False) for _ in range(2)] == [True, True]
    for text in (
        *("", "sdc__", "sdc_abc_def", "x" * 79, "Ana", "\ud800"),
        f"sdc_{'a' * 10}_{'a' * 64}",
        f"sdc_{public}_{'a' * len(secret)}",
        f"sdc_{public}_{secret}a",
    ):
        assert database.tokens.verify(text) is None
    for _ in range(2):
        places.release()
    assert database.tokens.verify(f"sdc_{public}_{secret}") == ana


def test_the_secret_of_one_token_does_not_open_another(database: Database, ana: Account) -> None:
    ben = database.accounts.add("Ben", "staff", PASSWORD, by=COMMAND_LINE)
    one, other = make(database, ana).split("_"), make(database, ben).split("_")
    assert database.tokens.verify("_".join([one[0], other[1], one[2]])) is None
    assert database.tokens.verify("_".join([other[0], one[1], other[2]])) is None


def test_a_token_expires_also_while_it_is_remembered(
    database: Database, ana: Account, place: Place
) -> None:
    text = make(database, ana, days=1)
    place.clock.move(hours=23, minutes=59, seconds=59)
    assert database.tokens.verify(text) == ana
    place.clock.move(seconds=1)
    assert database.tokens.verify(text) is None
    for_ever = make(database, ana, days=None)
    place.clock.move(days=10_000)
    assert database.tokens.verify(for_ever) == ana


def test_a_revoked_token_stops_at_once_and_for_ever(
    database: Database, ana: Account, place: Place
) -> None:
    text, other = make(database, ana), make(database, ana)
    assert database.tokens.verify(text) == ana
    revoked = database.tokens.revoke(text.split("_")[1], account=ana, by=ana.actor())
    assert revoked.revoked == place.clock.now
    assert database.tokens.verify(text) is None
    assert database.tokens.verify(other) == ana
    database.tokens.revoke(revoked.id, by=COMMAND_LINE)
    actions = [entry.action for entry in database.audit.latest()]
    assert actions.count(Action.TOKEN_REVOKED) == 1
    with place.open() as again:
        assert again.tokens.verify(text) is None


def test_nobody_revokes_the_token_of_somebody_else(database: Database, ana: Account) -> None:
    ben = database.accounts.add("Ben", "registered", PASSWORD, by=COMMAND_LINE)
    text = make(database, ana)
    for wrong in (text.split("_")[1], "aaaaaaaaaa", "", "'; --", "\x00"):
        with pytest.raises(UnknownName, match="There is no token"):
            database.tokens.revoke(wrong, account=ben, by=ben.actor())
    assert database.tokens.verify(text) == ana


def test_another_process_hears_of_it_within_a_minute(
    database: Database, ana: Account, place: Place
) -> None:
    text = make(database, ana)
    with place.open() as other:
        assert other.tokens.verify(text) == ana
        database.tokens.revoke(text.split("_")[1], by=COMMAND_LINE)
        other._verified._clock = lambda: 1e9
        assert other.tokens.verify(text) is None


def test_a_token_that_was_looked_up_before_it_was_dropped_is_not_remembered(
    database: Database, ana: Account, place: Place
) -> None:
    verified = VerifiedTokens()
    before = verified.generation
    verified.drop_token("id")
    verified.keep("text", "id", ana, None, before)
    assert verified.find("text", place.clock.now) is None
    verified.keep("text", "id", ana, None, verified.generation)
    assert verified.find("text", place.clock.now) == ana
    assert b"text" not in b"".join(verified._entries)


def test_an_account_has_so_many_tokens_and_no_more(
    database: Database, ana: Account, place: Place
) -> None:
    made: list[str] = []

    def make_some() -> None:
        for _ in range(MOST_TOKENS):
            try:
                made.append(make(database, ana))
            except SpecError:
                return

    threads = [threading.Thread(target=make_some) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == MOST_TOKENS == len(database.tokens.of(ana))
    with pytest.raises(SpecError, match="no more are allowed"):
        make(database, ana)
    database.tokens.revoke(made[0].split("_")[1], by=ana.actor())
    make(database, ana, days=1)
    place.clock.move(days=2)
    make(database, ana)


def test_tokens_work_for_a_sensible_time(database: Database, ana: Account) -> None:
    for days in (0, -1, 100_000):
        with pytest.raises(SpecError, match="1 to 3,650 days"):
            make(database, ana, days=days)
