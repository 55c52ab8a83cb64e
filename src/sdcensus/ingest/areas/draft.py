"""The areas of a draft: what stands in the schema for each column that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sdcensus.ingest.areas.columns import (
    AreaColumns,
    Place,
    area_codes,
    find_areas,
    is_everywhere,
)
from sdcensus.ingest.areas.trees import AreaTree, code_table
from sdcensus.ingest.draft_columns import DraftFile, Profile
from sdcensus.ingest.draft_guesses import Guess
from sdcensus.ingest.draft_roles import may_be_geography
from sdcensus.model.schema.variable import Entity


@dataclass(frozen=True, slots=True)
class DraftAreas:
    """The areas of a draft.

    Attributes:
        name: What the main geography is called.
        columns: Where areas stand.
        inherited: Columns that repeat those of a unit in which the unit lies, with its file.
        level_labels: What the levels of the main geography are called.
        listed: Whether a file of the office lists the areas.
    """

    name: str
    columns: AreaColumns
    inherited: Mapping[Place, str] = field(default_factory=dict)
    level_labels: tuple[tuple[str, str], ...] = ()
    listed: bool = False

    @classmethod
    def found(
        cls,
        files: Sequence[DraftFile],
        main: Place,
        name: str,
        language: str,
        gazetteer: AreaTree | None,
    ) -> DraftAreas:
        """Look for levels of the main geography and for others in the files of a draft."""
        columns = find_areas(
            {file.name: file.profiles for file in files},
            {file.name: file.reader for file in files},
            main,
            leaf=name,
            language=language,
            gazetteer=gazetteer,
        )
        holder = next(file for file in files if file.name == main[0])
        repeated = {main[1], *(column for _, column in columns.levels)}
        inherited = {
            (file.name, column): holder.name
            for file in files
            for column in repeated
            if column in file.profiles and _lies_in(file, holder)
        }
        named = {main[1]: columns.tree.levels[0]}
        named |= {column: level for (_, column), level in columns.levels.items()}
        labels = {level: holder.profiles[column].title for column, level in named.items()}
        complete = len(labels) > 1 and all(labels.get(level) for level in columns.tree.levels)
        spoken = tuple(labels.items()) if complete else ()
        own = {place: level for place, level in columns.places.items() if place not in inherited}
        columns = replace(columns, places=own)
        return cls(name, columns, inherited, spoken, gazetteer is not None)

    @property
    def stand_apart(self) -> bool:
        """Whether areas stand in a file of their own, since they have levels or are shared."""
        return len(self.columns.tree.levels) > 1 or len(self.columns.places) > 1 or self.listed

    def holds(self, place: Place) -> bool:
        """Whether a column is a geography."""
        return place in self.columns.places

    def stands_elsewhere(self, place: Place) -> str:
        """Why a column needs no variable of its own; empty if it does."""
        if place in self.columns.levels:
            return f"it is the level {self.columns.levels[place]!r} of {self.name}"
        if place in self.inherited:
            return f"it is that of the {self.inherited[place]} in which the unit lies"
        return ""

    def notes(self, place: Place, usual: Sequence[str]) -> list[str]:
        """What the office should check about a geography."""
        level = self.columns.places[place]
        above = self.columns.tree.above(level).levels[1:]
        if place == self.columns.main and not above:
            return list(usual)
        held = f" Its levels above are {', '.join(above)}." if above else ""
        if place == self.columns.main:
            return [f"guessed: the geography, by which units are counted.{held}"]
        return [f"guessed: areas, since its codes are those of {self.name}.{held}"]

    def settings(self, place: Place) -> list[str]:
        """Lines of the schema beside the role of a geography."""
        return (
            ["main = true"] if place == self.columns.main and len(self.columns.places) > 1 else []
        )

    def code_list(
        self, place: Place, name: str, profile: Profile, guessed: Guess, languages: Sequence[str]
    ) -> tuple[str, str]:
        """The file of the areas of a column, which columns of one level share, and its text."""
        level = self.columns.places[place]
        tree = self.columns.tree.above(level)
        known = tree.codes(level)
        labels = dict(profile.column.value_labels)
        others = {
            code: labels.get(code, code)
            for code in guessed.codes or {}
            if code not in known and code not in guessed.missing
        }
        path = f"codes/{name if others or place == self.columns.main else level}.csv"
        if not others and level == self.columns.tree.levels[0]:
            path = f"codes/{self.name}.csv"
        return path, code_table(tree.with_others(others), languages)


def main_geography(files: Sequence[DraftFile]) -> Place | None:
    """The file and column with the finest areas that most kinds of units lie in.

    What stands in the file of a larger unit is inherited by all that lie in it, so of areas that
    are equally fine those of the largest come first. Areas that only some have, such as those of
    work, come last.
    """
    smallest = min(files, default=None, key=lambda file: list(Entity).index(file.entity))
    above: list[DraftFile] = []
    while smallest is not None:
        above.append(smallest)
        smallest = smallest.holder
    candidates = [
        (
            (
                file in above,
                is_everywhere(profile),
                len(area_codes(profile)),
                list(Entity).index(file.entity),
            ),
            (file.name, name),
        )
        for file in files
        for name, profile in file.profiles.items()
        if may_be_geography(profile)
    ]
    best = max(candidates, default=None, key=lambda candidate: candidate[0])
    return best[1] if best else None


def _lies_in(file: DraftFile, holder: DraftFile) -> bool:
    """Whether every unit of a file lies in one of another."""
    above, all_linked = file, True
    while above.holder is not None and above is not holder:
        all_linked = all_linked and not above.optional
        above = above.holder
    return above is holder and file is not holder and all_linked
