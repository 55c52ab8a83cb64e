"""The tables of a schema as they are written: types, allowed words, unknown settings.

Only what can be said about one setting is checked here. What settings mean together is the matter
of the modules that build the schema from these sections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.documents.toml.values import (
    CodeListOrFile,
    Codes,
    Column,
    Columns,
    Date,
    DecimalMark,
    Delimiter,
    Encoding,
    Extent,
    IdParts,
    Kind,
    Label,
    LanguageCodes,
    LevelNamesOrBounds,
    Name,
    TwoNumbers,
    Units,
    Widths,
    Word,
    Words,
    WrongValueError,
    one_of,
)
from sdcensus.errors import unknown
from sdcensus.model.schema.schema import Combine, HouseholdKey, KeyScope
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import EmptyField, EmptyOwner, Role
from sdcensus.model.vocabulary import COUNT_MEASURES, Measure


class Section(BaseModel):
    """A table of the document: no settings but its own, nothing converted silently."""

    # Most documents have few of the sections that there are: those are built, the others never.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
    _faulty: frozenset[str] = PrivateAttr(default=frozenset())

    @property
    def faulty(self) -> frozenset[str]:
        """Settings that have mistakes and were left out, so that the others can be checked."""
        return self._faulty


class CensusSection(Section):
    """``[census]``."""

    name: Name
    country: Label = ""
    code: IdParts = []
    reference_date: Date = ""
    languages: LanguageCodes = []
    measure: Annotated[Measure | None, one_of(COUNT_MEASURES, "measure")] = None


class FileSection(Section):
    """``[files.NAME]``."""

    path: Words
    entity: Kind
    format: Annotated[FileFormat | None, one_of(FileFormat, "format")] = None
    encoding: Encoding = "utf-8"
    delimiter: Delimiter | None = None
    decimal: DecimalMark = "."
    sheet: Word | None = None
    layout: Word | None = None
    dictionary: Word | None = None
    record: Word | None = None


class EntitySection(Section):
    """``[entity.KIND]``."""

    id: Columns = []
    from_content: bool = False
    within: Kind | None = None
    link: Columns = []
    optional: bool = False
    id_width: Widths = []
    id_any_case: bool = False


class KeyColumnSection(Section):
    """An entry of ``[keys.columns]``."""

    column: Column
    digits: int | None = Field(default=None, ge=1)


class KeysSection(Section):
    """``[keys]``."""

    scope: Annotated[KeyScope, one_of(KeyScope, "scope")] = KeyScope.CENSUS
    household: Annotated[HouseholdKey, one_of(HouseholdKey, "kind of household key")] = (
        HouseholdKey.OWN
    )
    reference_person: Word = ""
    modulus: int | None = Field(default=None, ge=2, le=2**32)
    combine: Annotated[Combine, one_of(Combine, "way to combine keys")] = Combine.SUM
    columns: dict[str, KeyColumnSection] = {}


class ImpossibleSection(Section):
    """``[[impossible]]``."""

    when: Word
    beside: Word = ""
    within: Units | None = None
    gap: Word = ""
    less_than: int | None = None
    more_than: int | None = None
    label: Label = ""


class IdentitySection(Section):
    """``[[identity]]``."""

    each: Units
    holds: Units
    when: Word
    times: int = Field(default=1, ge=1, le=1000)


class UniverseSection(Section):
    """``[universe.NAME]``."""

    condition: Word
    label: Label = ""
    description: Label = ""


class GridSection(Section):
    """``grid`` of a geography."""

    x: Column
    y: Column
    epsg: int = Field(ge=1, le=999_999)
    cell: int | None = Field(default=None, ge=1, le=1_000_000)
    cells: list[Annotated[int, Field(ge=1, le=1_000_000)]] = []
    extent: Extent
    inhabited: bool = False
    epsg_of_coordinates: int | None = Field(default=None, ge=1, le=999_999)


class FileUnitSection(Section):
    """An entry of ``[variable.NAME.file_units]``: the unit of the amounts in one of the files."""

    unit: Word
    scale: Any = None


class HierarchySection(Section):
    """``[[variable.NAME.hierarchy]]``."""

    name: Word
    codes: Word
    levels: Words = []


class VariableSection(Section):
    """``[variable.NAME]``."""

    file: Word | None = None
    entity: Kind | None = None
    column: Column | None = None
    label: Label = ""
    description: Label = ""
    topic: Label = ""
    role: Annotated[Role | None, one_of(Role, "role")] = None
    codes: CodeListOrFile = None
    range: TwoNumbers | None = None
    not_stated: Codes = []
    not_applicable: Codes = []
    empty: Annotated[EmptyField, one_of(EmptyField, "meaning of an empty field")] = (
        EmptyField.PROBLEM
    )
    continuous: bool = False
    unit: Label = ""
    decimals: int | None = Field(default=None, ge=0, le=9)
    imputed: Column | None = None
    owner: Column | None = None
    owner_empty: Annotated[EmptyOwner, one_of(EmptyOwner, "meaning of an empty owner")] = (
        EmptyOwner.PROBLEM
    )
    waiver: Word = ""
    file_units: dict[str, FileUnitSection] = {}
    width: int | None = Field(default=None, ge=1, le=100)
    levels: LevelNamesOrBounds = []
    level_labels: dict[str, Label] = {}
    hierarchy: list[HierarchySection] = []
    counts: Units | None = None
    counts_open: Codes = []
    main: bool = False
    map: Word = ""
    grid: GridSection | None = None


SectionType = TypeVar("SectionType", bound=Section)


def read_section(
    kind: type[SectionType], raw: object, path: KeyPath, mistakes: Mistakes
) -> SectionType | None:
    """Check one table and note its mistakes with their lines.

    Settings with mistakes are left out, so that what the others mean can still be checked;
    ``None`` if the table cannot do without them.
    """
    if not isinstance(raw, dict):
        mistakes.add(path, f"should be a table: [{'.'.join(map(str, path))}]")
        return None
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        faulty: set[str] = set()
        for one in error.errors(include_url=False):
            faulty.update(map(str, one["loc"][:1]))
            for inside, text in _in_plain_words(kind, one["type"], one):
                mistakes.add((*path, *one["loc"], *inside), text)
    try:
        rest = kind.model_validate({name: raw[name] for name in raw if name not in faulty})
    except ValidationError:
        return None
    rest._faulty = frozenset(faulty)
    return rest


def _in_plain_words(
    kind: type[Section], what: str, error: Mapping[str, Any]
) -> Sequence[tuple[KeyPath, str]]:
    """Pydantic's findings as a person would say them, with where inside the setting they lie."""
    name = str(error["loc"][-1]) if error["loc"] else ""
    setting = next((str(one) for one in reversed(error["loc"]) if isinstance(one, str)), "")
    context = error.get("ctx", {})
    reason = context.get("error")
    if isinstance(reason, WrongValueError):
        return [
            (inside, text if text[:1].isupper() else f"{setting!r}: {text}")
            for inside, text in reason.parts
        ]
    if what == "extra_forbidden":
        known = _settings_at(kind, error["loc"][:-1])
        return [((), unknown("setting", name, known))]
    if what == "missing":
        return [((), f"the setting {name!r} is missing{_MISSING.get(name, '')}")]
    if what == "list_type" and name in ("hierarchy",):
        return [((), "write it with two pairs of brackets: [[variable.NAME.hierarchy]]")]
    plain = _PLAIN_WORDS.get(what)
    text = plain(context) if plain else str(error["msg"])
    return [((), f"{setting!r} {text}")]


_MISSING = {
    "store": ': name the census store, such as store = "census.store"',
    "method": ': say what is done, such as method = "pram variables=religion"',
    "formula": ': say what is modelled, such as formula = "income ~ age + sex"',
    "share": ": say how many households exchange places, such as share = 0.05",
    "above": ": say from how many members on households are large, such as above = 10",
    "entity": ': say which units the rows are, such as entity = "person"',
    "extent": ": the area that the cells cover, as extent = [x_low, y_low, x_high, y_high]",
    "each": ': say which units hold the others, such as each = "household"',
    "holds": ': say which units lie in them, such as holds = "person"',
    "when": ': a condition, such as when = "age < 15 and marital_status == 2"',
}
_PLAIN_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "string_type": lambda _: "should be a text in double quotes",
    "int_type": lambda _: "should be a whole number",
    "bool_type": lambda _: "should be true or false, without quotes",
    "list_type": lambda _: "should be a list in square brackets",
    "dict_type": lambda _: "should be a table",
    "model_type": lambda _: "should be a table in braces, { … }",
    "greater_than_equal": lambda context: f"should be at least {context['ge']}",
    "less_than_equal": lambda context: f"should be at most {context['le']}",
    "int_parsing_size": lambda _: "should be a smaller number",
}


def _settings_at(kind: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The settings of the table that ``path`` leads to."""
    for step in path:
        inner = _INNER.get(str(step))
        kind = inner if inner is not None else kind
    return list(kind.model_fields)


_INNER: dict[str, type[BaseModel]] = {
    "grid": GridSection,
    "file_units": FileUnitSection,
    "hierarchy": HierarchySection,
    "columns": KeyColumnSection,
}
