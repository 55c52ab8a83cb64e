"""An international coding of variables beside the national one."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.model.plan.mapping import OUTSIDE, MappedBreakdown
from sdcensus.model.plan.programme import BreakdownCode
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.schema.variable import Code, CodeKind
from sdcensus.model.text import Text


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HarmonisedVariable:
    """A column of international codes.

    Attributes:
        name: Its name in files.
        mapped: The international codes as a tree, and for each leaf of the census its code.
        label: What it is called.
        rest: The code for what the file does not tell finely enough; empty for none.
    """

    name: str
    mapped: MappedBreakdown
    label: Text
    rest: str = ""

    @property
    def codes(self) -> tuple[Code, ...]:
        """The international codes, groups included, without the total."""
        return tuple(
            Code(code.code, code.label, code.kind) for code in self.mapped.breakdown.codes[1:]
        )

    def targets(self, variable: FileVariable) -> tuple[str, ...]:
        """For each code of a file the international one, in the order of the file's code list.

        A code of the file that stands for several international ones gets the group in which all
        of them lie, else the declared rest.

        Raises:
            SpecError: There is neither; or a code of the file has no international one.
        """
        leaves: list[set[str]] = [set() for _ in variable.level.codes]
        for leaf, place in zip(self.mapped.leaves, variable.level.group, strict=True):
            leaves[place].add(leaf)
        return tuple(
            self._target(code, frozenset(own), variable)
            for code, own in zip(variable.level.codes, leaves, strict=True)
        )

    def _target(self, code: Code, leaves: frozenset[str], variable: FileVariable) -> str:
        if not leaves:  # a code that the file alone has, such as "not stated" for blanked keys
            kind = code.kind if code.is_missing else CodeKind.NOT_STATED
            return self._of_kind(kind, code, variable)
        if leaves == {OUTSIDE}:
            return self._of_kind(CodeKind.NOT_APPLICABLE, code, variable)
        if len(leaves) == 1:
            return next(iter(leaves))
        common = self._common(leaves)
        if common:
            return common
        if self.rest:
            return self.rest
        listed = ", ".join(sorted(leaf or "outside" for leaf in leaves))
        raise SpecError(
            f"{self.name}: the code {code.code!r} of {variable.name!r} in the file stands for"
            f" several international codes: {listed}. Put a code above them (a column parent in the"
            f' list of targets), name a code for all such cases (rest = "..."), or recode'
            f" {variable.name!r} so that they stay apart."
        )

    def _common(self, leaves: frozenset[str]) -> str:
        """The lowest group that holds all of some codes; empty where only the total does."""
        if OUTSIDE in leaves:
            return ""
        tree = self.mapped.breakdown
        for depth in range(tree.depth, 0, -1):
            above = {tree.at_depth(leaf, depth) for leaf in leaves}
            if len(above) == 1:
                return above.pop()
        return ""

    def _of_kind(self, kind: CodeKind, code: Code, variable: FileVariable) -> str:
        target = next((each for each in self.codes if each.kind is kind), None)
        if target is not None:
            return target.code
        if self.rest:
            return self.rest
        setting = "not_applicable" if kind is CodeKind.NOT_APPLICABLE else "not_stated"
        raise SpecError(
            f"{self.name}: the code {code.code!r} of {variable.name!r} in the file has no"
            f' international code. Say which one is meant: {setting} = ["..."] or rest = "...".'
        )


@dataclass(frozen=True, slots=True, eq=False)
class Harmonisation:
    """What a mapping file says about international codes.

    Attributes:
        coding: What the international coding is called.
        variables: The columns, in the order of the document.
        file: Where it was read from.
    """

    coding: Text
    variables: tuple[HarmonisedVariable, ...]
    file: str = ""


#: How trees of international codes call everything; no file shows it.
EVERY_CODE = BreakdownCode("_T", Text())
