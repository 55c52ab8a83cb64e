"""Loading a census with its report: written beside the store, for its owner only.

The report holds sizes and shares of the census. It is marked as confidential, nobody but its owner
can read it, and it is never written into a published folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DataProblems, OutputError, UnknownName
from sdcensus.formats.write import check_new
from sdcensus.ingest.load import LoadReport
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.file_problems import OnProblem, Problem
from sdcensus.model.schema.schema import Schema
from sdcensus.model.secret import Secret
from sdcensus.model.text import LANGUAGES, Text, parse_json
from sdcensus.report.load.blocks import Content, Words
from sdcensus.report.load.content import loaded_content, refused_content
from sdcensus.report.load.link_rules import link_line
from sdcensus.report.load.page import load_page
from sdcensus.report.load.text import load_text
from sdcensus.session.census.census import Census, load_schema
from sdcensus.session.census.implied_codes import ProposedRule, proposed_rules
from sdcensus.session.publish.workplace import FORMAT_NAME, MANIFEST
from sdcensus.store.census_store import CensusStore
from sdcensus.store.owner_only import write_owner_only
from sdcensus.store.writer import is_noted_report, note_report

#: What the files of a report are called, after the name of the store.
REPORT, PROBLEMS = ".report", ".problems"
ENDINGS = (".html", ".txt")
#: How much of a file is looked at to see whether it is a report.
_HEAD = 1 << 12


@dataclass(frozen=True, slots=True, repr=False)
class LoadedCensus(Confidential):
    """A census that was loaded, and its report.

    Attributes:
        report: What the load did.
        rules: Rules that hold for all records and are not declared.
        links: How the links between records were found, in the language of the report.
        findings: What to look at, likewise.
        written: The sentence that says where the report stands; empty where none was written.
        files: The files of the report.
    """

    report: LoadReport
    rules: tuple[ProposedRule, ...]
    links: tuple[str, ...]
    findings: tuple[str, ...]
    written: str
    files: tuple[Path, ...]

    def __repr__(self) -> str:
        return f"<LoadedCensus {self.report.store.name}: confidential>"


@dataclass(frozen=True, slots=True)
class LoadReporting:
    """Where and how the report on a load is written; checked before anything is read.

    Attributes:
        store: Where the store will stand.
        file: The file of the report, ``.html`` or ``.txt``; else both beside the store.
        wanted: Whether a report is written.
        language: Of the report; English if none is named.
        replace: Whether the store and its report may take the place of older ones.
    """

    store: Path
    file: Path | None = None
    wanted: bool = True
    language: str | None = None
    replace: bool = False

    def __post_init__(self) -> None:
        if self.wanted:
            self._check_place()

    def load(
        self,
        schema: str | Path,
        *,
        secret: str | Path | Secret | None = None,
        on_problem: str | OnProblem = OnProblem.REFUSE,
        propose: bool = False,
        progress: Progress = no_progress,
    ) -> LoadedCensus:
        """Load the files that a schema describes, and write the report.

        The store gets its name when the report is written: a load that is killed before leaves
        none, and the same call makes both. Where the files do not fit, there is no store, and the
        report lists the problems.

        Args:
            schema: The schema document.
            secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
            on_problem: ``refuse``, or ``missing`` to count values that do not fit as "not stated".
            propose: Look for identities between units that the schema does not declare.
            progress: Called with the stage and how much of it is done.
        """
        read = read_schema(Path(schema))
        known = tuple(dict.fromkeys((*read.census.languages, *LANGUAGES)))
        if self.language is not None and self.language not in known:
            raise UnknownName("language", self.language, known=known)
        loaded: list[LoadedCensus] = []

        def finish(report: LoadReport, store: CensusStore) -> None:
            loaded.append(self._finished(report, store, progress))

        try:
            load_schema(
                read,
                Path(schema).parent,
                self.store,
                secret=secret,
                on_problem=on_problem,
                replace=self.replace,
                propose=propose,
                finish=finish,
                progress=progress,
            )
        except DataProblems as error:
            raise self._refused(error, read) from None
        return loaded[0]

    def _finished(self, report: LoadReport, store: CensusStore, progress: Progress) -> LoadedCensus:
        """Look for rules that are not declared, and write the report on a store that is made."""
        rules = proposed_rules(Census(store.schema, store), progress=progress)
        lines = [rule.toml() for rule in rules]
        content = loaded_content(report, self._spoken, rules=lines)
        if self.file is not None:
            note_report(store.path, self.file)
        files = self._write(content, store.path)
        words = Words(self._spoken)
        links = tuple(link_line(link, words) for link in report.links)
        return LoadedCensus(report, rules, links, content.findings, self._written(files), files)

    @property
    def _spoken(self) -> str:
        return self.language or LANGUAGES[0]

    def _written(self, files: Sequence[Path]) -> str:
        names = ", ".join(map(str, files))
        return Words(self._spoken)("written", files=names) if files else ""

    def _refused(self, error: DataProblems, schema: Schema) -> DataProblems:
        """The same error, with where its report stands."""
        problems = [problem for problem in error.problems if isinstance(problem, Problem)]
        content = refused_content(schema, self.store.name, problems, self._spoken)
        written = self._written(self._write(content))
        said = DataProblems("\n".join(filter(None, [str(error), written])), problems)
        for note in getattr(error, "__notes__", ()):
            said.add_note(note)
        return said

    def _check_place(self) -> None:
        """Refuse early what could not, or must not, be written in the end."""
        target = self.file or self._beside(REPORT)[0]
        published = _published_above(target)
        if published is not None:
            raise OutputError(
                f"{published} is a published folder. A report on a load holds true numbers of the"
                " census: write store and report elsewhere."
            )
        if self.file is None:
            return
        if self.file.suffix.lower() not in ENDINGS:
            raise OutputError(f"{self.file}: a report on a load ends with .html or .txt.")
        # One that a killed load of this store has written may be written again.
        own = self.replace or is_noted_report(self.store, self.file)
        if not (own and _is_report(self.file)):
            check_new(self.file)

    def _write(self, content: Content, folder: Path | None = None) -> tuple[Path, ...]:
        """Write the report in the place of the last one, and first into a folder that is ours.

        What a killed load has left there is removed with the folder.
        """
        if not self.wanted:
            return ()
        kind = PROBLEMS if content.refused else REPORT
        targets = (self.file,) if self.file else self._beside(kind)
        for target in targets:
            is_page = target.suffix.lower() == ".html"
            text = load_page(content) if is_page else load_text(content)
            if folder is not None:
                write_owner_only(folder / target.name, text.encode("utf-8"))
                with suppress(OSError):  # another disk
                    (folder / target.name).replace(target)
                    continue
                (folder / target.name).unlink()
            write_owner_only(target, text.encode("utf-8"))
        if not content.refused:
            # What was wrong with the files of an earlier try is no longer.
            for old in self._beside(PROBLEMS):
                if _is_report(old):
                    old.unlink()
        return targets

    def _beside(self, kind: str) -> tuple[Path, ...]:
        names = [f"{self.store.name}{kind}{ending}" for ending in ENDINGS]
        return tuple(self.store.with_name(name) for name in names)


def _published_above(path: Path) -> Path | None:
    """The published folder in which a file would stand, if it would."""
    for folder in path.resolve().parents:
        try:
            manifest = parse_json((folder / MANIFEST).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(manifest, dict) and manifest.get("format") == FORMAT_NAME:
            return folder
    return None


def _is_report(path: Path) -> bool:
    """Whether a file is a report on a load."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return False
    marks = [text for _, text in Text.named("load.report.mark").by_language]
    titles = [
        text.partition("{")[0]
        for key in ("title", "refused_title")
        for _, text in Text.named(f"load.report.{key}").by_language
    ]
    return head.startswith(tuple(marks)) or any(f"<title>{title}" in head for title in titles)
