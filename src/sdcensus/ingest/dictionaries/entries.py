"""What a dictionary says: variables with labels, codes, ranges; the same for every kind of file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sdcensus.ingest.dictionaries.code_texts import common_name
from sdcensus.ingest.draft_words import kind_of_label
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import Text


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands: the file, its sheet if it has several, and the row or line."""

    file: str
    sheet: str = ""
    row: int = 0

    def __str__(self) -> str:
        sheet = f", sheet {self.sheet!r}" if self.sheet else ""
        return f"{self.file}{sheet}{f', row {self.row}' if self.row else ''}"


@dataclass(frozen=True, slots=True)
class DictionaryCode:
    """A code with its label in one or more languages.

    ``kind`` is what its label says: a 9 that is labelled "nine or more" is a value.
    """

    code: str
    label: Text = Text()
    kind: CodeKind = CodeKind.VALID
    place: Place = field(default=Place(""), compare=False)


@dataclass(frozen=True, slots=True)
class DictionaryRange:
    """Whole numbers that are values; ``text`` is how the range was written."""

    low: int
    high: int
    text: str = field(default="", compare=False)
    label: Text = Text()


@dataclass(frozen=True, slots=True)
class DictionaryVariable:
    """A variable of the table ``table``; of any table where that is empty."""

    name: str
    table: str = ""
    label: Text = Text()
    codes: tuple[DictionaryCode, ...] = ()
    ranges: tuple[DictionaryRange, ...] = ()
    place: Place = field(default=Place(""), compare=False)

    def same_meaning(self, other: DictionaryVariable) -> bool:
        """Whether both say the same about codes and ranges."""
        return self.codes == other.codes and self.ranges == other.ranges


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Everything that the dictionaries of a census say together.

    Attributes:
        variables: In the order in which they first stand.
        language: The language of labels that name none.
        doubts: Entries that stand twice or contradict each other, with their places.
        file: Of one dictionary: the name of the file.
    """

    variables: tuple[DictionaryVariable, ...] = ()
    language: str = ""
    doubts: tuple[str, ...] = ()
    file: str = ""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which there are labels, the main one first."""
        texts = [variable.label for variable in self.variables]
        texts += [code.label for variable in self.variables for code in variable.codes]
        spoken = dict.fromkeys(language for text in texts for language, _ in text.by_language)
        return tuple(sorted(spoken, key=lambda language: language != self.language))


def kind_of(label: Text, *, missing: bool = False) -> CodeKind:
    """The kind of a code by its label; a code that is declared missing is "not stated" at least."""
    kinds = [kind_of_label(text) for _, text in label.by_language]
    kind = next((kind for kind in kinds if kind is not CodeKind.VALID), CodeKind.VALID)
    return CodeKind.NOT_STATED if missing and kind is CodeKind.VALID else kind


@dataclass(slots=True)
class _Entry:
    variable: DictionaryVariable
    codes: dict[str, DictionaryCode] = field(default_factory=dict)
    ranges: dict[tuple[int, int], DictionaryRange] = field(default_factory=dict)


class Collector:
    """Puts a dictionary together entry by entry and notes where entries contradict each other."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._doubts: dict[str, None] = {}

    def variable(self, name: str, table: str, label: Text, place: Place) -> None:
        """Note a variable; a second entry may add languages, and is a doubt where it differs."""
        entry = self._entry(name, table, place)
        known = entry.variable
        merged, clash = _merged(known.label, label)
        entry.variable = replace(known, label=merged)
        if clash:
            first, second = clash
            self._doubt(
                f"{place}: the label of {name!r} is {second!r}, but {first!r} in {known.place}."
                " The first is used."
            )

    def code(
        self,
        name: str,
        table: str,
        code: str,
        label: Text,
        place: Place,
        *,
        missing: bool = False,
    ) -> None:
        """Note a code of a variable."""
        entry = self._entry(name, table, place)
        new = DictionaryCode(code, label, kind_of(label, missing=missing), place)
        known = entry.codes.get(code)
        if known is None:
            entry.codes[code] = new
            return
        merged, clash = _merged(known.label, label)
        kind = CodeKind.VALID if clash else new.kind
        entry.codes[code] = replace(
            known, label=merged, kind=known.kind if known.kind is not CodeKind.VALID else kind
        )
        if clash:
            first, second = clash
            self._doubt(
                f"{place}: the code {code!r} of {name!r} is {second!r}, but {first!r} in"
                f" {known.place}. The first is used."
            )
        elif merged == known.label and label and known.place.file == place.file:
            self._doubt(f"{place}: the code {code!r} of {name!r} stands in {known.place} already.")

    def range(self, name: str, table: str, span: DictionaryRange, place: Place) -> None:
        """Note a range of values of a variable."""
        self._entry(name, table, place).ranges.setdefault((span.low, span.high), span)

    def add(self, dictionary: Dictionary) -> None:
        """Take over all entries of a dictionary."""
        self._doubts.update(dict.fromkeys(dictionary.doubts))
        for variable in dictionary.variables:
            self.variable(variable.name, variable.table, variable.label, variable.place)
            for code in variable.codes:
                self.code(
                    variable.name,
                    variable.table,
                    code.code,
                    code.label,
                    code.place,
                    missing=code.kind is not CodeKind.VALID,
                )
            for span in variable.ranges:
                self.range(variable.name, variable.table, span, variable.place)

    def dictionary(self, language: str, *, file: str = "") -> Dictionary:
        """What was noted."""
        variables = tuple(
            replace(
                entry.variable,
                codes=tuple(entry.codes.values()),
                ranges=tuple(entry.ranges.values()),
            )
            for entry in self._entries.values()
        )
        return Dictionary(variables, language, tuple(self._doubts), file)

    def _entry(self, name: str, table: str, place: Place) -> _Entry:
        key = (common_name(table), common_name(name))
        fresh = _Entry(DictionaryVariable(name, table, place=place))
        return self._entries.setdefault(key, fresh)

    def _doubt(self, text: str) -> None:
        self._doubts[text] = None


def joined(dictionaries: Iterable[Dictionary]) -> Dictionary:
    """Several dictionaries as one; where they contradict each other the first is right."""
    collector = Collector()
    language = ""
    for dictionary in dictionaries:
        collector.add(dictionary)
        language = language or dictionary.language
    return collector.dictionary(language)


def _merged(known: Text, new: Text) -> tuple[Text, tuple[str, str] | None]:
    """Both labels as one, and the two texts of a language in which they differ."""
    texts = dict(known.by_language)
    clash = None
    for language, text in new.by_language:
        if language not in texts:
            texts[language] = text
        elif _plain(texts[language]) != _plain(text) and clash is None:
            clash = (texts[language], text)
    return Text.of(texts), clash


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
