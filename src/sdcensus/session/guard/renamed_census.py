"""The same people under another name: a census whose code was changed draws its noise anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from sdcensus.errors import StoreError
from sdcensus.model.people_mark import PeopleMark
from sdcensus.model.published.lock import CLOSE_DAYS, Making, days_apart
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.store.census_store import CensusStore
from sdcensus.store.people import people_mark


def renamed_from(
    known: Iterable[Making], info: CensusInfo, series: str, people: Callable[[], PeopleMark | None]
) -> Making | None:
    """What is out about the same people under another name; ``None`` if this is no new name.

    The same records are the same people. So are those of which few were corrected meanwhile,
    unless the dates of both say that they are different censuses.

    Args:
        known: How the numbers that are out were made.
        info: The census that would be published.
        series: Its name among them.
        people: Gives the mark of its people; called only if it is needed.
    """
    others = list(known)
    if not others or any(other.series == series for other in others):
        return None
    mark = people()
    if mark is None:
        return None
    for making in others:
        other = _mark_of(making)
        if other is None:
            continue
        apart = days_apart(making.reference_date, info.reference_date)
        if other.exact == mark.exact or ((apart or 0) <= CLOSE_DAYS and other.is_nearly(mark)):
            return making
    return None


def _mark_of(known: Making) -> PeopleMark | None:
    """The mark that was kept, or else that of the store if it still lies there."""
    if known.people or not known.store:
        return PeopleMark.parse(known.people)
    try:
        store = CensusStore.open(Path(known.store))
    except StoreError:
        return None
    same = store.manifest.data_version == known.data_version
    return people_mark(store) if same else None
