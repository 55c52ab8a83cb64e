"""The structure of a delivered table as an SDMX-ML 2.1 structure message.

Version 2.1 and not 3.0: every tool reads it, and the schema of 3.0 takes no code as the parent of
another that begins with a digit or an underscore, such as ``0`` or ``_T``.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from sdcensus.formats.write.identifiers import at_least_one_axis, distinct, unique_codes
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.text import Text

#: The version of all artefacts: a table that changes is another publication, not another version.
VERSION = "1.0"
MEASURE, STATUS, CONFIDENTIALITY = "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"
POPULATED, DECIMALS, UNIT = "POPULATED", "DECIMALS", "UNIT_MEASURE"

#: Columns that are no dimensions.
RESERVED = (
    *("STRUCTURE", "STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "SERIES_KEY", "OBS_KEY", "DATAFLOW"),
    *(MEASURE, STATUS, CONFIDENTIALITY, POPULATED, DECIMALS, UNIT),
)
#: For each mark the code of the observation's status and that of its confidentiality, of the lists
#: that the SDMX community keeps (CL_OBS_STATUS, CL_CONF_STATUS).
STATUS_OF = {
    Mark.NONE: ("A", "F"),
    Mark.WITHHELD: ("Q", "C"),
    Mark.BELOW_THRESHOLD: ("Q", "A"),
    Mark.REFUSED: ("Q", "N"),
    Mark.NOT_AVAILABLE: ("O", "F"),
    Mark.LOW_RELIABILITY: ("U", "F"),
    Mark.POPULATED: ("A", "F"),
    Mark.NOT_BROKEN_DOWN: ("Q", "D"),
    Mark.MODERATE_ERROR: ("E", "F"),
    Mark.UNRELIABLE: ("Q", "F"),
}


@dataclass(frozen=True, slots=True)
class SdmxNames:
    """The identifiers of a table.

    Attributes:
        agency: Who maintains the artefacts.
        table: The part that the artefacts of the table have in common.
        dimensions: The dimensions, in the order of the axes.
        codes: For each axis, the identifiers of its codes.
        unit: The unit of measure.
        populated: Whether some cells are marked as populated.
    """

    agency: str
    table: str
    dimensions: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    unit: str
    populated: bool

    @property
    def dataflow(self) -> str:
        """The dataflow."""
        return f"DF_{self.table}"

    @property
    def data_structure(self) -> str:
        """The data structure definition."""
        return f"DSD_{self.table}"

    @property
    def concepts(self) -> str:
        """The scheme of concepts."""
        return f"CS_{self.table}"

    def code_list(self, component: str) -> str:
        """The code list of a dimension or attribute."""
        return f"CL_{self.table}_{component}"


def sdmx_names(table: DeliveredTable) -> SdmxNames:
    """The identifiers of a table, the same whenever and wherever it is written."""
    axes = at_least_one_axis(table)
    columns = [_component(axis.column) for axis in axes]
    return SdmxNames(
        agency=_agency(table),
        table=_table(table.name),
        dimensions=distinct(columns, taken=RESERVED),
        codes=tuple(code_ids(axis) for axis in axes),
        unit=_plain(table.unit.show("en")).upper() or "NUMBER",
        populated=Mark.POPULATED in table.used_marks(),
    )


def code_ids(axis: DeliveredAxis) -> tuple[str, ...]:
    """The codes of an axis as identifiers of SDMX, none twice.

    Codes that need no change keep their identifier, whatever the others are.
    """
    codes = unique_codes(axis)
    safe = [re.sub(r"[^A-Za-z0-9_@$-]", "_", code) or "_" for code in codes]
    kept = {one for one, code in zip(safe, codes, strict=True) if one == code}
    changed = [one for one, code in zip(safe, codes, strict=True) if one != code]
    new = iter(distinct(changed, taken=kept))
    return tuple(one if one == code else next(new) for one, code in zip(safe, codes, strict=True))


def _plain(text: str) -> str:
    """A text in letters, digits and underscores, without accents."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "_", letters).strip("_")


def _component(column: str) -> str:
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", column)
    return safe if re.match(r"[A-Za-z]", safe) else f"D_{safe}"


def _table(name: str) -> str:
    """The name of a table; where more than points has to change, a digest keeps tables apart."""
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    if safe == name.replace(".", "_"):
        return safe
    return f"{safe}_{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"


def _agency(table: DeliveredTable) -> str:
    """The office, as the plan calls it."""
    name = _plain(table.source.show("en")).upper()[:50].strip("_")
    if not name:
        return "OFFICE"
    return name if name[0].isalpha() else f"A_{name}"


#: What stands in the head of the message where no date is known: the schema of SDMX asks for one,
#: and readers refuse a message without it. Nobody takes the first day of the calendar for real.
NO_DATE = "0001-01-01"

#: How the annotation is called that holds a code as it was, a level, a note, how it was made.
CODE, LEVEL, NOTE, PROVENANCE, SIGN = "CODE", "LEVEL", "NOTE", "PROVENANCE", "SIGN"
#: And one that says of which census the table is.
CENSUS = "CENSUS"

_SCHEMAS = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
_NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_AGENCIES = Text.named("files.sdmx.agencies")
_OFFICE = Text.named("files.sdmx.office")

#: Names of what is no dimension.
_CONCEPTS = {
    concept: Text.named(f"files.sdmx.concepts.{name}")
    for concept, name in (
        (MEASURE, "measure"),
        (STATUS, "status"),
        (CONFIDENTIALITY, "confidentiality"),
        (POPULATED, "populated"),
        (DECIMALS, "decimals"),
        (UNIT, "unit"),
    )
}
_STATUSES = {code: Text.named(f"files.sdmx.statuses.{code.lower()}") for code in "AOQU"}
_MODERATE = {"E": Text.named("files.sdmx.statuses.e")}
_CONFIDENTIALITIES = {
    code: Text.named(f"files.sdmx.confidentialities.{code.lower()}") for code in "ACDFN"
}
_POPULATED = {"1": Text.named("files.sdmx.populated.1")}


def structure_message(
    table: DeliveredTable, names: SdmxNames, languages: Sequence[str]
) -> Iterator[str]:
    """The message in pieces: agency, code lists, concepts, data structure, dataflow.

    Args:
        table: The table.
        names: Its identifiers.
        languages: The languages of names; none for all that there are.
    """
    structures = [_agencies(table, names, languages), _dataflow(table, names, languages)]
    lists = _code_lists(table, names, languages)
    namespaces = "".join(
        f' xmlns:{short}="{_SCHEMAS}/{long}"'
        for short, long in (("mes", "message"), ("str", "structure"), ("com", "common"))
    )
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<mes:Structure{namespaces}>\n<mes:Header>"
    yield _element("mes:ID", names.data_structure) + _element("mes:Test", "false")
    yield _element("mes:Prepared", table.dated or NO_DATE)
    yield f"{_tag('mes:Sender', {'id': names.agency})}</mes:Header>\n<mes:Structures>\n"
    yield from structures
    yield "<str:Codelists>\n"
    yield from lists
    yield "</str:Codelists>\n"
    yield _concepts(table, names, languages)
    yield _data_structure(table, names, languages)
    yield "</mes:Structures>\n</mes:Structure>\n"


def _agencies(table: DeliveredTable, names: SdmxNames, languages: Sequence[str]) -> str:
    office = _named("str:Agency", {"id": names.agency}, table.source or _OFFICE, "", languages)
    own = {"id": "AGENCIES", "agencyID": "SDMX", "version": VERSION}
    scheme = _named("str:AgencyScheme", own, _AGENCIES, "", languages, office)
    return f"<str:OrganisationSchemes>\n{scheme}</str:OrganisationSchemes>\n"


def _dataflow(table: DeliveredTable, names: SdmxNames, languages: Sequence[str]) -> str:
    notes = [
        _annotation(f"NOTE_{at + 1}", NOTE, _said(note, "", languages))
        for at, note in enumerate(table.notes)
        if note
    ]
    notes += [
        _annotation(f"SIGN_{mark.name}", SIGN, _said(mark.meaning, "", languages), table.sign(mark))
        for mark in table.used_marks()
    ]
    if table.census is not None:
        notes += [
            _annotation(member.upper(), CENSUS, _said(Text.of(words), "", languages))
            for member, words in table.census.lines(languages[0] if languages else None)
        ]
    if table.provenance is not None:
        provenance = json.dumps(table.provenance.to_json(), ensure_ascii=False)
        notes.append(_annotation("PROVENANCE", PROVENANCE, [("en", provenance)]))
    structure = _reference("DataStructure", "datastructure", names, names.data_structure)
    content = _element("str:Structure", structure, raw=True)
    own = _maintained(names.dataflow, names)
    flow = _named("str:Dataflow", own, table.title, table.name, languages, content, notes)
    return f"<str:Dataflows>\n{flow}</str:Dataflows>\n"


def _code_lists(table: DeliveredTable, names: SdmxNames, languages: Sequence[str]) -> Iterator[str]:
    axes = at_least_one_axis(table)
    for axis, component, ids in zip(axes, names.dimensions, names.codes, strict=True):
        codes = "".join(_codes(axis, ids, languages))
        yield _code_list(names, component, axis.label, axis.column, codes, languages)
    statuses = _STATUSES
    if Mark.MODERATE_ERROR in table.used_marks():  # other tables keep the list that they had
        statuses = _STATUSES | _MODERATE
    fixed = {STATUS: statuses, CONFIDENTIALITY: _CONFIDENTIALITIES}
    fixed[UNIT] = {names.unit: table.unit}
    if names.populated:
        fixed[POPULATED] = _POPULATED
    for component, meanings in fixed.items():
        codes = "".join(
            _named("str:Code", {"id": one}, text, one, languages) for one, text in meanings.items()
        )
        yield _code_list(names, component, _CONCEPTS[component], component, codes, languages)


def _codes(axis: DeliveredAxis, ids: Sequence[str], languages: Sequence[str]) -> Iterator[str]:
    for at, (own, above) in enumerate(zip(ids, axis.parents, strict=True)):
        notes = []
        if own != axis.codes[at]:
            notes.append(_annotation(CODE, CODE, [], axis.codes[at]))
        notes.append(_annotation(LEVEL, LEVEL, [], axis.levels[at]))
        parent = ""
        if above != NO_PARENT:
            parent = _element("str:Parent", _tag("Ref", {"id": ids[above]}), raw=True)
        yield _named(
            "str:Code", {"id": own}, axis.labels[at], axis.codes[at], languages, parent, notes
        )


def _code_list(
    names: SdmxNames,
    component: str,
    label: Text,
    instead: str,
    codes: str,
    languages: Sequence[str],
) -> str:
    own = _maintained(names.code_list(component), names)
    return _named("str:Codelist", own, label, instead, languages, codes)


def _concepts(table: DeliveredTable, names: SdmxNames, languages: Sequence[str]) -> str:
    axes = zip(names.dimensions, at_least_one_axis(table), strict=True)
    pairs = [(one, axis.label, axis.column) for one, axis in axes]
    pairs += [
        (one, text, one) for one, text in _CONCEPTS.items() if one != POPULATED or names.populated
    ]
    concepts = "".join(
        _named("str:Concept", {"id": one}, text, instead, languages) for one, text, instead in pairs
    )
    own = _maintained(names.concepts, names)
    scheme = _named("str:ConceptScheme", own, table.title, table.name, languages, concepts)
    return f"<str:Concepts>\n{scheme}</str:Concepts>\n"


def _data_structure(table: DeliveredTable, names: SdmxNames, languages: Sequence[str]) -> str:
    def identity(component: str) -> str:
        own = {
            "id": component,
            "maintainableParentID": names.concepts,
            "maintainableParentVersion": VERSION,
            "agencyID": names.agency,
            "package": "conceptscheme",
            "class": "Concept",
        }
        return _element("str:ConceptIdentity", _tag("Ref", own), raw=True)

    def coded(component: str) -> str:
        list_of = _reference("Codelist", "codelist", names, names.code_list(component))
        inside = _element("str:Enumeration", list_of, raw=True)
        return _element("str:LocalRepresentation", inside, raw=True)

    def numeric(kind: str) -> str:
        inside = _tag("str:TextFormat", {"textType": kind})
        return _element("str:LocalRepresentation", inside, raw=True)

    def attribute(component: str, representation: str, *, mandatory: bool, cell: bool) -> str:
        own = {"id": component, "assignmentStatus": "Mandatory" if mandatory else "Conditional"}
        to = _tag("Ref", {"id": MEASURE})
        level = _element("str:PrimaryMeasure", to, raw=True) if cell else "<str:None/>"
        relation = _element("str:AttributeRelationship", level, raw=True)
        return _element(
            "str:Attribute", identity(component) + representation + relation, own, raw=True
        )

    dimensions = "".join(
        _element(
            "str:Dimension",
            identity(dimension) + coded(dimension),
            {"id": dimension, "position": str(at + 1)},
            raw=True,
        )
        for at, dimension in enumerate(names.dimensions)
    )
    attributes = attribute(STATUS, coded(STATUS), mandatory=True, cell=True)
    attributes += attribute(CONFIDENTIALITY, coded(CONFIDENTIALITY), mandatory=False, cell=True)
    if names.populated:
        attributes += attribute(POPULATED, coded(POPULATED), mandatory=False, cell=True)
    attributes += attribute(DECIMALS, numeric("Integer"), mandatory=False, cell=False)
    attributes += attribute(UNIT, coded(UNIT), mandatory=False, cell=False)
    # An integer of SDMX has 32 bits.
    kind = "Decimal" if table.decimals else "Long"
    measure = _element(
        "str:PrimaryMeasure", identity(MEASURE) + numeric(kind), {"id": MEASURE}, raw=True
    )
    lists = _element("str:DimensionList", dimensions, {"id": "DimensionDescriptor"}, raw=True)
    lists += _element("str:AttributeList", attributes, {"id": "AttributeDescriptor"}, raw=True)
    lists += _element("str:MeasureList", measure, {"id": "MeasureDescriptor"}, raw=True)
    components = _element("str:DataStructureComponents", lists, raw=True)
    own = _maintained(names.data_structure, names)
    structure = _named("str:DataStructure", own, table.title, table.name, languages, components)
    return f"<str:DataStructures>\n{structure}</str:DataStructures>\n"


def _maintained(own: str, names: SdmxNames) -> dict[str, str]:
    return {"id": own, "agencyID": names.agency, "version": VERSION}


def _reference(kind: str, package: str, names: SdmxNames, own: str) -> str:
    return _tag("Ref", {**_maintained(own, names), "package": package, "class": kind})


def _said(text: Text, instead: str, languages: Sequence[str]) -> list[tuple[str, str]]:
    """A text in those of the languages that it has, else in its first one."""
    known = dict(text.by_language)
    wanted = [language for language in languages if language in known] or list(known)[
        : 1 if languages else None
    ]
    return [(language, known[language]) for language in wanted] or [("en", instead)]


def _named(
    name: str,
    attributes: Mapping[str, str],
    text: Text,
    instead: str,
    languages: Sequence[str],
    content: str = "",
    notes: Sequence[str] = (),
) -> str:
    """An element with annotations, names in several languages, and content."""
    before = f"<com:Annotations>{''.join(notes)}</com:Annotations>" if notes else ""
    called = _texts("com:Name", _said(text, instead, languages))
    return _element(name, f"{before}{called}{content}", attributes, raw=True) + "\n"


def _annotation(own: str, kind: str, texts: Iterable[tuple[str, str]], title: str = "") -> str:
    content = _element("com:AnnotationTitle", title) if title else ""
    content += _element("com:AnnotationType", kind) + _texts("com:AnnotationText", texts)
    return _element("com:Annotation", content, {"id": own}, raw=True)


def _texts(name: str, texts: Iterable[tuple[str, str]]) -> str:
    return "".join(_element(name, text, {"xml:lang": language}) for language, text in texts)


def _element(
    name: str, content: str, attributes: Mapping[str, str] | None = None, *, raw: bool = False
) -> str:
    own = "".join(f" {key}={quoteattr(value)}" for key, value in (attributes or {}).items())
    inside = content if raw else escape(_NOT_XML.sub(" ", content))
    return f"<{name}{own}>{inside}</{name}>"


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    own = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{name}{own}/>"
