"""Methods as they are, beside the schemes of a study."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from sdcensus.errors import SpecError
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.method.registry import parsed_settings
from sdcensus.model.secret import Secret
from sdcensus.report.study.results import Candidate
from sdcensus.session.census.census import Census
from sdcensus.session.protect.table import build_method

_THEN = "then="


def method_candidates(
    census: Census, texts: Iterable[str], *, of: str, secret: Path | Secret | None = None
) -> tuple[Candidate, ...]:
    """Methods of any package for a study, each called as it is written.

    An intruder is taken to know what the method says; of one that says nothing, the largest change
    in the table.

    Args:
        census: Whose tables.
        texts: ``NAME``, and behind it what is said about it: ``random-rounding base=5``. Steps
            after it are written ``then=additivity``.
        of: What is counted.
        secret: The office secret or its file.
    """
    candidates = []
    for text in texts:
        name, *settings = shlex.split(text) or [""]
        if not name:
            raise SpecError("A method of a study is written by its name, such as random-rounding.")
        steps = [part.removeprefix(_THEN) for part in settings if part.startswith(_THEN)]
        then = [step for part in steps for step in part.split(",")]
        said = [part for part in settings if not part.startswith(_THEN)]
        options = MethodOptions(**parsed_settings(said, name, then))
        method = build_method(name, census, of=of, then=then, options=options, secret=secret)
        candidates.append(Candidate(name=" ".join([name, *settings]), method=method))
    return tuple(candidates)
