"""How the tables of a plan are protected: ``[protect]``, ``[protect.NAME]``, and a table's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from sdcensus.documents.plan.checks import AgainstSchema
from sdcensus.documents.plan.sections import NAME_FORM, ProtectSection, is_name
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import unknown
from sdcensus.model.method.parameter import Setting, ValueKind, as_setting
from sdcensus.model.method.registry import checked_settings, parameters_of, takers_of
from sdcensus.model.plan.plan import SUMS_PROTECTION, Plan, PlannedTable, Protection

#: Reads a table of a document; ``None`` where it cannot be read.
ReadSection = Callable[[type[ProtectSection], object, KeyPath], ProtectSection | None]

PROTECT = "protect"
#: What is said of the whole plan and cannot be said of some of its tables.
_OF_PLAN = ("import_published",)
_KINDS_OF_FILES = (ValueKind.FILE, ValueKind.RELEASE)


@dataclass(slots=True)
class ProtectionReader:
    """Reads everything that a plan says about protection, and collects its mistakes.

    Attributes:
        read_section: Reads one table of the document.
        mistakes: Is told what is wrong.
        elsewhere: Settings that never stand in a document.
        against: The schema of the census, if it is known.
        named: The sections that tables refer to, by name; those with mistakes are ``None``.
    """

    read_section: ReadSection
    mistakes: Mistakes
    elsewhere: Mapping[str, str]
    against: AgainstSchema | None = None
    named: dict[str, Protection | None] = field(default_factory=dict)
    _used: set[str] = field(init=False, default_factory=set)

    def plan(self, data: Mapping[str, Any]) -> Protection | None:
        """What holds for all tables that say nothing else; also reads the named sections."""
        if PROTECT not in data:
            return None
        raw = data[PROTECT]
        if not isinstance(raw, dict):
            self.read_section(ProtectSection, raw, (PROTECT,))
            return None
        own = {name: value for name, value in raw.items() if not isinstance(value, dict)}
        for name in (name for name in raw if name not in own):
            path = (PROTECT, name)
            if not is_name(name):
                self.mistakes.add(path, f"[protect.{name}]: the name {NAME_FORM}")
            self.named[name] = self.one(raw[name], path)
            self._refuse_for_tables(raw[name], path)
        if not own and self.named:
            return None
        return self.one(own, (PROTECT,))

    def of_table(self, said: object, path: KeyPath) -> Protection | str | None:
        """What one table says: the name of a section, or everything itself."""
        if said is None:
            return None
        if isinstance(said, str):
            if said not in self.named:
                self.mistakes.add(path, _no_section(said, list(self.named)))
            self._used.add(said)
            return said
        self._refuse_for_tables(said, path)
        return self.one(said, path)

    def check_used(self, *, sums: bool) -> None:
        """Note sections to which no table refers: somebody meant one of them.

        Args:
            sums: Whether sums are published whose protection no table names.
        """
        for name in self.named:
            if name == SUMS_PROTECTION and name not in self._used and not sums:
                self.mistakes.add(
                    (PROTECT, name),
                    "[protect.sums] protects sums of amounts, and the plan publishes none. Leave"
                    " the section out.",
                )
            elif name not in self._used and not (name == SUMS_PROTECTION and sums):
                self.mistakes.add(
                    (PROTECT, name),
                    f'no table says protect = "{name}". Write it in a [[table]], or leave the'
                    " section out.",
                )

    def one(self, raw: object, path: KeyPath) -> Protection | None:
        """A method with what is said about it; ``None`` without one."""
        if not isinstance(raw, dict):
            self.read_section(ProtectSection, raw, path)
            return None
        known = (*ProtectSection.model_fields, *self.elsewhere)
        if "method" not in raw:
            near = get_close_matches("method", [name for name in raw if name not in known], n=1)
            meant = f" ({near[0]!r} is no setting)" if near else ""
            self.mistakes.add(
                path,
                f"the setting 'method' is missing{meant}: say how tables are protected, such as"
                ' method = "cell-key"',
            )
            return None
        own = {name: value for name, value in raw.items() if name in known}
        section = self.read_section(ProtectSection, own, path)
        if section is None:
            return None
        takers = takers_of(section.method, section.then)
        said = {name: value for name, value in raw.items() if name not in own}
        values, wrong = checked_settings(takers, said, as_setting)
        for name, reason in wrong:
            self.mistakes.add((*path, name), reason)
        takes = parameters_of(takers)
        for name, value in values.items():
            self._check_axes(value, takes[name].kind, (*path, name))
        return Protection(
            method=section.method,
            then=tuple(section.then),
            settings=tuple(values.items()),
            import_published=section.import_published,
            smallest_group=section.smallest_group,
        )

    def _refuse_for_tables(self, raw: object, path: KeyPath) -> None:
        said = raw if isinstance(raw, dict) else {}
        for name in _OF_PLAN:
            if name in said:
                self.mistakes.add(
                    (*path, name),
                    f"{name!r} is for all tables of a plan: write it in [protect] itself.",
                )

    def _check_axes(self, value: Setting, kind: ValueKind, path: KeyPath) -> None:
        """Variables, and the axes of tables, must be in the census."""
        if self.against is None:
            return
        if kind is ValueKind.VARIABLE:
            self.against.axis(str(value), path)
        if kind is ValueKind.VARIABLES and isinstance(value, tuple):
            for at, name in enumerate(value):
                self.against.axis(name, (*path, at))
        if kind is ValueKind.TABLES and isinstance(value, tuple):
            for at, axes in enumerate(value):
                for axis in filter(str.strip, axes.split(",")):
                    self.against.axis(axis, (*path, at))


def _no_section(name: str, known: list[str]) -> str:
    if not known:
        return (
            f"there is no section [protect.{name}]. Add it with a method, or say here what is"
            ' done: protect = { method = "…" }.'
        )
    return unknown("section [protect.NAME] of the plan", name, known)


def protections(
    tables: tuple[PlannedTable, ...],
    protect: Protection | None,
    named: tuple[tuple[str, Protection], ...],
) -> Iterator[tuple[KeyPath, Protection]]:
    """Everything that is said about protection, and where."""
    if protect is not None:
        yield (PROTECT,), protect
    for name, protection in named:
        yield (PROTECT, name), protection
    for at, table in enumerate(tables):
        if isinstance(table.protect, Protection):
            yield ("table", at, PROTECT), table.protect


def protections_of(plan: Plan) -> list[Protection]:
    """Everything that a plan says about protection."""
    return [each for _, each in protections(plan.tables, plan.protect, plan.protections)]


def files_of(protection: Protection | None) -> dict[str, str]:
    """The files and folders that a method is made from, by setting."""
    if protection is None:
        return {}
    takes = parameters_of(takers_of(protection.method, protection.then))
    return {
        name: str(value)
        for name, value in protection.settings
        if takes[name].kind in _KINDS_OF_FILES
    }


def is_release(protection: Protection, setting: str) -> bool:
    """Whether a setting names something that was published: a file, or a folder."""
    takes = parameters_of(takers_of(protection.method, protection.then))
    return takes[setting].kind is ValueKind.RELEASE
