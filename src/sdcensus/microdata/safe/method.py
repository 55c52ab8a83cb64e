"""SAFE: records in which every combination of listed variables occurs often, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.edit_rules import new_violations
from sdcensus.microdata.method import Changes, Draws, FactTable, NewValues
from sdcensus.microdata.pram.kept_values import units_above
from sdcensus.microdata.safe.bounds import unavoidable
from sdcensus.microdata.safe.combinations import Combinations, combinations_of
from sdcensus.microdata.safe.controls import Controls, control_tables
from sdcensus.microdata.safe.exact import helped
from sdcensus.microdata.safe.facts import (
    Outcome,
    control_cells_file,
    foreseen_facts,
    notes_of,
    outcome_facts,
)
from sdcensus.microdata.safe.layers import Layers, coarser_codes, layers_of
from sdcensus.microdata.safe.leaves import new_leaves
from sdcensus.microdata.safe.problem import Problem, problem_of, run_key
from sdcensus.microdata.safe.rule_classes import rule_classes
from sdcensus.microdata.safe.searching import (
    Effort,
    Ended,
    Found,
    Score,
    Watch,
    searched,
    settled,
)
from sdcensus.microdata.safe.variables import listed_variables
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Work is done for so many records at least: little problems deserve some as well.
_FEWEST = 5_000
#: How often units that broke a rule about two records are sent home before it is given up.
_ROUNDS = 12
#: The number of the run that goes on after that, and of the draws of integer programs.
_AGAIN, _HELP = 1_000, 2_000
#: The share of the work that goes on after that.
_AGAIN_SHARE = 4


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Safe(Confidential):
    """Changes as few records as it can until every combination occurs often, or not at all.

    Attributes:
        variables: The variables whose combinations count, with their levels.
        control_table: Tables whose deviations are to be small, with weights.
        minimum: How often a combination occurs that occurs.
        unchanged: Listed variables that no record changes.
        moves: How many moves are looked at, for each record of a small combination.
        restarts: How often the search begins anew.
        exact: How many combinations an integer program has.
        seconds: When the clock ends the search.
    """

    variables: tuple[str, ...]
    control_table: tuple[str, ...] = ()
    minimum: int = 3
    unchanged: tuple[str, ...] = ()
    moves: int = 300
    restarts: int = 0
    exact: int = 100
    seconds: float = 3600

    name: ClassVar[str] = "safe"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = (
        "Every combination of listed variables occurs not at all or at least three times (SAFE)."
    )
    purpose: ClassVar[Purpose | None] = Purpose.SAFE
    searches: ClassVar[bool] = True
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "variables",
            ValueKind.VARIABLES,
            "The variables whose combinations count, with levels: ed@parish,sex,age@five_year.",
            required=True,
        ),
        Parameter(
            "control_table",
            ValueKind.LISTS,
            "A table whose deviations are to be small: sex,age@five_year. With a weight by which"
            " they are divided: ed@parish,sex=3 may be three times as far off. All tables of one"
            " and two listed variables if not given.",
        ),
        Parameter(
            "minimum",
            ValueKind.WHOLE,
            "How often a combination occurs at least, if it occurs.",
            default=3,
            least=2,
            most=100,
        ),
        Parameter(
            "unchanged",
            ValueKind.VARIABLES,
            "Listed variables that no record changes, such as the area: their totals stay exact.",
        ),
        Parameter(
            "moves",
            ValueKind.WHOLE,
            "How long is searched: so many moves for each record of a small combination.",
            default=300,
            least=1,
        ),
        Parameter(
            "restarts",
            ValueKind.WHOLE,
            "How often the search begins anew, within the same work.",
            default=0,
            least=0,
            most=100,
        ),
        Parameter(
            "exact",
            ValueKind.WHOLE,
            "How many combinations an integer program has, for the worst cells or for all; 0 for"
            " none.",
            default=100,
            least=0,
            most=1000,
        ),
        Parameter(
            "seconds",
            ValueKind.NUMBER,
            "When the clock ends the search with the best so far, which another run may not find.",
            default=3600,
            least=1,
        ),
    )

    def __repr__(self) -> str:
        return "<Safe: confidential>"

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """The combinations, those that are too small, groups that stay so, and control tables."""
        progress("counting combinations", 0.0)
        found, layers, _ = self._asked(records, None)
        bound = unavoidable(found, layers, self.minimum)
        return foreseen_facts(found, layers, self.minimum, bound)

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """New codes for records of small combinations, and for others that go to them."""
        assert draws is not None
        progress("counting combinations", 0.0)
        found, layers, controls = self._asked(records, draws)
        small = int(found.counts[found.small(self.minimum)].sum())
        if not small:
            return self._nothing(records, found, layers)
        found.check_blocks(self.minimum)
        problem = problem_of(found, layers, rule_classes(records, found), self.minimum)
        watch = Watch(
            Effort(
                moves=self.moves * max(small, _FEWEST),
                restarts=self.restarts,
                seconds=self.seconds,
            ),
            controls.multiple,
            progress,
        )
        search, bound, programs = self._solution(problem, draws, watch)
        cells, codes, amounts = self._codes(records, problem, search.cells, draws, watch)
        counts = np.bincount(cells, minlength=found.counts.size).astype(np.int64)
        score = _score(layers, counts - found.counts)
        outcome = Outcome(
            found=found,
            layers=layers,
            least=self.minimum,
            search=replace(search, score=score, cells=cells),
            counts=counts,
            cells=cells,
            bound=bound,
            programs=programs,
        )
        return Changes(
            codes=codes,
            amounts=amounts,
            figures={"units with another combination": outcome.changed},
            facts=outcome_facts(outcome),
            files=(control_cells_file(outcome),),
            notes=notes_of(outcome, _unlisted(records, found)),
            repeatable=watch.ended not in (Ended.CLOCK, Ended.STOPPED),
        )

    def _nothing(self, records: CensusStore, found: Combinations, layers: Layers) -> Changes:
        """No change: every combination occurs often enough already."""
        search = Found(found.homes, Score(0, 0, 0), Ended.NOTHING_TO_DO, 0)
        outcome = Outcome(found, layers, self.minimum, search, found.counts, found.homes, 0, 0)
        return Changes(
            figures={"units with another combination": 0},
            facts=outcome_facts(outcome),
            notes=notes_of(outcome, _unlisted(records, found)),
        )

    def _asked(
        self, records: CensusStore, draws: Draws | None
    ) -> tuple[Combinations, Layers, Controls]:
        """The combinations and the control cells."""
        listed = listed_variables(records.schema, self.variables, self.unchanged)
        controls = control_tables(records.schema, listed, self.control_table)
        found = combinations_of(records, listed, draws)
        return found, layers_of(found, controls), controls

    def _solution(self, problem: Problem, draws: Draws, watch: Watch) -> tuple[Found, int, int]:
        """What the search found, with exact help; what no solution is below; programs."""
        found = problem.found
        nobody = np.zeros(found.homes.size, dtype=bool)
        search = searched(problem, draws, watch)
        best = unavoidable(found, problem.layers, self.minimum, search.score.worst)
        if watch.ended is not Ended.WORK or not self.exact or search.score.worst <= best:
            return search, best, 0
        watch.goes_on(search.score)
        state = problem.state(search.cells, nobody, run_key(draws, _HELP))
        help_ = helped(problem, state, self.exact)
        if help_.cells is not None:
            search = replace(search, cells=help_.cells)
        return search, max(best, help_.bound), help_.programs

    def _codes(
        self, records: CensusStore, problem: Problem, cells: Int64, draws: Draws, watch: Watch
    ) -> tuple[Int64, Mapping[str, NewValues], Mapping[str, NewValues]]:
        """The combination of each unit at last, and the codes and amounts that change.

        Units that would break a rule together with another record stay as they were, and the search
        goes on without them.
        """
        found = problem.found
        frozen = np.zeros(found.homes.size, dtype=bool)
        places = np.zeros(records.rows(found.listed.unit), dtype=np.int64)
        places[found.rows] = np.arange(found.rows.size)
        for number in range(_ROUNDS + 1):
            cells = settled(problem, cells, frozen, _every_level(problem))
            codes, amounts = new_leaves(records, found, problem.rules, cells, draws)
            broken = _broken(records, problem, codes, places, watch) & ~frozen
            broken &= cells != found.homes
            if not broken.any() or number == _ROUNDS or watch.ended is not Ended.WORK:
                break
            frozen |= broken
            cells = np.where(frozen, found.homes, cells)
            ruled = _with_rules(problem)
            more = watch.again(_AGAIN_SHARE)
            run = _AGAIN + number
            cells = searched(ruled, draws, more, begin=cells, frozen=frozen, first_run=run).cells
            problem, watch.ended = ruled, more.ended
            watch.looked += more.looked
        return cells, codes, amounts


def _score(layers: Layers, change: Int64) -> Score:
    """How good a solution is, counted anew."""
    deviations = layers.totals(change)
    levels = layers.levels(deviations)
    worst = int(levels.max(initial=0))
    return Score(worst, int((levels == worst).sum()), int(np.square(deviations).sum()))


def _with_rules(problem: Problem) -> Problem:
    """The problem in which it is looked who may go: some have to stay."""
    return replace(problem, layout=problem.layout._replace(ruled=np.ones(1, dtype=np.int64)))


def _every_level(problem: Problem) -> npt.NDArray[np.int32]:
    """The codes of combinations at every level that control tables show, to say what is near."""
    found = problem.found
    names = [each.variable.name for each in found.listed.all]
    shown = {pair for key in problem.layers.keys for pair in key}
    columns = [found.codes]
    for name, level in sorted(shown):
        groups, _ = coarser_codes(found.listed, name, level)
        columns.append(groups[found.codes[:, [names.index(name)]]].astype(np.int32))
    return np.ascontiguousarray(np.concatenate(columns, axis=1))


def _broken(
    records: CensusStore,
    problem: Problem,
    codes: Mapping[str, NewValues],
    places: Int64,
    watch: Watch,
) -> Mask:
    """Which units belong to records that break a rule which they kept before."""
    unit = problem.found.listed.unit
    broken = np.zeros(problem.found.homes.size, dtype=bool)
    for new in new_violations(DerivedRecords(records, Changes(codes=codes)), watch.progress):
        rows = new.rows if new.others is None else np.union1d(new.rows, new.others)
        broken[places[units_above(records, new.rule.entity, rows, unit)]] = True
    return broken


def _unlisted(records: CensusStore, found: Combinations) -> list[str]:
    """Variables of the same units, or of what holds them, that are not listed."""
    listed = {each.variable.name for each in found.listed.all}
    return [
        variable.name
        for variable in records.schema.usable(found.listed.unit)
        if variable.is_axis and variable.name not in listed
    ]
