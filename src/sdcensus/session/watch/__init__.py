"""The watch over series of questions: it slows down and tells the staff, and never refuses.

What is remembered of questions, and when it looks like averaging, differencing or a walk through
everything. Whether a single question may be answered is decided in ``session/policy``.
"""

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
