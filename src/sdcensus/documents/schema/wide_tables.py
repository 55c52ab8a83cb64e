"""Gazetteers as code lists: one row for each finest area, with a column of codes for each level.

``region,region_label,province,province_label,commune,commune_label`` and the like. A column is that
of a level if its name says so (``region_code``, ``Código Región``) or if there is another with the
names of the same level (``region_label``, ``Nombre Región``). Other columns are passed over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sdcensus.documents.workbooks.small_tables import Row
from sdcensus.errors import Mistake
from sdcensus.model.schema.tree_rows import Node
from sdcensus.model.text import Text

_CODE_WORDS = frozenset({"cod", "code", "codes", "codigo", "codigos", "codice"})
_LABEL_WORDS = frozenset(
    {
        *("label", "labels", "name", "names", "nombre", "nombres", "nom", "noms", "glosa"),
        *("etiqueta", "libelle", "naam", "namen", "nome", "nomes"),
    }
)
#: Small words between the parts of a column's name, as in ``Nombre de la región``.
_BETWEEN = frozenset({"de", "del", "la", "el", "los", "las", "of", "the", "du", "des", "van", "da"})


@dataclass(slots=True)
class LevelColumns:
    """The columns of one level: of its codes, and of its labels by language.

    Attributes:
        name: What the level is called.
        code: The place of the codes.
        labels: The places of labels; the language ``""`` is the first one of the schema.
    """

    name: str
    code: int
    labels: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Title:
    level: str
    is_code: bool
    is_label: bool
    language: str = ""


def _title(text: str) -> _Title:
    """What the name of a column says about it."""
    plain = unicodedata.normalize("NFKD", text.strip().lower())
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    words = [word for word in re.split(r"[\W_]+", plain) if word]
    language = ""
    if len(words) > 2 and words[-2] in _LABEL_WORDS and re.fullmatch("[a-z]{2}", words[-1]):
        language = words.pop()
    is_code = any(word in _CODE_WORDS for word in words)
    is_label = any(word in _LABEL_WORDS for word in words)
    if is_code or is_label:
        passed_over = _CODE_WORDS | _LABEL_WORDS | _BETWEEN
        words = [word for word in words if word not in passed_over and not word.isdigit()]
    return _Title("_".join(words), is_code, is_label, language)


def level_columns(header: Sequence[str]) -> list[LevelColumns]:
    """The levels that the first row of a gazetteer names, in its order; none if it is no such."""
    titles = [_title(text) for text in header]
    plain = {
        title.level: at
        for at, title in enumerate(titles)
        if title.level and not title.is_code and not title.is_label
    }
    labelled = {title.level for title in titles if title.is_label and not title.is_code}
    levels: dict[str, LevelColumns] = {}
    for at, title in enumerate(titles):
        is_level = title.is_code or (title.level in labelled and not title.is_label)
        if title.level and is_level and not (title.is_code and title.is_label):
            coded = [other for other in titles if other.is_code and other.level == title.level]
            if title.is_code or not coded:
                levels.setdefault(title.level, LevelColumns(title.level, at))
    for at, title in enumerate(titles):
        level = levels.get(title.level)
        if level is not None and title.is_label and at != level.code:
            level.labels.setdefault(title.language, at)
    for level in levels.values():
        # "region_code,region": the column beside the codes holds the names.
        beside = plain.get(level.name, level.code)
        if beside != level.code and not level.labels:
            level.labels[""] = beside
    return list(levels.values())


def wide_rows(
    levels: Sequence[LevelColumns], body: Sequence[Row], language: str, mistakes: list[Mistake]
) -> tuple[list[Node], list[int]]:
    """The rows of a gazetteer as codes with parents, each with the line where it stands first.

    Args:
        levels: Its columns.
        body: Its rows below the names of the columns.
        language: The language of labels whose column names none.
        mistakes: Where mistakes are noted.
    """
    ordered = _coarsest_first(levels, body)
    first: dict[tuple[str, str], tuple[Node, int]] = {}
    for line, fields in body:
        above: Node | None = None
        for level in ordered:
            code = _field(fields, level.code)
            if not code:
                continue
            parent = f"{above.level}:{above.code}" if above is not None else ""
            name = level.name if len(levels) > 1 else ""
            node = Node(code, _label(fields, level, language), parent, name)
            known, at = first.setdefault((level.name, code), (node, line))
            if known.parent != node.parent:
                mistakes.append(Mistake(line, _two_parents(level.name, known, at, node)))
            elif known.label != node.label:
                mistakes.append(Mistake(line, _two_labels(level.name, known, at, node)))
            above = node
        if above is None:
            mistakes.append(Mistake(line, "The code is missing."))
    return [node for node, _ in first.values()], [line for _, line in first.values()]


def _coarsest_first(levels: Sequence[LevelColumns], body: Sequence[Row]) -> list[LevelColumns]:
    """The columns from the level with the fewest codes on; else as they stand."""
    sizes: Mapping[str, int] = {
        level.name: len({_field(fields, level.code) for _, fields in body}) for level in levels
    }
    as_written = list(levels)
    if sizes[as_written[0].name] > sizes[as_written[-1].name]:
        as_written.reverse()
    return sorted(as_written, key=lambda level: sizes[level.name])


def _field(fields: Sequence[str], at: int) -> str:
    return fields[at] if at < len(fields) else ""


def _label(fields: Sequence[str], level: LevelColumns, language: str) -> Text:
    texts = {language: _field(fields, level.labels.get("", level.labels.get(language, -1)))}
    if not level.labels:
        texts = {}
    for key, at in level.labels.items():
        if key:
            texts.setdefault(key, _field(fields, at))
    return Text.of(texts)


def _two_parents(level: str, known: Node, line: int, node: Node) -> str:
    lies = [
        f"in {other.parent.replace(':', ' ', 1)}" if other.parent else "in nothing"
        for other in (known, node)
    ]
    return (
        f"The {level} {node.code!r} lies {lies[1]} here and {lies[0]} on line {line}. Codes of one"
        " level must differ: put the code of the area above in front of it. If this column is no"
        " level, take it out of the file."
    )


def _two_labels(level: str, known: Node, line: int, node: Node) -> str:
    return (
        f"The {level} {node.code!r} is called {node.label.show()!r} here and"
        f" {known.label.show()!r} on line {line}."
    )
