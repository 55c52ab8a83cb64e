"""The watch over series of questions: it slows down and tells the staff, and never refuses."""

from sdcensus.session.watching.findings import (
    EVERYBODY,
    Alarm,
    Observation,
    Pattern,
    WatchReport,
    WatchScore,
)
from sdcensus.session.watching.limits import WatchLimits
from sdcensus.session.watching.watch import Watch

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
