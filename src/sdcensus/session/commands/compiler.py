"""From a program to questions, against the schema of a census."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from sdcensus.errors import QuestionError, SpecError, both, offered, told
from sdcensus.model.published.figures import Counted, quotient
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.predicate import Condition, Name, comparisons
from sdcensus.model.spec.question import OwnGroup, Question
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.commands.amounts import figure_of_amount
from sdcensus.session.commands.categories import groups_of, recode
from sdcensus.session.commands.conditions import Conditions
from sdcensus.session.commands.figures import ELSEWHERE, Indicators
from sdcensus.session.commands.names import NamedThing, ProgramNames
from sdcensus.session.commands.parser import parse_program
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.program import CommandTable, Program, Show
from sdcensus.session.commands.syntax import (
    CountStatement,
    Define,
    Indicator,
    PercentOf,
    Rundef,
    TableStatement,
)
from sdcensus.session.commands.units import (
    check_condition,
    check_variable,
    lowest,
    sides,
)
from sdcensus.session.figures.computation import Computed, OfNumbers, Percentages
from sdcensus.session.figures.words import condition_words

#: Longer titles are no titles.
LONGEST_TITLE = 200
LONGEST_NAME = 60

Groups = dict[str, tuple[OwnGroup, ...]]

_PERCENT = {
    PercentOf.ROW: Show.SHARE_ROW,
    PercentOf.COLUMN: Show.SHARE_COLUMN,
    PercentOf.TOTAL: Show.SHARE_TOTAL,
}


def compile_program(text: str, schema: Schema, *, language: str | None = None) -> Program:
    """Read a program and make a question of each of its tables.

    Args:
        text: The program.
        schema: The census that it is about.
        language: The language in which the parts of computed figures are named.

    Raises:
        QuestionError: Something in it is wrong: ``at`` is the offset of the character, ``place``
            its line and column.
    """
    named = {universe.name.casefold(): universe.condition for universe in schema.universes}
    script = parse_program(text, named)
    if not script.tables:
        what = told("program.no-table", "The program has no table. Write TABLE name AS ...")
        refuse(text, len(text.rstrip()), what)
    compiler = _Compiler(text, schema, language)
    if script.rundef is not None:
        compiler.begin(script.rundef)
    tables = []
    for statement in script.statements:
        if isinstance(statement, Define):
            compiler.names.define(statement.target, recode(statement, compiler.conditions))
        else:
            tables.append(compiler.table(statement))
    return Program(tuple(tables), script)


class _Compiler:
    """Makes questions, with what the statements before have defined."""

    def __init__(self, source: str, schema: Schema, language: str | None) -> None:
        self.source, self.schema = source, schema
        self.names = ProgramNames(source, schema)
        self.conditions = Conditions(self.names)
        self.indicators = Indicators(self.conditions, language)
        self.always: tuple[Condition, ...] = ()
        self.named: set[str] = set()

    def begin(self, rundef: Rundef) -> None:
        """Keep what holds for every table."""
        parts = (rundef.selection, rundef.universe)
        self.always = tuple(part for part in parts if part is not None)
        for alway in self.always:
            self.conditions.universe(self.conditions.text(alway), alway.at)

    def table(self, one: TableStatement) -> CommandTable:
        """The question of one table."""
        name = one.name.text
        if len(name) > LONGEST_NAME:
            what = told(
                "names.too-long", "Names have at most {most} characters.", most=LONGEST_NAME
            )
            refuse(self.source, one.name.at, what)
        if name.casefold() in self.named:
            what = told("names.table-exists", "There is a table {name!r} already.", name=name)
            refuse(self.source, one.name.at, what)
        self.named.add(name.casefold())
        if one.title is not None and not 0 < len(one.title.text.strip()) <= LONGEST_TITLE:
            what = told(
                "names.title-length",
                "A title has from 1 to {most} characters.",
                most=LONGEST_TITLE,
            )
            refuse(self.source, one.title.at, what)
        return _TableCompiler(self, one).made()


class _TableCompiler:
    """Makes the question of one table."""

    def __init__(self, program: _Compiler, table: TableStatement) -> None:
        self.program, self.table = program, table
        self.source, self.schema = program.source, program.schema
        self.names, self.conditions = program.names, program.conditions
        self.groups: Groups = {}
        self.axes: dict[str, str] = {}

    def made(self) -> CommandTable:
        analysis = self.table.analysis
        self._check_numbers()
        if isinstance(analysis, CountStatement):
            return self._counts(analysis)
        return self._indicator(analysis)

    # -------------------------------------------------------------------------------- counts

    def _counts(self, analysis: CountStatement) -> CommandTable:
        table = self.table
        if table.per is not None:
            what = told("figures.per-of-counts", "PER belongs to ratios; counts have none.")
            refuse(self.source, table.per.at, what)
        if table.decimals is not None and table.percent is None:
            what = told(
                "figures.decimals-of-counts", "Counts have no decimals. Write PERCENT first."
            )
            refuse(self.source, table.decimals.at, what)
        first = () if analysis.of is None else (analysis.of,)
        shown = [self.names.find(reference) for reference in (*first, *analysis.by)]
        if analysis.unit is not None:
            unit = self.names.entity(analysis.unit)
        else:
            unit = lowest(self.names, shown)
        layers = self._areas()
        for reference in (*layers, *shown):
            self._add(reference)
        rows, columns = shown[:1], shown[1:]
        computed: Percentages | None = None
        show = Show.COUNT
        if table.percent is not None:
            computed = self._percent(rows, columns)
            show = _PERCENT[table.percent.of]
        return self._table(unit, rows, columns, layers, show, computed)

    def _percent(self, rows: Sequence[NamedThing], columns: Sequence[NamedThing]) -> Percentages:
        percent = self.table.percent
        assert percent is not None
        over = {
            PercentOf.ROW: (*columns,),
            PercentOf.COLUMN: (*rows,),
            PercentOf.TOTAL: (*rows, *columns),
        }[percent.of]
        if not over:
            what = told(
                "figures.percent-of-nothing",
                "The table has nothing that PERCENT {of} could be of.",
                of=percent.of.value,
            )
            remedy = told("figures.add-by", "Add BY and a variable.")
            if rows:
                remedy = told("figures.percent-total", "Write PERCENT TOTAL.")
            refuse(self.source, percent.at, both(what, remedy))
        self._need_totals(over, f"PERCENT {percent.of.value}")
        return Percentages(tuple(thing.variable.name for thing in over), self._decimals())

    def _need_totals(self, over: Sequence[NamedThing], what: str) -> None:
        for thing in over:
            if not thing.reference.total:
                refuse(
                    self.source,
                    thing.reference.at,
                    told(
                        "figures.needs-total",
                        "{what} divides by the total of {variable!r}. Take -TOTAL away.",
                        what=what,
                        variable=thing.reference.name.text,
                    ),
                )

    # ------------------------------------------------------------------------------ indicators

    def _indicator(self, analysis: Indicator) -> CommandTable:
        table, kind = self.table, analysis.kind
        if kind.text in ELSEWHERE:
            what = told("figures.elsewhere", "{kind} is no figure of one table.", kind=kind.text)
            refuse(self.source, kind.at, both(what, ELSEWHERE[kind.text]))
        if table.percent is not None:
            what = told(
                "figures.percent-of-indicator", "PERCENT belongs to counts, not to indicators."
            )
            refuse(self.source, table.percent.at, what)
        ratio = kind.text.endswith("ratio")
        if table.per is not None and not ratio:
            what = told(
                "figures.per-of-indicator",
                "PER belongs to ratios, not to {kind}.",
                kind=kind.text,
            )
            refuse(self.source, table.per.at, what)
        by = [self.names.find(reference) for reference in analysis.by]
        unit = self._unit(analysis)
        layers = self._areas()
        for thing in (*layers, *by):
            self._add(thing)
        if kind.text == "distribution":
            assert analysis.of is not None
            of = self.names.find(analysis.of)
            self._add(of)
            self._need_totals([of], told("figures.a-distribution", "A distribution"))
            computed: Computed = Percentages((of.variable.name,), self._decimals())
            return self._table(unit, by, [of], layers, Show.SHARE_ROW, computed)
        figure = figure_of_amount(self.names, table, analysis)
        if figure is not None:
            self._check_no_group(analysis, figure.amount)
            show = Show.MEAN if figure.figure is AmountFigure.MEAN else Show.MEDIAN
            return self._table(unit, by, [], layers, show, None, measure=str(figure))
        per = 100 if table.per is None else table.per.value
        wanted = self.program.indicators.wanted(analysis, per, self._decimals())
        for part in sides(analysis):
            check_condition(self.names, part, unit, table)
        for variable, axis in zip(wanted.variables, wanted.axes, strict=True):
            self._check_no_group(analysis, variable.name)
            self.axes[variable.name] = axis
        self.groups |= dict(wanted.groups)
        if isinstance(wanted.computed, OfNumbers):
            self._check_cuts(analysis, wanted.variables[0])
        names = [variable.name for variable in wanted.variables]
        return self._table(unit, by, [], layers, wanted.show, wanted.computed, computed_of=names)

    def _check_no_group(self, analysis: Indicator, name: str) -> None:
        if name in self.axes:
            refuse(
                self.source,
                analysis.at,
                told(
                    "figures.group-and-part",
                    "{variable!r} is both a group and part of what is computed. Take it out of"
                    " BY, or out of the conditions.",
                    variable=name,
                ),
            )

    def _unit(self, analysis: Indicator) -> Entity:
        """What is counted for a figure: what is named, else what its variables describe."""
        if isinstance(analysis.denominator, Name):
            return self.names.entity(analysis.denominator)
        founds = [
            self.names.find(comparison.operand)
            for part in sides(analysis)
            for comparison in comparisons(part)
        ]
        own = self.program.indicators.variable(analysis)
        return lowest(self.names, [*founds, *([own] if own else [])])

    def _check_cuts(self, analysis: Indicator, variable: Variable) -> None:
        """A class of which a condition leaves a part has no longer the numbers that it says."""
        named = self.program.indicators.variable(analysis)
        assert named is not None
        level = named.levels[0]
        text = self._where()
        inside = leaves_in(self.conditions.universe(text, self._where_at()), variable)
        group, size = level.group_array, len(level.codes)
        held = np.bincount(group[inside], minlength=size)
        cut = np.flatnonzero((held > 0) & (held < np.bincount(group, minlength=size)))
        if cut.size:
            refuse(
                self.source,
                self._where_at(),
                told(
                    "figures.condition-cuts",
                    "The condition cuts through the code {code!r} of {variable}, whose numbers are"
                    " then unknown. Take a finer level.",
                    code=level.codes[cut[0]].code,
                    variable=named.operand,
                ),
            )

    # ------------------------------------------------------------------------------ the parts

    def _areas(self) -> list[NamedThing]:
        if self.table.areas is None:
            return []
        named = self.names.find(self.table.areas)
        if named.variable.role is not Role.GEOGRAPHY:
            known = [
                variable.name
                for variable in self.schema.variables
                if variable.role is Role.GEOGRAPHY
            ]
            what = told(
                "names.no-areas",
                "{variable!r} is no variable of areas.",
                variable=named.reference.name.text,
            )
            refuse(self.source, self.table.areas.name.at, both(what, offered(known)))
        return [named]

    def _add(self, found: NamedThing) -> None:
        """One more axis."""
        name = found.variable.name
        if name in self.axes:
            why = told("axis.two", "The table has two axes of {variable!r}.", variable=name)
            remedy = told(
                "axis.both-levels",
                "Ask for both levels in one: {variable}@level+level.",
                variable=name,
            )
            if found.recoded is not None or name in self.groups:
                remedy = told(
                    "axis.recode-and-variable",
                    "Computed categories and the variable that they are made of cannot both be in a"
                    " table.",
                )
            refuse(self.source, found.reference.at, both(why, remedy))
        axis = found.axis
        if found.recoded is not None:
            axis, groups = groups_of(self.names, found.recoded, total=found.reference.total)
            self.groups[name] = groups
        self.axes[name] = axis

    def _where(self) -> str:
        texts = dict.fromkeys(self.conditions.text(condition) for condition in self._conditions())
        return functools.reduce(self.conditions.both, texts, "")

    def _conditions(self) -> tuple[Condition, ...]:
        own = () if self.table.where is None else (self.table.where,)
        return (*self.program.always, *own)

    def _where_at(self) -> int:
        conditions = self._conditions()
        return conditions[-1].at if conditions else self.table.at

    def _decimals(self) -> int:
        return 1 if self.table.decimals is None else self.table.decimals.value

    def _check_numbers(self) -> None:
        """PER and DECIMALS, as figures take them."""
        per, decimals = self.table.per, self.table.decimals
        counted = Counted(np.ones(1, dtype=np.int64))
        for number in (decimals, per):
            if number is None:
                continue
            try:
                quotient(
                    counted,
                    counted,
                    per=per.value if per is number and per is not None else 1,
                    decimals=self._decimals(),
                )
            except SpecError as error:
                refuse(self.source, number.at, error.said)

    def _table(
        self,
        unit: Entity,
        rows: Sequence[NamedThing],
        columns: Sequence[NamedThing],
        layers: Sequence[NamedThing],
        show: Show,
        computed: Computed | None,
        *,
        computed_of: Sequence[str] = (),
        measure: str = "",
    ) -> CommandTable:
        table = self.table
        for thing in (*layers, *rows, *columns):
            check_variable(self.names, thing.reference, unit, table)
        for condition in self._conditions():
            check_condition(self.names, condition, unit, table)
        where = self._where()
        universe = self.conditions.universe(where, self._where_at())
        own = {
            name: [{"label": g.label, "codes": list(g.codes)} for g in groups]
            for name, groups in self.groups.items()
        }
        try:
            question = Question.from_json(
                {
                    "of": unit.plural,
                    "measure": measure,
                    "by": list(self.axes.values()),
                    "where": where,
                    "groups": own,
                }
            )
        except QuestionError as error:
            what = told("within", "{where}: {what}", where=error.place, what=error.said)
            refuse(self.source, table.at, what)
        return CommandTable(
            name=table.name.text,
            title=table.title.text.strip() if table.title else "",
            question=question,
            show=show,
            computed=computed,
            variables=tuple(self.axes),
            # Tables of counts have it in the title of their answer.
            condition=Text() if computed is None else condition_words(universe),
            rows=tuple(row.variable.name for row in rows),
            columns=(*(column.variable.name for column in columns), *computed_of),
            layers=tuple(layer.variable.name for layer in layers),
            at=table.at,
        )
