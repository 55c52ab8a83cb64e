"""Reading ``policy.toml``: what may be asked, and what happens when it may not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sdcensus.documents.policy.sections import (
    AmountSection,
    DecidedSection,
    DesignSection,
    DetailOfSection,
    DetailSection,
    ExemptSection,
    HeadSection,
    LimitsSection,
    NotOfferedSection,
    OnlineSection,
    RecordSetSection,
    RoleSection,
    RuleSection,
    TogetherSection,
    parse_record_set,
)
from sdcensus.documents.policy.text import policy_data, policy_text
from sdcensus.documents.schema.sections import SectionType, read_section
from sdcensus.documents.toml.lines import KeyPath, TomlDocument, read_toml
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import SpecError, unknown
from sdcensus.model.policy.policy import (
    PRESETS,
    AmountRule,
    Decided,
    DesignRules,
    Detail,
    DetailOf,
    Limits,
    NotOffered,
    OnlineRules,
    Policy,
    PolicyProblems,
    RecordSet,
    RoleRules,
    UserRole,
    VariableRule,
    WhenSparse,
)
from sdcensus.model.schema.schema import Schema

__all__ = ["policy_data", "policy_from_document", "policy_text", "read_policy"]

_HEAD = ("name", "lock", "measure")
_TABLES = (
    "limits",
    "online",
    "design",
    "exempt",
    "variable",
    "amount",
    "never_together",
    "role",
    "decided",
)


def read_policy(path: str | Path, schema: Schema) -> Policy:
    """Read a policy and check it in full against the census that it is about.

    Raises:
        InputError: There is no such file, or it cannot be opened.
        DocumentError: It has mistakes; all of them are listed with their lines.
    """
    return policy_from_document(read_toml(Path(path), what="policy"), schema)


def policy_from_document(document: TomlDocument, schema: Schema) -> Policy:
    """Build the policy that a document describes, or list all its mistakes."""
    return _Reader(document, schema).read()


class _Reader:
    """Reads one document, part by part, and collects its mistakes."""

    def __init__(self, document: TomlDocument, schema: Schema) -> None:
        self.data = document.data
        self.schema = schema
        self.mistakes = Mistakes(document)

    def read(self) -> Policy:
        for name in self.data:
            if name not in (*_HEAD, *_TABLES):
                self.mistakes.add((name,), unknown("setting or table", name, (*_HEAD, *_TABLES)))
        head = {name: self.data[name] for name in _HEAD if name in self.data}
        read = self._section(HeadSection, head, ())
        parts: dict[str, Any] = {
            "limits": self._limits(),
            "online": self._online(),
            "design": self._design(),
            "exempt": tuple(self._exempt()),
            "variables": tuple(self._rules()),
            "amounts": tuple(self._amounts()),
            "never_together": self._together(),
            "roles": tuple(self._roles()),
            "decided": self._decided(),
        }
        self.mistakes.raise_if_any()
        assert read is not None  # without a name there is a mistake
        try:
            return Policy(
                name=read.name, lock=read.lock, measure=read.measure, schema=self.schema, **parts
            )
        except PolicyProblems as problems:
            for where, text in problems.problems:
                self.mistakes.add(where, text)
            self.mistakes.raise_if_any()
            raise

    def _section(self, kind: type[SectionType], raw: object, path: KeyPath) -> SectionType | None:
        return read_section(kind, raw, path, self.mistakes)

    def _table(self, kind: type[SectionType], name: str) -> SectionType | None:
        return self._section(kind, self.data.get(name, {}), (name,))

    def _named(self, name: str) -> Iterator[tuple[str, object]]:
        """The tables inside a table, such as ``[role.public]``."""
        raw = self.data.get(name, {})
        if not isinstance(raw, dict):
            self.mistakes.add((name,), f"should hold tables, such as [{name}.NAME]")
            return
        yield from raw.items()

    def _listed(self, raw: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
        """The members of a list of tables, such as ``[[design.detail]]``."""
        if not isinstance(raw, list):
            name = ".".join(map(str, path))
            self.mistakes.add(path, f"write it with two pairs of brackets: [[{name}]]")
            return
        for at, one in enumerate(raw):
            yield (*path, at), one

    def _limits(self) -> Limits:
        section = self._table(LimitsSection, "limits")
        if section is None:
            return Limits()
        return Limits(dimensions=section.dimensions, cells=section.cells)

    def _online(self) -> OnlineRules:
        section = self._table(OnlineSection, "online")
        if section is None:
            return OnlineRules()
        known = section.model_fields_set - {"preset"}
        given = {name: getattr(section, name) for name in known}
        base = PRESETS[section.preset] if section.preset else OnlineRules()
        rules = {name: getattr(base, name) for name in OnlineRules.__dataclass_fields__} | given
        online_rules = OnlineRules(**rules)
        if online_rules.mean_cell_size is None and not section.faulty:
            for name in ("when_sparse", "below"):
                if name in given and given.get("when_sparse") is not WhenSparse.C:
                    self.mistakes.add(
                        ("online", name),
                        f"{name!r} is about sparse areas: say from when on, by mean_cell_size.",
                    )
        if "below" in given and online_rules.when_sparse is not WhenSparse.C:
            self.mistakes.add(
                ("online", "below"), "'below' is for when_sparse = \"c\": values below it become c."
            )
        return online_rules

    def _design(self) -> DesignRules:
        raw = self.data.get("design", {})
        rest = raw
        entries: object = []
        if isinstance(raw, dict):
            rest = {name: one for name, one in raw.items() if name != "detail"}
            entries = raw.get("detail", [])
        section = self._section(DesignSection, rest, ("design",))
        detail = []
        for path, one in self._listed(entries, ("design", "detail")):
            entry = self._section(DetailSection, one, path)
            if entry is not None:
                detail.append(Detail(population=entry.population, levels=entry.levels))
        if section is None:
            return DesignRules(detail=tuple(detail))
        return DesignRules(
            minimum_population=section.minimum_population,
            minimum_population_at=section.minimum_population_at,
            minimum_category=section.minimum_category,
            one_household_cells=section.one_household_cells,
            detail=tuple(detail),
        )

    def _exempt(self) -> Iterator[RecordSet]:
        section = self._table(ExemptSection, "exempt")
        for at, raw in enumerate(section.record_sets if section else ()):
            path: KeyPath = ("exempt", "record_sets", at)
            try:
                record_set = self._record_set(raw, path)
            except SpecError as error:
                self.mistakes.add(
                    path, f"{raw if isinstance(raw, str) else 'its table'!r}: {error}"
                )
                continue
            if record_set is not None:
                yield record_set

    def _record_set(self, raw: object, path: KeyPath) -> RecordSet | None:
        if isinstance(raw, str):
            return parse_record_set(raw.strip(), self.schema)
        if not isinstance(raw, dict):
            self.mistakes.add(path, 'should be a text such as "persons by ed@district"')
            return None
        section = self._section(RecordSetSection, raw, path)
        if section is None:
            return None
        by = tuple(section.by)
        record_set = RecordSet(section.name, section.of, by, section.where)
        record_set.spec(self.schema)
        return record_set

    def _rules(self) -> Iterator[VariableRule]:
        for name, raw in self._named("variable"):
            path: KeyPath = ("variable", name)
            section = self._section(RuleSection, raw, path)
            if section is None:
                continue
            level = ""
            if section.finest_level is not None:
                level = section.finest_level.level or section.finest_level.variable
                if section.finest_level.level and section.finest_level.variable != name:
                    text = f"'finest_level' is a level of {name!r} itself. (Areas: finest_area.)"
                    self.mistakes.add((*path, "finest_level"), text)
                    continue
            yield VariableRule(
                variable=name,
                offered=section.offered,
                as_filter=section.as_filter,
                finest_level=level,
                finest_area=section.finest_area,
                units=None if section.units is None else tuple(dict.fromkeys(section.units)),
            )

    def _amounts(self) -> Iterator[AmountRule]:
        for name, raw in self._named("amount"):
            section = self._section(AmountSection, raw, ("amount", name))
            if section is not None:
                yield AmountRule(
                    variable=name,
                    measures=tuple(section.measures),
                    by=None if section.by is None else tuple(section.by),
                    dimensions=section.dimensions,
                    finest_area=section.finest_area,
                    at_least=section.at_least,
                    noise_left=section.noise_left,
                )

    def _together(self) -> tuple[tuple[Any, ...], ...]:
        section = self._table(TogetherSection, "never_together")
        return tuple(tuple(combination) for combination in section.combinations) if section else ()

    def _roles(self) -> Iterator[RoleRules]:
        for name, raw in self._named("role"):
            path: KeyPath = ("role", name)
            section = self._section(RoleSection, raw, path)
            if name not in list(UserRole):
                self.mistakes.add(path, unknown("role", name, list(UserRole)))
            elif section is not None:
                given = {field: getattr(section, field) for field in type(section).model_fields}
                yield RoleRules(role=UserRole(name), **given)

    def _decided(self) -> Decided:
        section = self._table(DecidedSection, "decided")
        if section is None:
            return Decided()
        hidden, detail = [], []
        for path, raw in self._listed(section.not_offered, ("decided", "not_offered")):
            codes = self._section(NotOfferedSection, raw, path)
            if codes is not None:
                hidden.append(NotOffered(codes.at, tuple(codes.codes)))
        for path, raw in self._listed(section.detail, ("decided", "detail")):
            detail_of_section = self._section(DetailOfSection, raw, path)
            if detail_of_section is not None:
                detail.append(
                    DetailOf(
                        detail_of_section.areas,
                        tuple(detail_of_section.codes),
                        detail_of_section.levels,
                    )
                )
        return Decided(not_offered=tuple(hidden), detail=tuple(detail))
