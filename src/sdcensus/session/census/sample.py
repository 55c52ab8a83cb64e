"""Weighted samples: whose counts of records are not what readers take them for.

In a sample a record stands for many people, and a table of records read as a table of people is
wrong by that factor. What a census is counted by is said once, by ``measure`` in its schema; a plan
or a policy may say otherwise, by name. Where nobody says it, weights decide whether it has to be
said. They are read at design time only: no answer depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sdcensus.errors import Refused
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.schema import SAMPLE_WEIGHT, Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import Measure
from sdcensus.session.census.census import Census

#: Tables that a refusal names.
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, repr=False)
class Weighting(Confidential):
    """What the weights of some units say.

    Attributes:
        of: The units.
        records: How many there are in the store.
        weight: How many they stand for.
    """

    of: Entity
    records: int
    weight: Fraction

    def __repr__(self) -> str:
        return f"<Weighting of {self.of.plural}: confidential>"

    @property
    def mean(self) -> Fraction:
        """How many a record stands for, on average."""
        return self.weight / self.records if self.records else Fraction(0)

    @property
    def is_sample(self) -> bool:
        """Whether records stand for so many that they are a sample."""
        return self.mean >= SAMPLE_WEIGHT


def weightings(census: Census) -> tuple[Weighting, ...]:
    """What the weights of each kind of unit say that has some; they are added up for it."""
    sums = []
    for of in census.schema.weighted:
        spec = census.spec(of=of, measure=Measure.WEIGHTED)
        total = census.tabulate(spec).held_for("a total")
        assert total.weight is not None  # a weighted table has weights
        weight = Fraction(int(total.weight.sum()), 10**spec.weight_decimals)
        sums.append(Weighting(of, int(total.count.sum()), weight))
    return tuple(sums)


def is_sample(census: Census) -> bool:
    """Whether the records of a census are a weighted sample, by what their weights say."""
    return any(weighting.is_sample for weighting in weightings(census))


def fitting_measure(schema: Schema, sums: Iterable[Weighting]) -> Measure | None:
    """What tables of a census should say: as its schema does, else weighted where it is a sample.

    ``None`` where counts of records are what everybody expects.
    """
    if schema.census.measure is not None:
        return schema.census.measure
    sample = any(weighting.is_sample for weighting in sums)
    return Measure.WEIGHTED if sample else None


def refuse_unweighted_plan(census: Census, names: Sequence[str]) -> None:
    """Refuse tables of a sample that would say how many records it has, without being asked to.

    Args:
        census: The census.
        names: The tables of which neither plan nor schema says the measure.

    Raises:
        Refused: Its records are a weighted sample.
    """
    if not names or census.schema.census.measure is not None or not is_sample(census):
        return
    named = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    raise Refused(
        f"{_SAMPLE} These tables would count records, as if everybody had been asked: {named}"
        f'{f" and {more:,} more" if more > 0 else ""}. Write measure = "weighted" at the top of'
        f" the plan{_OR_SCHEMA} Whoever means the number of records says so by name: measure ="
        ' "count", for the plan or for one table.'
    )


def refuse_unweighted_table(census: Census) -> None:
    """Refuse one table of a sample for which nobody says what is counted.

    Raises:
        Refused: The records are a weighted sample.
    """
    if census.schema.census.measure is None and is_sample(census):
        raise Refused(
            f"{_SAMPLE} The table would count records, as if everybody had been asked. Say"
            " --measure weighted; or, if you mean the number of records, --measure count."
        )


def unweighted_menu(census: Census, policy: Policy) -> str:
    """That answers about a sample would count its records, and nobody says so; else empty."""
    said = policy.measure or census.schema.census.measure
    if said is not None or not is_sample(census):
        return ""
    return (
        f"{_SAMPLE} Answers under the policy {policy.name!r} would count records, as if everybody"
        f' had been asked. Write measure = "weighted" at the top of the policy{_OR_SCHEMA} Whoever'
        ' means the number of records says so by name there: measure = "count".'
    )


def refuse_unweighted_menu(census: Census, policy: Policy) -> None:
    """Refuse to open a sample to questions whose answers would count its records.

    Raises:
        Refused: Its records are a weighted sample, and nobody says what is counted.
    """
    unsaid = unweighted_menu(census, policy)
    if unsaid:
        raise Refused(unsaid)


_SAMPLE = (
    "The records are a weighted sample: each stands for"
    f" {float(SAMPLE_WEIGHT):g} or more on average."
)
_OR_SCHEMA = ", or in [census] of the schema, where it holds for everything (then load again)."
