"""DDI: the codebook (1.2 and 2.x), and the variables and code lists of the lifecycle form (3.x)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.code_texts import as_range
from sdcensus.ingest.dictionaries.entries import Collector, Dictionary, DictionaryRange, Place
from sdcensus.ingest.dictionaries.headings import language_named, language_of
from sdcensus.ingest.readers.files import check_file
from sdcensus.model.text import Text

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_LARGEST = 512 * 1024 * 1024
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)

Element = ElementTree.Element


def read_ddi(path: Path, files: CensusColumns, *, language: str | None = None) -> Dictionary:
    """The variables of a DDI document with their categories.

    Raises:
        InputError: The file is no XML, or describes no variables.
    """
    check_file(path)
    root = _parsed(path)
    book = _Book(path.name, files, Collector())
    kinds = {_name(element) for element in root.iter()}
    main = language or _language(root)
    book.language = main
    if "var" in kinds:
        book.codebook(root)
    elif "Variable" in kinds:
        book.lifecycle(root)
    else:
        raise InputError(
            f"{path.name}: the document describes no variables. A DDI codebook has elements"
            " dataDscr/var, one of the lifecycle form has Variable."
        )
    return book.collector.dictionary(main, file=path.name)


def _parsed(path: Path) -> Element:
    if path.stat().st_size > _LARGEST:
        raise InputError(f"{path.name}: a document of more than {_LARGEST >> 20} MB is not read.")
    content = path.read_bytes()
    if _ENTITY.search(content):
        raise InputError(f"{path.name}: the document defines entities, which are not read.")
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        line = error.position[0]
        raise InputError(f"{path.name}: line {line} is not well-formed XML.") from None


def _name(element: Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _children(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element if _name(child) == name)


def _inside(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element.iter() if _name(child) == name)


def _words(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _language(root: Element) -> str:
    """The language that the document names, else the one that its labels are in."""
    named = language_named(root.get(_LANGUAGE, "").split("-")[0])
    labels = [_words(element) for name in ("labl", "Content") for element in _inside(root, name)]
    return language_of(labels) or named or "en"


@dataclass(slots=True)
class _Book:
    file: str
    files: CensusColumns
    collector: Collector
    language: str = ""

    def _text(self, elements: Iterator[Element]) -> Text:
        """Labels in their languages; the first in a language counts."""
        texts: dict[str, str] = {}
        for element in elements:
            named = element.get(_LANGUAGE, "").split("-")[0]
            code = language_named(named) if named else self.language
            texts.setdefault(code or named.casefold(), _words(element))
        return Text.of(texts)

    # ------------------------------------------------------------ codebook

    def codebook(self, root: Element) -> None:
        """``var`` with ``labl``, ``catgry``, ``valrng`` and ``invalrng``."""
        tables = {}
        for described in _inside(root, "fileDscr"):
            title = _words(next(_inside(described, "fileName"), None))
            tables[described.get("ID", "")] = Path(title.replace("\\", "/")).stem
        for number, variable in enumerate(_inside(root, "var"), start=1):
            name = variable.get("name", "").strip()
            if not name:
                continue
            title = tables.get(variable.get("files", "").split(" ")[0], "")
            table = self.files.file_named(title) if title else ""
            place = Place(self.file, "", number)
            label = self._text(_children(variable, "labl"))
            if not label:
                questions = _inside(variable, "qstnLit")
                label = self._text(questions)
            self.collector.variable(name, table, label, place)
            for category in _children(variable, "catgry"):
                code = _words(next(_children(category, "catValu"), None))
                missing = category.get("missing", "").upper() in ("Y", "YES", "TRUE")
                if code:
                    meaning = self._text(_children(category, "labl"))
                    self.collector.code(name, table, code, meaning, place, missing=missing)
            self._codebook_ranges(variable, name, table, place)

    def _codebook_ranges(self, variable: Element, name: str, table: str, place: Place) -> None:
        has_codes = next(_children(variable, "catgry"), None) is not None
        for group in _children(variable, "valrng"):
            for span in _inside(group, "range"):
                ends = f"{span.get('min', '')}:{span.get('max', '')}"
                numbers = as_range(re.sub(r"\.0*(?=:|$)", "", ends), only_ranges=True)
                # A range of coded values is that of its codes.
                if numbers is not None and not has_codes:
                    self.collector.range(name, table, DictionaryRange(*numbers, ends), place)
        for group in _children(variable, "invalrng"):
            for item in _inside(group, "item"):
                code = item.get("VALUE", item.get("value", "")).strip()
                if code:
                    self.collector.code(name, table, code, Text(), place, missing=True)

    # ------------------------------------------------------------ lifecycle

    def lifecycle(self, root: Element) -> None:
        """``Variable`` with the code list that it refers to, and its categories."""
        by_id = {identity: element for element in root.iter() if (identity := _id_of(element))}
        for number, variable in enumerate(_inside(root, "Variable"), start=1):
            name = _words(
                _first(variable, "VariableName", "String") or _first(variable, "VariableName")
            )
            if not name:
                continue
            place = Place(self.file, "", number)
            contents = (
                content
                for label in _children(variable, "Label")
                for content in (list(_inside(label, "Content")) or [label])
            )
            self.collector.variable(name, "", self._text(contents), place)
            for reference in _inside(variable, "CodeListReference"):
                codes = by_id.get(_reference(reference))
                if codes is not None:
                    self._code_list(name, codes, by_id, place)
            for span in _inside(variable, "NumberRange"):
                ends = [_words(next(_inside(span, end), None)) for end in ("Low", "High")]
                numbers = as_range(":".join(ends), only_ranges=True)
                if numbers is not None:
                    self.collector.range(name, "", DictionaryRange(*numbers), place)

    def _code_list(
        self, name: str, codes: Element, by_id: dict[str, Element], place: Place
    ) -> None:
        for code in _inside(codes, "Code"):
            value = _words(next(_children(code, "Value"), None))
            reference = next(_children(code, "CategoryReference"), None)
            category = by_id.get(_reference(reference)) if reference is not None else None
            if not value:
                continue
            labels = _inside(category, "Content") if category is not None else iter(())
            missing = category is not None and category.get("missing", "") in ("true", "1")
            meaning = self._text(labels)
            self.collector.code(name, "", value, meaning, place, missing=missing)


def _first(element: Element, *names: str) -> Element | None:
    for name in names:
        child = next(_inside(element, name), None)
        if child is None:
            return None
        element = child
    return element


def _id_of(element: Element) -> str:
    """The id of what can be referred to: an attribute, or an element of its own."""
    if _name(element) not in ("CodeList", "CodeScheme", "Category"):
        return ""
    return element.get("id", "") or _words(next(_children(element, "ID"), None))


def _reference(element: Element) -> str:
    return _words(next(_inside(element, "ID"), None))
