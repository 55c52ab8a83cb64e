"""What the files of a schema hold, as far as whoever edits it needs to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sdcensus.documents.schema.units import read_files
from sdcensus.documents.toml.lines import TomlDocument
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import SdcensusError
from sdcensus.ingest.distributions import Bar, histogram
from sdcensus.ingest.draft_columns import Profile, profiles_of
from sdcensus.ingest.readers import Reader, open_reader
from sdcensus.model.progress import Progress
from sdcensus.model.schema.schema import CensusFile


@dataclass(slots=True)
class SourceFile:
    """A file of the census: what its columns hold, or why it cannot be read.

    Confidential: profiles have true counts.
    """

    name: str
    file: CensusFile | None = None
    reader: Reader | None = None
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    problem: str = ""
    _bars: dict[tuple[str, tuple[str, ...]], tuple[Bar, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<SourceFile {self.name!r}: confidential>"

    @property
    def rows(self) -> int:
        """How many records it has."""
        return max((profile.rows for profile in self.profiles.values()), default=0)

    def bars(self, column: str, without: tuple[str, ...]) -> tuple[Bar, ...]:
        """The histogram of a column; made once."""
        if self.reader is None or self.file is None:
            return ()
        key = (column, without)
        if key not in self._bars:
            self._bars[key] = histogram(
                self.reader,
                self.profiles[column],
                decimal=self.file.source.decimal,
                without=without,
            )
        return self._bars[key]


def source_files(document: TomlDocument, progress: Progress) -> dict[str, SourceFile]:
    """Read every file that the schema names, once; one that cannot be read is told, not fatal."""
    raw = document.data.get("files", {})
    described = read_files(raw, Mistakes(document))
    sources: dict[str, SourceFile] = {}
    names = list(raw) if isinstance(raw, dict) else []
    for at, name in enumerate(names):
        source = sources[name] = SourceFile(name, described.get(name))
        if source.file is None:
            continue
        progress(f"looking at {', '.join(path.name for path in source.file.source.paths[:3])}", 0.0)
        try:
            source.reader = open_reader(source.file.source)
            source.profiles = profiles_of(source.reader)
        except SdcensusError as error:
            source.problem = str(error)
        progress("looking at the files", (at + 1) / len(names))
    return sources
