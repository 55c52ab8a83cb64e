"""What helps against values, ids and links that do not fit: tried before it is said.

A setting is proposed only where every value that is wrong fits with it. Values are looked at and
not shown; only short whole numbers and the usual words for "no answer" are named, since these are
codes and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sdcensus.model.schema.encoding import NO_VALUE, CodeEncoder, Trouble, fixed_point, whole_number
from sdcensus.model.schema.file_problems import (
    OF_WEIGHTS,
    Advice,
    Adviser,
    ProblemKind,
    is_short_code,
    usual_advice,
)
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.schema import CensusFile, Schema
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import CodeKind, Entity, Role, Variable
from sdcensus.model.text import Text

#: How programs and people write that there is no answer.
WORDS_FOR_NOTHING = frozenset(
    {
        "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "missing", "unknown", "blank",
        "dk", "dk/ns", "not stated", "no answer", "n.s.", "ns", "nr", "ns/nr", "nd", "s/d", "s/i",
        "sd", "sin dato", "no sabe", "no responde", "perdido", "ignorado", "sem dados",
        "onbekend", "inconnu", ".", "..", "-", "--", "*", "?",
    }
)  # fmt: skip
#: Numbers that stand for no answer in most questionnaires.
_NUMBERS_FOR_NOTHING = re.compile(r"-[1-9]{1,3}|9{2,4}|[9]{1,3}[6-8]")
_ENCODINGS = ("utf-8", "cp1252", "cp850", "latin-1")
_TEXT_FORMATS = frozenset({FileFormat.CSV, FileFormat.FIXED, FileFormat.CSPRO, FileFormat.REDATAM})
#: Digits in groups of three, with a mark between them.
_THOUSANDS = re.compile(r"-?[0-9]{1,3}([.,' \u00a0\u202f])[0-9]{3}(\1[0-9]{3})*([.,][0-9]+)?")
_MOST_DECIMALS = 9


def value_adviser(variable: Variable, file: CensusFile, kind: ProblemKind) -> Adviser:
    """What helps against values of a variable."""

    def advise(values: Sequence[str], complete: bool) -> Advice:
        trial = _Trial(variable, file, values)
        remedies = [*trial.of_the_file(kind)]
        if complete:  # settings that list values, or reach to the last of them
            remedies += trial.of_the_values(kind)
        remedy = remedies[0] if remedies else trial.usual(kind)
        effect = Text() if kind in OF_WEIGHTS else _effect(variable)
        return Advice(remedy, effect)

    return advise


def coordinate_adviser(column: str, file: CensusFile) -> Adviser:
    """What helps against coordinates that are not numbers."""
    amount = Variable(name=column, entity=file.entity, continuous=True, decimals=3)

    def advise(values: Sequence[str], complete: bool) -> Advice:
        trial = _Trial(amount, file, values)
        remedies = [*trial.decimal()] if values else []
        usual = Text.named("load.remedy.coordinate")
        effect = Text.named("load.effect.unallocated")
        return Advice(remedies[0] if remedies else usual, effect)

    return advise


def extent_adviser(grid: GridSpec) -> Adviser:
    """What helps against points outside a grid. Where they lie is not said."""
    remedy = Text.named("load.remedy.extent").filled(variable=grid.variable)
    if grid.coordinates_epsg is None:
        remedy = joined(remedy, Text.named("load.remedy.degrees"))
    advice = Advice(remedy, Text.named("load.effect.unallocated"))
    return lambda values, complete: advice


def link_adviser(schema: Schema, child: Entity, parent: Entity, kind: ProblemKind) -> Adviser:
    """What helps against links that are empty or lead nowhere."""
    spec = schema.entity(child)
    columns = spec.link if parent is spec.within and spec.link else schema.entity(parent).id
    gaps: dict[str, str | Text] = {
        "child": child.value,
        "children": units_text(child),
        "parents": units_text(parent),
        "columns": " + ".join(columns),
    }
    remedy = Text.named(f"load.remedy.link.{kind.name.lower()}").filled(**gaps)
    needed = _needing_codes(schema, child, parent)
    if kind is ProblemKind.EMPTY_LINK and needed:
        more = Text.named("load.remedy.link.codes").filled(variables=", ".join(needed))
        remedy = joined(remedy, more)
    advice = Advice(remedy, _link_effect(schema, child, parent, gaps))
    return lambda values, complete: advice


def owner_adviser(variable: Variable) -> Adviser:
    """What helps against amounts that belong to nobody."""
    usual = usual_advice(ProblemKind.EMPTY_OWNER)
    advice = Advice(usual.remedy.filled(variable=variable.name), usual.effect)
    return lambda values, complete: advice


def units_text(entity: Entity) -> Text:
    """The word for many units of a kind."""
    return Text.named(f"headings.units.{entity.value}")


def joined(*texts: Text) -> Text:
    """Texts one after the other, in the languages of the first."""
    first, *others = texts
    return Text(
        tuple(
            (language, "; ".join([text, *(other.show(language) for other in others)]))
            for language, text in first.by_language
        )
    )


def _needing_codes(schema: Schema, child: Entity, parent: Entity) -> list[str]:
    """Variables of the units above without a code for those that have none there."""
    return [
        variable.name
        for variable in schema.usable(child)
        if variable.role is Role.GEOGRAPHY
        and variable.entity in schema.lineage(parent)
        and variable.missing_position is None
    ]


def _link_effect(
    schema: Schema, child: Entity, parent: Entity, gaps: dict[str, str | Text]
) -> Text:
    """What the code of inheritance does: "not applicable" where units may have no such parent."""
    lacking = schema.may_lack(child, parent)
    effect = Text.named("load.effect.without_optional" if lacking else "load.effect.without")
    effect = effect.filled(**gaps)
    weight = schema.weight(child)
    if weight is not None and weight.entity is not child:
        effect = joined(effect, Text.named("load.effect.weight"))
    return effect


def _effect(variable: Variable) -> Text:
    """Which code values get that do not fit; amounts have none then."""
    position = variable.missing_position
    if not variable.is_axis:
        return Text.named("load.effect.no_amount")
    if position is None:
        return Text.named("load.effect.not_stated")
    code = variable.codes[position]
    label = code.label or Text.of(code.code)
    return Text.named("load.effect.value").filled(label=label, code=code.code)


class _Trial:
    """Tries settings on the values that do not fit."""

    def __init__(self, variable: Variable, file: CensusFile, values: Sequence[str]) -> None:
        self._variable, self._file = variable, file
        self._values = [value.strip() for value in values]

    def of_the_file(self, kind: ProblemKind) -> Iterator[Text]:
        """How the whole file may be written; a hundred values that all fit are enough."""
        if not self._values or kind is ProblemKind.EMPTY_FIELD:
            return
        yield from self.decimal()
        if kind in OF_WEIGHTS:
            yield from self._decimals()
        elif kind is ProblemKind.NOT_A_NUMBER:
            yield from self._thousands()
        elif kind is ProblemKind.UNKNOWN_CODE:
            yield from self._encoding()
            yield from self._spelling()

    def of_the_values(self, kind: ProblemKind) -> Iterator[Text]:
        """What the values may mean."""
        if not self._values or kind in (ProblemKind.EMPTY_FIELD, ProblemKind.BAD_WEIGHT):
            return
        yield from self._words_for_nothing()
        if kind is ProblemKind.OUT_OF_RANGE and self._variable.continuous:
            yield from self._amounts()
        elif kind is ProblemKind.OUT_OF_RANGE:
            yield from self._range()
        elif kind is ProblemKind.UNKNOWN_CODE:
            yield from self._codes()

    def usual(self, kind: ProblemKind) -> Text:
        """What helps where no setting is known to."""
        section = kind in (ProblemKind.EMPTY_FIELD, ProblemKind.NOT_A_NUMBER)
        if kind is ProblemKind.OUT_OF_RANGE and self._variable.continuous:
            return self._said("amount")
        return (
            self._said(f"of_variable.{kind.name.lower()}") if section else usual_advice(kind).remedy
        )

    def decimal(self) -> Iterator[Text]:
        """Another decimal mark."""
        source = self._file.source
        mark = "," if source.decimal == "." else "."
        fits = _Fits(self._variable, mark)
        if not all(mark in value and fits(value) for value in self._values):
            return
        if source.format not in _TEXT_FORMATS:
            yield self._said("as_numbers")  # typed files have no decimal mark
        elif source.delimiter != mark:
            yield self._said("decimal", mark=mark)

    def _decimals(self) -> Iterator[Text]:
        """More decimals for weights that would else be 0."""
        for decimals in range(self._variable.decimals + 1, _MOST_DECIMALS + 1):
            wider = replace(self._variable, decimals=decimals)
            fits = _Fits(wider, self._file.source.decimal)
            if all(map(fits, self._values)):
                yield self._said("decimals", decimals=str(decimals))
                return

    def _words_for_nothing(self) -> Iterator[Text]:
        if all(value.casefold() in WORDS_FOR_NOTHING for value in self._values):
            yield self._said("words", codes=self._not_stated())

    def _range(self) -> Iterator[Text]:
        """A wider range; numbers that look like codes for no answer are named as such first."""
        numbers = [whole_number(value) for value in self._values]
        bounds = [
            bound
            for code in self._variable.codes
            for bound in (code.lower, code.upper)
            if bound is not None
        ]
        shown = [number for number in numbers if number is not None and abs(number) < 10_000]
        if len(shown) < len(numbers) or not bounds:
            return
        gaps = {
            "low": str(min(*bounds, *shown)),
            "high": str(max(*bounds, *shown)),
            "codes": self._not_stated(),
        }
        nothing = all(_NUMBERS_FOR_NOTHING.fullmatch(value) for value in self._values)
        if nothing or min(shown) < 0:
            yield self._said("number_for_nothing", **gaps)
        else:
            yield self._said("range", **gaps)

    def _amounts(self) -> Iterator[Text]:
        """Amounts below all classes, and those that cannot be summed exactly."""
        mark = self._file.source.decimal
        if all(_NUMBERS_FOR_NOTHING.fullmatch(value) for value in self._values):
            yield self._said("amount_for_nothing", codes=self._not_stated())
        for decimals in range(self._variable.decimals - 1, -1, -1):
            if all(map(_Fits(replace(self._variable, decimals=decimals), mark), self._values)):
                yield self._said("amount_decimals", decimals=str(decimals))
                return
        exact = [
            fixed_point(value, self._variable.decimals, decimal_mark=mark) for value in self._values
        ]
        if all(isinstance(number, Trouble) for number in exact):
            yield self._said("amount_large")
        elif not any(isinstance(number, Trouble) for number in exact):
            yield self._said("amount_below")

    def _thousands(self) -> Iterator[Text]:
        if all(_THOUSANDS.fullmatch(value) for value in self._values):
            yield self._said("thousands")

    def _encoding(self) -> Iterator[Text]:
        source = self._file.source
        known = _Fits(self._variable, source.decimal)
        for other in _ENCODINGS if source.format in _TEXT_FORMATS else ():
            try:
                read = [value.encode(source.encoding).decode(other) for value in self._values]
            except (UnicodeError, LookupError):
                continue
            if read != self._values and all(map(known, read)):
                yield self._said("encoding", encoding=other)
                return

    def _spelling(self) -> Iterator[Text]:
        codes = {code.code.casefold() for code in self._variable.codes}
        if all(value.casefold() in codes for value in self._values):
            yield self._said("spelling")

    def _codes(self) -> Iterator[Text]:
        if all(map(is_short_code, self._values)):
            yield self._said("codes", codes=self._not_stated())

    def _not_stated(self) -> str:
        """The whole setting ``not_stated``: what the variable has, and the new ones."""
        before = [
            code.code
            for code in self._variable.codes
            if code.kind is CodeKind.NOT_STATED and not code.code.startswith("_")
        ]
        return json.dumps([*before, *self._values], ensure_ascii=False)

    def _said(self, key: str, **gaps: str) -> Text:
        return Text.named(f"load.remedy.{key}").filled(
            variable=self._variable.name, file=self._file.name, **gaps
        )


class _Fits:
    """Whether a value fits a variable, read with a decimal mark."""

    def __init__(self, variable: Variable, mark: str) -> None:
        self._variable, self._mark = variable, mark
        self._encoder = CodeEncoder(variable, decimal_mark=mark) if variable.is_axis else None

    def __call__(self, value: str) -> bool:
        variable = self._variable
        position = 0 if self._encoder is None else self._encoder.position(value)
        if position < 0:
            return False
        if variable.is_axis and variable.codes[position].is_missing:
            return True
        if not variable.continuous and variable.role is not Role.WEIGHT:
            return True
        number = fixed_point(value, variable.decimals, decimal_mark=self._mark)
        if isinstance(number, Trouble) or number == NO_VALUE:
            return False
        return variable.role is not Role.WEIGHT or number > 0
