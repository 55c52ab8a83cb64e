"""Reading ``plan.toml`` or a plan in a workbook: what is published, from what, how, where to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from sdcensus.documents.plan.checks import (
    AgainstSchema,
    NamedFile,
    PlanNames,
    check_folders,
    check_indicator_settings,
    check_output,
    missing_files,
    publishes_sums,
)
from sdcensus.documents.plan.protections import (
    ProtectionReader,
    files_of,
    is_release,
    protections,
)
from sdcensus.documents.plan.sections import (
    IndicatorSection,
    OfficeSection,
    OutputSection,
    PlanHead,
    PolicyOfPlan,
    ShareOf,
    TableSection,
)
from sdcensus.documents.plan.text import plan_text
from sdcensus.documents.plan.workbook import plan_sheets
from sdcensus.documents.schema.roles import read_roles
from sdcensus.documents.schema.sections import SectionType, read_section
from sdcensus.documents.toml.lines import KeyPath, read_toml
from sdcensus.documents.toml.mistakes import Document, Languages, Mistakes
from sdcensus.documents.workbooks.small_tables import EXCEL_ENDINGS
from sdcensus.errors import SdcensusError, unknown
from sdcensus.model.plan.plan import (
    Plan,
    PlannedIndicator,
    PlannedTable,
    PlanOffice,
    PlanOutput,
    PlanPolicy,
    Protection,
)
from sdcensus.model.plan.vocabulary import SYMBOLS
from sdcensus.model.schema.schema import Schema

__all__ = ["SchemaOf", "plan_from_document", "plan_text", "read_plan"]

_HEAD = ("store", "measure", "programme", "tables", "mapping")
_TABLES = ("table", "indicator", "roles", "office", "protect", "policy", "output")
#: Settings that look like something else that users know, and what to do instead.
_ELSEWHERE = {
    "secret": "a secret never stands in a document; name its file by --secret FILE or by"
    " SDCENSUS_SECRET_FILE",
}

#: The schema of a store that a plan names.
SchemaOf = Callable[[Path], Schema]


def read_plan(path: str | Path, schema_of: SchemaOf | None = None, *, files: bool = False) -> Plan:
    """Read a plan and check it.

    Args:
        path: The document: ``.toml``, or an Excel workbook.
        schema_of: How to find the schema of the store that the plan names; with it, axes and
            conditions are checked as well.
        files: Whether the other files that the plan names must be there: mapping, policy,
            perturbation table.

    Raises:
        InputError: There is no such file, or it cannot be opened.
        DocumentError: It has mistakes; all of them are listed with their lines, or with their
            sheets and cells.
        MissingExtra: It is a workbook, and the library that reads workbooks is not installed.
    """
    file = Path(path)
    if file.suffix.lower() in EXCEL_ENDINGS:
        return _Reader(plan_sheets(file), schema_of, files=files).read()
    return plan_from_document(read_toml(file, what="plan"), schema_of, files=files)


def plan_from_document(
    document: Document, schema_of: SchemaOf | None = None, *, files: bool = False
) -> Plan:
    """Build the plan that a document describes, or list all its mistakes."""
    return _Reader(Mistakes(document), schema_of, files=files).read()


class _Reader:
    """Reads one document, part by part, and collects its mistakes."""

    def __init__(self, mistakes: Mistakes, schema_of: SchemaOf | None, *, files: bool) -> None:
        self.mistakes = mistakes
        self.data = mistakes.document.data
        self.path = mistakes.document.path
        self.folder = self.path.parent
        self.schema_of = schema_of
        self.files = files
        self.names = PlanNames({}, self.mistakes)
        self.languages = Languages()
        self.against: AgainstSchema | None = None
        self.roles: Mapping[str, str] = {}
        self.protections = ProtectionReader(self._section, mistakes, _ELSEWHERE)

    def read(self) -> Plan:
        known = (*_HEAD, *_TABLES)
        for name in self.data:
            if name in _ELSEWHERE:
                self.mistakes.add((name,), f"{_ELSEWHERE[name]}.")
            elif name not in known:
                self.mistakes.add((name,), unknown("setting or table", name, known))
        head = self._head()
        self._find_schema(head)
        # Before the tables, which may refer to its sections.
        self.protections.against = self.against
        protect = self.protections.plan(self.data)
        tables = tuple(self._tables())
        schema = self.against.schema if self.against is not None else None
        self.roles = dict(read_roles(self.data.get("roles", {}), schema, self.mistakes))
        indicators = tuple(self._indicators())
        if not any(name in self.data for name in ("table", "indicator", "programme", "tables")):
            self.mistakes.add(
                (),
                "There is no table. Add one: [[table]] with name and rows (in a workbook, a row of"
                " the sheet 'tables'), or name a programme.",
            )
        self.protections.check_used(sums=publishes_sums(tables, indicators, self.against))
        office = self._office()
        named = tuple(
            (name, each) for name, each in self.protections.named.items() if each is not None
        )
        said = list(protections(tables, protect, named))
        policy = self._optional(PolicyOfPlan, "policy")
        output = self._output(head, said)
        if self.files:
            missing_files(self.folder, _named_files(head, said, policy), self.mistakes)
        self.mistakes.raise_if_any()
        assert head is not None  # without a store there is a mistake
        return Plan(
            store=head.store,
            measure=head.measure,
            tables=tables,
            programme=head.programme or "",
            programme_tables=tuple(head.tables or ()),
            mapping=head.mapping or "",
            indicators=indicators,
            office=office,
            protect=protect,
            protections=named,
            policy=None if policy is None else PlanPolicy(file=policy.file, role=policy.role),
            output=output,
            folder=self.folder,
            file=self.path.name,
        )

    def _section(self, kind: type[SectionType], raw: object, path: KeyPath) -> SectionType | None:
        if isinstance(raw, dict):
            for name in [one for one in raw if one in _ELSEWHERE]:
                self.mistakes.add((*path, name), f"{_ELSEWHERE[name]}.")
                raw = {key: value for key, value in raw.items() if key != name}
        return read_section(kind, raw, path, self.mistakes)

    def _optional(self, kind: type[SectionType], name: str) -> SectionType | None:
        if name not in self.data:
            return None
        return self._section(kind, self.data[name], (name,))

    def _head(self) -> PlanHead | None:
        raw = {name: self.data[name] for name in _HEAD if name in self.data}
        if isinstance(raw.get("tables"), list) and any(isinstance(x, dict) for x in raw["tables"]):
            self.mistakes.add(("tables",), "write each table of your own as [[table]].")
            del raw["tables"]
        head = self._section(PlanHead, raw, ())
        if "programme" in raw:
            if "mapping" not in raw:
                self.mistakes.add(
                    ("programme",),
                    "a programme needs the file that connects its breakdowns to the variables of"
                    ' the store: mapping = "eu-mapping.toml".',
                )
        else:
            for name in ("tables", "mapping"):
                if name in raw:
                    self.mistakes.add(
                        (name,),
                        f"{name!r} is about a programme, and none is named. Add programme ="
                        ' "eu-2021", or write each table as [[table]].',
                    )
        return head

    def _find_schema(self, head: PlanHead | None) -> None:
        """The schema of the store; what is wrong with the store is said at its line."""
        if head is None or self.schema_of is None:
            return
        try:
            schema = self.schema_of(self.folder / head.store)
        except SdcensusError as error:
            self.mistakes.add(("store",), str(error))
            return
        self.against = AgainstSchema(schema, self.mistakes, head.measure)
        self.languages = Languages(schema.census.languages)

    def _several(
        self, kind: type[SectionType], name: str
    ) -> Iterator[tuple[SectionType, dict[str, object], KeyPath]]:
        """The sections of a list of tables, what is written in each, and where."""
        raw = self.data.get(name, [])
        if not isinstance(raw, list):
            self.mistakes.add((name,), f"write it with two pairs of brackets: [[{name}]]")
            return
        for at, one in enumerate(raw):
            section = self._section(kind, one, (name, at))
            if section is not None:
                yield section, one, (name, at)

    def _tables(self) -> Iterator[PlannedTable]:
        for section, _, path in self._several(TableSection, "table"):
            self.names.check(section.name, path, faulty="name" in section.faulty)
            measure = section.measure
            share = measure.condition if isinstance(measure, ShareOf) else ""
            table = PlannedTable(
                name=section.name,
                title=self.languages.text(section.title, (*path, "title"), self.mistakes),
                rows=tuple(section.rows),
                columns=tuple(section.columns),
                universe=section.universe,
                where=section.where,
                of=section.of,
                measure=None if isinstance(measure, ShareOf) else measure,
                share=share,
                protect=self.protections.of_table(section.protect, (*path, "protect")),
            )
            if self.against is not None:
                self.against.table(table, path, faulty=bool(section.faulty))
            yield table

    def _indicators(self) -> Iterator[PlannedIndicator]:
        for section, raw, path in self._several(IndicatorSection, "indicator"):
            self.names.check(section.name, path, faulty="name" in section.faulty)
            if "kind" not in section.faulty:
                check_indicator_settings(section.kind, raw, path, self.mistakes)
            indicator = PlannedIndicator(
                name=section.name,
                title=self.languages.text(section.title, (*path, "title"), self.mistakes),
                kind=section.kind,
                by=tuple(section.by),
                of=section.of,
                universe=section.universe,
                numerator=section.numerator,
                denominator=section.denominator,
                variable=section.variable,
                per=section.per,
                decimals=section.decimals,
                percent=section.percent,
                first=section.first,
                second=section.second,
                figure=section.figure,
                fewest=section.fewest,
            )
            if self.against is not None:
                indicator = self.against.with_variable(indicator, path, self.roles)
                indicator = self.against.with_units(indicator, raw)
                self.against.indicator(indicator, path, faulty=bool(section.faulty))
                self.against.unused(indicator, raw, path)
            yield indicator

    def _office(self) -> PlanOffice:
        section = self._optional(OfficeSection, "office")
        if section is None:
            return PlanOffice()
        texts = {
            name: self.languages.text(getattr(section, name), ("office", name), self.mistakes)
            for name in ("name", "legal_basis")
        }
        symbols = tuple(
            (name, section.symbols[name]) for name in SYMBOLS if name in section.symbols
        )
        return PlanOffice(**texts, contact=section.contact, symbols=symbols)

    def _output(
        self, head: PlanHead | None, said: Sequence[tuple[KeyPath, Protection]]
    ) -> PlanOutput | None:
        section = self._optional(OutputSection, "output")
        if section is None:
            return None
        check_output(section, self.mistakes)
        secret_files = {
            (*path, name): file
            for path, protection in said
            for name, file in files_of(protection).items()
            if not is_release(protection, name)
        }
        check_folders(section, head, secret_files, self.folder, self.mistakes)
        declared = self.languages.declared
        for at, language in enumerate(section.languages):
            if self.against is not None and language not in declared:
                self.mistakes.add(
                    ("output", "languages", at),
                    unknown("language in this census", language, declared),
                )
        return PlanOutput(
            folder=section.folder,
            office_folder=section.office_folder,
            date=section.date,
            formats=tuple(section.formats),
            languages=tuple(section.languages),
            notes=section.notes,
            evaluation=section.evaluation,
            original_store=section.original_store,
            labels=section.labels,
        )


def _named_files(
    head: PlanHead | None,
    said: Sequence[tuple[KeyPath, Protection]],
    policy: PolicyOfPlan | None,
) -> Iterator[NamedFile]:
    yield NamedFile(("mapping",), None if head is None else head.mapping)
    for path, protection in said:
        for name, file in files_of(protection).items():
            yield NamedFile((*path, name), file, folder=is_release(protection, name))
    yield NamedFile(("policy", "file"), None if policy is None else policy.file)
