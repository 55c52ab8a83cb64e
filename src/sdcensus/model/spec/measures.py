"""How a measure is written: ``count``, ``weighted``, ``sum(income)``, ``weighted-sum(income)``.

Questions also ask for ``mean(income)`` and ``median(income)``: figures that are computed from
published tables, which no engine counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sdcensus.errors import SpecError, told
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.vocabulary import AmountFigure, Measure

_WRITTEN = re.compile(r"\s*(?P<measure>[a-z-]+)\s*(?:\(\s*(?P<amount>[^()]*?)\s*\))?\s*")


@dataclass(frozen=True, slots=True)
class MeasureOf:
    """A measure, and of which amount it is where amounts are added up."""

    measure: Measure
    amount: str = ""

    def __post_init__(self) -> None:
        if self.measure.is_sum and not self.amount:
            raise SpecError(
                f"A {self.measure.value} names what is added up, a continuous variable:"
                f' measure = "{self.measure.value}(income)".'
            )
        if self.amount and not self.measure.is_sum:
            raise SpecError(
                f"The measure {self.measure.value!r} counts records and adds nothing up: leave"
                f" {self.amount!r} out, or ask for sum({self.amount})."
            )

    def __str__(self) -> str:
        return f"{self.measure.value}({self.amount})" if self.amount else self.measure.value

    @classmethod
    def parse(cls, text: str | Measure | MeasureOf) -> MeasureOf:
        """Read a measure as plans write it.

        Examples:
            >>> MeasureOf.parse("sum(income)")
            MeasureOf(measure=<Measure.SUM: 'sum'>, amount='income')
        """
        if isinstance(text, MeasureOf):
            return text
        read = _WRITTEN.fullmatch(text)
        word = read["measure"] if read is not None else text
        if word not in list(Measure):
            known = ", ".join(
                f"{measure.value}(VARIABLE)" if measure.is_sum else measure.value
                for measure in Measure
            )
            raise SpecError(
                f"There is no measure {str(text)!r}. There are: {known}.{figure_instead(word)}"
            )
        return cls(Measure(word), (read["amount"] or "") if read is not None else "")

    def amount_of(self, entity: Entity, schema: Schema) -> Variable | None:
        """The variable that is added up over such units; nothing for counts.

        Raises:
            SpecError: It has no amounts, or they describe other units.
        """
        if not self.measure.is_sum:
            return None
        variable = schema.variable(self.amount)
        check_amount(variable, entity, schema)
        if schema.census.weights_only and not self.measure.is_weighted:
            raise SpecError(
                "The weights of this store were drawn to protect it: only weighted sums are"
                f' published, measure = "weighted-sum({self.amount})".'
            )
        return variable


def figure_instead(word: str) -> str:
    """How a figure is asked for that tables do not have; empty for any other word."""
    figure = "mean" if word == "average" else word
    if figure not in list(AmountFigure):
        return ""
    return (
        f" A {figure} is computed from published tables: ask for it as an indicator of a plan,"
        f' kind = "{figure}" with a variable.'
    )


@dataclass(frozen=True, slots=True)
class FigureOf:
    """What a question says about an amount, such as its sum or its median."""

    figure: AmountFigure
    amount: str

    def __str__(self) -> str:
        return f"{self.figure.value}({self.amount})"

    @classmethod
    def parse(cls, text: str) -> FigureOf | None:
        """Read the measure of a question; ``None`` for counts.

        Raises:
            SpecError: There is no such measure, or it names no amount.

        Examples:
            >>> str(FigureOf.parse(" mean( income )"))
            'mean(income)'
            >>> FigureOf.parse("count") is None
            True
        """
        if text.strip() in ("", Measure.COUNT.value):
            return None
        read = _WRITTEN.fullmatch(text)
        known = [f"{figure.value}(VARIABLE)" for figure in AmountFigure]
        if read is None or read["measure"] not in list(AmountFigure) or not read["amount"]:
            raise SpecError(
                told(
                    "question.no-measure",
                    "There is no measure {measure!r}. There are: {known}.",
                    measure=text,
                    known=(Measure.COUNT.value, *known),
                )
            )
        return cls(AmountFigure(read["measure"]), read["amount"])

    def amount_of(self, entity: Entity, schema: Schema) -> Variable:
        """The variable with the amounts.

        Raises:
            SpecError: It has no amounts, or they describe other units.
        """
        variable = schema.variable(self.amount)
        check_amount(variable, entity, schema)
        return variable

    def summed(self, *, weighted: bool) -> MeasureOf:
        """The measure of the sums behind it."""
        return MeasureOf(Measure.WEIGHTED_SUM if weighted else Measure.SUM, self.amount)


def check_amount(variable: Variable, entity: Entity, schema: Schema) -> None:
    """Refuse to add up what has codes only, or what describes other units.

    Amounts of households are not added up over their persons: each would count as often as there
    are persons.

    Raises:
        SpecError: It cannot be summed.
    """
    if variable.role is Role.WEIGHT:
        raise SpecError(
            f"{variable.name!r} is a weight and no amount. What the records stand for is a weighted"
            ' count: measure = "weighted".'
        )
    if not variable.continuous:
        known = ", ".join(
            other.name
            for other in schema.variables
            if other.continuous and other.entity is entity and other.role is not Role.WEIGHT
        )
        raise SpecError(
            f"{variable.name!r} cannot be summed: it has codes, not amounts. Only variables with"
            " 'continuous = true' in the schema can."
            + (f" Of {entity.plural} these are: {known}." if known else "")
        )
    if variable.entity is not entity:
        raise SpecError(
            f"{variable.name!r} describes {variable.entity.plural}; it cannot be summed over"
            f" {entity.plural}. Sum it over {variable.entity.plural}."
        )
