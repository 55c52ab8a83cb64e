"""What the settings of a plan mean together, and against the schema of its store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from sdcensus.documents.plan.figure_checks import add_compared_with_itself, no_amount
from sdcensus.documents.plan.sections import OutputSection, PlanHead
from sdcensus.documents.schema.universes import check_counted
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import Refused, SpecError
from sdcensus.model.plan.plan import PlannedIndicator, PlannedTable, PlanOutput
from sdcensus.model.plan.vocabulary import (
    COUNT_SIDE,
    INDICATOR_KINDS,
    INDICATOR_SETTINGS,
    SUM_SIDE,
    ComparedFigure,
    IndicatorKind,
)
from sdcensus.model.published.figures import no_mean_of_classes
from sdcensus.model.published.table_format import table_format
from sdcensus.model.schema.roles import variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.axis import parse_axis
from sdcensus.model.spec.measures import MeasureOf, check_amount
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import universe_of

#: What a file of every publication is called, so that no table can be.
_TAKEN = frozenset({"manifest"})
#: Kinds that are of an amount where their variable is one.
OF_AMOUNTS = ("mean", "median", "quartiles", "percentile", "difference")
#: How a condition that is no universe can be asked for.
_INSTEAD = 'Or write it as where = "...": it is then a sum of published values.'


def both(*conditions: str) -> str:
    """The condition that all of several hold; empty ones always do.

    Examples:
        >>> both("age >= 15", "", "sex == 1 or sex == 2")
        '(age >= 15) and (sex == 1 or sex == 2)'
    """
    said = [condition for condition in conditions if condition]
    return said[0] if len(said) == 1 else " and ".join(f"({one})" for one in said)


@dataclass(frozen=True, slots=True)
class PlanNames:
    """The names of tables and indicators, each of which has files of its own."""

    seen: dict[str, str]
    mistakes: Mistakes

    def check(self, name: str, path: KeyPath, *, faulty: bool) -> None:
        """Note a name that is missing, or that stands for something else already."""
        if not name:
            if not faulty:
                self.mistakes.add(path, "the setting 'name' is missing")
            return
        # Files of two tables must not collide where case does not matter.
        called = f"{path[0]} {int(path[1]) + 1}"
        first = self.seen.setdefault(name.casefold(), called)
        if first != called:
            self.mistakes.add((*path, "name"), f"{name!r} is the name of {first} already.")
        if name.casefold() in _TAKEN:
            self.mistakes.add(
                (*path, "name"), f"{name!r} is a file of every publication. Choose another name."
            )


@dataclass(frozen=True, slots=True)
class AgainstSchema:
    """Checks tables and indicators against a schema; every mistake at its own place."""

    schema: Schema
    mistakes: Mistakes
    measure: Measure | None = None

    def table(self, table: PlannedTable, path: KeyPath, *, faulty: bool) -> None:
        """Axes and conditions each at its place; what they are together at the table's."""
        fine = [
            *(self.axis(row, (*path, "rows", at)) for at, row in enumerate(table.rows)),
            *(self.axis(column, (*path, "columns", at)) for at, column in enumerate(table.columns)),
            self.universe(table.universe, (*path, "universe")),
            self.condition(table.where, (*path, "where")),
            self.condition(table.share, (*path, "measure")),
        ]
        if faulty or not all(fine):
            return
        if table.where and table.share:
            self.mistakes.add(
                (*path, "where"),
                "'where' is for tables of counts. A share of some is an [[indicator]] with a"
                " numerator and a denominator.",
            )
            return
        if table.where and not self._fits(
            (*path, "where"), table.of, table.by, both(table.universe, table.where)
        ):
            return
        measure = table.measure or self.measure
        if self._fits(path, table.of, table.by, table.universe, measure=measure):
            self._fits((*path, "measure"), table.of, (), both(table.universe, table.share))

    def with_variable(
        self, indicator: PlannedIndicator, path: KeyPath, roles: Mapping[str, str]
    ) -> PlannedIndicator:
        """An indicator with the variable that it needs, where the plan does not name it there."""
        role = INDICATOR_KINDS[indicator.kind].role
        both_sides = indicator.numerator and indicator.denominator
        if role is None or indicator.variable or both_sides:
            return indicator
        try:
            return replace(indicator, variable=variable_for(role, self.schema, roles).name)
        except SpecError as error:
            self.mistakes.add(path, str(error))
            return indicator

    def with_units(self, one: PlannedIndicator, raw: Mapping[str, object]) -> PlannedIndicator:
        """An indicator of an amount that names no units is of those that have the amount."""
        amounts = list(self.amounts(one).values())
        if "of" in raw or not amounts:
            return one
        return replace(one, of=amounts[0].entity)

    def unused(self, one: PlannedIndicator, raw: Mapping[str, object], path: KeyPath) -> None:
        """Note what has no effect on the figures of this indicator."""
        if "fewest" in raw and not self.amounts(one):
            self.mistakes.add(
                (*path, "fewest"),
                "'fewest' is about figures of amounts, and this one is of counts. Leave it out.",
            )
        sums = one.kind == "difference" and one.figure is ComparedFigure.SUM
        if "decimals" in raw and sums:
            self.mistakes.add(
                (*path, "decimals"),
                "differences of sums have the decimals of the amount. Leave 'decimals' out.",
            )

    def amounts(self, one: PlannedIndicator) -> dict[str, Variable]:
        """The amounts that an indicator is of, by the setting that names them."""
        names = {
            side: written["amount"]
            for side in ("numerator", "denominator")
            if (written := SUM_SIDE.fullmatch(getattr(one, side))) and one.kind == "ratio"
        }
        if one.kind in OF_AMOUNTS:
            names["variable"] = one.variable.partition("@")[0]
        known = {variable.name: variable for variable in self.schema.variables}
        return {
            setting: known[name]
            for setting, name in names.items()
            if name in known and known[name].continuous
        }

    def _side(self, one: PlannedIndicator, name: str, path: KeyPath) -> bool:
        """Whether a side of a ratio is an amount that there is, or a count below one."""
        text = getattr(one, name)
        written = SUM_SIDE.fullmatch(text)
        if written is None and (name == "numerator" or text.strip() == COUNT_SIDE):
            return True
        if not text.strip():
            return False  # that it is missing stands there already
        if written is None:
            self.mistakes.add(
                path,
                f"{text!r}: a sum is divided by another one, such as sum(rooms), or by the number"
                " of units: count.",
            )
            return False
        try:
            variable = self.schema.variable(written["amount"])
        except SpecError as error:
            self.mistakes.add(path, str(error))
            return False
        return self._amount(variable, one.of, path)

    def _amount(self, variable: Variable, of: Entity, path: KeyPath) -> bool:
        """Whether a variable is an amount of such units."""
        try:
            check_amount(variable, of, self.schema)
        except SpecError as error:
            self.mistakes.add(path, str(error))
            return False
        return True

    def indicator(self, one: PlannedIndicator, path: KeyPath, *, faulty: bool) -> None:
        """The same for an indicator."""
        kind = INDICATOR_KINDS[one.kind]
        sides = ("numerator", "denominator")
        of_sums = one.kind == "ratio" and SUM_SIDE.fullmatch(one.numerator) is not None
        named = ("first", "second", *(() if of_sums else sides))
        conditions = {name: getattr(one, name) for name in named}
        fine = [
            *(self.axis(axis, (*path, "by", at)) for at, axis in enumerate(one.by)),
            self.universe(one.universe, (*path, "universe")),
            *(
                no_amount(text, self.schema, (*path, name), self.mistakes)
                and self.condition(text, (*path, name))
                for name, text in conditions.items()
            ),
            *(self._side(one, name, (*path, name)) for name in sides if of_sums),
            not one.variable or self._named(one, (*path, "variable")),
        ]
        if faulty or not all(fine):
            return
        counted = [one.of]
        if one.kind == "average-household-size":
            counted = [Entity.PERSON, Entity.HOUSEHOLD]
        if not all(self._fits(path, of, one.by, one.universe) for of in counted):
            return
        for name, text in conditions.items():
            self._fits((*path, name), one.of, (), both(one.universe, text))
        add_compared_with_itself(one, path, self.mistakes)
        if one.variable:
            self._variable(one, kind, (*path, "variable"))

    def axis(self, text: str, path: KeyPath) -> bool:
        """Whether an axis can be understood."""
        try:
            parse_axis(text, self.schema.variable)
        except SpecError as error:
            self.mistakes.add(path, str(error))
            return False
        return True

    def condition(self, text: str, path: KeyPath) -> bool:
        """Whether a condition can be understood."""
        try:
            universe_of(text, self.schema)
        except SpecError as error:
            self.mistakes.add(path, str(error))
            return False
        return True

    def universe(self, text: str, path: KeyPath) -> bool:
        """Whether a condition can be counted: a universe of the schema, or codes that there are."""
        try:
            check_counted(universe_of(text, self.schema), self.schema, _INSTEAD)
        except (Refused, SpecError) as error:
            self.mistakes.add(path, str(error))
            return False
        return True

    def _named(self, one: PlannedIndicator, path: KeyPath) -> bool:
        """Whether the variable can be understood: an amount to add up, or an axis of counts."""
        if not self._adds_up(one):
            return self.axis(one.variable, path)
        if "@" not in one.variable:
            return True
        self.mistakes.add(path, str(no_mean_of_classes(repr(one.variable))))
        return False

    def _adds_up(self, one: PlannedIndicator) -> bool:
        """Whether the figure comes from sums of the variable, which then needs no classes."""
        amount = self.amounts(one).get("variable") if one.kind in ("mean", "difference") else None
        return amount is not None and amount.role is not Role.WEIGHT

    def _variable(self, one: PlannedIndicator, kind: IndicatorKind, path: KeyPath) -> None:
        groups = {parse_axis(by, self.schema.variable).variable.name for by in one.by}
        if one.variable.partition("@")[0] in groups:
            text = f"{one.variable.partition('@')[0]!r} stands in 'by' already."
            self.mistakes.add(path, text)
            return
        if self._adds_up(one):
            self._amount(self.schema.variable(one.variable), one.of, path)
            return
        axis = parse_axis(one.variable, self.schema.variable)
        if len(axis.levels) > 1:
            self.mistakes.add(path, "one level of the variable is enough; several are named.")
        elif one.kind == "difference":
            self._amount(axis.variable, one.of, path)
        elif self._fits(path, one.of, (one.variable,), one.universe) and kind.numeric:
            plain = [
                code.code
                for code in axis.levels[0].codes
                if not code.is_missing and code.lower is None
            ]
            if plain:
                self.mistakes.add(
                    path,
                    f"a {kind.name} needs numbers, and codes of {one.variable!r} such as"
                    f" {plain[0]!r} stand for none.",
                )

    def _fits(
        self, path: KeyPath, of: Entity, by: tuple[str, ...], universe: str, **more: Any
    ) -> bool:
        try:
            TableSpec.build(self.schema, by, of=of, universe=universe or None, **more)
        except SpecError as error:
            self.mistakes.add(path, str(error))
            return False
        return True


def publishes_sums(
    tables: Iterable[PlannedTable],
    indicators: Iterable[PlannedIndicator],
    against: AgainstSchema | None,
) -> bool:
    """Whether a plan publishes sums of amounts, or figures of them, that name no protection."""
    if any(isinstance(table.measure, MeasureOf) and table.protect is None for table in tables):
        return True
    for indicator in indicators:
        if indicator.kind == "ratio" and SUM_SIDE.fullmatch(indicator.numerator):
            return True
        if indicator.kind in ("mean", "difference") and (
            against is None or against.amounts(indicator)
        ):
            return True
    return False


def check_indicator_settings(
    kind: str, raw: Mapping[str, object], path: KeyPath, mistakes: Mistakes
) -> None:
    """Refuse what an indicator of a kind does not use, and miss what it needs."""
    chosen = INDICATOR_KINDS[kind]
    for name in chosen.needs:
        if name not in raw:
            mistakes.add(path, f"the setting {name!r} is missing: a {kind} needs it.")
    for name in INDICATOR_SETTINGS:
        if name in raw and name not in chosen.settings:
            takes = ", ".join(chosen.settings) or "none of its own"
            mistakes.add(
                (*path, name), f"{name!r} is no setting of the kind {kind!r}. It takes: {takes}."
            )
    if kind == "average-household-size" and "of" in raw:
        mistakes.add((*path, "of"), f"'of' is not needed: {kind} counts people and households.")


# ---------------------------------------------------------------------------------- output


def check_output(section: OutputSection, mistakes: Mistakes) -> None:
    """Refuse settings of files that are not written."""
    if section.original_store and not section.evaluation:
        text = "'original_store' is for the evaluation. Add evaluation = true, or leave it out."
        mistakes.add(("output", "original_store"), text)
    if section.labels is not None and not any(
        table_format(name).label_columns for name in section.formats
    ):
        text = "'labels' is about csv and parquet files, and neither is among the formats."
        mistakes.add(("output", "labels"), text)


# ---------------------------------------------------------------------------------- folders


def check_folders(
    output: OutputSection,
    head: PlanHead | None,
    of_methods: Mapping[KeyPath, str],
    folder: Path,
    mistakes: Mistakes,
) -> None:
    """What is published, and what nobody outside may see, never lie in each other.

    Args:
        output: Where files go.
        head: Names the store.
        of_methods: The files that methods are made from, by where they are named.
        folder: Of the plan.
        mistakes: Is told what is wrong.
    """
    published = PlanOutput(folder=output.folder, office_folder=output.office_folder)
    if _is_inside(folder, folder / output.folder):
        mistakes.add(
            ("output", "folder"),
            "everything in the published folder is public, and this one holds the plan itself."
            ' Name a folder of its own, such as folder = "published".',
        )
        return
    if _is_inside(folder / published.for_office, folder / output.folder):
        mistakes.add(
            ("output", "office_folder"),
            "the office folder holds what nobody outside may see, so it cannot lie inside the"
            ' published one. Write another, such as office_folder = "published.office".',
        )
    if head is not None:
        store = folder / head.store
        for name in ("folder", "office_folder"):
            said = getattr(output, name)
            if said and (_is_inside(store, folder / said) or _is_inside(folder / said, store)):
                mistakes.add(
                    ("output", name),
                    f"{name!r} and the store cannot lie in each other. Name a folder of its own.",
                )
    for path, file in of_methods.items():
        if _is_inside(folder / file, folder / output.folder):
            mistakes.add(
                path,
                f"the file of {path[-1]!r} tells how numbers are made, and it lies in the folder"
                " that is published. Move it out of there.",
            )


def _is_inside(inner: PurePath, outer: PurePath) -> bool:
    """Whether a folder is another one or lies in it, however the two are spelled."""
    here = Path.cwd()
    first, second = (
        PurePath(os.path.normcase(os.path.normpath(here / pure_path)))
        for pure_path in (inner, outer)
    )
    return first == second or second in first.parents


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a plan names.

    Attributes:
        path: Where the plan names it.
        name: The file, from the folder of the plan; ``None`` where none is named.
        folder: Whether it may be a folder.
    """

    path: KeyPath
    name: str | None
    folder: bool = False

    def is_there(self, beside: Path) -> bool:
        """Whether it is there, beside the plan or where it says."""
        try:
            named = beside / (self.name or "")
            return named.is_file() or (self.folder and named.is_dir())
        except (OSError, ValueError):
            return False


def missing_files(folder: Path, named: Iterator[NamedFile], mistakes: Mistakes) -> None:
    """Note files that a plan names and that are not there."""
    for file in named:
        if file.name is None or file.is_there(folder):
            continue
        what = "file or folder" if file.folder else "file"
        mistakes.add(
            file.path, f"{file.path[-1]!r}: there is no {what} {file.name!r} beside the plan."
        )
