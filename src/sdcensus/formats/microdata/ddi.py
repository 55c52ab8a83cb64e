"""A file for researchers as a DDI Codebook 2.5: what archives and catalogues read.

The document holds every language of the file where the standard lets an element repeat. It has no
date but that of the census, and its ids follow from the order of files and variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from sdcensus.formats.microdata.encoding import whole_number
from sdcensus.formats.microdata.layout import FilePart, parts_of, weight_of
from sdcensus.formats.microdata.shortening import plain_text
from sdcensus.formats.microdata.statistics import column_statistics, may_tell_records
from sdcensus.formats.write import check_new, new_file
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import Layout
from sdcensus.model.release.release_file import ColumnKind, ReleaseColumn, ReleaseFile
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import LANGUAGES, Text

NAMESPACE = "ddi:codebook:2_5"
_SCHEMA = (
    "ddi:codebook:2_5"
    " http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
)
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
#: Kinds of numbers whose values are not counted one by one.
_CONTINUOUS = (ColumnKind.AMOUNT, ColumnKind.WEIGHT)

Element = ElementTree.Element


@dataclass(frozen=True, slots=True, eq=False)
class NumberedColumn:
    """A column with the ids of its file, of itself and of its weight, as papers call them."""

    file: str
    variable: str
    weight: str
    part: FilePart
    column: ReleaseColumn


def numbered_columns(parts: tuple[FilePart, ...]) -> Iterator[NumberedColumn]:
    """Files are F1, F2 and variables V1, V2, through all files."""
    number = 0
    for place, part in enumerate(parts, start=1):
        names = [f"V{number + each + 1}" for each in range(len(part.table.columns))]
        weight = weight_of(part.table)
        weights = [
            name for name, column in zip(names, part.table.columns, strict=True) if column is weight
        ]
        for name, column in zip(names, part.table.columns, strict=True):
            own = "" if column is weight or not weights else weights[0]
            yield NumberedColumn(f"F{place}", name, own, part, column)
        number += len(names)


def access_text(file: ReleaseFile) -> Text:
    """Who gets the file."""
    return Text.named(f"release_formats.access.{file.licence.value}")


def condition_texts(file: ReleaseFile) -> tuple[Text, ...]:
    """What users agree to, in short; the terms of use say it in full."""
    common = Text.named("release_formats.conditions.common")
    if file.licence is LicenceClass.PUBLIC_USE:
        return (common,)
    return common, Text.named("release_formats.conditions.licensed")


def contents_text(part: FilePart, file: ReleaseFile, layout: Layout) -> Text:
    """What the records of a part are."""
    if layout is Layout.FLAT and len(file.tables) > 1:
        return Text.named("release_formats.contents.flat")
    return Text.named(f"release_formats.contents.{part.table.entity.value}")


def sampling_text(file: ReleaseFile) -> Text:
    """How records were drawn."""
    return file.sampling or Text.named("release_formats.sampled")


def removed_texts(file: ReleaseFile) -> tuple[Text, ...]:
    """Which variables of the census are not in the file, and why."""
    sentence = Text.named("release_formats.variable_removed")
    return tuple(
        sentence.filled(label=label or Text.of(name), reason=reason)
        for name, label, reason in file.removed
    )


def ddi_document(file: ReleaseFile, layout: Layout = Layout.LINKED) -> bytes:
    """The codebook of a file."""
    parts = parts_of(file, layout)
    root = Element(
        "codeBook",
        {
            "xmlns": NAMESPACE,
            "xmlns:xsi": _INSTANCE,
            "xsi:schemaLocation": _SCHEMA,
            "version": "2.5",
            "ID": "codebook",
            **_language(file.languages[0] if file.languages else "en"),
        },
    )
    writer = _Codebook(file)
    _document(writer, root)
    _study(writer, root)
    for place, part in enumerate(parts, start=1):
        _file(writer, root, place, part, layout)
    data = _child(root, "dataDscr")
    for numbered in numbered_columns(parts):
        _variable(writer, data, numbered)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return content + b"\n"


def write_ddi(file: ReleaseFile, folder: Path, layout: Layout = Layout.LINKED) -> Path:
    """Write ``NAME.ddi.xml`` to a folder."""
    target = folder / f"{file.name}.ddi.xml"
    check_new(target)
    content = ddi_document(file, layout)
    with new_file(target) as opened:
        opened.write(content)
    return target


def _language(language: str) -> dict[str, str]:
    return {"xml:lang": language}


def _child(parent: Element, name: str, text: str = "", **attributes: str) -> Element:
    child = ElementTree.SubElement(parent, name, attributes)
    if text:
        child.text = plain_text(text)
    return child


class _Codebook:
    """Texts of a file in its languages."""

    __slots__ = ("file", "languages")

    def __init__(self, file: ReleaseFile) -> None:
        self.file = file
        self.languages = file.languages or ("en",)

    def first(self, parent: Element, name: str, text: Text, **attributes: str) -> None:
        """An element that stands once: in the first language, or the one that there is."""
        known = [language for language, _ in text.by_language]
        if known:
            language = self.languages[0] if self.languages[0] in known else known[0]
            element = _child(parent, name, text.show(language), **attributes)
            element.set("xml:lang", language)

    def each(self, parent: Element, name: str, text: Text, **attributes: str) -> None:
        """An element in every language in which there is a text of its own."""
        own = dict(text.by_language)
        shown = [language for language in self.languages if language in own]
        if not shown:
            self.first(parent, name, text, **attributes)
        for language in shown:
            element = _child(parent, name, own[language], **attributes)
            element.set("xml:lang", language)


def _citation(writer: _Codebook, parent: Element, *, study: bool) -> None:
    file = writer.file
    citation = _child(parent, "citation")
    titles = _child(citation, "titlStmt")
    first = writer.languages[0]
    title = file.title or Text.of(file.name)
    writer.first(titles, "titl", title)
    for language, text in title.by_language:
        if language in writer.languages and language != first:
            _child(titles, "parTitl", text).set("xml:lang", language)
    _child(titles, "IDNo", file.name if study else f"{file.name}-ddi")
    if file.producer:
        if study:
            writer.first(_child(citation, "rspStmt"), "AuthEnty", file.producer)
        production = _child(citation, "prodStmt")
        writer.first(production, "producer", file.producer)
    if study and (file.producer or file.contact):
        distribution = _child(citation, "distStmt")
        writer.first(distribution, "distrbtr", file.producer)
        if file.contact:
            _child(distribution, "contact", file.contact)
    _child(_child(citation, "verStmt"), "version", file.version)
    if study and file.citation:
        writer.first(citation, "biblCit", file.citation)


def _document(writer: _Codebook, root: Element) -> None:
    _citation(writer, _child(root, "docDscr"), study=False)


def _study(writer: _Codebook, root: Element) -> None:
    file = writer.file
    study = _child(root, "stdyDscr")
    _citation(writer, study, study=True)
    info = _child(study, "stdyInfo")
    writer.each(info, "abstract", file.abstract)
    summary = _child(info, "sumDscr")
    if file.reference_date:
        date = file.reference_date
        _child(summary, "timePrd", date, event="single", date=date)
    writer.each(summary, "nation", file.country)
    for table in file.tables:
        unit = Text.named(f"release_formats.contents.{table.entity.value}")
        writer.each(summary, "anlyUnit", unit)
    writer.each(summary, "universe", file.census)
    writer.each(summary, "dataKind", Text.named("release_formats.data_kind"))
    for text in (*file.notes, *removed_texts(file)):
        writer.each(info, "notes", text)
    collection = _child(_child(study, "method"), "dataColl")
    writer.each(collection, "sampProc", sampling_text(file))
    if any(weight_of(table) for table in file.tables):
        writer.each(collection, "weight", Text.named("release_formats.weights"))
    access = _child(study, "dataAccs")
    for language in [each for each in writer.languages if each in LANGUAGES] or LANGUAGES[:1]:
        use = _child(access, "useStmt")
        use.set("xml:lang", language)
        _child(use, "restrctn", access_text(file).show(language))
        if file.contact:
            _child(use, "contact", file.contact)
        _child(use, "citReq", Text.named("release_formats.cite").show(language))
        conditions = " ".join(text.show(language) for text in condition_texts(file))
        _child(use, "conditions", conditions)


def _file(writer: _Codebook, root: Element, place: int, part: FilePart, layout: Layout) -> None:
    description = _child(root, "fileDscr", ID=f"F{place}")
    text = _child(description, "fileTxt")
    _child(text, "fileName", part.stem)
    writer.first(text, "fileCont", contents_text(part, writer.file, layout))
    relational = layout is Layout.LINKED and len(writer.file.tables) > 1
    _child(text, "fileStrc", type="relational" if relational else "rectangular")
    dimensions = _child(text, "dimensns")
    if may_tell_records(writer.file):
        _child(dimensions, "caseQnty", str(part.table.rows))
    _child(dimensions, "varQnty", str(len(part.table.columns)))
    _child(text, "fileType", "text/csv", charset="UTF-8")
    writer.first(text, "dataMsng", Text.named("release_formats.missing_data"))


def _variable(writer: _Codebook, data: Element, numbered: NumberedColumn) -> None:
    column = numbered.column
    continuous = column.kind in _CONTINUOUS
    attributes = {
        "ID": numbered.variable,
        "name": plain_text(column.name),
        "files": numbered.file,
        "intrvl": "contin" if continuous else "discrete",
    }
    if column.kind is ColumnKind.WEIGHT:
        attributes["wgt"] = "wgt"
    if numbered.weight:
        attributes["wgt-var"] = numbered.weight
    if continuous:
        attributes["dcml"] = str(column.decimals)
    if column.unit:
        attributes["measUnit"] = plain_text(column.unit)
    variable = ElementTree.SubElement(data, "var", attributes)
    writer.each(variable, "labl", column.label or Text.of(column.name))
    _ranges(variable, column)
    writer.each(variable, "universe", column.universe)
    statistics = column_statistics(writer.file, numbered.part.table, column)
    for summary in statistics.summaries:
        shown = _child(variable, "sumStat", summary.value, type=summary.kind)
        _weigh(shown, numbered, weighted=summary.weighted)
    writer.each(variable, "txt", column.description)
    for place, code in enumerate(column.codes):
        category = _child(variable, "catgry")
        if code.is_missing:
            category.set("missing", "Y")
            category.set("missType", code.kind.value.replace("_", " "))
        _child(category, "catValu", code.code)
        writer.each(category, "labl", code.label)
        if statistics.frequencies:
            counted = _child(category, "catStat", str(statistics.frequencies[place]), type="freq")
            _weigh(counted, numbered, weighted=False)
        if statistics.weighted:
            weighed = _child(category, "catStat", statistics.weighted[place], type="freq")
            _weigh(weighed, numbered, weighted=True)
    writer.each(variable, "codInstr", column.recoded)
    _child(variable, "varFormat", type="numeric" if _is_number(column) else "character")


def _weigh(element: Element, numbered: NumberedColumn, *, weighted: bool) -> None:
    element.set("wgtd", "wgtd" if weighted else "not-wgtd")
    if weighted:
        element.set("wgt-var", numbered.weight)


def _is_number(column: ReleaseColumn) -> bool:
    return all(whole_number(code.code) is not None for code in column.codes)


def _ranges(variable: Element, column: ReleaseColumn) -> None:
    """Between which numbers valid codes lie, and which codes say that there is no value."""
    valid = [whole_number(code.code) for code in column.codes if not code.is_missing]
    numbers = [number for number in valid if number is not None]
    if numbers and len(numbers) == len(valid):
        ranges = _child(variable, "valrng")
        _child(ranges, "range", UNITS="INT", min=str(min(numbers)), max=str(max(numbers)))
    missing = [code for code in column.codes if code.kind is not CodeKind.VALID]
    if missing:
        invalid = _child(variable, "invalrng")
        for code in missing:
            _child(invalid, "item", VALUE=plain_text(code.code))
