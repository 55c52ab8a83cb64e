"""Loading a census with its report: written beside the store, for its owner only.

The report holds sizes and shares of the census. It is marked as confidential, nobody but its owner
can read it, and it is never written into a published folder.
"""

from __future__ import annotations

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
from sdcensus.report.load.page import load_page
from sdcensus.report.load.text import load_text
from sdcensus.session.census.census import load_schema, open_store
from sdcensus.session.census.implied_codes import ProposedRule, proposed_rules
from sdcensus.session.publish.workplace import FORMAT_NAME, MANIFEST
from sdcensus.store.owner_only import open_owner_only

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
        findings: What to look at, in the language of the report.
        written: The sentence that says where the report stands; empty where none was written.
        files: The files of the report.
    """

    report: LoadReport
    rules: tuple[ProposedRule, ...]
    findings: tuple[str, ...]
    written: str
    files: tuple[Path, ...]

    def __repr__(self) -> str:
        return f"<LoadedCensus {self.report.store.name}: confidential>"


def load_with_report(
    schema: str | Path,
    out: str | Path,
    *,
    secret: str | Path | Secret | None = None,
    on_problem: str | OnProblem = OnProblem.REFUSE,
    replace: bool = False,
    report: str | Path | None = None,
    write: bool = True,
    language: str | None = None,
    progress: Progress = no_progress,
) -> LoadedCensus:
    """Load the files that a schema describes, and write the report on it.

    Where the files do not fit, there is no store, and the report lists the problems.

    Args:
        schema: The schema document.
        out: Where the store will stand.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
        on_problem: ``refuse``, or ``missing`` to count values that do not fit as "not stated".
        replace: Put the new store, and its report, in the place of older ones.
        report: The file of the report, ``.html`` or ``.txt``; else both beside the store.
        write: Whether a report is written.
        language: Of the report; English if none is named.
        progress: Called with the stage and how much of it is done.
    """
    spoken = _spoken(language)
    store = Path(out)
    places = _Places(store, None if report is None else Path(report), wanted=write)
    places.check(replace=replace)
    read = read_schema(Path(schema))
    try:
        loaded = load_schema(
            read,
            Path(schema).parent,
            store,
            secret=secret,
            on_problem=on_problem,
            replace=replace,
            progress=progress,
        )
    except DataProblems as error:
        raise _with_report(error, read, places, spoken) from None
    rules = proposed_rules(open_store(store), progress=progress)
    content = loaded_content(loaded, spoken, rules=[rule.toml() for rule in rules])
    files = places.write(content)
    return LoadedCensus(loaded, rules, content.findings, _written(files, spoken), files)


def _spoken(language: str | None) -> str:
    if language is not None and language not in LANGUAGES:
        raise UnknownName("language", language, known=LANGUAGES)
    return language or LANGUAGES[0]


def _written(files: tuple[Path, ...], language: str) -> str:
    names = ", ".join(map(str, files))
    return Words(language)("written", files=names) if files else ""


def _with_report(
    error: DataProblems, schema: Schema, places: _Places, language: str
) -> DataProblems:
    """The same error, with where its report stands."""
    problems = [problem for problem in error.problems if isinstance(problem, Problem)]
    content = refused_content(schema, places.store.name, problems, language)
    files = places.write(content)
    text = "\n".join(filter(None, [str(error), _written(files, language)]))
    return DataProblems(text, problems)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the report on a load stands."""

    store: Path
    named: Path | None
    wanted: bool

    def check(self, *, replace: bool) -> None:
        """Refuse early what could not, or must not, be written in the end."""
        if not self.wanted:
            return
        target = self.named or self._beside(REPORT)[0]
        published = _published_above(target)
        if published is not None:
            raise OutputError(
                f"{published} is a published folder. A report on a load holds true numbers of the"
                " census: write store and report elsewhere."
            )
        if self.named is None:
            return
        if self.named.suffix.lower() not in ENDINGS:
            raise OutputError(f"{self.named}: a report on a load ends with .html or .txt.")
        if not (replace and _is_report(self.named)):
            check_new(self.named)

    def write(self, content: Content) -> tuple[Path, ...]:
        """Write the report in the place of the last one."""
        if not self.wanted:
            return ()
        targets = (
            [self.named] if self.named else self._beside(PROBLEMS if content.refused else REPORT)
        )
        for target in targets:
            is_page = target.suffix.lower() == ".html"
            text = load_page(content) if is_page else load_text(content)
            with open_owner_only(target) as file:
                file.write(text.encode("utf-8"))
        if not content.refused:
            # What was wrong with the files of an earlier try is no longer.
            for old in self._beside(PROBLEMS):
                if _is_report(old):
                    old.unlink()
        return tuple(targets)

    def _beside(self, kind: str) -> list[Path]:
        return [self.store.with_name(f"{self.store.name}{kind}{ending}") for ending in ENDINGS]


def _published_above(path: Path) -> Path | None:
    """The published folder in which a file would stand, if it would."""
    for folder in path.absolute().parents:
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
