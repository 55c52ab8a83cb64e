"""Reading and writing ``plan.toml``: what is published, from what, how, and where to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

from sdcensus.documents.languages import Languages
from sdcensus.documents.mistakes import Mistakes
from sdcensus.documents.plan_sections import (
    OutputSection,
    PlanHead,
    PolicyOfPlan,
    ProtectSection,
    TableSection,
)
from sdcensus.documents.sections import SectionType, read_section
from sdcensus.documents.toml_lines import KeyPath, TomlDocument, read_toml
from sdcensus.documents.toml_text import toml
from sdcensus.errors import SdcensusError, SpecError, unknown
from sdcensus.model.axis import parse_axis
from sdcensus.model.plan import Plan, PlannedTable, PlanOutput, PlanPolicy, Protection, Setting
from sdcensus.model.schema import Schema
from sdcensus.model.table_spec import Measure
from sdcensus.model.universe import universe_of

_HEAD = ("store", "programme", "tables", "mapping")
_TABLES = ("table", "protect", "policy", "output")
#: Settings that look like something else that users know, and what to do instead.
_ELSEWHERE = {
    "secret": "a secret never stands in a document; name its file by --secret FILE or by"
    " SDCENSUS_SECRET_FILE",
}

#: The schema of a store that a plan names.
SchemaOf = Callable[[Path], Schema]


def read_plan(path: str | Path, schema_of: SchemaOf | None = None) -> Plan:
    """Read a plan and check it.

    Args:
        path: The document.
        schema_of: How to find the schema of the store that the plan names; with it, axes and
            conditions are checked as well.

    Raises:
        InputError: There is no such file, or it cannot be opened.
        DocumentError: It has mistakes; all of them are listed with their lines.
    """
    return plan_from_document(read_toml(Path(path), what="plan"), schema_of)


def plan_from_document(document: TomlDocument, schema_of: SchemaOf | None = None) -> Plan:
    """Build the plan that a document describes, or list all its mistakes."""
    return _Reader(document, schema_of).read()


class _Reader:
    """Reads one document, part by part, and collects its mistakes."""

    def __init__(self, document: TomlDocument, schema_of: SchemaOf | None) -> None:
        self.data = document.data
        self.folder = document.path.parent
        self.mistakes = Mistakes(document)
        self.schema_of = schema_of

    def read(self) -> Plan:
        known = (*_HEAD, *_TABLES)
        for name in self.data:
            if name in _ELSEWHERE:
                self.mistakes.add((name,), f"{_ELSEWHERE[name]}.")
            elif name not in known:
                self.mistakes.add((name,), unknown("setting or table", name, known))
        head = self._head()
        schema = self._schema(head)
        tables = tuple(self._tables(schema))
        protect = self._protect()
        policy = self._optional(PolicyOfPlan, "policy")
        output = self._output(schema)
        self.mistakes.raise_if_any()
        assert head is not None  # without a store there is a mistake
        return Plan(
            store=head.store,
            tables=tables,
            protect=protect,
            policy=None if policy is None else PlanPolicy(file=policy.file, role=policy.role),
            output=output,
            folder=self.folder,
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
        head = self._section(
            PlanHead, {name: self.data[name] for name in _HEAD if name in self.data}, ()
        )
        for name in ("programme", "tables", "mapping"):
            if head is not None and getattr(head, name) is not None:
                self.mistakes.add(
                    (name,),
                    "programmes of tables that others define come in a later version of sdcensus."
                    " Take this setting out, and write each table as [[table]].",
                )
        return head

    def _schema(self, head: PlanHead | None) -> Schema | None:
        """The schema of the store; what is wrong with the store is said at its line."""
        if head is None or self.schema_of is None:
            return None
        try:
            return self.schema_of(self.folder / head.store)
        except SdcensusError as error:
            self.mistakes.add(("store",), str(error))
            return None

    def _tables(self, schema: Schema | None) -> Iterator[PlannedTable]:
        raw = self.data.get("table", [])
        if not isinstance(raw, list):
            self.mistakes.add(("table",), "write it with two pairs of brackets: [[table]]")
            return
        if not raw and not any(name in self.data for name in ("programme", "tables")):
            self.mistakes.add((), "There is no table. Add one: [[table]] with name and rows.")
        seen: dict[str, KeyPath] = {}
        for at, one in enumerate(raw):
            path: KeyPath = ("table", at)
            section = self._section(TableSection, one, path)
            if section is None:
                continue
            self._check_name(section, path, seen)
            languages = Languages() if schema is None else Languages(schema.census.languages)
            table = PlannedTable(
                name=section.name,
                title=languages.text(section.title, (*path, "title"), self.mistakes),
                rows=tuple(section.rows),
                columns=tuple(section.columns),
                universe=section.universe,
                of=section.of,
                measure=section.measure,
            )
            if schema is not None:
                self._check_table(table, path, schema, faulty=bool(section.faulty))
            yield table

    def _check_name(self, section: TableSection, path: KeyPath, seen: dict[str, KeyPath]) -> None:
        """Every table has a name of its own."""
        if not section.name:
            if "name" not in section.faulty:
                self.mistakes.add(path, "the setting 'name' is missing")
            return
        # Files of two tables must not collide where case does not matter.
        first = seen.setdefault(section.name.casefold(), path)
        if first != path:
            number = int(first[1]) + 1
            self.mistakes.add(
                (*path, "name"), f"{section.name!r} is the name of table {number} already."
            )

    def _check_table(
        self, table: PlannedTable, path: KeyPath, schema: Schema, *, faulty: bool
    ) -> None:
        """Axes and condition each at its line; what they are together at the table's."""
        wrong = faulty
        for side, axes in (("rows", table.rows), ("columns", table.columns)):
            for at, axis in enumerate(axes):
                try:
                    parse_axis(axis, schema.variable)
                except SpecError as error:
                    self.mistakes.add((*path, side, at), str(error))
                    wrong = True
        try:
            universe_of(table.universe, schema)
        except SpecError as error:
            self.mistakes.add((*path, "universe"), str(error))
            wrong = True
        if wrong:
            return
        try:
            table.spec(schema)
        except SpecError as error:
            self.mistakes.add(path, str(error))

    def _protect(self) -> Protection | None:
        section = self._optional(ProtectSection, "protect")
        if section is None:
            return None
        settings: list[tuple[str, Setting]] = [
            (name, tuple(value) if isinstance(value, list) else value)
            for name, value in section.settings().items()
        ]
        return Protection(method=section.method, then=tuple(section.then), settings=tuple(settings))

    def _output(self, schema: Schema | None) -> PlanOutput | None:
        section = self._optional(OutputSection, "output")
        if section is None:
            return None
        if section.office_folder and _is_inside(section.office_folder, section.folder):
            self.mistakes.add(
                ("output", "office_folder"),
                "the office folder holds what nobody outside may see, so it cannot lie inside the"
                ' published one. Write another, such as office_folder = "published.office".',
            )
        if schema is not None:
            for at, language in enumerate(section.languages):
                if language not in schema.census.languages:
                    self.mistakes.add(
                        ("output", "languages", at),
                        unknown("language in this census", language, schema.census.languages),
                    )
        return PlanOutput(
            folder=section.folder,
            office_folder=section.office_folder,
            date=section.date,
            formats=tuple(section.formats),
            languages=tuple(section.languages),
            notes=section.notes,
            evaluation=section.evaluation,
        )


def _is_inside(inner: str, outer: str) -> bool:
    """Whether a folder is another one or lies in it, however the two are spelled."""
    first = PurePath(os.path.normcase(os.path.normpath(inner)))
    second = PurePath(os.path.normcase(os.path.normpath(outer)))
    return first == second or second in first.parents


# ---------------------------------------------------------------------------------- writing


def plan_text(plan: Plan, *, comments: tuple[str, ...] = ()) -> str:
    """A plan as a document that reads back equal; ``comments`` stand above it."""
    lines = [f"# {one}" for one in comments]
    lines += [f"store = {toml(plan.store)}", ""]
    for table in plan.tables:
        lines += ["[[table]]", f"name = {toml(table.name)}"]
        if table.title:
            lines.append(f"title = {toml(dict(table.title.by_language))}")
        if table.universe:
            lines.append(f"universe = {toml(table.universe)}")
        if table.rows:
            lines.append(f"rows = {toml(table.rows)}")
        if table.columns:
            lines.append(f"columns = {toml(table.columns)}")
        lines.append(f"of = {toml(table.of.plural)}")
        if table.measure is not Measure.COUNT:
            lines.append(f"measure = {toml(table.measure.value)}")
        lines.append("")
    if plan.protect is not None:
        lines += ["[protect]", f"method = {toml(plan.protect.method)}"]
        if plan.protect.then:
            lines.append(f"then = {toml(plan.protect.then)}")
        lines += [f"{name} = {toml(value)}" for name, value in plan.protect.settings]
        lines.append("")
    if plan.policy is not None:
        lines += ["[policy]", f"file = {toml(plan.policy.file)}"]
        lines += [f"role = {toml(plan.policy.role)}", ""]
    if plan.output is not None:
        lines += ["[output]", *_output_lines(plan.output), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _output_lines(output: PlanOutput) -> Iterator[str]:
    yield f"folder = {toml(output.folder)}"
    if output.office_folder:
        yield f"office_folder = {toml(output.office_folder)}"
    if output.date:
        yield f"date = {output.date}"
    yield f"formats = {toml(output.formats)}"
    if output.languages:
        yield f"languages = {toml(output.languages)}"
    yield f"notes = {toml(output.notes)}"
    yield f"evaluation = {toml(output.evaluation)}"
