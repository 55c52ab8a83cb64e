"""Tokens of programs: ``sdc_<public id>_<secret>``, of which the secret is shown once.

The last letters of the secret are a check that only this database can make: a token that was
mistyped or made up is refused before it costs the work of a hash.
"""

from __future__ import annotations

import base64
import hmac
import re
from datetime import timedelta

from sqlalchemy import func, insert, or_, select, update

from sdcensus.errors import SpecError, UnknownName
from sdcensus.web.database.accounts import account_of, check_words
from sdcensus.web.database.audit import enter
from sdcensus.web.database.link import Link, random_id
from sdcensus.web.database.passwords import Hasher, VerifiedTokens
from sdcensus.web.database.records import AccessToken, Account, Action, Actor, MadeToken
from sdcensus.web.database.schema import AnyRow, accounts, tokens

#: How many tokens of an account may work at the same time.
MOST_TOKENS = 20
#: For how many days a token works, unless something else is said; and at most.
USUAL_DAYS, MOST_DAYS = 365, 3_650
_ID_LENGTH, _CHANCE_LENGTH, _CHECK_LENGTH = 10, 56, 8
_FORM = re.compile(
    rf"sdc_([a-z2-7]{{{_ID_LENGTH}}})_([a-z2-7]{{{_CHANCE_LENGTH}}})([a-z2-7]{{{_CHECK_LENGTH}}})"
)


class Tokens:
    """The tokens of one database."""

    def __init__(self, link: Link, hasher: Hasher, verified: VerifiedTokens, key: bytes) -> None:
        self._link, self._hasher, self._verified, self._key = link, hasher, verified, key

    def make(
        self, account: Account, name: str, *, days: int | None = USUAL_DAYS, by: Actor
    ) -> MadeToken:
        """Make a token. Its text is in the answer and nowhere else.

        Args:
            account: Whose it is.
            name: What it is for.
            days: For how many days it works; None for ever, until it is revoked.
            by: Who makes it.

        Raises:
            SpecError: The account is disabled or has too many, or the days are not allowed.
        """
        name = check_words(name, "name of the token")
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise SpecError(f"A token works for 1 to {MOST_DAYS:,} days, not for {days:,}.")
        public, chance = random_id()[:_ID_LENGTH], random_id(35)
        secret = chance + self._check(public, chance)
        hashed = self._hasher.hash(secret)
        with self._link.writing() as connection:
            now = self._link.clock()
            owner = connection.execute(
                # On PostgreSQL two of them at once must not both be the last that is allowed.
                select(accounts).where(accounts.c.id == account.id).with_for_update()
            ).one_or_none()
            if owner is None or owner.disabled is not None:
                raise SpecError(f"The account {account.name!r} is disabled. Enable it first.")
            working = connection.execute(
                select(func.count())
                .select_from(tokens)
                .where(
                    tokens.c.account == account.id,
                    tokens.c.revoked.is_(None),
                    or_(tokens.c.expires.is_(None), tokens.c.expires > now),
                )
            ).scalar_one()
            if working >= MOST_TOKENS:
                raise SpecError(
                    f"The account {account.name!r} has {working} tokens, and no more are allowed."
                    " Revoke one first."
                )
            expires = None if days is None else now + timedelta(days=days)
            row = {"id": public, "account": account.id, "name": name, "created": now}
            connection.execute(insert(tokens).values(**row, secret_hash=hashed, expires=expires))
            enter(connection, by, Action.TOKEN_MADE, now, about=f"{public} of {account.name}")
        token = AccessToken(
            id=public,
            account=account.name,
            name=name,
            created=now,
            last_used=None,
            expires=expires,
            revoked=None,
        )
        return MadeToken(text=f"sdc_{public}_{secret}", token=token)

    def of(self, account: Account) -> tuple[AccessToken, ...]:
        """All tokens of an account, the newest first; also those that no longer work."""
        with self._link.reading() as connection:
            rows = connection.execute(
                select(tokens)
                .where(tokens.c.account == account.id)
                .order_by(tokens.c.created.desc(), tokens.c.id)
            ).all()
        return tuple(_token_of(row, account.name) for row in rows)

    def revoke(self, token: str, *, account: Account | None = None, by: Actor) -> AccessToken:
        """Stop a token for ever.

        Args:
            token: Its public id.
            account: Only if it belongs to this account; None whoever it belongs to.
            by: Who revokes it.

        Raises:
            UnknownName: There is no such token, or it is somebody else's.
        """
        asked = (
            select(tokens, accounts.c.name.label("account_name"))
            .join(accounts, accounts.c.id == tokens.c.account)
            .where(tokens.c.id == token)
        )
        if account is not None:
            asked = asked.where(tokens.c.account == account.id)
        with self._link.writing() as connection:
            row = None
            if re.fullmatch(rf"[a-z2-7]{{{_ID_LENGTH}}}", token):
                row = connection.execute(asked).one_or_none()
            if row is None:
                # Only one's own are offered.
                whose = select(tokens.c.id).order_by(tokens.c.created)
                if account is not None:
                    whose = whose.where(tokens.c.account == account.id)
                known = connection.execute(whose).scalars().all()
                raise UnknownName("token", token[:40], known=known)
            if row.revoked is None:
                now = self._link.clock()
                connection.execute(update(tokens).where(tokens.c.id == token).values(revoked=now))
                about = f"{token} of {row.account_name}"
                enter(connection, by, Action.TOKEN_REVOKED, now, about=about)
            row = connection.execute(asked).one()
        self._verified.drop_token(token)
        return _token_of(row, row.account_name)

    def verify(self, text: str) -> Account | None:
        """Whose token this is; None if it is nobody's, expired, revoked, or of a closed account.

        A token that was verified within the last minute costs nothing but a look into memory.
        """
        form = _FORM.fullmatch(text)
        if form is None:
            return None
        now = self._link.clock()
        known = self._verified.find(text, now)
        if known is not None:
            return known
        public, chance, check = form.groups()
        if not hmac.compare_digest(check, self._check(public, chance)):
            return None
        generation = self._verified.generation
        with self._link.reading() as connection:
            row = connection.execute(
                select(*accounts.c, tokens.c.secret_hash, tokens.c.expires, tokens.c.revoked)
                .join(accounts, accounts.c.id == tokens.c.account)
                .where(tokens.c.id == public)
            ).one_or_none()
        if row is None or row.revoked is not None or row.disabled is not None:
            return None
        if row.expires is not None and row.expires <= now:
            return None
        if not self._hasher.matches(chance + check, row.secret_hash):
            return None
        account = account_of(row)
        with self._link.writing() as connection:
            connection.execute(update(tokens).where(tokens.c.id == public).values(last_used=now))
        self._verified.keep(text, public, account, row.expires, generation)
        return account

    def _check(self, public: str, chance: str) -> str:
        digest = hmac.digest(self._key, f"{public}_{chance}".encode("ascii"), "sha256")
        return base64.b32encode(digest[:5]).decode("ascii").lower()


def _token_of(row: AnyRow, account: str) -> AccessToken:
    return AccessToken(
        id=row.id,
        account=account,
        name=row.name,
        created=row.created,
        last_used=row.last_used,
        expires=row.expires,
        revoked=row.revoked,
    )
