"""The columns of the census files that a dictionary is read for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sdcensus.ingest.dictionaries.code_texts import common_name
from sdcensus.ingest.draft_words import entity_named

#: Names that are shorter are parts of too many others.
_SHORTEST_PART = 4


@dataclass(frozen=True, slots=True)
class CensusColumns:
    """The names of the columns of each file, by the title of the file."""

    by_file: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return tuple(dict.fromkeys(name for names in self.by_file.values() for name in names))

    def file_named(self, text: str) -> str:
        """The file that a sheet, table or record speaks of; empty if that cannot be told.

        Examples:
            >>> files = CensusColumns({"personas_2017": (), "VIV": (), "hogares": ()})
            >>> files.file_named("Persona"), files.file_named("viv"), files.file_named("Hoja1")
            ('personas_2017', 'VIV', '')
        """
        plain = common_name(text)
        titles = {title: common_name(title) for title in self.by_file}
        equal = [title for title, name in titles.items() if name == plain]
        if len(equal) == 1:
            return equal[0]
        parts = [
            title
            for title, name in titles.items()
            if min(len(name), len(plain)) >= _SHORTEST_PART and (name in plain or plain in name)
        ]
        if len(parts) == 1:
            return parts[0]
        entity = entity_named(text)
        alike = [title for title in self.by_file if entity and entity_named(title) is entity]
        return alike[0] if len(alike) == 1 else ""

    def file_with(self, names: Iterable[str]) -> str:
        """The file that nearly all of these variables are columns of, and that no other is like."""
        wanted = set(map(common_name, names))
        if len(wanted) < 3:
            return ""
        shares = sorted(
            (len(wanted & set(map(common_name, columns))) / len(wanted), title)
            for title, columns in self.by_file.items()
        )
        if not shares or shares[-1][0] < 0.9 or (len(shares) > 1 and shares[-2][0] > 0.6):
            return ""
        return shares[-1][1]
