"""Accounts: those whom the office knows, and their passwords."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict, fields

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.vocabulary import AccountRole
from sdcensus.web.database.audit import enter
from sdcensus.web.database.link import Link, comparable, random_id
from sdcensus.web.database.passwords import (
    LONGEST,
    Hasher,
    Patience,
    VerifiedTokens,
    check_new_password,
    normal_password,
)
from sdcensus.web.database.records import NO_ACCOUNT, Account, Action, Actor, LoginAnswer
from sdcensus.web.database.schema import AnyRow, accounts, sessions

LONGEST_NAME = 80


class Accounts:
    """The accounts of one database."""

    def __init__(
        self, link: Link, hasher: Hasher, patience: Patience, verified: VerifiedTokens
    ) -> None:
        self._link, self._hasher, self._patience = link, hasher, patience
        self._verified = verified

    def add(
        self,
        name: str,
        role: AccountRole | str,
        password: str,
        *,
        display_name: str = "",
        by: Actor,
    ) -> Account:
        """Make an account.

        Args:
            name: What is typed at the login; large and small letters are the same.
            role: ``registered`` or ``staff``.
            password: At least 12 characters.
            display_name: How the person is called on pages.
            by: Who makes it.

        Raises:
            SpecError: The name is taken or not allowed, or the password is too easy to guess.
        """
        name, role = check_name(name), AccountRole.named(role)
        display_name = check_words(display_name, "display name", may_be_empty=True)
        hashed = self._hasher.hash(check_new_password(password, name=name))
        account = Account(
            id=random_id(),
            name=name,
            role=role,
            display_name=display_name,
            created=self._link.clock(),
        )
        try:
            with self._link.writing() as connection:
                row = {**asdict(account), "role": role.value, "name_key": comparable(name)}
                connection.execute(insert(accounts).values(**row, password_hash=hashed))
                about = f"{name} ({role.value})"
                enter(connection, by, Action.ACCOUNT_ADDED, account.created, about=about)
        except IntegrityError:
            raise SpecError(f"There is an account {name!r} already. Choose another name.") from None
        return account

    def all(self) -> tuple[Account, ...]:
        """All accounts, by name."""
        with self._link.reading() as connection:
            rows = connection.execute(select(accounts).order_by(accounts.c.name_key)).all()
        return tuple(map(account_of, rows))

    def find(self, name: str) -> Account:
        """The account of a name.

        Raises:
            UnknownName: There is none.
        """
        with self._link.reading() as connection:
            return account_of(_found(connection, name))

    def disable(self, name: str, *, by: Actor) -> Account:
        """Close an account: its sessions end and its tokens stop, until it is enabled again."""
        with self._link.writing() as connection:
            row = _found(connection, name)
            if row.disabled is None:
                now = self._link.clock()
                _change(connection, row.id, disabled=now)
                connection.execute(delete(sessions).where(sessions.c.account == row.id))
                enter(connection, by, Action.ACCOUNT_DISABLED, now, about=row.name)
        self._verified.drop_account(row.id)
        return self.find(name)

    def enable(self, name: str, *, by: Actor) -> Account:
        """Open an account again that was disabled."""
        with self._link.writing() as connection:
            row = _found(connection, name)
            if row.disabled is not None:
                _change(connection, row.id, disabled=None)
                enter(connection, by, Action.ACCOUNT_ENABLED, self._link.clock(), about=row.name)
        return self.find(name)

    def set_password(self, name: str, password: str, *, by: Actor) -> Account:
        """Give an account another password; all of its sessions end. Its tokens stay.

        Raises:
            SpecError: The password is too easy to guess.
        """
        account = self.find(name)
        hashed = self._hasher.hash(check_new_password(password, name=account.name))
        with self._link.writing() as connection:
            _change(connection, account.id, password_hash=hashed)
            connection.execute(delete(sessions).where(sessions.c.account == account.id))
            now = self._link.clock()
            enter(connection, by, Action.ACCOUNT_PASSWORD, now, about=account.name)
        self._patience.succeeded(comparable(account.name))
        return account

    def check_password(self, name: str, password: str) -> LoginAnswer:
        """Whether a password is the one of an account.

        Names that do not exist, and accounts that are disabled, take as long as others and are
        answered in the same way. After repeated failures a name has to wait.
        """
        key = comparable(name[: 2 * LONGEST_NAME])
        wait = self._patience.attempt(key)
        if wait:
            return LoginAnswer(account=None, wait=wait)
        with self._link.reading() as connection:
            row = _row(connection, key)
        normal = normal_password(password[: LONGEST + 1])
        hashed = row.password_hash if row is not None else None
        if not self._hasher.matches(normal, hashed) or row is None or row.disabled is not None:
            return LoginAnswer(account=None)
        self._patience.succeeded(key)
        if self._hasher.is_outdated(row.password_hash):
            self._hash_anew(row, normal)
        return LoginAnswer(account=account_of(row))

    def _hash_anew(self, row: AnyRow, normal: str) -> None:
        """Keep a password with today's parameters, unless it was changed meanwhile."""
        hashed = self._hasher.hash(normal)
        with self._link.writing() as connection:
            connection.execute(
                update(accounts)
                .where(accounts.c.id == row.id, accounts.c.password_hash == row.password_hash)
                .values(password_hash=hashed)
            )


def account_of(row: AnyRow) -> Account:
    """The account that a row of its table stands for."""
    values = {member.name: getattr(row, member.name) for member in fields(Account)}
    return Account(**{**values, "role": AccountRole(row.role)})


def check_name(name: str) -> str:
    """The name of an account in one spelling.

    Raises:
        SpecError: It is empty, too long, or has signs that cannot be seen.
    """
    name = check_words(name, "name")
    if name.startswith(NO_ACCOUNT):
        raise SpecError(f"The name of an account does not begin with {NO_ACCOUNT}.")
    return name


def check_words(
    text: str, what: str, *, longest: int = LONGEST_NAME, may_be_empty: bool = False
) -> str:
    """A short text of one line, in one spelling.

    Raises:
        SpecError: It is empty, too long, or has signs that cannot be seen.
    """
    words = unicodedata.normalize("NFC", text).strip()
    if not words and not may_be_empty:
        raise SpecError(f"The {what} is empty.")
    if len(words) > longest:
        raise SpecError(f"The {what} has {len(words)} characters; at most {longest} are allowed.")
    # Line ends, control signs, halves of signs, and signs that turn the direction of writing.
    if any(unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for sign in words):
        raise SpecError(f"The {what} has characters that cannot be seen. Type it again.")
    return words


def _change(connection: Connection, identity: str, **values: object) -> None:
    connection.execute(update(accounts).where(accounts.c.id == identity).values(values))


def _row(connection: Connection, key: str) -> AnyRow | None:
    if "\x00" in key or any(unicodedata.category(sign) == "Cs" for sign in key):
        return None  # no database can be asked for it, and no account has it
    return connection.execute(select(accounts).where(accounts.c.name_key == key)).one_or_none()


def _found(connection: Connection, name: str) -> AnyRow:
    row = _row(connection, comparable(name))
    if row is None:
        known = connection.execute(select(accounts.c.name).order_by(accounts.c.name_key))
        raise UnknownName("account", name[:LONGEST_NAME], known=known.scalars().all())
    return row
