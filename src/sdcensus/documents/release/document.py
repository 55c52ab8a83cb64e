"""Reading ``release.toml``: designs of files for researchers, what is measured, what is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdcensus.documents.release.checks import AgainstCensus, check_treatment, swap_treatment
from sdcensus.documents.release.preset_files import PRESET_NAMES, preset_text
from sdcensus.documents.release.recodes import recodes_of
from sdcensus.documents.release.sections import (
    LISTS,
    TABLES,
    AcceptanceSection,
    DesignSection,
    HeadSection,
    InstitutionsSection,
    IntruderSection,
    LargeHouseholdsSection,
    MakeSection,
    RiskSection,
    SuppressSection,
    SwapSection,
    ThresholdsSection,
)
from sdcensus.documents.schema.sections import Section, SectionType, read_section
from sdcensus.documents.toml.lines import KeyPath, TomlDocument, parse_toml, read_toml
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.errors import SdcensusError, SpecError, unknown
from sdcensus.model.release.licence import ACCEPTANCE, Acceptance, LicenceClass
from sdcensus.model.release.plan import (
    Design,
    Extract,
    IntruderRules,
    Making,
    ModelQuestion,
    ReleasePlan,
    Suppression,
    Survey,
    Thresholds,
    Treatment,
)
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Role
from sdcensus.model.text import Text

#: The schema of a store that a document names.
SchemaOf = Callable[[Path], Schema]

_HEAD = tuple(HeadSection.model_fields)
_KNOWN = (*_HEAD, *TABLES, *LISTS, "roles")


def read_release(path: str | Path, schema_of: SchemaOf | None = None) -> ReleasePlan:
    """Read a release document and check it.

    Args:
        path: The document. Paths in it are relative to it.
        schema_of: How to find the schema of the store that it names; with it, variables, levels,
            codes and the ladder are checked as well, with their lines.

    Raises:
        InputError: There is no such file, or it cannot be opened.
        DocumentError: It has mistakes; all of them are listed with their lines.
    """
    document = read_toml(Path(path), what="release document")
    return release_from_document(document, schema_of)


def release_from_document(document: TomlDocument, schema_of: SchemaOf | None = None) -> ReleasePlan:
    """Build the plan that a document describes, or list all its mistakes."""
    return _Reader(document, schema_of).read()


def preset_plan(name: str) -> ReleasePlan:
    """A preset as the plan that a document starts from; it names no store."""
    return _preset(name)


def _preset(name: str) -> ReleasePlan:
    document = parse_toml(Path(f"{name}.toml"), preset_text(name), what="preset")
    return _Reader(document, None, is_preset=True).read()


class _Reader:
    """Reads one document, part by part, and collects its mistakes."""

    def __init__(
        self, document: TomlDocument, schema_of: SchemaOf | None, *, is_preset: bool = False
    ) -> None:
        self.mistakes = Mistakes(document)
        self.data = dict(document.data)
        self.path = document.path
        self.folder = document.path.parent
        self.schema_of = schema_of
        self.is_preset = is_preset
        if is_preset:
            self.data.setdefault("store", "census.store")
        self.schema: Schema | None = None
        self.languages = Languages()
        self.base = ReleasePlan(name="", store=Path(), office=Path(), designs=())

    def read(self) -> ReleasePlan:
        for name in self.data:
            if name not in _KNOWN:
                self.mistakes.add((name,), unknown("setting or table", name, _KNOWN))
        head = self._head()
        self._start(head)
        designs, faulty = self._designs()
        plan = replace(
            self.base,
            designs=designs,
            roles=self._roles(),
            risk=self._table(RiskSection, "risk", self.base.risk),
            thresholds=self._thresholds(),
            suppression=self._suppression(),
            surveys=self._several("survey", Survey, self.base.surveys),
            models=self._several("model", ModelQuestion, self.base.models),
            extracts=self._several("extract", Extract, self.base.extracts),
            intruder=self._intruders(),
            making=self._making(),
            **self._head_values(head),
            **self._households(),
        )
        plan = replace(plan, acceptance=self._acceptance(plan.licence))
        plan = replace(plan, treatments=self._treatments(plan))
        self._check(plan, faulty=faulty)
        self.mistakes.raise_if_any()
        return replace(plan, cautions=_cautions(plan))

    # ---------------------------------------------------------------- head

    def _head(self) -> HeadSection | None:
        raw = {name: self.data[name] for name in _HEAD if name in self.data}
        head = read_section(HeadSection, raw, (), self.mistakes)
        if head is not None and self.schema_of is not None:
            try:
                self.schema = self.schema_of(self.folder / head.store)
                self.languages = Languages(self.schema.census.languages)
            except SdcensusError as error:
                self.mistakes.add(("store",), str(error))
        return head

    def _start(self, head: HeadSection | None) -> None:
        """The preset that the document starts from."""
        if head is None or not head.preset:
            return
        if head.preset not in PRESET_NAMES:
            self.mistakes.add(("preset",), unknown("preset", head.preset, PRESET_NAMES))
            return
        self.base = replace(_preset(head.preset), preset=head.preset, cautions=())

    def _head_values(self, head: HeadSection | None) -> dict[str, Any]:
        if head is None:
            return {"name": "file"}
        values: dict[str, Any] = {
            "name": head.name or _name_of(self.path),
            "store": self.folder / head.store,
            "office": self.folder / head.office,
        }
        said = head.model_fields_set
        for name in ("title", "abstract", "producer"):
            if name in said:
                values[name] = self._text(getattr(head, name), (name,))
        for name in ("contact", "licence"):
            if name in said:
                values[name] = getattr(head, name)
        return values

    def _text(self, raw: Any, path: KeyPath) -> Text:
        return self.languages.text(raw, path, self.mistakes)

    # ---------------------------------------------------------------- single tables

    def _section(self, kind: type[SectionType], name: str) -> SectionType | None:
        if name not in self.data:
            return None
        return read_section(kind, self.data[name], (name,), self.mistakes)

    def _table(self, kind: type[Section], name: str, base: Any) -> Any:
        """A group of rules: those of the document over those that it starts from."""
        section = self._section(kind, name)
        return base if section is None else replace(base, **_said(section))

    def _thresholds(self) -> Thresholds:
        section = self._section(ThresholdsSection, "thresholds")
        base = self.base.thresholds
        if section is None:
            return base
        values = _said(section)
        if "exempt" in values:
            values["exempt"] = tuple(section.exempt.items())
        if section.groupings is not None:
            values["groupings"] = self.folder / section.groupings
        thresholds = replace(base, **values)
        if thresholds.groupings is not None and not thresholds.approved_by:
            self.mistakes.add(
                ("thresholds", "groupings"),
                'a file of groups is used once somebody has approved it: approved_by = "Name".',
            )
        if thresholds.approved_by and thresholds.groupings is None:
            self.mistakes.add(
                ("thresholds", "approved_by"),
                'what is approved is a file of groups: groupings = "groupings.csv".',
            )
        return thresholds

    def _acceptance(self, licence: LicenceClass) -> Acceptance:
        same = self.base.preset and self.base.licence is licence
        base = self.base.acceptance if same else ACCEPTANCE[licence]
        section = self._section(AcceptanceSection, "acceptance")
        return base if section is None else replace(base, **_said(section))

    def _households(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        institutions = self._section(InstitutionsSection, "institutions")
        if institutions is not None:
            values["institutions"] = institutions.where
        large = self._section(LargeHouseholdsSection, "large_households")
        if large is not None:
            values |= {"large_above": large.above, "large": large.treatment}
            values["age_shift"] = large.age_shift
        return values

    def _suppression(self) -> Suppression | None:
        section = self._section(SuppressSection, "suppress")
        if section is None:
            return self.base.suppression
        return replace(self.base.suppression or Suppression(), **_said(section))

    def _making(self) -> Making:
        section = self._section(MakeSection, "make")
        if section is None:
            return self.base.making
        values = _said(section)
        for name in ("delete", "harmonisation"):
            if values.get(name) is not None:
                values[name] = self.folder / values[name]
        return replace(self.base.making, **values)

    def _roles(self) -> dict[str, Role]:
        raw = self.data.get("roles", {})
        if not isinstance(raw, dict):
            self.mistakes.add(("roles",), 'write it as a table: [roles], and in it age = "key"')
            return {}
        roles: dict[str, Role] = dict(self.base.roles)
        known = [role.value for role in Role]
        for name, role in raw.items():
            if role not in known:
                shown = role if isinstance(role, str) else "(no text)"
                self.mistakes.add(("roles", name), unknown("role", shown, known))
            else:
                roles[name] = Role(role)
        return roles

    # ---------------------------------------------------------------- lists of tables

    def _listed(self, name: str) -> Iterator[tuple[Any, KeyPath]]:
        raw = self.data.get(name, [])
        if not isinstance(raw, list):
            self.mistakes.add((name,), f"write it with two pairs of brackets: [[{name}]]")
            return
        names: dict[str, int] = {}
        for at, table in enumerate(raw):
            kind: type[Section] = LISTS[name]
            section = read_section(kind, table, (name, at), self.mistakes)
            if section is None:
                continue
            called = getattr(section, "name", "")
            if called and called.casefold() in names:
                self.mistakes.add(
                    (name, at, "name"), f"two are called {called!r}. Give one another name."
                )
            names[called.casefold()] = at
            yield section, (name, at)

    def _several(self, name: str, kind: type[Any], base: tuple[Any, ...]) -> tuple[Any, ...]:
        if name not in self.data:
            return base
        return tuple(kind(**_every(section)) for section, _ in self._listed(name))

    def _intruders(self) -> tuple[IntruderRules, ...]:
        """Several, or one in a table of its own."""
        raw = self.data.get("intruder")
        if raw is None:
            return self.base.intruder
        sections = list(self._listed("intruder")) if not isinstance(raw, dict) else []
        if isinstance(raw, dict):
            section = self._section(IntruderSection, "intruder")
            sections = [] if section is None else [(section, ("intruder",))]
        intruders = []
        for section, path in sections:
            try:
                intruders.append(IntruderRules(**_every(section)))
            except SpecError as error:
                self.mistakes.add(path, str(error))
        return tuple(intruders)

    def _designs(self) -> tuple[tuple[Design, ...], bool]:
        """The designs, and whether one of them cannot be read."""
        designs = {design.name: design for design in self.base.designs}
        before = len(self.mistakes.found)
        for section, path in self._listed("design"):
            design = self._design(section, path, designs.get(section.name))
            if design is not None:
                designs[section.name] = design
        faulty = len(self.mistakes.found) > before
        if not designs and not self.mistakes.found:
            self.mistakes.add(
                (), "There is no design. Add one: [[design]] with name and households = 0.1."
            )
        return tuple(designs.values()), faulty

    def _design(self, section: DesignSection, path: KeyPath, base: Design | None) -> Design | None:
        share = section.households if section.households is not None else section.persons
        said = section.model_fields_set
        if section.households is not None and section.persons is not None:
            self.mistakes.add(
                (*path, "persons"),
                "say the share once: 'households', or 'persons' where a census has no households.",
            )
        if share is None and base is None and not section.faulty & {"households", "persons"}:
            self.mistakes.add(
                path, "the share of households is missing, such as households = 0.1 for one in ten"
            )
        recodes = recodes_of(
            section.recode,
            section.top_code,
            section.bottom_code,
            section.merge,
            optional=section.optional,
            path=path,
            mistakes=self.mistakes,
        )
        if base is None:
            if share is None:
                return None
            base = Design(name=section.name, fraction=share)
        by_name = {recode.variable: recode for recode in (*base.recodes, *recodes)}
        return Design(
            name=section.name,
            fraction=base.fraction if share is None else share,
            keep=tuple(section.keep) if "keep" in said else base.keep,
            drop=tuple(section.drop) if "drop" in said else base.drop,
            recodes=tuple(by_name[name] for name in sorted(by_name)),
        )

    def _treatments(self, plan: ReleasePlan) -> tuple[Treatment, ...]:
        against = AgainstCensus(plan, self.schema, self.mistakes)
        treatments: list[Treatment] = []
        swap = self._section(SwapSection, "swap")
        if swap is not None:
            swapped = swap_treatment(swap, against)
            treatments += [] if swapped is None else [swapped]
        for section, path in self._listed("treatment"):
            treatment = check_treatment(section, path, against)
            treatments += [] if treatment is None else [treatment]
        own = "swap" in self.data or "treatment" in self.data
        return tuple(treatments) if own else self.base.treatments

    # ---------------------------------------------------------------- what is said together

    def _check(self, plan: ReleasePlan, *, faulty: bool) -> None:
        against = AgainstCensus(plan, self.schema, self.mistakes)
        if not faulty:
            names = [design.name for design in plan.designs]
            if plan.making.design and plan.making.design not in names:
                self.mistakes.add(("make", "design"), unknown("design", plan.making.design, names))
            if plan.suppression is not None:
                against.check_designs(plan.suppression.designs, ("suppress", "designs"))
            for at, intruder in enumerate(plan.intruder):
                against.check_designs(intruder.designs, (*against.intruder_place(at), "designs"))
        against.check_ladder()
        against.check_against_schema()


def _every(section: Section) -> dict[str, Any]:
    """All settings of a table, as the nouns of the model take them."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name in type(section).model_fields
        for value in [getattr(section, name)]
    }


def _said(section: Section) -> dict[str, Any]:
    """The settings that stand in a table."""
    said = section.model_fields_set
    return {name: value for name, value in _every(section).items() if name in said}


def _name_of(path: Path) -> str:
    """A name for files from the name of the document."""
    stem = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in path.stem)
    return stem.strip("-") or "file"


def _cautions(plan: ReleasePlan) -> tuple[str, ...]:
    """What is allowed and seldom meant."""
    every = [
        f"Design {design.name!r} holds every household of the census, and the class is"
        f" {plan.licence}: nothing protects anybody by not being in the file."
        for design in plan.designs
        if design.fraction == 1 and plan.licence is not LicenceClass.FULL_COUNT
    ]
    silent = [name for name, reason in plan.thresholds.exempt if not reason]
    if silent:
        every.append(
            f"[thresholds] exempts {', '.join(silent)} without a reason. Write exempt ="
            f' {{ {silent[0]} = "the reason" }}.'
        )
    return tuple(every)
