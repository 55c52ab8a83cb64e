"""The codes and levels of a variable, from what its table and its code list files say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sdcensus.documents.schema.code_tables import CodeTable, read_code_table
from sdcensus.documents.schema.sections import HierarchySection, VariableSection
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.documents.toml.values import RawText
from sdcensus.errors import DocumentError, SdcensusError, SpecError
from sdcensus.model.schema.code_lists import (
    MISSING_CODES,
    MISSING_LABELS,
    Tree,
    continuous_codes,
    interval_level,
    nested_hierarchies,
    onto_leaves,
    range_codes,
    stated_code,
    tree_levels,
    tree_problems,
)
from sdcensus.model.schema.tree_rows import ListProblem, Node, depths, leaf_codes, row_parents
from sdcensus.model.schema.variable import Code, CodeKind, EmptyField, Hierarchy, Level
from sdcensus.model.text import Text, has_control_character

#: Words that the grammar of axes and conditions has for itself, and the code of totals.
RESERVED = frozenset({"and", "or", "not", "in", "total", "_t"})
TOTAL_CODE = "_T"
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class CodeListOfDocument:
    """What ``Variable`` needs to know about the codes of a variable."""

    codes: tuple[Code, ...] = ()
    hierarchies: tuple[Hierarchy, ...] = ()
    leaf_level: str = ""


def name_problem(name: str) -> str:
    """Why a name cannot stand in axes and conditions; empty if it can."""
    if name.lower() in RESERVED:
        return f"{name!r} is a word of the language of tables. Choose another name."
    if not _NAME.fullmatch(name):
        better = re.sub(r"\W+", "_", name.strip()).strip("_")
        better = f"n{better}" if better[:1].isdigit() else better
        hint = f", such as {better!r}" if _NAME.fullmatch(better) else ""
        return (
            f"{name!r} cannot be a name: use letters, digits and underscores, and no digit in"
            f" front{hint}."
        )
    return ""


@dataclass(slots=True)
class CodeListReader:
    """Builds the code list of one variable; mistakes are noted at the settings they come from."""

    name: str
    section: VariableSection
    languages: Languages
    mistakes: Mistakes
    _kinds: dict[str, CodeKind] = field(default_factory=dict)

    def read(self) -> CodeListOfDocument | None:
        """The code list; ``None`` if mistakes leave nothing to go on with."""
        before = len(self.mistakes.found)
        self._read_kinds()
        section = self.section
        if section.continuous:
            built = self._continuous()
        elif section.range is not None:
            built = self._range(section.range)
        else:
            built = self._tree()
        self._check_names()
        leaves = None if built is None else built.codes
        others = [
            self._hierarchy(hierarchy_section, ("hierarchy", number), leaves)
            for number, hierarchy_section in enumerate(section.hierarchy)
        ]
        if built is None:
            return None
        hierarchies = (*built.hierarchies, *(other for other in others if other is not None))
        whole = CodeListOfDocument(built.codes, hierarchies, built.leaf_level)
        self._check(whole)
        return whole if len(self.mistakes.found) == before else None

    # ------------------------------------------------------------ helpers

    def _add(self, path: KeyPath, text: str) -> None:
        self.mistakes.add(("variable", self.name, *path), text)

    def _read_kinds(self) -> None:
        """Which codes are missing codes, with the ones that an empty field stands for."""
        section = self.section
        for kind, codes in (
            (CodeKind.NOT_APPLICABLE, section.not_applicable),
            (CodeKind.NOT_STATED, section.not_stated),
        ):
            for code in codes:
                other = self._kinds.setdefault(code, kind)
                if other is not kind:
                    self._add(
                        (kind.value,), f"the code {code!r} is both not_stated and not_applicable."
                    )
                elif codes.count(code) > 1:
                    self._add((kind.value,), f"the code {code!r} stands twice in {kind.value!r}.")
        if section.empty is not EmptyField.PROBLEM:
            kind = CodeKind(section.empty.value)
            if kind not in self._kinds.values():
                self._kinds[MISSING_CODES[kind]] = kind

    def _missing_nodes(self) -> list[Node]:
        return [
            Node(code, self.languages.choose(MISSING_LABELS[kind]))
            for code, kind in self._kinds.items()
        ]

    def _missing_codes(self) -> list[Code]:
        """The missing codes of a variable whose other codes are numbers."""
        nodes = {node.code: node for node in self._missing_nodes()}
        ordered = sorted(self._kinds.items(), key=lambda one: one[1] is CodeKind.NOT_STATED)
        return [Code(code, nodes[code].label, kind) for code, kind in ordered]

    # ------------------------------------------------------------ numbers

    def _range(self, bounds: tuple[int, int]) -> CodeListOfDocument | None:
        try:
            numbers = range_codes(*bounds)
        except SpecError as error:
            self._add(("range",), str(error))
            return None
        for code, kind in list(self._kinds.items()):
            if re.fullmatch(r"-?\d{1,18}", code) and bounds[0] <= int(code) <= bounds[1]:
                del self._kinds[code]
                self._add(
                    (kind.value,),
                    f"{code} lies in the range {bounds[0]} to {bounds[1]} and is also"
                    f" {kind.value}. Shorten the range.",
                )
        codes = (*numbers, *self._missing_codes())
        return CodeListOfDocument(codes, self._interval_hierarchies(codes))

    def _continuous(self) -> CodeListOfDocument | None:
        levels = self._interval_texts()
        missing = self._missing_codes()
        if not levels:
            return CodeListOfDocument((stated_code(), *missing) if missing else ())
        # Each level alone first, so that a mistake is shown where it was made.
        sound = [name for name, text in levels.items() if self._sound_bounds(name, text)]
        if len(sound) < len(levels):
            return None
        try:
            codes = (*continuous_codes(levels.values()), *missing)
        except SpecError as error:
            self._add(("levels",), str(error))
            return None
        return CodeListOfDocument(codes, self._interval_hierarchies(codes))

    def _sound_bounds(self, name: str, text: str) -> bool:
        try:
            continuous_codes([text])
        except SpecError as error:
            self._add(("levels", name), f"level {name!r}: {error}")
            return False
        return True

    def _interval_texts(self) -> dict[str, str]:
        levels = self.section.levels
        if isinstance(levels, dict):
            return levels
        if levels:
            self._add(
                ("levels",),
                'levels of numbers are a table of lower bounds, such as { broad = "0,15,65+" }.',
            )
        return {}

    def _interval_hierarchies(self, codes: Sequence[Code]) -> tuple[Hierarchy, ...]:
        levels: list[Level] = []
        for name, text in self._interval_texts().items():
            try:
                levels.append(interval_level(name, text, codes))
            except SpecError as error:
                self._add(("levels", name), f"level {name!r}: {error}")
        return nested_hierarchies(self.name, levels)

    # ------------------------------------------------------------ lists and trees

    def _tree(self) -> CodeListOfDocument | None:
        section = self.section
        names: list[str] = section.levels if isinstance(section.levels, list) else []
        if isinstance(section.codes, str):
            table = self._table(section.codes, ("codes",))
        else:
            table = self._inline(section.codes)
        if table is None:
            return None
        tree = self._grown(table, names)
        if tree is None:
            return None
        hierarchies: tuple[Hierarchy, ...] = ()
        if tree.levels:
            hierarchies = (Hierarchy(self.name, tree.levels),)
        if isinstance(section.levels, dict):
            for hierarchy in self._interval_hierarchies(tree.leaves):
                title = (
                    hierarchy.levels[0].name
                    if hierarchies and hierarchy.name == self.name
                    else hierarchy.name
                )
                hierarchies = (*hierarchies, Hierarchy(title, hierarchy.levels))
        return CodeListOfDocument(tree.leaves, hierarchies, tree.leaf_level)

    def _inline(self, codes: dict[str, RawText]) -> CodeTable:
        where: KeyPath = ("variable", self.name, "codes")
        nodes = [
            Node(code, self.languages.text(label, (*where, code), self.mistakes))
            for code, label in codes.items()
        ]
        return CodeTable(self.mistakes.document.path, tuple(nodes), ())

    def _table(self, name: str, path: KeyPath) -> CodeTable | None:
        """The rows of a code list file; its mistakes are noted at the setting that names it."""
        try:
            document = self.mistakes.document
            file = document.path.parent / name
            content = document.unsaved.get(file)
            return read_code_table(file, language=self.languages.first, content=content)
        except DocumentError as error:
            self.mistakes.add_all(
                ("variable", self.name, *path),
                (f"{name}{',' if mistake.line else ':'} {mistake}" for mistake in error.mistakes),
            )
        except SdcensusError as error:
            self._add(path, str(error))
        return None

    def _add_problems(
        self, problems: Sequence[ListProblem], table: CodeTable, name: object, path: KeyPath
    ) -> None:
        """Note what is wrong with a code list, with the lines of its file if it is one."""
        texts = []
        for problem in problems:
            text = problem.text
            if isinstance(name, str):
                in_file = problem.at is not None and problem.at < len(table.lines)
                line = f", line {table.lines[problem.at or 0]}" if in_file else ""
                text = f"{name}{line}: {text}"
            texts.append(text)
        self.mistakes.add_all(("variable", self.name, *path), texts)

    def _grown(self, table: CodeTable, names: Sequence[str]) -> Tree | None:
        """The tree of a code list with its missing codes, or ``None`` and mistakes."""
        listed = {node.code for node in table.nodes}
        leaves = leaf_codes(table.nodes, names)
        sound = True
        for code, kind in self._kinds.items():
            if code in listed and code not in leaves:
                self._add((kind.value,), f"the code {code!r} has codes below it in the list.")
                sound = False
            elif code not in listed and (twin := _twin(code, listed)):
                self._add(
                    (kind.value,),
                    f"the code list has {twin!r}, not {code!r}. Write it in quotes:"
                    f' {kind.value} = ["{twin}"].',
                )
                sound = False
        missing = self._missing_nodes()
        defaults = {node.code: node.label for node in missing}
        nodes = [
            *(replace(node, label=self._label(node, defaults)) for node in table.nodes),
            *(node for node in missing if node.code not in listed),
        ]
        problems = tree_problems(nodes, names)
        if problems:
            path: KeyPath = ("levels",) if problems[0].at is None and names else ("codes",)
            self._add_problems(problems, table, self.section.codes, path)
            return None
        return tree_levels(nodes, names, kinds=self._kinds) if sound else None

    def _label(self, node: Node, defaults: dict[str, Text]) -> Text:
        if node.label:
            return node.label
        return defaults.get(node.code) or Text.of(node.code, language=self.languages.first)

    def _hierarchy(
        self, section: HierarchySection, path: KeyPath, leaves: Sequence[Code] | None
    ) -> Hierarchy | None:
        """Another tree over the same leaves, as far as these are known."""
        table = self._table(section.codes, (*path, "codes"))
        if table is None:
            return None
        names = section.levels
        if not names and not any(node.level for node in table.nodes) and _is_flat(table.nodes):
            names = [section.name]
        problems = tree_problems(table.nodes, names)
        if problems:
            self._add_problems(problems, table, section.codes, (*path, "codes"))
        if problems or leaves is None:
            return None
        own = {leaf.code: leaf.label for leaf in leaves}
        kinds = {leaf.code: leaf.kind for leaf in leaves}
        inner = set(row_parents(table.nodes, names).places)
        named = []
        for at, node in enumerate(table.nodes):
            # The leaves are called as everywhere; a group may have the code of one.
            label = None if at in inner else own.get(node.code)
            named.append(replace(node, label=label or self._label(node, {})))
        tree = tree_levels(named, names, kinds=kinds, prefix=section.name)
        if not tree.levels:
            self._add((*path, "codes"), f"{section.codes}: it has no column 'parent' with groups.")
            return None
        try:
            return Hierarchy(section.name, onto_leaves(tree, leaves))
        except SpecError as error:
            self._add((*path, "codes"), f"{section.codes} is not over the same leaves. {error}")
            return None

    # ------------------------------------------------------------ the whole

    def _check_names(self) -> None:
        """The names of levels that the table itself gives."""
        given: list[tuple[KeyPath, str]] = []
        for name in self.section.levels:
            in_table = isinstance(self.section.levels, dict)
            given.append((("levels", name) if in_table else ("levels",), name))
        for number, hierarchy_section in enumerate(self.section.hierarchy):
            given.append((("hierarchy", number, "name"), hierarchy_section.name))
            given += [(("hierarchy", number, "levels"), name) for name in hierarchy_section.levels]
        for where, name in given:
            if problem := name_problem(name):
                self._add(where, f"level {problem}")

    def _check(self, built: CodeListOfDocument) -> None:
        """What codes and levels must be together."""
        if not any(code.kind is CodeKind.VALID for code in built.codes) and built.codes:
            self._add(("codes",), "all codes are missing codes; there is none for a value.")
        levels = [
            (self._place_of_level(level.name, hierarchy.name), level)
            for hierarchy in built.hierarchies
            for level in hierarchy.levels
        ]
        seen = {built.leaf_level or self.name}
        for where, level in levels:
            if where[-1] == "codes" and (problem := name_problem(level.name)):
                self._add(where, f"level {problem}")
            elif level.name in seen:
                self._add(where, f"two levels are called {level.name!r}.")
            elif level.name == self.name:
                self._add(
                    where, f"a level cannot be called {level.name!r}, like the variable itself."
                )
            seen.add(level.name)
        if built.leaf_level and (problem := name_problem(built.leaf_level)):
            self._add(("codes",), f"level {problem}")
        names = [hierarchy.name for hierarchy in built.hierarchies]
        for twice in sorted({name for name in names if names.count(name) > 1}):
            self._add(("hierarchy",), f"two hierarchies are called {twice!r}.")
        self._check_codes([(("codes",), built.codes)])
        self._check_codes((where, level.codes) for where, level in levels)

    def _check_codes(self, lists: Iterable[tuple[KeyPath, Sequence[Code]]]) -> None:
        for where, codes in lists:
            seen: set[str] = set()
            for code in codes:
                if code.code in seen:
                    self._add(where, f"the code {code.code!r} stands twice.")
                elif code.code == TOTAL_CODE:
                    self._add(where, f"the code {TOTAL_CODE!r} is kept for totals.")
                elif has_control_character(code.code):
                    self._add(where, f"the code {code.code!r} has characters that cannot be shown.")
                seen.add(code.code)
            unknown_code = MISSING_CODES[CodeKind.NOT_STATED]
            if any(code.code == unknown_code and not code.is_missing for code in codes):
                self._add(where, f"the code {unknown_code!r} is kept for 'not stated'.")

    def _place_of_level(self, name: str, hierarchy: str) -> KeyPath:
        """The setting that a level comes from."""
        for number, hierarchy_section in enumerate(self.section.hierarchy):
            if hierarchy_section.name == hierarchy != self.name:
                return (
                    "hierarchy",
                    number,
                    "levels" if name in hierarchy_section.levels else "codes",
                )
        if name not in self.section.levels:
            return ("codes",)
        return ("levels", name) if isinstance(self.section.levels, dict) else ("levels",)


def _twin(code: str, listed: set[str]) -> str:
    """The code of a list that is the same number, written differently."""
    if not re.fullmatch(r"-?\d{1,18}", code):
        return ""
    same = [one for one in listed if re.fullmatch(r"-?\d{1,18}", one) and int(one) == int(code)]
    return min(same, default="")


def _is_flat(nodes: Sequence[Node]) -> bool:
    """Whether there is one level above the leaves."""
    parents = row_parents(nodes)
    return not parents.problems and max(depths(parents.places), default=0) == 1
