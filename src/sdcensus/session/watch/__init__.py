"""The watch over series of questions: it slows down and tells the staff, and never refuses.

What is remembered of questions, and when it looks like averaging, differencing or a walk through
everything. Whether a single question may be answered is decided in ``session/policy``.
"""

from sdcensus.session.watch.findings import (
    EVERYBODY as EVERYBODY,
    Observation as Observation,
    Pattern as Pattern,
    WatchAlarm as WatchAlarm,
    WatchLimits as WatchLimits,
    WatchReport as WatchReport,
    WatchScore as WatchScore,
)
from sdcensus.session.watch.watch import Watch as Watch
