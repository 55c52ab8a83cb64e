"""The text of a first schema."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from sdcensus.documents.schema.universes import universe_lines
from sdcensus.documents.toml.text import toml, toml_key
from sdcensus.ingest.areas.draft import DraftAreas, main_geography
from sdcensus.ingest.areas.trees import AreaTree
from sdcensus.ingest.dictionaries.entries import DictionaryVariable
from sdcensus.ingest.dictionaries.ranges import take_over_range
from sdcensus.ingest.draft_columns import DraftFile, Profile
from sdcensus.ingest.draft_guesses import NO_LABEL, Guess, guess, is_weight
from sdcensus.ingest.draft_roles import concepts
from sdcensus.ingest.draft_words import (
    AND_OVER,
    PRIVATE_HOUSEHOLDS,
    Concept,
    is_private_household,
    numbers_persons,
)
from sdcensus.model.letters import plain_letters
from sdcensus.model.schema.schema import SAMPLE_WEIGHT, DeclaredUniverse
from sdcensus.model.schema.source import FORMAT_OF_ENDING
from sdcensus.model.schema.variable import CodeKind, Entity, Role
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure

#: More codes than this stand in a file of their own.
_INLINE_CODES = 12
_LONGEST_NAME = 60
#: Names that Windows keeps for devices, whatever their ending.
_DEVICES = re.compile(r"con|prn|aux|nul|com\d|lpt\d")
_RESERVED = frozenset({"and", "or", "not", "in", "total", "_t"})


class SchemaWriter:
    """Writes the text of the schema and collects its code lists."""

    def __init__(
        self,
        folder: Path,
        languages: Sequence[str],
        entries: Mapping[tuple[str, str], DictionaryVariable] | None = None,
        gazetteer: AreaTree | None = None,
    ) -> None:
        """Begin a schema.

        Args:
            folder: Where it will be written.
            languages: The languages of its labels, the main one first.
            entries: What dictionaries say, by title of the file and name of the column.
            gazetteer: The areas of the country as a file of the office lists them.
        """
        self.folder = folder
        self.language = languages[0]
        self.languages = list(languages)
        self.entries = entries or {}
        self.guesses: dict[tuple[str, str], Guess] = {}
        self.code_lists: dict[str, str] = {}
        self._names: set[str] = set()
        self._gazetteer = gazetteer
        self._areas: DraftAreas | None = None
        self._lines: list[str] = []
        self._universes: list[DeclaredUniverse] = []
        self._roles: dict[Concept, list[str]] = {Concept.AGE: [], Concept.SEX: []}
        self._lacking: set[Entity] = set()

    def schema(self, files: list[DraftFile]) -> str:
        """The whole text."""
        self._head(files)
        self._lacking = _lacking(files)
        for file in files:
            self._file(file)
        self._entities(files)
        main = main_geography(files)
        if main is not None:  # the plain name is for the variable that tables use
            name = self._free_name(main[1], main[0])
            self._names.add(name)
            self._areas = DraftAreas.found(files, main, name, self.language, self._gazetteer)
        for file in files:
            for profile in file.profiles.values():
                self._variable(file, profile)
        for universe in self._universes:
            self._note(["guessed: records in common use, which are counted by this name."])
            self._say(universe_lines(universe))
        roles = {role: names[0] for role, names in self._roles.items() if len(names) == 1}
        if roles:
            self._note(["guessed: what indicators and advice take for these."])
            self._say("[roles]", *(f"{role.value} = {toml(name)}" for role, name in roles.items()))
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def _say(self, *lines: str) -> None:
        self._lines += lines

    def _note(self, notes: Sequence[str]) -> None:
        self._lines += [f"# {_plain(note)}" for note in notes]

    def _head(self, files: list[DraftFile]) -> None:
        title = plain_letters(files[0].title) if files else ""
        code = re.sub(r"\W+", "-", title).strip("-").upper()
        self._say(
            "# A first schema, written by looking at the files. Check every line with 'guessed'.",
            "",
            "[census]",
            'name = "Census"              # write the name of the census',
            f"code = {toml(code or 'CENSUS')}  # guessed: goes into every record key. Settle it"
            " before the first load",
            "# reference_date = 2021-04-01",
            f"languages = {toml(self.languages)}",
            *_measure(files),
            "",
        )

    def _file(self, file: DraftFile) -> None:
        source = file.source
        paths = [_relative(path, self.folder) for path in source.paths]
        self._note(file.notes)
        self._say(f"[files.{file.name}]")
        self._say(
            f"path = {toml(paths[0]) if len(paths) == 1 else toml(paths)}",
            f"entity = {toml(file.entity.value)}",
        )
        if FORMAT_OF_ENDING.get(source.paths[0].suffix.lower()) is not source.format:
            self._say(f"format = {toml(source.format.value)}")
        if source.encoding != "utf-8":
            self._say(f"encoding = {toml(source.encoding)}  # guessed: the file is not UTF-8")
        if source.delimiter is not None:
            self._say(f"delimiter = {toml(source.delimiter)}")
        if source.decimal != ".":
            self._say(f"decimal = {toml(source.decimal)}")
        for setting, value in (
            ("sheet", source.sheet),
            ("layout", source.layout),
            ("dictionary", source.dictionary),
            ("record", source.record),
        ):
            if value is not None:
                text = _relative(value, self.folder) if isinstance(value, Path) else value
                self._say(f"{setting} = {toml(text)}")
        self._say("")

    def _entities(self, files: list[DraftFile]) -> None:
        for file in files:
            self._say(f"[entity.{file.entity}]")
            if not file.id:
                self._note(
                    [
                        "guessed: no columns were found that identify a record, so what a record"
                        " says takes the place of an id.",
                        "A corrected record then gets another key. Write id = [...] if there is an"
                        " id.",
                    ]
                )
                self._say("from_content = true")
            else:
                self._say(f"id = {toml(file.id)}  # guessed: no two records have the same")
                self._note(file.form_notes)
            if file.widths:
                self._say(f"id_width = {toml(file.widths if len(file.id) > 1 else file.widths[0])}")
            if file.any_case:
                self._say("id_any_case = true")
            if file.holder is not None:
                self._note(file.link_notes)
                entity = file.holder.entity.value
                self._say(f"within = {toml(entity)}  # guessed: linked by its id")
                if file.link != file.holder.id:
                    self._say(f"link = {toml(file.link)}")
                if file.optional:
                    self._say("optional = true")
                self._say("")
            elif household := _derived_household(file, files):
                self._say('within = "household"', "")
                self._say(
                    "[entity.household]  # guessed: derived from the persons, one per distinct id",
                    f"id = {toml(household)}",
                )
                widths = dict(zip(file.id, file.widths, strict=False))
                if any(widths.get(name) for name in household):
                    self._say(f"id_width = {toml([widths[name] for name in household])}")
                self._say("")
            else:
                self._say("")

    def _guessed(
        self, file: DraftFile, profile: Profile, entry: DictionaryVariable | None
    ) -> Guess:
        """What a column is taken for, among the others of its file."""
        place, areas = (file.name, profile.name), self._areas
        guessed = guess(
            profile,
            in_id=profile.name in file.id,
            geography=areas is not None and areas.holds(place),
            in_link=profile.name in file.link,
        )
        if guessed.role is Role.WEIGHT and profile.name != _weight_of(file):
            # Units have one weight. Others are kept as amounts, for the office to choose.
            guessed = replace(guessed, role=None, continuous=True, notes=[_OTHER_WEIGHT])
        if areas is not None and guessed.role is Role.GEOGRAPHY:
            guessed.notes = areas.notes(place, guessed.notes)
        if entry is not None:
            take_over_range(guessed, profile, entry)
        self.guesses[file.title, profile.name] = guessed
        return guessed

    def _variable(self, file: DraftFile, profile: Profile) -> None:
        place, areas = (file.name, profile.name), self._areas
        if areas is not None and (reason := areas.stands_elsewhere(place)):
            self._note([f"guessed: the column {profile.name!r} of {file.name}: {reason}."])
            self._say("")
            return
        entry = self.entries.get((file.title, profile.name))
        guessed = self._guessed(file, profile, entry)
        if guessed.left_out:
            reason = " ".join(guessed.notes)
            self._note([f"The column {profile.name!r} of {file.name} is left out: {reason}."])
            self._say("")
            return
        only_names = guessed.role in (Role.RECORD_ID, Role.HOUSEHOLD_LINK)
        if only_names and _slug(profile.name) in self._names:
            return  # what is only part of an id needs no description, and the name is taken
        if not only_names and file.entity in self._lacking:
            self._say_what_is_inherited(guessed)
        name = self._free_name(profile.name, file.name)
        if areas is not None and place == areas.columns.main:
            name = areas.name
        self._names.add(name)
        self._note(guessed.notes)
        self._say(f"[variable.{toml_key(name)}]", f"file = {toml(file.name)}")
        if name != profile.name:
            self._say(f"column = {toml(profile.name)}")
        if label := self._spoken(profile.title, entry.label if entry else Text()):
            self._say(f"label = {toml(label)}")
        if guessed.role is not None:
            self._say(f"role = {toml(guessed.role.value)}")
        if areas is not None and guessed.role is Role.GEOGRAPHY:
            path, text = areas.code_list(place, name, profile, guessed, self.languages)
            self.code_lists[path] = text
            self._say(*areas.settings(place), f"codes = {toml(path)}")
        elif guessed.codes is not None:
            self._codes(name, guessed, entry)
        self._values(guessed)
        self._say("")
        if areas is not None and place == areas.columns.main and areas.level_labels:
            self._say(f"[variable.{toml_key(name)}.level_labels]")
            self._say(*(f"{toml_key(key)} = {toml(text)}" for key, text in areas.level_labels), "")
        if not only_names:
            about = concepts(profile)
            self._usual_universes(name, guessed, about)
            whole = file.entity is Entity.PERSON and guessed.role is Role.KEY
            if whole and 2 * profile.stated > profile.rows:
                for role, names in self._roles.items():
                    names += [name] if role in about else []

    def _values(self, guessed: Guess) -> None:
        """What numbers there are, and what is no value."""
        if guessed.range is not None:
            self._say(f"range = [{guessed.range[0]}, {guessed.range[1]}]")
        if guessed.continuous:
            self._say("continuous = true")
        if guessed.continuous or guessed.role is Role.WEIGHT:
            self._say(f"decimals = {guessed.decimals}")
        for kind in (CodeKind.NOT_APPLICABLE, CodeKind.NOT_STATED):
            if guessed.of_kind(kind):
                self._say(f"{kind.value} = {toml(guessed.of_kind(kind))}")
        if guessed.empty is not None:
            self._say(f"empty = {toml(guessed.empty.value)}")

    def _say_what_is_inherited(self, guessed: Guess) -> None:
        """Units that lie in nothing need a code for what they would inherit."""
        stored = guessed.codes is not None or guessed.range is not None
        if stored and not guessed.missing and guessed.empty is None:
            guessed.empty = CodeKind.NOT_APPLICABLE
            guessed.notes.append("units that lie in none of these have the code 'not applicable'.")

    def _usual_universes(self, name: str, made: Guess, about: set[Concept]) -> None:
        """Note the universes that a variable is usually asked for."""
        usual: list[tuple[str, str, Text]] = []
        if Concept.AGE in about and made.range is not None:
            low, high = made.range
            usual = [
                (f"aged_{age}_and_over", f"{name} >= {age}", label)
                for age, label in AND_OVER.items()
                if low < age < high
            ]
        private = [
            code for code, label in (made.codes or {}).items() if is_private_household(label)
        ]
        if len(private) == 1 and "'" not in private[0]:
            usual.append(("private_households", f"{name} == '{private[0]}'", PRIVATE_HOUSEHOLDS))
        for universe, condition, label in usual:
            if universe not in self._names:
                self._names.add(universe)
                spoken = Text.of(label.show(self.language), language=self.language)
                self._universes.append(
                    DeclaredUniverse(name=universe, condition=condition, label=spoken)
                )

    def _spoken(self, label: str, text: Text) -> str | dict[str, str]:
        """A label, in all languages that a dictionary has it in."""
        texts = {language: _plain(words) for language, words in text.by_language if words.strip()}
        if set(texts) <= {self.language}:
            return texts.get(self.language, "") or _plain(label)
        return {language: texts[language] for language in self.languages if language in texts}

    def _codes(self, name: str, made: Guess, entry: DictionaryVariable | None) -> None:
        texts = {code.code: code.label for code in entry.codes} if entry else {}
        no_label = Text.named("labels.no_label").show(self.language)
        codes = {
            code: no_label
            if label == NO_LABEL
            else self._spoken(label, texts.get(code, Text())) or code
            for code, label in (made.codes or {}).items()
        }
        if len(codes) <= _INLINE_CODES:
            pairs = ", ".join(f"{toml(code)} = {toml(label)}" for code, label in codes.items())
            self._say(f"codes = {{ {pairs} }}")
            return
        stream = io.StringIO(newline="")
        table = csv.writer(stream, lineterminator="\n")
        others = self.languages[1:]
        table.writerow(["code", "label", *(f"label_{language}" for language in others), "parent"])
        for code, label in codes.items():
            spoken = {self.language: label} if isinstance(label, str) else label
            labels = [spoken.get(language, "") for language in self.languages]
            table.writerow([code, *labels, ""])
        path = f"codes/{name}.csv"
        self.code_lists[path] = stream.getvalue()
        self._say(f"codes = {toml(path)}")

    def _free_name(self, column: str, file: str) -> str:
        """A name for the variable of a column that is not taken."""
        name = _slug(column)
        numbered = (f"{name}_{number}" for number in count(2))
        options = chain([name, f"{name}_{file}"], numbered)
        return next(option for option in options if option not in self._names)


def _slug(column: str) -> str:
    """The name of a column as it can stand in axes and conditions."""
    name = re.sub(r"\W+", "_", column.lower()).strip("_")[:_LONGEST_NAME] or "variable"
    if not re.fullmatch(r"[^\W\d]\w*", name):
        name = f"v_{name}"
    return f"{name}_" if name in _RESERVED or _DEVICES.fullmatch(name) else name


def _lacking(files: Sequence[DraftFile]) -> set[Entity]:
    """The kinds in which some units do not lie that might."""
    lacking: set[Entity] = set()
    for file in files:
        holder = file.holder if file.optional else None
        while holder is not None:
            lacking.add(holder.entity)
            holder = holder.holder
    return lacking


def _derived_household(file: DraftFile, files: list[DraftFile]) -> list[str]:
    """The id of households in a file of persons: that of a person without the person's number."""
    if file.entity is not Entity.PERSON or len(file.id) < 2:
        return []
    if any(file.entity is Entity.HOUSEHOLD for file in files):
        return []
    numbers = [name for name in file.id if numbers_persons(name)]
    last = numbers[-1] if numbers else file.id[-1]
    return [name for name in file.id if name != last]


def _relative(path: Path, folder: Path) -> str:
    """The path as the schema in ``folder`` names it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()


def _plain(text: str) -> str:
    """A text on one line, without characters that cannot be shown."""
    return "".join(sign if sign.isprintable() else " " for sign in text).strip()


_OTHER_WEIGHT = 'guessed: another weight. Tables use the one that has role = "weight".'


def _weight_of(file: DraftFile) -> str | None:
    """The column of a file that is taken for the weight of its units: the first one."""
    return next((name for name, profile in file.profiles.items() if is_weight(profile)), None)


def _measure(files: Sequence[DraftFile]) -> list[str]:
    """What tables say, where weights tell that the records are a sample."""
    for file in files:
        weight = _weight_of(file)
        if weight is not None and file.profiles[weight].mean >= float(SAMPLE_WEIGHT):
            mean = file.profiles[weight].mean
            return [
                f"# guessed: a sample, since {weight!r} is {mean:,.3g} on average. Tables say how"
                " many there",
                '# are, by these weights. If records shall be counted instead: measure = "count".',
                f"measure = {toml(Measure.WEIGHTED.value)}",
            ]
    return []
