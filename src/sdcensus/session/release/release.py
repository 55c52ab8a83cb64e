"""Files for researchers in Python: one object for everything that commands do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sdcensus.formats.microdata.shortening import Shortening
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.release.registered import RegisteredFile
from sdcensus.model.secret import Secret
from sdcensus.report.release.results import ReleaseAssessment
from sdcensus.session.gate.gate import AcceptedRisk
from sdcensus.session.licence.copies import GivenCopy, hand_out
from sdcensus.session.licence.holders import FoundHolder, find_holder
from sdcensus.session.licence.register import LicenceRegister
from sdcensus.session.release.assess.assessment import assess
from sdcensus.session.release.make.checking import FileCheck, check_folder
from sdcensus.session.release.make.making import MadeFile, made
from sdcensus.session.release.make.registering import register_file
from sdcensus.session.release.opened import OpenRelease, open_release


class Release(Confidential):
    """A release document with its census: assess its designs, make one, check it, register it.

    Args:
        document: The ``release.toml``, or a plan that was made in Python.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.

    Examples:
        >>> release = Release("release.toml", secret="office.secret")       # doctest: +SKIP
        >>> assessment = release.assess("assessment")                       # doctest: +SKIP
        >>> release.make("researchers")                                     # doctest: +SKIP
        >>> release.check("researchers").sound                              # doctest: +SKIP
        True
        >>> release.hand_out("2026-001", "copy")                            # doctest: +SKIP
    """

    __slots__ = ("_opened",)

    def __init__(
        self,
        document: str | Path | ReleasePlan,
        *,
        secret: Secret | str | Path | None = None,
    ) -> None:
        self._opened = open_release(document, secret=secret)

    def __repr__(self) -> str:
        return f"<Release {self.plan.name!r}: confidential>"

    @property
    def plan(self) -> ReleasePlan:
        """What the document says."""
        return self._opened.plan

    @property
    def opened(self) -> OpenRelease:
        """The plan with its census and secret."""
        return self._opened

    def assess(
        self,
        out: str | Path | None = None,
        *,
        language: str | None = None,
        progress: Progress = no_progress,
    ) -> ReleaseAssessment:
        """Measure every design; with a folder, write the page, the workbook and the tables."""
        folder = None if out is None else Path(out)
        return assess(self._opened, folder, language=language, progress=progress)

    def make(
        self,
        out: str | Path,
        *,
        design: str = "",
        extract: str = "",
        accepted_by: str = "",
        reason: str = "",
        replace: bool = False,
        language: str | None = None,
        progress: Progress = no_progress,
        before_writing: Callable[[Shortening], None] = lambda _: None,
    ) -> MadeFile:
        """Make the file of a design, with its papers.

        ``before_writing`` is told each name and label that a format cannot hold as it is.

        Raises:
            Refused: Its risk is above what its class accepts, and nobody accepts it by name.
        """
        accepted = AcceptedRisk(accepted_by, reason) if accepted_by or reason else None
        return made(
            self._opened,
            Path(out),
            design=design,
            extract=extract,
            accepted=accepted,
            replace=replace,
            language=language,
            progress=progress,
            before_writing=before_writing,
        )

    def check(self, folder: str | Path, *, progress: Progress = no_progress) -> FileCheck:
        """Check a file as it stands on disk."""
        return check_folder(folder, progress)

    def register(
        self, folder: str | Path, *, names: tuple[str, str], date: str = ""
    ) -> tuple[RegisteredFile, ...]:
        """Register a file that goes out; two people decide."""
        return register_file(folder, self.plan.office, names=names, date=date)

    # ------------------------------------------------------------------------------- holders

    @property
    def licences(self) -> LicenceRegister:
        """Who holds which file, in the office folder of the document."""
        return LicenceRegister(self.plan.office)

    def hand_out(
        self,
        number: str,
        out: str | Path,
        *,
        date: str = "",
        progress: Progress = no_progress,
    ) -> GivenCopy:
        """Make the copy of a licence, with an order of records of its own, and record it."""
        office = self.plan.office
        return hand_out(self._opened, office, number, Path(out), date=date, progress=progress)

    def holder(self, file: str | Path, *, progress: Progress = no_progress) -> FoundHolder:
        """Find whose copy a file is, by the order of its records."""
        return find_holder(self._opened, self.plan.office, Path(file), progress)
