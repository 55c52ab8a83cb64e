"""From what a page asks for to a changed schema: every request is checked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sdcensus.errors import InputError, unknown
from sdcensus.ingest.draft_columns import Profile
from sdcensus.model.schema.variable import CodeKind, Role
from sdcensus.session.schema_editing import code_lists, forms, settings
from sdcensus.session.schema_editing.working_copy import WorkingCopy

ProfileOf = Callable[[str], Profile | None]
_LONGEST_TEXT = 5_000


class Request:
    """The members of a request, each of the type that it should have."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    def text(self, name: str, default: str | None = None) -> str:
        """A short text without characters that cannot be shown."""
        value = self._members.get(name, default)
        if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
            raise self._wrong(name)
        return " ".join(value.split())

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        values = self._members.get(name)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self._wrong(name)
        return [value.strip() for value in values if value.strip()]

    def spoken(self, name: str) -> dict[str, str]:
        """A text for each language."""
        values = self._members.get(name, {})
        if not isinstance(values, dict) or not all(
            isinstance(text, str) and len(text) <= _LONGEST_TEXT for text in values.values()
        ):
            raise self._wrong(name)
        return {str(language): text for language, text in values.items()}

    def whole(self, name: str) -> int:
        """A whole number."""
        value = self._members.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(name)
        return value

    def rows(self, name: str) -> list[tuple[str, int]]:
        """Codes with their lines."""
        values = self._members.get(name)
        if not isinstance(values, list):
            raise self._wrong(name)
        members = [Request(value) for value in values if isinstance(value, dict)]
        return [(member.text("code"), member.whole("line")) for member in members]

    def plain(self, name: str) -> object:
        """A text, a number, a truth value, or a list of texts and numbers."""
        value = self._members.get(name)
        values = value if isinstance(value, list) else [value]
        if not all(item is None or isinstance(item, str | int | bool) for item in values):
            raise self._wrong(name)
        return value

    def _wrong(self, name: str) -> InputError:
        return InputError(f"The request is wrong at {name!r}.")


def change(copy: WorkingCopy, members: Mapping[str, Any], profile: ProfileOf) -> WorkingCopy:
    """The schema after a change.

    Raises:
        InputError: There is no such change, or it cannot be made.
    """
    request = Request(members)
    what = request.text("what")
    if what == "census":
        return settings.with_census(copy, request.text("setting"), request.plain("value"))
    if what == "accept_rest":
        return settings.accepted_rest(copy)
    if what == "unit":
        return settings.with_unit(
            copy, request.text("entity"), request.text("setting"), request.plain("value")
        )
    name = request.text("variable")
    if name not in copy.variables or not isinstance(copy.variables[name], dict):
        raise InputError(unknown("variable", name, copy.variables))
    if what not in _CHANGES:
        raise InputError(unknown("change", what, _CHANGES))
    return _CHANGES[what](copy, name, request, profile)


def _role(copy: WorkingCopy, name: str, request: Request, profile: ProfileOf) -> WorkingCopy:
    word = request.text("value")
    if word not in ("", *Role):
        raise InputError(unknown("role", word, [role.value for role in Role]))
    return forms.with_role(copy, name, Role(word) if word else None, profile(name))


def _form(copy: WorkingCopy, name: str, request: Request, profile: ProfileOf) -> WorkingCopy:
    word = request.text("value")
    if word not in list(settings.Form):
        raise InputError(unknown("form", word, [form.value for form in settings.Form]))
    return forms.with_form(copy, name, settings.Form(word), profile(name))


def _spoken(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    setting = request.text("setting")
    if setting not in settings.SPOKEN:
        raise InputError(unknown("setting", setting, sorted(settings.SPOKEN)))
    return settings.with_spoken(copy, name, setting, request.spoken("value"))


def _plain(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return settings.with_plain(copy, name, request.text("setting"), request.plain("value"))


def _level(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    bounds = request.text("bounds").replace(" ", "")
    label = request.spoken("label")
    return settings.with_bounds(copy, name, request.text("level"), bounds, label)


def _no_level(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return settings.with_bounds(copy, name, request.text("level"), None, {})


def _level_label(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return settings.with_level_label(copy, name, request.text("level"), request.spoken("label"))


def _code_label(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return code_lists.with_code_label(
        copy,
        name,
        request.whole("tree"),
        request.text("code"),
        request.whole("line"),
        request.spoken("value"),
    )


def _kind(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    word = request.text("value")
    if word not in list(CodeKind):
        raise InputError(unknown("kind of code", word, [kind.value for kind in CodeKind]))
    return code_lists.with_kind(copy, name, request.texts("codes"), CodeKind(word))


def _add_codes(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return code_lists.with_codes(copy, name, request.texts("codes"))


def _remove_codes(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return code_lists.without_codes(copy, name, request.texts("codes"))


def _grouping(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return code_lists.with_grouping(copy, name, request.text("grouping"), request.spoken("label"))


def _no_grouping(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return code_lists.without_grouping(copy, name, request.whole("tree"))


def _group(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return code_lists.with_group(
        copy,
        name,
        request.whole("tree"),
        request.rows("rows"),
        request.text("group"),
        request.spoken("label"),
    )


def _tree_levels(copy: WorkingCopy, name: str, request: Request, _: ProfileOf) -> WorkingCopy:
    return code_lists.with_tree_levels(copy, name, request.whole("tree"), request.texts("levels"))


def _accept(copy: WorkingCopy, name: str, _: Request, __: ProfileOf) -> WorkingCopy:
    return settings.accepted(copy, name)


def _reopen(copy: WorkingCopy, name: str, _: Request, __: ProfileOf) -> WorkingCopy:
    return settings.reopened(copy, name)


_CHANGES: dict[str, Callable[[WorkingCopy, str, Request, ProfileOf], WorkingCopy]] = {
    "role": _role,
    "form": _form,
    "spoken": _spoken,
    "plain": _plain,
    "level": _level,
    "no_level": _no_level,
    "level_label": _level_label,
    "code_label": _code_label,
    "kind": _kind,
    "add_codes": _add_codes,
    "remove_codes": _remove_codes,
    "grouping": _grouping,
    "no_grouping": _no_grouping,
    "group": _group,
    "tree_levels": _tree_levels,
    "accept": _accept,
    "reopen": _reopen,
}
