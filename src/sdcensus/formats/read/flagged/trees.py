"""Trees of codes, as other tools write them, and the axes that follow from them.

A tree may end at different depths: a code without parts stands for itself at every level below.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Variable
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis

#: A tree has no more levels: a file with more is no tree of codes.
_MOST_DEPTH = 50


@dataclass(frozen=True, slots=True)
class CodeTree:
    """Codes below a total, each behind the one that it is part of.

    Attributes:
        codes: All codes but that of the total.
        depths: How deep each lies: 1 directly below the total.
    """

    codes: tuple[str, ...]
    depths: tuple[int, ...]

    @classmethod
    def flat(cls, codes: Iterable[str]) -> CodeTree:
        """Codes that all lie directly below the total."""
        listed = tuple(dict.fromkeys(codes))
        return cls(listed, (1,) * len(listed))

    def leaves(self) -> tuple[int, ...]:
        """Positions of the codes without parts."""
        after = (*self.depths[1:], 0)
        return tuple(at for at, depth in enumerate(self.depths) if after[at] <= depth)

    def with_more(self, codes: Iterable[str]) -> CodeTree:
        """The same tree with further codes directly below the total."""
        more = [code for code in dict.fromkeys(codes) if code not in self.codes]
        return CodeTree((*self.codes, *more), (*self.depths, *(1 for _ in more)))

    def variable(self, name: str) -> Variable:
        """A variable whose leaves are those of the tree, with a level for each depth above them."""
        leaves = self.leaves()
        ancestors = self._ancestors(leaves)
        deepest = max((len(path) for path in ancestors), default=1)
        levels = []
        for depth in range(deepest - 1, 0, -1):
            group_of = [path[min(depth, len(path)) - 1] for path in ancestors]
            places = {at: number for number, at in enumerate(dict.fromkeys(group_of))}
            codes = tuple(Code(self.codes[at]) for at in places)
            levels.append(Level(f"level{depth}", codes, tuple(places[at] for at in group_of)))
        codes = tuple(Code(self.codes[at]) for at in leaves) or (Code("all"),)
        hierarchies = (Hierarchy("tree", tuple(levels)),) if levels else ()
        return Variable(name=name, entity=Entity.PERSON, codes=codes, hierarchies=hierarchies)

    def _ancestors(self, leaves: Sequence[int]) -> list[list[int]]:
        """For each leaf the positions of all codes that hold it, and of itself."""
        wanted = set(leaves)
        path: list[int] = []
        paths: list[list[int]] = []
        for at, depth in enumerate(self.depths):
            path = [*path[: depth - 1], at]
            if at in wanted:
                paths.append(path)
        return paths


@dataclass(frozen=True, slots=True, eq=False)
class TreeAxis:
    """An axis of a tree, and where each code of a file stands on it.

    Attributes:
        axis: The axis, with all levels.
        places: For each code of a file its positions: a code may stand at several levels.
    """

    axis: Axis
    places: Mapping[str, tuple[int, ...]]


def tree_axis(variable: Variable, present: Collection[str], total: str | None) -> TreeAxis:
    """The axis of a variable with all its levels.

    Args:
        variable: Made by a tree.
        present: The codes that the file shows.
        total: The code of the total, if the file shows it.
    """
    shown = [
        level
        for level in variable.levels()
        if level.name == variable.leaf_level or any(code.code in present for code in level.codes)
    ]
    axis = make_axis(variable, shown, total=total is not None)
    places: dict[str, tuple[int, ...]] = {}
    for at, code in enumerate(axis.codes):
        word = total if code.level == TOTAL and total is not None else code.code
        places[word] = (*places.get(word, ()), at)
    return TreeAxis(axis, places)


def read_tree(path: str | Path, leading: str = "@", total: str = "") -> CodeTree:
    """Read a hierarchy file (``.hrc``): a code in each line, behind one sign for each level.

    Args:
        path: The file.
        leading: The sign.
        total: The code of the total, which may stand first without a sign; everything is then
            below it.
    """
    file = Path(path)
    codes: list[str] = []
    depths: list[int] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(_lines(file), start=1):
        if not line.strip():
            continue
        depth, rest = 1, line.strip("\r\n")
        while leading and rest.startswith(leading):
            depth, rest = depth + 1, rest[len(leading) :]
        code = rest.strip().strip('"').strip()
        where = f"{file}, line {number}"
        if not code:
            raise InputError(f"{where}: there is no code behind {leading!r}. Take the line out.")
        if code in seen:
            raise InputError(
                f"{where}: the code {code!r} stands in line {seen[code]} already. A code is part of"
                " one other code only; give the second one a name of its own."
            )
        if depth > (depths[-1] if depths else 0) + 1 or depth > _MOST_DEPTH:
            raise InputError(
                f"{where}: {code!r} stands {depth - 1} levels deep, and the line before it"
                f" {depths[-1] - 1 if depths else 0}. Each level has one {leading!r} more than the"
                " one above."
            )
        seen[code] = number
        codes.append(code)
        depths.append(depth)
    if not codes:
        raise InputError(f"{file} holds no codes.")
    return _below_total(CodeTree(tuple(codes), tuple(depths)), total)


def _below_total(tree: CodeTree, total: str) -> CodeTree:
    """A tree without its total, where that stands above everything else."""
    if not total or tree.codes[0].lower() != total.lower() or 1 in tree.depths[1:]:
        return tree
    return CodeTree(tree.codes[1:], tuple(depth - 1 for depth in tree.depths[1:]))


def tree_of_digits(codes: Iterable[str], widths: Sequence[int], where: str) -> CodeTree:
    """A tree whose levels are the first digits of its codes (``<HIERLEVELS>``).

    Args:
        codes: The codes of a file.
        widths: How many digits each level adds; zeros at the end add none.
        where: What they are the codes of, for messages.
    """
    steps = [width for width in widths if width]
    length = sum(steps)
    ends = [sum(steps[: at + 1]) for at in range(len(steps))]
    nodes: set[str] = set()
    for code in dict.fromkeys(codes):
        if len(code) not in ends:
            raise InputError(
                f"{where}: the code {code!r} has {len(code)} signs, and its levels have"
                f" {', '.join(map(str, ends))}. Correct <HIERLEVELS>, which adds up to {length}."
            )
        nodes.update(code[:end] for end in ends if end <= len(code))
    ordered = sorted(nodes)
    return CodeTree(tuple(ordered), tuple(ends.index(len(code)) + 1 for code in ordered))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        return file.read_text(encoding="cp1252", errors="replace").splitlines()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{file} cannot be read: {reason}.") from None
