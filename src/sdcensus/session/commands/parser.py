"""From the text of a program to its tree, by recursive descent over the grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sdcensus.errors import Sentence, SpecError, told, unknown
from sdcensus.model.method.parameter import plain_name
from sdcensus.model.plan.vocabulary import INDICATOR_KINDS
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.operators import OPERATORS
from sdcensus.model.spec.predicate import Condition, Name, Reference, Value
from sdcensus.session.commands.habits import areas_by_condition
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.reader import listed
from sdcensus.session.commands.syntax import (
    CountStatement,
    Define,
    GroupDefinition,
    Indicator,
    Label,
    Number,
    Percent,
    PercentOf,
    RestCategory,
    RestKind,
    Rundef,
    Script,
    Span,
    TableStatement,
)
from sdcensus.session.commands.tokens import TokenKind
from sdcensus.session.commands.variables import ConditionReader

#: More tables in one program are nobody's.
MOST_TABLES = 50

_STATEMENTS = ("DEFINE", "TABLE")
_COUNTS = ("FREQUENCY", "CROSSTABS", "COUNT", "AREALIST")
_CLAUSES = ("FOR", "AREABREAK", "PERCENT", "PER", "DECIMALS", "TITLE")
#: Kinds of plans under other names.
_ALSO = {"average": "mean"}


def parse_program(source: str, universes: Mapping[str, str] | None = None) -> Script:
    """Read a program, without looking anything up but the universes that it names.

    Args:
        source: The program.
        universes: The conditions of the universes of the schema, by their names in small letters.

    Raises:
        QuestionError: It does not follow the grammar; ``at`` is the character.

    Examples:
        >>> parse_program("TABLE t AS COUNT OF person").tables[0].name.text
        't'
    """
    return _Parser(source, universes or {}).program()


class _Parser(ConditionReader):
    """Statements; conditions and variables are read by the base."""

    def program(self) -> Script:
        rundef = self._rundef() if self.next.keyword == "RUNDEF" else None
        statements: list[Define | TableStatement] = []
        while self.next.kind is not TokenKind.END:
            if self.next.keyword == "DEFINE":
                statements.append(self._define())
            elif self.next.keyword == "TABLE":
                at = self.next.at
                statements += self._tables()
                if sum(isinstance(each, TableStatement) for each in statements) > MOST_TABLES:
                    refuse(
                        self.source,
                        at,
                        told(
                            "program.too-many-tables",
                            "The program has more than {most} tables. Split it.",
                            most=MOST_TABLES,
                        ),
                    )
            elif self.next.keyword == "RUNDEF":
                what = told(
                    "program.rundef-first",
                    "RUNDEF stands before all other statements, at the start of a program.",
                )
                if rundef:
                    what = told(
                        "program.rundef-once", "RUNDEF stands once, at the start of a program."
                    )
                refuse(self.source, self.next.at, what)
            else:
                self._no_statement(statements, rundef)
        return Script(rundef, tuple(statements))

    def _no_statement(self, before: list[Define | TableStatement], rundef: Rundef | None) -> None:
        """What could have come next: more of the last statement, or another one."""
        words: tuple[str, ...] = _STATEMENTS
        if before and isinstance(before[-1], TableStatement):
            by = () if self._has_groups(before[-1]) else ("BY",)
            words = (*by, *_CLAUSES, *_STATEMENTS)
        elif before:
            words = ("'('", *_STATEMENTS)
        elif rundef is not None:
            words = ("SELECTION", "UNIVERSE", *_STATEMENTS)
        else:
            words = ("RUNDEF", *_STATEMENTS)
        expected = told(
            "expected.or-end", "{words}, or the end of the program", words=listed(words)
        )
        self.fail(expected, known=words)

    @staticmethod
    def _has_groups(table: TableStatement) -> bool:
        analysis = table.analysis
        return bool(analysis.by) or (
            isinstance(analysis, CountStatement) and analysis.word in ("FREQUENCY", "CROSSTABS")
        )

    def _rundef(self) -> Rundef:
        at = self.step().at
        name = self.name(told("expected.run-name", "a name for the run"))
        selection = universe = None
        if self.keyword("SELECTION") and not self.keyword("ALL"):
            self._no_selection_file()
            selection = self.condition()
        if self.keyword("UNIVERSE"):
            universe = self.condition()
        return Rundef(name, selection, universe, at)

    def _no_selection_file(self) -> None:
        """Where REDATAM names a file of areas, or lists them, a condition stands here."""
        sign = self.after().text
        listed_here = self.next.text.upper() in ("INLINE", "GEOLIST")
        if listed_here or (self.next.kind is TokenKind.TEXT and sign not in OPERATORS):
            refuse(self.source, self.next.at, areas_by_condition())

    # ------------------------------------------------------------------------------ categories

    def _define(self) -> Define:
        at = self.step().at
        target = self.variable(told("expected.new-name", "a name such as person.agegroup"))
        self.need("AS")
        self.need("RECODE")
        source = self.operand(
            told("expected.recoded", "the variable to recode, such as person.age")
        )
        first = told("expected.first-category", 'a category such as (0-14 = 1 "Children")')
        groups = [self._group(first)]
        while self.next.kind is TokenKind.MARK and self.next.text == "(":
            groups.append(self._group(told("expected.category", "a category")))
        return Define(target, source, tuple(groups), at)

    def _group(self, what: str) -> GroupDefinition:
        at = self.need_mark("(", what).at
        items = [self._item()]
        while self.mark(","):
            items.append(self._item())
        further = told(
            "expected.category-number",
            "',' and a further code, or '=' and the number of the category",
        )
        self.need_mark("=", further)
        code = self.need_value()
        label = None
        if self.next.kind is TokenKind.TEXT:
            label = self.label(told("expected.category-name", "the name of the category"))
        end = told("expected.category-end", "the name of the category in quotes, or ')'")
        self.need_mark(")", "" if label else end)
        return GroupDefinition(tuple(items), code, label, at)

    def _item(self) -> Value | Span | RestCategory:
        token = self.next
        if self.keyword("ELSE", "MISSING"):
            return RestCategory(RestKind(token.keyword), token.at)
        if self.keyword("LOWEST"):
            self.need_mark("-", told("expected.highest", "'-' and a number, or HIGHEST"))
            return Span(None, self._upper(), token.at)
        low = self.need_value()
        if self.mark("-"):
            return Span(low, self._upper(), token.at)
        return low

    def _upper(self) -> Value | None:
        return None if self.keyword("HIGHEST") else self.need_value()

    # ---------------------------------------------------------------------------------- tables

    def _tables(self) -> tuple[TableStatement, ...]:
        """The tables of one statement: several where it lists several variables."""
        at = self.step().at
        name = self.name(told("expected.table-name", "a name for the table"))
        title: Label | None = None
        if self.keyword("TITLE"):
            title = self.label(told("expected.title", "the title"))
        elif self.next.keyword != "AS":
            self.fail(listed(("TITLE", "AS")), known=("TITLE", "AS"))
        self.need("AS")
        analyses = self._analyses()
        where: Condition | None = None
        areas: Reference | None = None
        percent: Percent | None = None
        numbers: dict[str, Number] = {}
        seen = {"TITLE"} if title else set()
        while clause := self.keyword(*_CLAUSES):
            word = clause.keyword
            if word in seen:
                refuse(
                    self.source,
                    clause.at,
                    told(
                        "program.clause-twice",
                        "{word} stands twice in the table {table!r}.",
                        word=word,
                        table=name.text,
                    ),
                )
            seen.add(word)
            if word == "FOR":
                where = self.condition()
            elif word == "AREABREAK":
                areas = self.axis(told("expected.areas", "a variable of areas, such as ed@parish"))
            elif word == "PERCENT":
                percent = Percent(PercentOf(self.need("ROW", "COLUMN", "TOTAL").keyword), clause.at)
            elif word == "TITLE":
                title = self.label(told("expected.title", "the title"))
            else:
                numbers[word] = self.number(told("expected.whole-number", "a whole number"))
        first = TableStatement(
            name,
            analyses[0],
            title,
            where,
            areas,
            percent,
            numbers.get("PER"),
            numbers.get("DECIMALS"),
            at,
        )
        if len(analyses) == 1:
            return (first,)
        return tuple(
            replace(
                first,
                name=replace(name, text=f"{name.text}_{number}"),
                title=None if title is None else replace(title, text=f"{title.text} ({number})"),
                analysis=analysis,
            )
            for number, analysis in enumerate(analyses, 1)
        )

    def _analyses(self) -> tuple[CountStatement | Indicator, ...]:
        at = self.next.at
        if self.keyword("FREQUENCY"):
            self.need("OF")
            axes = [self.axis(_such_as("person.age"))]
            while self.mark(","):
                axes.append(self.axis(_such_as("person.sex")))
            return tuple(CountStatement("FREQUENCY", of=axis, at=at) for axis in axes)
        if self.keyword("AREALIST"):
            self.need("OF")
            return tuple(self._area_list(at))
        return (self._analysis(at),)

    def _area_list(self, at: int) -> Iterator[CountStatement]:
        """Areas in rows; each unit or variable behind them makes a table of its own."""
        areas = self.axis(told("expected.areas", "a variable of areas, such as ed@parish"))
        if not self.comes(","):
            yield CountStatement("COUNT", unit=Name(Entity.PERSON, at), by=(areas,), at=at)
        while self.mark(","):
            if self._names_units():
                yield CountStatement("COUNT", unit=self._entity(), by=(areas,), at=at)
            else:
                by = (self.axis(_such_as("person.sex")),)
                yield CountStatement("CROSSTABS", of=areas, by=by, at=at)

    def _analysis(self, at: int) -> CountStatement | Indicator:
        if self.keyword("CROSSTABS"):
            self.need("OF")
            of = self.axis(_such_as("person.age"))
            if self.next.keyword != "BY":
                self.fail(told("expected.by", "BY and another variable"), known=("BY",))
            return CountStatement("CROSSTABS", of=of, by=self._groups(), at=at)
        if self.keyword("COUNT"):
            self.need("OF")
            unit = self._entity()
            if self.next.kind is TokenKind.MARK and self.next.text == ".":
                self.fail(
                    told(
                        "expected.after-count",
                        "BY, another clause or the end, because COUNT counts units; write FREQUENCY"
                        " OF for the categories of a variable",
                    )
                )
            return CountStatement("COUNT", unit=unit, by=self._groups(), at=at)
        self.keyword("INDICATOR")
        return self._indicator(at)

    def _groups(self) -> tuple[Reference, ...]:
        references: list[Reference] = []
        what = _such_as("person.sex")
        if self.keyword("BY"):
            references.append(self.axis(what))
            while self.keyword("BY") or self.mark(","):
                references.append(self.axis(what))
        return tuple(references)

    def _entity(self) -> Name:
        """A kind of unit, by its own name."""
        name = self.name(told("expected.unit", "a kind of unit such as person"))
        try:
            Entity.parse(name.text)
        except SpecError:
            known = [entity.value for entity in Entity]
            refuse(self.source, name.at, unknown("kind of unit", name.text, known))
        return name

    def _indicator(self, at: int) -> Indicator:
        kind = self._kind()
        numerator: Condition | None = None
        denominator: Condition | Name | None = None
        of: Reference | None = None
        if kind.text == "share":
            self.need("OF")
            numerator = self.condition()
            if self.keyword("OF"):
                denominator = self._entity() if self._is_entity() else self.condition()
        elif kind.text == "ratio":
            self.need("OF")
            numerator = self.condition()
            self.need("TO")
            denominator = self.condition()
        elif kind.text == "distribution":
            self.need("OF")
            of = self.axis(_such_as("person.age@broad"))
        elif kind.text in ("mean", "median"):
            self.need("OF")
            of = self.operand(told("expected.numbers", "a variable of numbers, such as person.age"))
        elif self.keyword("OF"):
            of = self.operand(_such_as("person.age"))
        return Indicator(kind, numerator, denominator, of, self._groups(), at)

    def _is_entity(self) -> bool:
        """Whether a kind of unit comes next, and no variable of it."""
        after = self.after()
        if (
            self.next.kind is not TokenKind.WORD
            or self.next.keyword
            or after.kind is TokenKind.MARK
        ):
            return False
        if self.universe_follows():
            return False
        return after.keyword not in ("IN", "NOT")

    def _names_units(self) -> bool:
        """Whether the next word is one for units, and no variable follows it."""
        try:
            Entity.parse(self.next.text)
        except SpecError:
            return False
        return self.after().text != "."

    def _kind(self) -> Name:
        """The name of an indicator, such as sex-ratio, as plans know it."""
        token = self.next
        words = (*_COUNTS, *(word.upper() for word in INDICATOR_KINDS), "AVERAGE")
        if token.kind is not TokenKind.WORD:
            self.fail(listed(words))
        start = self.place
        text = self.step().text
        while self.next.text == "-" and self.after().kind is TokenKind.WORD:
            self.step()
            text += f"-{self.step().text}"
        known = {plain_name(word): word for word in (*INDICATOR_KINDS, *_ALSO)}
        kind = known.get(plain_name(text))
        if kind is None:
            self.place = start
            self.fail(listed(words), known=words, words=text)
        return Name(_ALSO.get(kind, kind), token.at)


def _such_as(example: str) -> Sentence:
    return told("expected.such-as", "a variable such as {example}", example=example)
