"""Tables that people keep: the question, and how its answer is shown. Never an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy import delete, func, insert, select

from sdcensus.errors import SpecError, UnknownName
from sdcensus.web.database.accounts import check_words
from sdcensus.web.database.link import Link, random_id, storable
from sdcensus.web.database.records import Account, SavedTable
from sdcensus.web.database.schema import accounts, saved_tables

#: How many tables an account may keep.
MOST_SAVED = 500
_LONGEST_QUESTION = 200_000
_LONGEST_VIEW = 4_000


class SavedTables:
    """The saved tables of one database."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def add(
        self, account: Account, name: str, question: str, view: Mapping[str, str] | None = None
    ) -> SavedTable:
        """Keep a question.

        Args:
            account: Whose it is.
            name: How its owner calls it.
            question: The text of the question.
            view: How its answer is shown: rows, columns, tab and so on.

        Raises:
            SpecError: There are too many, or it is too long.
        """
        name = check_words(name, "name of the table", longest=200)
        shown = {storable(key): storable(value) for key, value in (view or {}).items()}
        written = json.dumps(shown, sort_keys=True, ensure_ascii=False)
        if len(question) > _LONGEST_QUESTION or len(written) > _LONGEST_VIEW:
            raise SpecError("The question, or how it is shown, is too long to be saved.")
        saved = SavedTable(
            id=random_id(),
            name=name,
            question=storable(question),
            view=shown,
            created=self._link.clock(),
        )
        with self._link.writing() as connection:
            # On PostgreSQL two of them at once must not both be the last that is allowed.
            connection.execute(
                select(accounts.c.id).where(accounts.c.id == account.id).with_for_update()
            )
            have = connection.execute(
                select(func.count())
                .select_from(saved_tables)
                .where(saved_tables.c.account == account.id)
            ).scalar_one()
            if have >= MOST_SAVED:
                raise SpecError(
                    f"There are {have} saved tables, and no more are allowed. Remove one first."
                )
            connection.execute(
                insert(saved_tables).values(
                    id=saved.id,
                    account=account.id,
                    name=saved.name,
                    question=saved.question,
                    view=written,
                    created=saved.created,
                )
            )
        return saved

    def of(self, account: Account) -> tuple[SavedTable, ...]:
        """The saved tables of an account, the newest first."""
        with self._link.reading() as connection:
            rows = connection.execute(
                select(saved_tables)
                .where(saved_tables.c.account == account.id)
                .order_by(saved_tables.c.created.desc(), saved_tables.c.id)
            ).all()
        return tuple(
            SavedTable(
                id=row.id,
                name=row.name,
                question=row.question,
                view=json.loads(row.view),
                created=row.created,
            )
            for row in rows
        )

    def remove(self, account: Account, saved: str) -> None:
        """Remove a saved table of an account.

        Raises:
            UnknownName: It has none of this id.
        """
        with self._link.writing() as connection:
            gone = connection.execute(
                delete(saved_tables).where(
                    saved_tables.c.id == storable(saved), saved_tables.c.account == account.id
                )
            )
        if not gone.rowcount:
            known = [saved_table.id for saved_table in self.of(account)]
            raise UnknownName("saved table", saved[:40], known=known)
