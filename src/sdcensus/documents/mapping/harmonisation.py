"""Reading a mapping to an international coding, in the language of mappings to programmes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sdcensus.documents.mapping.codes import MappingEntry, code_entries, mapped_leaves
from sdcensus.documents.mapping.sections import SAME, BreakdownSection
from sdcensus.documents.schema.sections import Section, read_section
from sdcensus.documents.toml.lines import KeyPath, TomlDocument, read_toml
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.documents.toml.values import Codes, Label, WrongValueError
from sdcensus.documents.workbooks.small_tables import small_table
from sdcensus.errors import DocumentError, InputError, SpecError, unknown
from sdcensus.model.plan.mapping import OUTSIDE, MappedBreakdown
from sdcensus.model.plan.programme import Breakdown, BreakdownCode
from sdcensus.model.release.harmonisation import EVERY_CODE, Harmonisation, HarmonisedVariable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import CodeKind, Variable
from sdcensus.model.text import Text

_NAME = re.compile(r"[^\W\d]\w*")
_TABLES = ("coding", "breakdown")


def _code_list(value: object) -> object:
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, dict) and value:
        return value
    raise WrongValueError(
        ((), 'should be a table such as { 1 = "Single", 2 = "Married" }, or the name of a csv file')
    )


class HarmonisedHead(Section):
    """What stands above the first table."""

    coding: Label = ""


class HarmonisedSection(BreakdownSection):
    """``[breakdown.NAME]`` of a mapping to an international coding.

    ``targets`` are the international codes; the rest is as in mappings to programmes.
    """

    targets: Annotated[Any, BeforeValidator(_code_list)]
    label: Label = ""
    not_stated: Codes = Field(default_factory=list)
    not_applicable: Codes = Field(default_factory=list)
    rest: str = ""


def read_harmonisation(path: str | Path, schema: Schema) -> Harmonisation:
    """Read a mapping to an international coding and check it in full against the census.

    Raises:
        InputError: There is no such file, or it cannot be opened.
        DocumentError: It has mistakes; all of them are listed with their lines.
    """
    return _Reader(read_toml(Path(path), what="mapping"), schema).read()


class _Reader:
    def __init__(self, document: TomlDocument, schema: Schema) -> None:
        self.document = document
        self.schema = schema
        self.mistakes = Mistakes(document)
        self.languages = Languages(schema.census.languages)

    def read(self) -> Harmonisation:
        data = self.document.data
        for name in data:
            if name not in _TABLES:
                self.mistakes.add((name,), unknown("setting or table", name, _TABLES))
        head = {"coding": data["coding"]} if "coding" in data else {}
        section = read_section(HarmonisedHead, head, (), self.mistakes)
        coding = (
            self.languages.text(section.coding, ("coding",), self.mistakes) if section else Text()
        )
        variables = tuple(self._variables())
        if not variables and not self.mistakes.found:
            self.mistakes.add(
                (), "No variable is mapped: add one, such as [breakdown.marital_status_int]."
            )
        self.mistakes.raise_if_any()
        return Harmonisation(coding, variables, str(self.document.path))

    def _variables(self) -> Iterator[HarmonisedVariable]:
        raw = self.document.data.get("breakdown", {})
        if not isinstance(raw, dict):
            self.mistakes.add(
                ("breakdown",), "should be tables such as [breakdown.marital_status_int]"
            )
            return
        for name, content in raw.items():
            path: KeyPath = ("breakdown", name)
            if _NAME.fullmatch(name) is None:
                self.mistakes.add(
                    path,
                    f"{name!r} cannot be the name of a column. Use letters, digits and _, with a"
                    " letter first.",
                )
                continue
            section = read_section(HarmonisedSection, content, path, self.mistakes)
            if section is not None and not section.faulty:
                variable = self._variable(name, section, path)
                if variable is not None:
                    yield variable

    def _variable(
        self, name: str, section: HarmonisedSection, path: KeyPath
    ) -> HarmonisedVariable | None:
        source = self._source(section, path)
        tree = self._tree(name, section, path)
        if source is None or tree is None:
            return None
        before = len(self.mistakes.found)
        folder = self.document.path.parent
        entries = [
            *code_entries(section.codes, tree, (*path, "codes"), folder, self.mistakes),
            *(
                MappingEntry(code, OUTSIDE, (*path, "outside", at))
                for at, code in enumerate(section.outside)
            ),
        ]
        if section.rest and section.rest not in {code.code for code in tree.codes[1:]}:
            known = [code.code for code in tree.codes[1:]]
            self.mistakes.add((*path, "rest"), unknown("target code", section.rest, known))
        if len(self.mistakes.found) > before:
            return None
        if section.codes == SAME:
            shown = source.level(section.level).codes
            same = [code.code for code in shown if code.code not in section.outside]
            entries += [MappingEntry(code, code, path) for code in same]
        leaves = mapped_leaves(tree, source, section.level, entries, path, self.mistakes)
        if leaves is None:
            return None
        label = self.languages.text(section.label, (*path, "label"), self.mistakes)
        return HarmonisedVariable(
            name=name,
            mapped=MappedBreakdown(tree, source, leaves),
            label=label or source.label or Text.of(name),
            rest=section.rest,
        )

    def _source(self, section: HarmonisedSection, path: KeyPath) -> Variable | None:
        try:
            variable = self.schema.variable(section.variable)
            if section.level is not None:
                variable.level(section.level)
        except SpecError as error:
            self.mistakes.add((*path, "variable"), str(error))
            return None
        if not variable.codes:
            self.mistakes.add(
                (*path, "variable"), f"{section.variable!r} has no codes that could be mapped."
            )
            return None
        return variable

    # ------------------------------------------------------------------------------ targets

    def _tree(self, name: str, section: HarmonisedSection, path: KeyPath) -> Breakdown | None:
        """The international codes below a total that no file shows."""
        where = (*path, "targets")
        before = len(self.mistakes.found)
        lines = (
            list(self._from_file(section.targets, where))
            if isinstance(section.targets, str)
            else [
                (code, self.languages.text(label, (*where, code), self.mistakes), "")
                for code, label in section.targets.items()
                if self._is_label(label, (*where, code))
            ]
        )
        known = [code for code, _, _ in lines]
        kinds = dict.fromkeys(section.not_stated, CodeKind.NOT_STATED)
        kinds |= dict.fromkeys(section.not_applicable, CodeKind.NOT_APPLICABLE)
        for code in kinds:
            if code not in known:
                self.mistakes.add(path, unknown("target code", code, known))
        if len(self.mistakes.found) > before:
            return None
        codes = [
            BreakdownCode(code, label, parent or EVERY_CODE.code, kinds.get(code, CodeKind.VALID))
            for code, label, parent in lines
        ]
        try:
            return Breakdown(name, Text(), (EVERY_CODE, *codes))
        except SpecError as error:
            self.mistakes.add(where, f"{error} Each code stands once, behind the one above it.")
            return None

    def _is_label(self, label: object, path: KeyPath) -> bool:
        if isinstance(label, str) or (
            isinstance(label, dict) and all(isinstance(text, str) for text in label.values())
        ):
            return True
        self.mistakes.add(path, 'should be a label such as "Married"')
        return False

    def _from_file(self, name: str, path: KeyPath) -> Iterator[tuple[str, Text, str]]:
        """Codes, labels and the codes above them, from a csv file or workbook."""
        try:
            rows = small_table(self.document.path.parent / name, what="list of codes")
        except InputError as error:
            self.mistakes.add(path, str(error))
            return
        except DocumentError as error:
            for mistake in error.mistakes:
                self.mistakes.add(path, f"{name}, line {mistake.line}: {mistake.text}")
            return
        filled = [row for row in rows if any(row[1])]
        header = [column.strip().lower() for column in filled[0][1]] if filled else []
        if header.count("code") != 1:
            self.mistakes.add(
                path,
                f"the first row of {name} names the columns: 'code', 'label' (or 'label_es' and so"
                " on for several languages), and 'parent' for the code above.",
            )
            return
        for line, fields in filled[1:]:
            row = dict(zip(header, fields, strict=False))
            if not row["code"]:
                self.mistakes.add(path, f"{name}, line {line}: the code is missing.")
                continue
            texts = {self.languages.first: row.get("label", "")}
            texts |= {
                column.removeprefix("label_"): text
                for column, text in row.items()
                if column.startswith("label_")
            }
            yield row["code"], Text.of(texts), row.get("parent", "")
