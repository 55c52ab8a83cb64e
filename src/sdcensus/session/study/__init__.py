"""Methods compared on a census's own tables.

The founding study with the office's own tables. Pages and sheets are in ``report/study``; one table
by one method is in ``session/assess``. ``sc.study`` in Python, with
what is recommended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.model.vocabulary import NoiseDraw as NoiseDraw
    from sdcensus.report.study.results import (
        Candidate as Candidate,
        Original as Original,
        Study as Study,
        StudyResult as StudyResult,
        StudyTable as StudyTable,
    )
    from sdcensus.session.recommend.recommendation import recommend as recommend
    from sdcensus.session.study.candidates import (
        method_candidates as method_candidates,
        scheme_candidates as scheme_candidates,
    )
    from sdcensus.session.study.study import compare as compare, compare_cubes as compare_cubes

__getattr__, __dir__ = offer(__name__)
