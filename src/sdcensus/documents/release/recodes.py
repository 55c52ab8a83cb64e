"""How recodes are written in a design: a level, bounds, a number at an end, groups of codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.documents.toml.values import RawText, WrongValueError, code_text
from sdcensus.errors import SpecError, unknown
from sdcensus.model.release.recode import CodeGroup, GroupKind, Recode
from sdcensus.model.schema.number_codes import parse_bounds

#: Names of groups that say what they are.
_KINDS = {"other": GroupKind.OTHER, "not_stated": GroupKind.NOT_STATED}
_BOUNDS = re.compile(r"[-\d\s.,…+]+")


@dataclass(frozen=True, slots=True)
class Recoding:
    """``recode`` of one variable: a level, intervals, or intervals of a level."""

    level: str = ""
    intervals: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """A group of codes as it is written."""

    code: str
    members: tuple[str, ...]
    label: RawText
    kind: GroupKind


def _table(value: object, example: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongValueError(((), f"should be a table such as {example}"))
    return value


def _wrong_name(name: str) -> str | None:
    if "@" in name:
        variable, _, level = name.partition("@")
        return f'name the variable alone, and its level by recode = {{ {variable} = "{level}" }}'
    return None if name.strip() else "the name of a variable should not be empty"


def recodings_of(value: object) -> dict[str, Recoding]:
    """``{ age = "five_year" }``, ``{ age = "0,5,...,85+" }``."""
    recodings: dict[str, Recoding] = {}
    wrong: list[tuple[KeyPath, str]] = []
    for name, text in _table(value, '{ age = "five_year" }').items():
        try:
            recodings[name.strip()] = _recoding(name, text)
        except WrongValueError as error:
            wrong += [((name, *inside), f"{name!r}: {why}") for inside, why in error.parts]
    if wrong:
        raise WrongValueError(*wrong)
    return recodings


def _recoding(name: str, value: object) -> Recoding:
    reason = _wrong_name(name)
    if reason:
        raise WrongValueError(((), reason))
    if isinstance(value, dict):
        for setting, text in value.items():
            if setting not in ("level", "intervals"):
                raise WrongValueError(
                    ((setting,), unknown("setting", setting, ["level", "intervals"]))
                )
            if not isinstance(text, str) or not text.strip():
                raise WrongValueError(((setting,), "should be a text in double quotes"))
        if not value:
            raise WrongValueError(((), "should name a level or intervals"))
        recoding = Recoding(value.get("level", "").strip(), value.get("intervals", "").strip())
    elif not isinstance(value, str) or not value.strip():
        raise WrongValueError(
            ((), 'should be a level such as "five_year", or lower bounds such as "0,5,...,85+"')
        )
    elif _BOUNDS.fullmatch(value.strip()) and "," in value:
        recoding = Recoding(intervals=value.strip())
    else:
        recoding = Recoding(level=value.strip().removeprefix(f"{name}@"))
    if recoding.intervals:
        try:
            parse_bounds(recoding.intervals)
        except SpecError as error:
            raise WrongValueError(((), str(error))) from None
    return recoding


def numbers_of(value: object) -> dict[str, int]:
    """``{ age = 75 }``."""
    wrong: list[tuple[KeyPath, str]] = []
    table = _table(value, "{ age = 75 }")
    for name, number in table.items():
        reason = _wrong_name(name)
        if reason is None and type(number) is not int:
            reason = "should be a whole number"
        if reason is None and abs(number) > 10**15:
            reason = "should be a smaller number"
        if reason:
            wrong.append(((name,), f"{name!r}: {reason}"))
    if wrong:
        raise WrongValueError(*wrong)
    return {name.strip(): number for name, number in table.items()}


def merges_of(value: object) -> dict[str, list[Merge]]:
    """``{ religion = { other = ["17", "18"] } }``."""
    example = '{ religion = { other = ["17", "18"] } }'
    merges: dict[str, list[Merge]] = {}
    wrong: list[tuple[KeyPath, str]] = []
    for name, groups in _table(value, example).items():
        reason = _wrong_name(name)
        if reason or not isinstance(groups, dict) or not groups:
            text = reason or f"should be a table of groups, as in {example}"
            wrong.append(((name,), f"{name!r}: {text}"))
            continue
        merges[name.strip()] = []
        for code, members in groups.items():
            try:
                merges[name.strip()].append(_merge(code, members))
            except WrongValueError as error:
                wrong += [((name, code, *inside), why) for inside, why in error.parts]
        wrong += _twice(name, merges[name.strip()])
    if wrong:
        raise WrongValueError(*wrong)
    return merges


def _twice(name: str, merges: Sequence[Merge]) -> Iterator[tuple[KeyPath, str]]:
    """Codes that stand in two groups of a variable, or twice in one."""
    holder: dict[str, str] = {}
    for merge in merges:
        for member in merge.members:
            if member in holder:
                other = holder[member]
                where = "twice" if other == merge.code else f"in {other!r} already"
                yield ((name, merge.code), f"{name!r}: the code {member!r} stands {where}.")
            holder[member] = merge.code


def _merge(code: str, value: object) -> Merge:
    label: RawText = ""
    kind = _KINDS.get(code.strip().replace("-", "_"), GroupKind.CODE)
    if isinstance(value, dict):
        for setting in value:
            if setting not in ("codes", "label", "kind"):
                known = ["codes", "label", "kind"]
                raise WrongValueError(((setting,), unknown("setting", setting, known)))
        label = _label(value.get("label", ""))
        if "kind" in value:
            kinds = [each.value for each in GroupKind]
            if value["kind"] not in kinds:
                raise WrongValueError((("kind",), unknown("kind", str(value["kind"]), kinds)))
            kind = GroupKind(value["kind"])
        value = value.get("codes")
    if not isinstance(value, list) or not value:
        raise WrongValueError(((), f'{code!r} should be a list of codes such as ["17", "18"]'))
    members = tuple(_code(member, at) for at, member in enumerate(value))
    return Merge(code, members, label, kind)


def _code(value: object, at: int) -> str:
    if value == "":  # an office may have a code without any letter
        return ""
    try:
        return code_text(value)
    except WrongValueError as error:
        raise WrongValueError(((at,), str(error))) from None


def _label(value: object) -> RawText:
    if isinstance(value, str):
        return value.strip()
    texts = value if isinstance(value, dict) else {}
    if not texts or not all(isinstance(text, str) for text in texts.values()):
        raise WrongValueError((("label",), 'should be a text, or a table such as { en = "Other" }'))
    return {language: text.strip() for language, text in texts.items()}


def recodes_of(
    recode: Mapping[str, Recoding],
    top: Mapping[str, int],
    bottom: Mapping[str, int],
    merge: Mapping[str, Sequence[Merge]],
    *,
    optional: Sequence[str],
    path: KeyPath,
    mistakes: Mistakes,
) -> tuple[Recode, ...]:
    """Everything that a design says about variables, one recode for each of them."""
    recodes: dict[str, Recode] = {}
    for name in (*recode, *bottom, *top, *merge):
        own = recode.get(name, Recoding())
        groups = tuple(
            CodeGroup(
                code=group.code,
                members=group.members,
                label=Languages().text(group.label, (*path, "merge", name), mistakes),
                kind=group.kind,
            )
            for group in merge.get(name, ())
        )
        recodes[name] = Recode(
            variable=name,
            level=own.level,
            intervals=own.intervals,
            bottom=bottom.get(name),
            top=top.get(name),
            groups=groups,
        )
        if name in top and name in bottom and top[name] <= bottom[name]:
            mistakes.add(
                (*path, "top_code", name),
                f"{name!r}: the top, {top[name]}, does not lie above the bottom, {bottom[name]}.",
            )
    for at, name in enumerate(optional):
        if name not in recodes:
            mistakes.add(
                (*path, "optional", at),
                f"{name!r} is optional, and nothing is said about it: name a variable that the"
                " design recodes.",
            )
        else:
            recodes[name] = replace(recodes[name], optional=True)
    return tuple(recodes[name] for name in sorted(recodes))


def written_recodes(recodes: Sequence[Recode]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The settings of a design that say recodes, for a document that reads back equal."""
    levels: dict[str, Any] = {}
    for recode in recodes:
        if recode.intervals and recode.level:
            levels[recode.variable] = {"level": recode.level, "intervals": recode.intervals}
        elif recode.level and _BOUNDS.fullmatch(recode.level):
            levels[recode.variable] = {"level": recode.level}
        elif recode.intervals and "," not in recode.intervals:
            levels[recode.variable] = {"intervals": recode.intervals}
        elif recode.intervals or recode.level:
            levels[recode.variable] = recode.intervals or recode.level
    yield "recode", levels
    yield "bottom_code", {each.variable: each.bottom for each in recodes if each.bottom is not None}
    yield "top_code", {each.variable: each.top for each in recodes if each.top is not None}
    yield "merge", {each.variable: _groups(each.groups) for each in recodes if each.groups}


def _groups(groups: Sequence[CodeGroup]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for group in groups:
        entry: dict[str, Any] = {"codes": list(group.members)}
        if group.label:
            entry["label"] = dict(group.label.by_language)
        if group.kind is not _KINDS.get(group.code.strip().replace("-", "_"), GroupKind.CODE):
            entry["kind"] = group.kind.value
        written[group.code] = entry["codes"] if len(entry) == 1 else entry
    return written
