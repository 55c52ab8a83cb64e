"""What becomes of a publication that stops before its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sdcensus.errors import OutputError, Refused, SpecError
from sdcensus.session.guard.guard import Guard
from sdcensus.session.publish.workplace import Workplace


@contextmanager
def kept_or_forgotten(workplace: Workplace, guard: Guard) -> Iterator[None]:
    """Around the work itself: what is done of it is kept if somebody can go on with it."""
    try:
        with told_to_go_on(workplace):
            yield
    except (Refused, SpecError):
        # Nobody will: something else has to be asked for.
        workplace.forget()
        guard.registry.batch().forget_others()
        raise


@contextmanager
def told_to_go_on(workplace: Workplace) -> Iterator[None]:
    """Say beside what cannot be written that nothing is lost."""
    try:
        yield
    except OutputError as error:
        if workplace.is_being_completed:
            raise
        raise OutputError(
            f"{error} What was published before is as it was. When the cause is gone, the same"
            " command goes on where it stopped."
        ) from error
