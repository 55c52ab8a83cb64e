"""``[protect]`` of a plan: a method, the steps after it, and what they declare may be said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdcensus.documents.plan.checks import AgainstSchema
from sdcensus.documents.plan.sections import ProtectSection
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.model.method.parameter import Setting, ValueKind, as_setting
from sdcensus.model.method.registry import checked_settings, parameters_of, takers_of
from sdcensus.model.plan.plan import Protection

_PATH = "protect"


def of_section(raw: Mapping[str, Any], elsewhere: Mapping[str, str]) -> dict[str, Any]:
    """What stands in ``[protect]`` and is no parameter of a method."""
    known = (*ProtectSection.model_fields, *elsewhere)
    return {name: value for name, value in raw.items() if name in known}


def read_protection(
    section: ProtectSection | None,
    said: Mapping[str, Any],
    against: AgainstSchema | None,
    mistakes: Mistakes,
) -> Protection | None:
    """Check what is said about a method; ``None`` without one.

    Args:
        section: The method and the steps after it; ``None`` where they cannot be read.
        said: Everything else.
        against: The schema of the census, if it is known.
        mistakes: Is told what is wrong.
    """
    if section is None:
        return None
    takers = takers_of(section.method, section.then)
    values, wrong = checked_settings(takers, said, as_setting)
    for name, reason in wrong:
        mistakes.add((_PATH, name), reason)
    takes = parameters_of(takers)
    if against is not None:
        for name, value in values.items():
            _check_axes(name, value, takes[name].kind, against)
    return Protection(
        method=section.method,
        then=tuple(section.then),
        settings=tuple(values.items()),
        import_published=section.import_published,
        smallest_group=section.smallest_group,
    )


def files_of(protection: Protection | None) -> dict[str, str]:
    """The files that a method is made from, by setting."""
    if protection is None:
        return {}
    takes = parameters_of(takers_of(protection.method, protection.then))
    return {
        name: str(value)
        for name, value in protection.settings
        if takes[name].kind is ValueKind.FILE
    }


def _check_axes(name: str, value: Setting, kind: ValueKind, against: AgainstSchema) -> None:
    """Variables, and the axes of tables, must be in the census."""
    if kind is ValueKind.VARIABLE:
        against.axis(str(value), (_PATH, name))
    if kind is ValueKind.TABLES and isinstance(value, tuple):
        for at, axes in enumerate(value):
            for axis in filter(str.strip, axes.split(",")):
                against.axis(axis, (_PATH, name, at))
