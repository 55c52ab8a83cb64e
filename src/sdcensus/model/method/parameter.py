"""What may be said about a method: one declaration for command line, plans, help and documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sdcensus.errors import UnknownName, unknown
from sdcensus.model.text import has_control_character

if TYPE_CHECKING:
    from sdcensus.model.linked.elsewhere import CellsElsewhere
    from sdcensus.model.perturbation.table import PerturbationTable
    from sdcensus.model.schema.schema import Schema
    from sdcensus.model.secret import Secret, SubSecret
    from sdcensus.model.spec.table_spec import TableSpec

#: A value of a parameter: a text, a number, a choice, a file, or several texts.
Setting = str | int | float | bool | Path | tuple[str, ...]

_YES = frozenset({"yes", "y", "true", "1", "x", "si", "sí"})
_NO = frozenset({"no", "n", "false", "0"})


class ValueKind(StrEnum):
    """What values of a parameter are."""

    WHOLE = "whole number"
    NUMBER = "number"
    SHARE = "number between 0 and 1"
    YES = "yes or no"
    WORD = "one of these words"
    NAME = "one of these names, however it is spelled"
    TEXT = "text"
    FILE = "file"
    RELEASE = "published file, or folder of a publication or registry"
    VARIABLE = "variable"
    VARIABLES = "variables, comma-separated"
    LISTS = "lists, each comma-separated"
    TABLES = "tables, each as axes"
    CONDITION = "condition"
    UNITS = "kind of unit"


#: What stands for a value in the help.
_METAVARS = {
    ValueKind.WHOLE: "N",
    ValueKind.NUMBER: "N",
    ValueKind.SHARE: "SHARE",
    ValueKind.FILE: "FILE",
    ValueKind.RELEASE: "PATH",
    ValueKind.VARIABLE: "VARIABLE",
    ValueKind.VARIABLES: "VARIABLES",
    ValueKind.LISTS: "LIST",
    ValueKind.TABLES: "AXES",
    ValueKind.CONDITION: "CONDITION",
    ValueKind.UNITS: "UNITS",
}


class WrongSettingError(ValueError):
    """What a value should be, in plain words."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something that may be said about a method or about a step after one.

    Attributes:
        name: As plans write it; the command line has dashes for underscores.
        kind: What values are.
        help: What it means, as a sentence: in English, or by language.
        words: The words or names that are allowed.
        called: What messages call one of them.
        default: What is taken where nothing is said; ``None`` where the help says it.
        least, most: The bounds of a number.
        needs: Of these one has to be said as well: ``name``, or ``name=value``.
        needs_for: The only value that needs it; empty for all.
        excludes: None of these can be said as well.
        required: Whether it has to be said.
        continues: Whether it only goes on from an earlier derivation, as kept pairs do: the line
            of records stays the same one.
    """

    name: str
    kind: ValueKind
    help: str | Mapping[str, str]
    _: KW_ONLY
    words: tuple[str, ...] = ()
    called: str = ""
    default: Setting | None = None
    least: int | None = None
    most: int | None = None
    needs: tuple[str, ...] = ()
    needs_for: str = ""
    excludes: tuple[str, ...] = ()
    required: bool = False
    continues: bool = False

    @property
    def metavar(self) -> str:
        """What stands for a value in the help."""
        few = self.words and len("|".join(self.words)) <= 40
        return f"<{'|'.join(self.words)}>" if few else _METAVARS.get(self.kind, "NAME")

    def sentence(self, language: str | None = None) -> str:
        """What it means."""
        if isinstance(self.help, str):
            return self.help
        return self.help.get(language or "en", self.help["en"])

    def value(self, given: object) -> Setting:
        """A value, as methods take it.

        Raises:
            WrongSettingError: It is no value of this parameter.
        """
        match self.kind:
            case ValueKind.WHOLE | ValueKind.NUMBER | ValueKind.SHARE:
                return self._number(given)
            case ValueKind.YES:
                if not isinstance(given, bool):
                    raise WrongSettingError("should be true or false, without quotes")
                return given
            case ValueKind.TABLES | ValueKind.LISTS:
                return _texts(given, self.kind)
            case ValueKind.VARIABLES:
                names = given.split(",") if isinstance(given, str) else given
                return _texts(names, self.kind)
            case ValueKind.FILE | ValueKind.RELEASE if isinstance(given, Path):
                return given
        if not isinstance(given, str):
            example = f', such as "{self.words[0]}"' if self.words else ""
            raise WrongSettingError(f"should be a text in double quotes{example}")
        text = given.strip()
        if not text:
            raise WrongSettingError("should not be empty")
        if has_control_character(text):  # "codes\new.csv" has a line break
            raise WrongSettingError(
                "has a character that cannot be shown; write '/' instead of '\\' in paths"
            )
        if self.words:
            self._check_word(text)
        return text

    def parsed(self, text: str) -> Setting:
        """The value that a text means, on a command line or in a cell of a workbook.

        Examples:
            >>> base = Parameter("base", ValueKind.WHOLE, "To multiples.")
            >>> base.parsed(" 5.0 ")
            5
        """
        plain = text.strip()
        match self.kind:
            case ValueKind.WHOLE | ValueKind.NUMBER | ValueKind.SHARE:
                try:
                    number = float(plain)
                except ValueError:
                    raise WrongSettingError("should be a number") from None
                return self.value(int(number) if number.is_integer() else number)
            case ValueKind.YES:
                if plain.casefold() not in _YES | _NO:
                    raise WrongSettingError("should be yes or no")
                return plain.casefold() in _YES
            case ValueKind.TABLES | ValueKind.LISTS:
                # Each table is itself a list of axes with commas.
                return self.value([part for part in plain.replace("\n", ";").split(";") if part])
        return self.value(plain)

    def _number(self, given: object) -> int | float:
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if not is_number or not math.isfinite(given):  # type: ignore[arg-type]
            whole = self.kind is ValueKind.WHOLE
            raise WrongSettingError(f"should be a {'whole ' if whole else ''}number")
        number: int | float = given  # type: ignore[assignment]
        if self.kind is ValueKind.WHOLE and not isinstance(number, int):
            raise WrongSettingError("should be a whole number")
        if self.kind is ValueKind.SHARE and not 0 <= number <= 1:
            raise WrongSettingError("should be a number between 0 and 1")
        if self.least is not None and self.most is not None:
            if not self.least <= number <= self.most:
                raise WrongSettingError(f"should be a number from {self.least} to {self.most}")
        elif self.least is not None and number < self.least:
            raise WrongSettingError(f"should be at least {self.least}")
        return number

    def _check_word(self, text: str) -> None:
        loosely = self.kind is ValueKind.NAME
        known = map(plain_name, self.words) if loosely else self.words
        if (plain_name(text) if loosely else text) not in known:
            raise WrongSettingError(unknown(self.called or self.name, text, self.words))


#: Whose codes are areas, for methods and steps that look at areas one by one.
AREA = Parameter(
    "area",
    ValueKind.VARIABLE,
    "The variable whose codes are areas; the geography of the census if not given.",
)
#: The limits of every method that searches.
WORK = Parameter(
    "work",
    ValueKind.NUMBER,
    "About how many seconds a search may take; counted by its steps, not by the clock.",
    least=0,
)
SECONDS = Parameter(
    "seconds", ValueKind.NUMBER, "After so many seconds by the clock a search ends.", least=0
)


def plain_name(name: str) -> str:
    """A name as it is compared: case, brackets, commas, dashes and blanks do not matter.

    Examples:
        >>> plain_name("CP3(1,2)") == plain_name("cp3-1-2")
        True
    """
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def named(kind: str, name: object, known: Iterable[str]) -> str:
    """The name that was meant, however it is spelled."""
    names = {plain_name(word): word for word in known}
    if not isinstance(name, str) or plain_name(name) not in names:
        raise UnknownName(kind, str(name), known=names.values())
    return names[plain_name(name)]


#: What a list of texts should be.
_EXAMPLES = {
    ValueKind.TABLES: (
        '["ed@district"]. For the grand total, name a table that has it, such as "sex"'
    ),
    ValueKind.VARIABLES: '["sex", "age"]',
    ValueKind.LISTS: '["size,rooms", "size"]',
}


def _texts(given: object, kind: ValueKind) -> tuple[str, ...]:
    texts = given if isinstance(given, list | tuple) else [given]
    stripped = tuple(text.strip(" ,") for text in texts if isinstance(text, str))
    if not all(stripped) or not stripped or len(stripped) < len(texts):
        raise WrongSettingError(f"should be a list such as {_EXAMPLES[kind]}")
    return stripped


class MethodOptions:
    """What is said about a method and the steps after it, by name; values stay hidden.

    Examples:
        >>> MethodOptions(strength="strong", base=None)
        <MethodOptions: strength>
    """

    __slots__ = ("_values",)

    def __init__(self, **values: Setting | None) -> None:
        """Take values by name; ``None`` where nothing is said."""
        self._values = {name: value for name, value in values.items() if value is not None}

    def __repr__(self) -> str:
        return f"<MethodOptions: {', '.join(self._values) or 'none'}>"

    def given(self) -> dict[str, Any]:
        """What was said, by name."""
        return dict(self._values)

    def also(self, **values: Setting | None) -> MethodOptions:
        """The same with further values, or with others."""
        return MethodOptions(**(self._values | values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A method, or a step after one, as far as it is known without being loaded.

    Attributes:
        name: The name under which users know it.
        summary: What it does, in one sentence.
        takes: What may be said about it.
        target: Where it is, as entry points write it: ``module:class``.
        shows_truth: Whether it publishes true counts, as they are or coarsened.
        for_sums: Whether it protects sums of amounts, and no counts.
        for_samples: Whether it protects estimates from samples, and nothing else.
        closes: What it asks of all other products for the cells that it withholds; empty for
            nothing.
        linked: Whether it protects tables together.
        package: Who brings it; empty for those of this package.
    """

    name: str
    summary: str
    takes: tuple[Parameter, ...]
    target: str
    shows_truth: bool = False
    for_sums: bool = False
    for_samples: bool = False
    closes: str = ""
    linked: bool = False
    package: str = ""

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, if there is one."""
        return next((parameter for parameter in self.takes if parameter.name == name), None)


#: How messages write a parameter, with a value where one is meant.
Spelling = Callable[[str, str], str]


def as_setting(name: str, value: str) -> str:
    """A parameter as plans write it."""
    return f'{name} = "{value}"' if value else repr(name)


def as_option(name: str, value: str) -> str:
    """A parameter as it is typed on the command line.

    Examples:
        >>> as_option("mean_cell_size", ""), as_option("zeros", "perturb")
        ('--mean-cell-size', '--zeros perturb')
    """
    return f"--{name.replace('_', '-')}{f' {value}' if value else ''}"


def checked(
    takers: Sequence[Declaration], said: Mapping[str, object], spelling: Spelling
) -> tuple[dict[str, Setting], list[tuple[str, str]]]:
    """The values of what a method and its steps take, and for each mistake where and what it is.

    What none of them takes is left to the registry, which knows whose it is.
    """
    values: dict[str, Setting] = {}
    mistakes: list[tuple[str, str]] = []
    for name, given in said.items():
        # A step may have a parameter of the same name: whoever understands the value takes it.
        reasons = []
        for taker in takers:
            parameter = taker.parameter(name)
            if parameter is None:
                continue
            try:
                values[name] = parameter.value(given)
            except WrongSettingError as error:
                reasons.append(str(error))
        if name not in values and reasons:
            whole = reasons[0][:1].isupper()
            mistakes.append((name, reasons[0] if whole else f"{spelling(name, '')} {reasons[0]}."))
    order = [parameter.name for taker in takers for parameter in taker.takes]
    values = {name: values[name] for name in order if name in values}
    mistakes += _conflicts(takers, values, spelling)
    return values, mistakes


def _conflicts(
    takers: Sequence[Declaration], values: Mapping[str, Setting], spelling: Spelling
) -> Iterator[tuple[str, str]]:
    """Values that need others, or exclude them."""
    for name, value in values.items():
        owners = [owner for taker in takers if (owner := taker.parameter(name)) is not None]
        for other in owners[0].excludes:
            if other in values:
                both = f"{spelling(other, '')} and {spelling(name, '')}"
                yield name, f"{both} cannot be said together. Choose one."
        if not all(_lacks(parameter, value, values) for parameter in owners):
            continue
        needed = []
        for text in owners[0].needs:
            other, _, word = text.partition("=")
            if spelling is as_option and not word:
                known = (taker.parameter(other) for taker in takers)
                needy = next(parameter for parameter in known if parameter is not None)
                word = "" if needy.kind is ValueKind.YES else needy.metavar
            needed.append(spelling(other, word))
        yield name, f"{spelling(name, owners[0].needs_for)} needs {' or '.join(needed)}."


def _lacks(parameter: Parameter, value: Setting, values: Mapping[str, Setting]) -> bool:
    """Whether something that a parameter needs is not said."""
    if not parameter.needs or parameter.needs_for not in ("", value):
        return False
    for text in parameter.needs:
        name, _, word = text.partition("=")
        if name in values and word in ("", values[name]):
            return False
    return True


class Asked(Protocol):
    """What somebody said about a method, checked, and what is at hand where it was said."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the method's parameters, by name; only those that were said."""
        ...

    @property
    def schema(self) -> Schema:
        """Of the census whose tables are protected."""
        ...

    def secret(self, *, needed: bool = False) -> Secret | SubSecret | None:
        """The secret at hand, if one is given or its file is named, or if there must be one."""
        ...

    def office_secret(self, method: str) -> Secret:
        """The office secret itself, for a method that draws for more than look-ups."""
        ...

    def tables(self, texts: Sequence[str]) -> list[TableSpec]:
        """Tables that are written as comma-separated axes."""
        ...

    def perturbation(
        self, file: Path, *, allow_bias: bool, repeat: int | None
    ) -> PerturbationTable:
        """The perturbation table in a file."""
        ...

    def earlier(self, path: Path) -> CellsElsewhere:
        """The cells that an earlier release shows and closes."""
        ...
