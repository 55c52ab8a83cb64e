"""Which numbers were given out, by census, and what has happened to them."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from sdcensus.errors import OutputError
from sdcensus.model.published.lock import EventKind, Making
from sdcensus.model.published.served_numbers import Opening, ServedEvent, ServedNumbers
from sdcensus.web.database.audit import enter
from sdcensus.web.database.link import Link, random_id, storable
from sdcensus.web.database.records import Action, Actor
from sdcensus.web.database.schema import AnyRow, served, served_events

_TEXTS = (
    *("method", "method_version", "data_version", "secret_id", "package_version"),
    *("settings", "store", "census", "reference_date", "series", "people"),
)


class Served:
    """The numbers that the table builders of one database have given out."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def all(self) -> tuple[ServedNumbers, ...]:
        """Those of every census."""
        with self._link.reading() as connection:
            return _all(connection)

    def events(self) -> tuple[ServedEvent, ...]:
        """What happened to them, in its order."""
        asked = select(served_events).order_by(served_events.c.time, served_events.c.id)
        with self._link.reading() as connection:
            rows = connection.execute(asked).all()
        return tuple(
            ServedEvent(name=row.name, kind=EventKind(row.kind), series=row.series) for row in rows
        )

    def open(
        self, opening: Opening, *, before: tuple[ServedNumbers, ...], by: Actor
    ) -> ServedNumbers:
        """Keep what is opened, and enter in the audit that it was changed.

        Args:
            opening: What the guard decided.
            before: What was kept when it did.
            by: Who opens it.

        Raises:
            OutputError: Another server has opened other numbers meanwhile.
        """
        numbers, event = opening.numbers, opening.event
        if event is None and numbers in before:
            return numbers
        now = self._link.clock()
        with self._link.writing() as connection:
            if self._link.is_postgresql:
                connection.exec_driver_sql("LOCK TABLE served IN SHARE ROW EXCLUSIVE MODE")
            if _all(connection) != before:
                raise OutputError(
                    f"Another server has just opened its numbers in {self._link.shown}. Start again"
                    " to compare with them."
                )
            connection.execute(delete(served).where(served.c.series == numbers.series))
            connection.execute(insert(served).values(**_row(numbers), since=now))
            if event is None:
                return numbers
            connection.execute(
                insert(served_events).values(
                    id=random_id(),
                    time=now,
                    series=event.series,
                    name=storable(event.name),
                    kind=event.kind.value,
                    data_version=numbers.making.data_version,
                    key_version=numbers.making.key_version,
                    smallest_group=numbers.smallest_group,
                )
            )
            if event.kind is not EventKind.FIRST:  # of which the start of the server tells
                about = f"{event.kind.value}: {event.name}"
                enter(connection, by, Action.SETTINGS, now, about=about)
        return numbers


def _all(connection: Connection) -> tuple[ServedNumbers, ...]:
    rows = connection.execute(select(served).order_by(served.c.series)).all()
    return tuple(_numbers(row) for row in rows)


def _row(numbers: ServedNumbers) -> dict[str, object]:
    making = numbers.making
    return {
        **{name: storable(getattr(making, name)) for name in _TEXTS},
        "key_version": making.key_version,
        "smallest_group": numbers.smallest_group,
        "looks": numbers.looks,
        "menus": storable("\n".join(numbers.menus)),
    }


def _numbers(row: AnyRow) -> ServedNumbers:
    texts = {name: getattr(row, name) for name in _TEXTS}
    return ServedNumbers(
        making=Making(**texts, fingerprint="", key_version=row.key_version, consistent=True),
        smallest_group=row.smallest_group,
        looks=row.looks,
        menus=tuple(row.menus.splitlines()),
    )
