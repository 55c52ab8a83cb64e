"""Over-imputation: good values are blanked and imputed anew from the nearest donor."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.imputation.donors import (
    Donations,
    DonorSearch,
    Failure,
    Recipients,
    SearchStep,
    areas_of,
)
from sdcensus.microdata.imputation.facts import (
    changed_facts,
    donor_facts,
    failure_facts,
    selection_facts,
)
from sdcensus.microdata.imputation.rules import forbidden_values
from sdcensus.microdata.imputation.selection import (
    DONORS,
    SELECTION_PARAMETERS,
    USUAL_K,
    Selection,
    earlier_steps,
    selection_of,
)
from sdcensus.microdata.imputation.variables import blanked_variables, levels_of_variables
from sdcensus.microdata.method import Changes, Draws, FactTable, NewValues, OfficeFile
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Variable
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import imputed_column

Integers = npt.NDArray[Any]

#: Methods whose draws must not be those of an earlier step of the same line.
IMPUTING = ("over-imputation", "returned-imputation")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Prepared(Confidential):
    """What a run begins with."""

    blank: tuple[Variable, ...]
    selection: Selection
    search: DonorSearch
    donors: Integers
    step: int

    def __repr__(self) -> str:
        return "<_Prepared: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OverImputation(Confidential):
    """Blanks variables of some records, and gives each the values of its nearest donor.

    Donors are the records that were not blanked. Near is a donor that agrees on the first of the
    matching variables, on as many of them as possible; then one in the same area, at the finest
    level possible; then one whose next variable is near where its codes are numbers. All blanked
    values of a record come from one donor, so that they fit together, and none that would break an
    edit rule.

    Attributes:
        blank: The variables that are blanked.
        rate: Which share of the records.
        match: The variables that a donor should agree on, the most important first.
        where: Which records may be chosen.
        risk: Rare combinations of these are chosen first.
        k: What rare means.
        donor_areas: The levels of areas in which donors are looked for, in this order.
        agree: How many of the matching variables must agree, the first ones.
        uses: How often a donor may give.
        skip_imputed: Whether records with an imputed value of a blanked variable give nothing.
    """

    blank: tuple[str, ...]
    rate: float
    match: tuple[str, ...]
    where: str = ""
    risk: tuple[str, ...] = ()
    k: int = USUAL_K
    donor_areas: tuple[str, ...] = ()
    agree: int = 1
    uses: int = 1
    skip_imputed: bool = False

    name: ClassVar[str] = "over-imputation"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Blank values of some records and impute them from the nearest donor."
    purpose: ClassVar[Purpose | None] = Purpose.IMPUTE
    takes: ClassVar[tuple[Parameter, ...]] = (
        *SELECTION_PARAMETERS,
        Parameter(
            "match",
            ValueKind.VARIABLES,
            "Variables that a donor should agree on, the most important first, such as"
            " sex,age@ten_year.",
            required=True,
        ),
        Parameter(
            "donor_areas",
            ValueKind.VARIABLES,
            "Levels of areas in which donors are looked for, in this order, total for the country;"
            " all levels from the finest on if not given.",
        ),
        Parameter(
            "agree",
            ValueKind.WHOLE,
            "How many of the matching variables must agree, the first ones.",
            least=0,
            default=1,
        ),
        Parameter("uses", ValueKind.WHOLE, "How often a donor may be used.", least=1, default=1),
        Parameter(
            "skip_imputed",
            ValueKind.YES,
            "Records whose value was imputed before give nothing.",
        ),
    )

    def __repr__(self) -> str:
        return "<OverImputation: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """Choose records, find their donors, and take over the values."""
        assert draws is not None
        ready = self._prepared(records, draws, progress)
        rows, unit = ready.selection.rows, ready.selection.unit
        progress("reading the edit rules", 0.0)
        forbidden = forbidden_values(records, unit, rows, ready.blank)
        own = {variable.name: records.raw(unit, variable.name) for variable in ready.blank}
        combinations = forbidden.combinations(
            {name: codes[ready.donors] for name, codes in own.items()}
        )
        digests = records.digests(unit)
        words = draws.words(digests[rows], DONORS, ready.step)
        donations = ready.search.run(
            Recipients.ordered(rows, words, digests[rows]),
            ready.donors,
            draws.words(digests[ready.donors], DONORS, ready.step),
            self.uses,
            forbidden,
            combinations,
            progress,
        )
        return self._changes(records, ready, donations)

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """Who will be chosen, and for how many of them there are donors, by distance and area."""
        assert draws is not None
        ready = self._prepared(records, draws, progress)
        progress("looking for donors", 0.5)
        available = ready.search.available(ready.selection.rows, ready.donors)
        return (
            selection_facts(ready.selection, ready.donors.size),
            donor_facts(available, len(self.match), foreseen=True),
        )

    def _prepared(self, records: CensusStore, draws: Draws, progress: Progress) -> _Prepared:
        schema = records.schema
        blank = blanked_variables(schema, self.blank)
        unit = blank[0].entity
        match = levels_of_variables(schema, unit, self.match, "--match")
        names = [variable.name for variable in blank]
        for each in match:
            if each.variable.name in names:
                raise SpecError(
                    f"--match: {each.variable.name!r} is blanked, so donors cannot be found by it."
                    " Leave it out of one of them."
                )
        if self.agree > len(match):
            raise SpecError(
                f"--agree {self.agree} asks for more variables than --match names. Say at most"
                f" {len(match)}."
            )
        areas = areas_of(schema, unit, self.donor_areas)
        progress("choosing records", 0.0)
        step = earlier_steps(records, IMPUTING)
        selection = selection_of(
            records,
            draws,
            blank,
            rate=self.rate,
            where=self.where,
            risk=self.risk,
            k=self.k,
            step=step,
        )
        gives = np.ones(records.rows(unit), dtype=bool)
        gives[selection.rows] = False
        if self.skip_imputed:
            gives &= ~_imputed_before(records, blank)
        donors = np.flatnonzero(gives)
        if not donors.size:
            raise SpecError(
                f"Nobody is left to give: --rate {self.rate:g} blanks all {unit.plural} that could"
                " be donors. Say a smaller share."
            )
        search = DonorSearch(records, unit, match, areas, self.agree)
        return _Prepared(blank, selection, search, donors, step)

    def _changes(self, records: CensusStore, ready: _Prepared, donations: Donations) -> Changes:
        unit = ready.selection.unit
        given = donations.donors >= 0
        rows, donors = ready.selection.rows[given], donations.donors[given]
        codes: dict[str, NewValues] = {}
        changed: list[tuple[Variable, int]] = []
        for variable in ready.blank:
            values = records.raw(unit, variable.name)
            new = values[donors]
            other = values[rows] != new
            codes[variable.name] = NewValues(rows[other], new[other])
            changed.append((variable, int(other.sum())))
        digests = records.digests(unit)
        steps = [ready.search.steps[at] for at in donations.steps[given].tolist()]
        reasons = Counter(donations.failures)
        return Changes(
            codes=codes,
            imputed={variable.name: rows for variable in ready.blank},
            figures={
                "records blanked": ready.selection.rows.size,
                "imputed anew": rows.size,
                "left as they were": int(ready.selection.rows.size - rows.size),
            },
            facts=(
                selection_facts(ready.selection, ready.donors.size),
                donor_facts(donations.taken, len(self.match), foreseen=False),
                changed_facts(changed, rows.size),
                *(
                    [failure_facts(records, ready.selection, donations.failures)]
                    if any(reasons[reason.value] for reason in Failure)
                    else []
                ),
            ),
            files=(_donor_file(digests[rows], digests[donors], steps),),
        )


def _imputed_before(records: CensusStore, blank: tuple[Variable, ...]) -> npt.NDArray[np.bool_]:
    unit = blank[0].entity
    flagged = [
        records.raw(unit, imputed_column(variable.name)) != 0
        for variable in blank
        if records.has(unit, imputed_column(variable.name))
    ]
    if not flagged:
        names = ", ".join(repr(variable.name) for variable in blank)
        raise SpecError(
            f"--skip-imputed: the census does not say where {names} was imputed. Name the column"
            " with the flags in the schema (imputed = ...) and load again, or leave it out."
        )
    before: npt.NDArray[np.bool_] = np.logical_or.reduce(flagged)
    return before


def _donor_file(records: Integers, donors: Integers, steps: list[SearchStep]) -> OfficeFile:
    return OfficeFile(
        name="donors.csv",
        columns={
            "record": records,
            "donor": donors,
            "agreeing": np.array([step.agreeing for step in steps], dtype=np.int64),
            "within": np.array([step.place for step in steps], dtype=object),
        },
    )
