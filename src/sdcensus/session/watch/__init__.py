"""The watch over series of questions: it slows down and tells the staff, and never refuses."""

from sdcensus.session.watch.findings import (
    EVERYBODY,
    Alarm,
    Observation,
    Pattern,
    WatchReport,
    WatchScore,
)
from sdcensus.session.watch.limits import WatchLimits
from sdcensus.session.watch.watch import Watch

__all__ = [
    "EVERYBODY",
    "Alarm",
    "Observation",
    "Pattern",
    "Watch",
    "WatchLimits",
    "WatchReport",
    "WatchScore",
]
