"""Words that people choose from: on the command line, in documents, in Python and on the web.

Nothing heavy is imported here, so that the help of a command can name its choices at once. Words of
one package only stay there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from sdcensus.errors import SpecError, UnknownName, unknown

Settings = TypeVar("Settings")
Option = TypeVar("Option", bound=StrEnum)


def option(options: type[Option], what: str, value: Option | str) -> Option:
    """The option of that name; others are refused with those that exist.

    Args:
        options: The enumeration.
        what: What one of them is, for the message.
        value: The option or its word.
    """
    try:
        return options(value)
    except ValueError:
        raise UnknownName(what, str(value), known=list(options)) from None


def with_settings(options: Settings, settings: Mapping[str, Any]) -> Settings:
    """The options with fields that were said by name; others are refused with those that exist."""
    given: Any = options
    names = [field.name for field in fields(given)]
    for name in settings:
        if name not in names:
            raise UnknownName("setting", name, known=names)
    changed: Settings = replace(given, **settings)
    return changed


class OnProblem(StrEnum):
    """What to do with records that do not fit the schema."""

    REFUSE = "refuse"
    MISSING = "missing"

    @classmethod
    def parse(cls, word: str) -> OnProblem:
        """Read the word of an option."""
        return option(cls, "way to treat problems", word)


class Measure(StrEnum):
    """What a cell says about its records."""

    COUNT = "count"
    WEIGHTED = "weighted"
    SUM = "sum"
    WEIGHTED_SUM = "weighted-sum"

    @property
    def is_weighted(self) -> bool:
        """Whether a record counts as often as its weight says."""
        return self in (Measure.WEIGHTED, Measure.WEIGHTED_SUM)

    @property
    def is_sum(self) -> bool:
        """Whether amounts are added up, not records."""
        return self in (Measure.SUM, Measure.WEIGHTED_SUM)


class AmountFigure(StrEnum):
    """What a table builder says about an amount.

    A sum is protected in each cell. A mean and a median are computed from published numbers.
    """

    SUM = "sum"
    MEAN = "mean"
    MEDIAN = "median"


#: The measures that need no amount: what a census, a plan or a policy may be counted by.
COUNT_MEASURES = (Measure.COUNT, Measure.WEIGHTED)


class EngineName(StrEnum):
    """The engines that can answer for a census."""

    MEMORY = "memory"
    DUCKDB = "duckdb"
    SPARK = "spark"


class DemoCountry(StrEnum):
    """Demo countries of the sizes of the founding study."""

    SMALL = "small-island"
    MID = "mid-country"
    LARGE = "large-island"


class DemoFormat(StrEnum):
    """How the records of a demo country are written."""

    CSV = "csv"
    PARQUET = "parquet"


class UserRole(StrEnum):
    """Who asks."""

    PUBLIC = "public"
    REGISTERED = "registered"
    STAFF = "staff"
    PRODUCTION = "production"


class AccountRole(StrEnum):
    """What an account may do. Whoever has no account is anonymous."""

    REGISTERED = "registered"
    STAFF = "staff"

    @classmethod
    def named(cls, word: str) -> AccountRole:
        """The role of this name.

        Raises:
            SpecError: There is none.
        """
        if word not in list(cls):
            raise SpecError(unknown("role", word, list(cls)))
        return cls(word)


class RiskAxis(StrEnum):
    """What stands for risk on the maps, and with it on the frontier."""

    COMPOSITE = "R"
    UNTOUCHED = "DR"
    CLAIM = "claim"


class NoiseDraw(StrEnum):
    """How the change of a cell is drawn, and with it how that of a total hangs on its parts.

    ``ascending``: by the cell key, in ascending order of changes, as the founding study and other
    programs do. Noise of a total is coupled with that of its parts.
    ``independent``: fresh noise for every cell, also for two cells with the same people. Nobody
    should publish like this; it shows what the keys are worth.
    ``hashed``: by a keyed hash of the cell key. The same people have the same noise, otherwise
    the noise of different cells is independent.
    """

    ASCENDING = "ascending"
    INDEPENDENT = "independent"
    HASHED = "hashed"


class Relax(StrEnum):
    """What happens to a row of a perturbation table that does not reach the variance.

    ``reference``: its stay probability falls in steps of 0.05, as in the program with which the
    published tables were made. ``largest-stay``: it gets the largest stay probability with which
    it reaches the variance, or comes nearest to it.
    """

    REFERENCE = "reference"
    LARGEST_STAY = "largest-stay"


class ExchangeFormat(StrEnum):
    """A layout of a file with a perturbation table.

    ``argus``: tau-ARGUS. ``ptable``: the table of the R package of that name, as csv. ``sas``: its
    export for SAS. ``abs``: the matrix of the ABS with 256 rows, as SuperSTAR reads it. ``ons``:
    the file of the ONS with 750 counts. ``cantabular``: the file of Cantabular. ``plain``: counts,
    deviations and probabilities, for files of your own.
    """

    ARGUS = "argus"
    PTABLE = "ptable"
    SAS = "sas"
    ABS = "abs"
    ONS = "ons"
    CANTABULAR = "cantabular"
    PLAIN = "plain"

    @classmethod
    def of(cls, name: str) -> ExchangeFormat:
        """The format of a name, or an error that offers the names there are."""
        return option(cls, "exchange format", name)


class PerturbationChart(StrEnum):
    """What of a perturbation can be drawn."""

    DISTRIBUTION = "distribution"
    TRANSITIONS = "transitions"
    ROWS = "rows"
