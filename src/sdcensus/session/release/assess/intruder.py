"""Intruders with a file from elsewhere, simulated with the records of the census.

The external file holds census records, drawn by identity with its coverage. Their ages are those
of some years ago, and some have moved since; births and deaths are left aside, so that coverage is
what the plan says. Then keys of both files are made wrong as often as the plan says. All of it is
drawn by the office's secret under counters of its own: the same plan gives the same matches.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, unknown
from sdcensus.microdata.method import Draws
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.release.sample import release_counter
from sdcensus.model.policy.rules import AtLevel
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import IntruderRules
from sdcensus.model.release.recoding import coarser_of
from sdcensus.model.schema.roles import IndicatorRole, variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Role, Variable
from sdcensus.report.release.results import IntruderRow
from sdcensus.risk.records.intruder import IntruderMatches, linked, uniques_of, with_errors
from sdcensus.session.release.columns import told_codes
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: What tells draws of intruders from samples: both are drawn for the same purpose.
INTRUDER = release_counter("intruder")
_COVERED, _AGED, _MOVED, _MOVED_TO, _FILE, _FILE_TO, _OUTSIDE, _OUTSIDE_TO = range(8)

#: Coverages and errors of the grid that shows how both matter.
COVERAGES = (0.1, 0.5, 1.0)
ERRORS = (0.0, 0.02, 0.1)


def simulate_intruder(
    census: CensusStore,
    records: FileRecords,
    rules: IntruderRules,
    draws: Draws,
    *,
    progress: Progress = no_progress,
) -> IntruderMatches:
    """Match a file with an external one, and count what is right.

    Args:
        census: The census as it was before treatments: what is true of people.
        records: The file, with everything that was done to it.
        rules: What the external file holds, how much and how wrong.
        draws: Random numbers for samples.
        progress: Told how far it is.

    Raises:
        SpecError: A key is not in the file, or an error is named for something else than a key.
    """
    design = records.design
    keys = _keys(design, rules)
    file_errors = _errors(rules.file_errors, rules.file_error, keys, design, rules)
    external_errors = _errors(rules.external_errors, rules.external_error, keys, design, rules)
    progress("simulating an intruder", 0.0)
    people = _People(census, draws, rules)
    file_rows = people.rows_of(records)
    true = [told_codes(census, Entity.PERSON, key) for key in keys.values()]
    file = [_file_codes(records, key) for key in keys.values()]
    uniques, population_uniques, expected = uniques_of(file, true, file_rows)
    progress("simulating an intruder", 0.3)
    covered = np.flatnonzero(people.happens(rules.coverage, _COVERED))
    external, wrong_file = [], []
    for (name, key), told, ours in zip(keys.items(), true, file, strict=True):
        size = len(key.level.codes)
        counts = np.bincount(told, minlength=size).astype(np.int64)
        number = release_counter(name)
        outside = key.level.group_array[people.leaves_then(key.source)[covered]]
        wrong = people.happens(external_errors[name], _OUTSIDE, number, of=covered)
        words = people.words(_OUTSIDE_TO, number, of=covered[wrong])
        external.append(with_errors(outside, size, wrong, words, counts))
        wrong = people.happens(file_errors[name], _FILE, number, of=file_rows)
        words = people.words(_FILE_TO, number, of=file_rows[wrong])
        wrong_file.append(with_errors(ours, size, wrong, words, counts))
    progress("linking both files", 0.6)
    links = linked(wrong_file, external, disagreeing=rules.disagreeing)
    right = file_rows[links.file] == covered[links.external]
    exact = links.disagreeing == 0
    progress("linking both files", 1.0)
    return IntruderMatches(
        name=rules.name,
        keys=tuple(keys),
        coverage=rules.coverage,
        file_error=sum(file_errors.values()) / len(keys),
        external_error=sum(external_errors.values()) / len(keys),
        years=rules.years,
        records=int(file_rows.size),
        external=int(covered.size),
        in_both=int(np.isin(file_rows, covered).sum()),
        claims=int(right.size),
        correct=int(right.sum()),
        exact=int(exact.sum()),
        correct_exact=int((right & exact).sum()),
        sample_uniques=uniques,
        population_uniques=population_uniques,
        expected_matches=expected,
    )


def intruder_grid(
    census: CensusStore,
    records: FileRecords,
    rules: IntruderRules,
    draws: Draws,
    *,
    coverages: Sequence[float] = COVERAGES,
    errors: Sequence[float] = ERRORS,
    progress: Progress = no_progress,
) -> tuple[IntruderMatches, ...]:
    """The same intruder with other coverages and other errors of the external file."""
    trials = list(itertools.product(coverages, errors))
    matches = []
    for at, (coverage, error) in enumerate(trials):
        progress("trying coverages and errors", at / len(trials))
        trial = replace(rules, coverage=coverage, external_errors={}, external_error=error)
        matches.append(simulate_intruder(census, records, trial, draws))
    return tuple(matches)


def intruder_row(matches: IntruderMatches) -> IntruderRow:
    """The matches as the assessment shows them."""
    return IntruderRow(
        name=matches.name,
        keys=len(matches.keys),
        coverage=matches.coverage,
        claims=matches.claims,
        correct=matches.correct,
        wrong=matches.wrong,
        missed=matches.missed,
        file_errors=matches.file_error,
        outside_errors=matches.external_error,
        years=matches.years,
        uniques=matches.sample_uniques,
        expected=matches.expected_matches,
    )


def finds_keys(design: FileDesign, rules: IntruderRules) -> bool:
    """Whether an intruder has something to compare; an extract may leave everything of it out."""
    if not rules.keys and not design.ladder:
        return False
    known = {each.source.name for each in design.variables if not each.amounts}
    wanted = {AtLevel.parse(text).variable for text in rules.keys}
    wanted = wanted or {key.source.name for key in design.ladder}
    names = {each.name for each in design.variables}
    return not design.extract or bool(known & wanted or names & set(rules.keys))


def _keys(design: FileDesign, rules: IntruderRules) -> dict[str, FileVariable]:
    """What is compared, by name: the ladder, or those keys of the intruder that the file holds."""
    here = f"The intruder {rules.name!r}"
    # What the condition of an extract is about is known, and is compared with nothing.
    held = {variable.name for variable in design.variables}
    keys = {key.name: key for key in design.ladder if key.name in held}
    if rules.keys:
        keys = {}
        for text in rules.keys:
            key = _key(design, text, here)
            if key is not None and key.name in keys:
                raise SpecError(f"{here} has the key {text!r} twice. Leave one.")
            if key is not None and key.name in held:
                keys[key.name] = key
    if not keys:
        raise SpecError(
            f"{here} has no key in common with the file of design {design.design.name!r}. Name keys"
            ' that it holds: keys = ["..."].'
        )
    return keys


def _key(design: FileDesign, text: str, here: str) -> FileVariable | None:
    """A key by its name in the file, or as a ladder says it: ``ed@parish``.

    ``None`` for a variable of the census that the file does not hold.
    """
    variables = (*design.ladder, *(each for each in design.variables if not each.amounts))
    at = AtLevel.parse(text)
    for variable in variables:
        if text == variable.name:
            return variable
    for variable in variables:
        source = variable.source
        if at.variable == source.name:
            level = coarser_of(source.level(at.level), variable.level) if at.level else None
            return variable if level in (None, variable.level) else replace(variable, level=level)
    if at.variable in {each.variable.name for each in design.removed}:
        return None
    held = list(dict.fromkeys(variable.name for variable in variables))
    raise SpecError(f"{here}: {unknown('key', text, held)}")


def _errors(
    named: Mapping[str, float],
    share: float,
    keys: Mapping[str, FileVariable],
    design: FileDesign,
    rules: IntruderRules,
) -> dict[str, float]:
    """How often each key is wrong."""
    here = f"The intruder {rules.name!r}, errors"
    shares = dict.fromkeys(keys, share)
    for text, own in named.items():
        key = _key(design, text, here)
        if key is not None and key.name not in keys:
            raise SpecError(f"{here}: {unknown('key', text, list(keys))}")
        if key is not None:
            shares[key.name] = own
    return shares


def _file_codes(records: FileRecords, key: FileVariable) -> Integers:
    """What the file tells of a key for each of its persons; blanked ones have a code of their own.

    A key may be coarser than the file tells it, never finer.
    """
    in_file = next(each for each in records.design.variables if each.name == key.name)
    if in_file.amounts:
        return told_codes(records.store, Entity.PERSON, key)[records.sample.rows[Entity.PERSON]]
    blank = len(key.level.codes)
    codes = records.codes[key.name]
    coarser = np.full(max(len(in_file.level.codes), int(codes.max(initial=0)) + 1), blank)
    coarser[in_file.level.group_array] = key.level.group_array
    told: Integers = coarser[codes]
    if in_file.entity is not Entity.PERSON:
        holders = records.holders[Entity.PERSON, in_file.entity]
        inherited = told_codes(records.store, Entity.PERSON, key)
        alone = inherited[records.sample.rows[Entity.PERSON]]
        told = np.where(holders >= 0, told[holders] if told.size else 0, alone)
    return told


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    """All persons of a census, with what is drawn about them."""

    census: CensusStore
    draws: Draws
    rules: IntruderRules

    @property
    def digests(self) -> UInt64:
        return self.census.digests(Entity.PERSON)

    def words(self, *counters: int, of: Int64 | None = None) -> UInt64:
        """A random word of each person, or of those in some rows."""
        digests = self.digests if of is None else self.digests[of]
        return self.draws.words(digests, INTRUDER, *counters)

    def happens(self, share: float, *counters: int, of: Int64 | None = None) -> Mask:
        """For whom something happens that happens to a share."""
        if share <= 0 or share >= 1:
            return np.full(self.digests.size if of is None else of.size, share > 0)
        return self.words(*counters, of=of) < np.uint64(int(share * 2**64))

    def rows_of(self, records: FileRecords) -> Int64:
        """The row in the census of each person of the file: found by identity."""
        digests = records.store.digests(Entity.PERSON)[records.sample.rows[Entity.PERSON]]
        order = np.argsort(self.digests, kind="stable")
        places = np.searchsorted(self.digests, digests, sorter=order)
        rows = order[np.minimum(places, max(order.size - 1, 0))]
        if not np.array_equal(self.digests[rows], digests):
            raise SpecError(
                "The file has persons whom the census does not have: it was made from another one."
                " Simulate intruders with the census that the file was made from."
            )
        return np.asarray(rows, dtype=np.int64)

    def leaves_then(self, variable: Variable) -> Integers:
        """The codes of the census as they were when the external file was made."""
        leaves: Integers = self.census.column(Entity.PERSON, variable)[slice(None)]
        if not self.rules.years:
            return leaves
        if variable.role is Role.GEOGRAPHY:
            return self._moved(variable, leaves)
        return self._younger(variable, leaves) if self._is_age(variable) else leaves

    def _is_age(self, variable: Variable) -> bool:
        return age_of(self.census.schema) == variable

    def _moved(self, variable: Variable, leaves: Integers) -> Integers:
        """Some lived in another area then, drawn as people live now."""
        share = 1 - (1 - self.rules.moves) ** abs(self.rules.years)
        number, size = release_counter(variable.name), len(variable.codes)
        counts = np.bincount(leaves, minlength=size).astype(np.int64)
        counts[[code.is_missing for code in variable.codes]] = 0
        moved = self.happens(share, _MOVED, number)
        words = self.words(_MOVED_TO, number, of=np.flatnonzero(moved))
        return with_errors(leaves, size, moved, words, counts)

    def _younger(self, variable: Variable, leaves: Integers) -> Integers:
        """Ages of some years ago; of a range of ages each is as likely. Nobody is below 0."""
        lower, width = _ranges(variable.codes)
        is_number = width > 0
        words = self.words(_AGED, release_counter(variable.name))
        within = (words % np.maximum(width, 1)[leaves].astype(np.uint64)).astype(np.int64)
        then = np.maximum(lower[leaves] + within - self.rules.years, 0)
        ages = _codes_by_age(variable.codes, int(then.max(initial=0)))
        codes = ages[np.minimum(then, ages.size - 1)]
        return np.where(is_number[leaves] & (codes >= 0), codes, leaves)


def age_of(schema: Schema) -> Variable | None:
    """The variable that tells ages, if anything says which one."""
    try:
        return variable_for(IndicatorRole.AGE, schema)
    except SpecError:
        return None


def _ranges(codes: Sequence[Code]) -> tuple[Int64, Int64]:
    """Where each code begins, and how many whole numbers it stands for; 0 for none.

    "And over" is taken for its first number: nobody knows how old people in it are.
    """
    lower = np.array([code.lower or 0 for code in codes], dtype=np.int64)
    widths = [
        0
        if code.lower is None or code.kind is not CodeKind.VALID
        else 1
        if code.upper is None
        else code.upper - code.lower + 1
        for code in codes
    ]
    return lower, np.array(widths, dtype=np.int64)


def _codes_by_age(codes: Sequence[Code], oldest: int) -> Int64:
    """For each age its code; -1 where there is none."""
    ages = np.full(oldest + 1, -1, dtype=np.int64)
    for place, code in enumerate(codes):
        if code.lower is not None and code.kind is CodeKind.VALID:
            end = oldest if code.upper is None else code.upper
            ages[max(code.lower, 0) : end + 1] = place
    return ages
