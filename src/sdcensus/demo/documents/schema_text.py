"""The schema of the demo country, as an office would write it by hand, and its code lists."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from sdcensus.demo.census import DemoCensus
from sdcensus.demo.documents.questionnaire import (
    FILES,
    LABEL_COLUMNS,
    LANGUAGES,
    DemoCode,
    DemoQuestion,
    DemoTree,
    Words,
    data_text,
    identities,
    rules,
    universes,
)
from sdcensus.documents.schema.universes import universe_lines
from sdcensus.documents.toml.text import toml

#: The first line of a schema that we wrote: only such a folder is ever written over.
MARK = "# A demo country, made by sdcensus. Nobody in it exists."


def schema_text(census: DemoCensus, ending: str, extent: tuple[int, int, int, int]) -> str:
    """The whole schema; ``ending`` is that of the data files, ``extent`` that of the grid."""
    parts = [MARK, "", _head(census), _files(ending), data_text("entities.toml")]
    parts += [_impossible(label, when) for label, when in rules()]
    parts += [_identity(settings) for settings in identities()]
    parts += map(universe_lines, universes())
    file = ""
    for question in census.questionnaire:
        if question.file != file:
            file = question.file
            parts.append(f"# ---- {file}s {'-' * (70 - len(file))}\n")
        parts.append(_variable(question, extent))
    return "\n".join(parts)


def code_files(census: DemoCensus) -> dict[str, str]:
    """The code lists that stand in files of their own: file name and text."""
    found = {}
    for question in census.questionnaire:
        if question.listed:
            found[f"{question.listed}.csv"] = _code_list((*question.groups, *question.codes))
        for tree in question.trees:
            found[tree_file(question, tree)] = _code_list(tree.codes)
    return found


def tree_file(question: DemoQuestion, tree: DemoTree) -> str:
    """The file of a further tree over the codes of a variable."""
    return f"{question.name}_{tree.name}.csv"


def _code_list(codes: tuple[DemoCode, ...]) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    with_parents = any(code.parent for code in codes)
    table.writerow(["code", *LABEL_COLUMNS, *(["parent"] if with_parents else [])])
    for code in codes:
        parent = [code.parent] if with_parents else []
        table.writerow([code.code, *code.label, *parent])
    return out.getvalue()


def _text(words: Words) -> str:
    """A text in all languages, in one line."""
    return toml(dict(zip(LANGUAGES, words, strict=True)))


def _head(census: DemoCensus) -> str:
    return (
        "[census]\n"
        'name = "Population and Housing Census 2021"\n'
        f"country = {toml(census.country.name)}\n"
        'code = "DEMO2021"\n'
        "reference_date = 2021-04-01\n"
        f"languages = {toml(LANGUAGES)}\n"
    )


def _files(ending: str) -> str:
    return "\n".join(
        f'[files.{file}]\npath = "{file}s.{ending}"\nentity = "{file}"\n' for file in FILES
    )


def _impossible(label: Words, when: str) -> str:
    return f"[[impossible]]\nwhen = {toml(when)}\nlabel = {_text(label)}\n"


def _identity(settings: Mapping[str, str | int]) -> str:
    return "\n".join(
        ["[[identity]]", *(f"{name} = {toml(setting)}" for name, setting in settings.items()), ""]
    )


def _variable(question: DemoQuestion, extent: tuple[int, int, int, int]) -> str:
    table = f"variable.{question.name}"
    lines = [f"[{table}]", f'file = "{question.file}"']
    if question.entity != question.file:
        lines.append(f'entity = "{question.entity}"  # the same for all members')
    lines.append(f"label = {_text(question.label)}")
    if question.topic:
        lines.append(f"topic = {_text(question.topic)}")
    if question.role:
        lines.append(f'role = "{question.role}"')
    if question.counts:
        lines.append(f"counts = {toml(question.counts)}  # each code is a number of them")
        lines.append(f"counts_open = {toml(question.counts_open)}  # or more")
    if question.range:
        lines.append(f"range = [{question.range[0]}, {question.range[1]}]")
    if question.listed:
        lines.append(f'codes = "codes/{question.listed}.csv"')
    if question.levels:
        lines.append(f"levels = {toml(question.levels)}")
    for key, code in (
        ("not_applicable", question.not_applicable),
        ("not_stated", question.not_stated),
    ):
        if code:
            lines.append(f"{key} = [{toml(code)}]")
    if question.continuous:
        lines += ["continuous = true", f"unit = {_text(question.unit)}"]
    if question.decimals:
        lines.append(f"decimals = {question.decimals}")
    if question.empty:
        lines.append(f'empty = "{question.empty}"')
    if question.imputed:
        lines.append(f'imputed = "{question.imputed}"  # 1 where the office filled the value in')
    if question.role == "geography":
        lines.append('map = "codes/areas.geojson"  # metres of EPSG 3035')
        lines.append(
            'grid = { x = "easting", y = "northing", epsg = 3035, cell = 1000,'
            f" extent = {list(extent)} }}"
        )
    if question.codes and not question.listed and not question.range:
        lines += ["", f"[{table}.codes]"]
        lines += [f"{code.code} = {_text(code.label)}" for code in question.codes]
    if question.bounds:
        lines += ["", f"[{table}.levels]"]
        lines += [f"{level} = {toml(bounds)}" for level, bounds in question.bounds]
    if question.level_labels:
        lines += ["", f"[{table}.level_labels]"]
        lines += [f"{level} = {_text(label)}" for level, label in question.level_labels]
    # One language on each line: a definition is read, and translated, as a whole.
    lines += ["", f"[{table}.description]"]
    for language, text in zip(LANGUAGES, question.description, strict=True):
        lines.append(f"{language} = {toml(text)}")
    for tree in question.trees:
        lines += [
            "",
            f"[[{table}.hierarchy]]  # not nested in the first",
            f'name = "{tree.name}"',
            f'codes = "codes/{tree_file(question, tree)}"',
            f"levels = {toml(tree.levels)}",
        ]
    return "\n".join(lines) + "\n"
