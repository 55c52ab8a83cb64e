"""PRAM: values of variables become others with known probabilities."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.documents.toml.lines import read_small_file
from sdcensus.documents.workbooks.small_tables import LARGEST_TABLE
from sdcensus.errors import Sentence
from sdcensus.microdata.method import Changes, Draws, FactTable, NewValues
from sdcensus.microdata.pram.design import matrix_for
from sdcensus.microdata.pram.drawing import Drawn, drawn, totals_of
from sdcensus.microdata.pram.expectation_ratios import LIMIT
from sdcensus.microdata.pram.facts import foreseen, happened, office_files, outcome_of
from sdcensus.microdata.pram.kept_values import ChangeSet, kept_by_rules, ruled
from sdcensus.microdata.pram.papers import check_publication, papers_of
from sdcensus.microdata.pram.settings import TargetSettings, settings_of
from sdcensus.microdata.pram.targets import targets_of
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.perturbation.transition_matrix import TransitionMatrix
from sdcensus.model.progress import Progress
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]

KEEP, REFUSE = "keep", "refuse"
#: What may be done where a draw would break an edit rule.
EDIT_RULES = Parameter(
    "edit_rules",
    ValueKind.WORD,
    "Where a draw would break an edit rule: keep the value, or refuse the whole step.",
    words=(KEEP, REFUSE),
    default=KEEP,
)
RATIO_LIMIT = Parameter(
    "ratio_limit",
    ValueKind.NUMBER,
    "The expectation ratio up to which a code counts as safe. It is reported, not required.",
    default=LIMIT,
    least=0,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pram(Confidential):
    """Changes each value with known probabilities, drawn for every record by who it is about.

    Attributes:
        variables: The variables that change, each for itself.
        together: Lists of variables that change together, as one.
        stay: Probabilities to stay: for all, or ``VARIABLE=SHARE``.
        similar: To which codes a value goes that does not stay.
        matrix: Matrices from files: ``VARIABLE=FILE``.
        change_missing: Whether missing codes take part.
        invariant: Whether totals stay as they are in expectation.
        alpha: How much of the invariant matrix is taken.
        edit_rules: What happens where a draw would break an edit rule.
        publish_matrix: Whether everybody may know the matrices.
        publish_frequencies: Of which variables also matrices that tell true counts may be known.
        ratio_limit: What expectation ratios are held against.
    """

    variables: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    stay: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    matrix: tuple[str, ...] = ()
    change_missing: bool = False
    invariant: bool = False
    alpha: float = 1.0
    edit_rules: str = KEEP
    publish_matrix: bool = False
    publish_frequencies: tuple[str, ...] = ()
    ratio_limit: float = LIMIT

    name: ClassVar[str] = "pram"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Values become others with known probabilities (PRAM)."
    purpose: ClassVar[Purpose | None] = Purpose.PRAM
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter("variables", ValueKind.VARIABLES, "The variables that change."),
        Parameter(
            "together",
            ValueKind.LISTS,
            "Variables that change together, such as marital,sex: only to combinations that occur.",
        ),
        Parameter(
            "stay",
            ValueKind.LISTS,
            "How likely a value stays: 0.9 for all, or age=0.8. Confidential.",
        ),
        Parameter(
            "similar",
            ValueKind.LISTS,
            "To which codes others go: frequency, equal, neighbours, or within a level"
            " (age@five_year); for one variable sex=equal. By frequency if not given.",
        ),
        Parameter(
            "matrix",
            ValueKind.LISTS,
            "A matrix from a file: sex=FILE, with codes as headings of rows and columns.",
        ),
        Parameter(
            "change_missing",
            ValueKind.YES,
            "Missing values change as well. Without it they stay, and no value becomes missing.",
        ),
        Parameter(
            "invariant",
            ValueKind.YES,
            "Make the matrix invariant: totals stay as they are, in expectation.",
        ),
        Parameter(
            "alpha",
            ValueKind.SHARE,
            "How much of the invariant matrix is taken, the rest being no change.",
            default=1.0,
            needs=("invariant",),
        ),
        EDIT_RULES,
        Parameter(
            "publish_matrix",
            ValueKind.YES,
            "Everybody may know the matrix: it is written beside the store, for analysts. Without"
            " it, it stays in the office.",
        ),
        Parameter(
            "publish_frequencies",
            ValueKind.VARIABLES,
            "Variables whose matrix may be published although it tells true counts.",
            needs=("publish_matrix",),
        ),
        RATIO_LIMIT,
    )

    def __repr__(self) -> str:
        return "<Pram: confidential>"

    def file_digests(self) -> Mapping[str, tuple[str, ...]]:
        """A digest of each matrix that is read from a file."""
        texts = []
        for text in self.matrix:
            target, equals, path = (part.strip() for part in text.partition("="))
            if equals and path:
                content = read_small_file(Path(path), what="matrix", largest=LARGEST_TABLE)
                texts.append(f"{target}={hashlib.blake2b(content, digest_size=16).hexdigest()}")
        return {"matrix": tuple(texts)}

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """The matrices, what is expected of them, and expectation ratios."""
        tables: list[FactTable] = []
        for said, matrix, totals in self._matrices(records, progress):
            tables += foreseen(said.target, matrix, totals, self.ratio_limit)
        return tuple(tables)

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """New codes for the records whose draw says so."""
        assert draws is not None
        prepared = self._matrices(records, progress)
        asked = []
        for at, (said, matrix, totals) in enumerate(prepared):
            progress("drawing", at / len(prepared))
            asked.append(drawn(records, said.target, matrix, totals, draws))
        done = self._allowed(records, asked, progress)
        codes: dict[str, NewValues] = {}
        for draw in done:
            new_codes = _codes(draw)
            if draw.target.is_compound:
                new_codes = {name: _really(records, name, new) for name, new in new_codes.items()}
            codes |= new_codes
        foretold = [
            table
            for said, matrix, totals in prepared
            for table in foreseen(said.target, matrix, totals, self.ratio_limit)
        ]
        pairs = list(zip(asked, done, strict=True))
        outcomes = [outcome_of(*pair) for pair in pairs]
        kept = {
            f"{before.target.name} kept by edit rules": int(before.rows.size - after.rows.size)
            for before, after in pairs
            if before.rows.size > after.rows.size
        }
        matrices = [(said.target, matrix) for said, matrix, _ in prepared]
        return Changes(
            codes=codes,
            figures=kept,
            facts=(*map(happened, outcomes), *foretold),
            files=tuple(file for outcome in outcomes for file in office_files(outcome)),
            notes=tuple(_notes(pairs)),
            public=papers_of(matrices, ruled(records.schema)) if self.publish_matrix else (),
        )

    def _matrices(
        self, records: CensusStore, progress: Progress
    ) -> list[tuple[TargetSettings, TransitionMatrix, Int64]]:
        """What is said about each target, its matrix, and how many records each code has."""
        targets = targets_of(records.schema, self.variables, self.together)
        chosen = settings_of(targets, self.stay, self.similar, self.matrix)
        if self.publish_matrix:
            check_publication(chosen, self.publish_frequencies, invariant=self.invariant)
        matrices = []
        for at, said in enumerate(chosen):
            progress("making matrices", at / len(chosen))
            totals = totals_of(said.target.encoded(records), len(said.target.codes))
            matrix = matrix_for(
                said,
                totals,
                change_missing=self.change_missing,
                invariant=self.invariant,
                alpha=Fraction(str(self.alpha)),
            )
            matrices.append((said, matrix, totals))
        return matrices

    def _allowed(
        self, records: CensusStore, asked: Sequence[Drawn], progress: Progress
    ) -> list[Drawn]:
        """What was drawn, without what would break an edit rule."""
        if self.edit_rules == REFUSE:
            return list(asked)
        changes = [ChangeSet(_codes(draw)) for draw in asked]
        kept = kept_by_rules(records, changes, progress)
        return [draw.without(mask) for draw, mask in zip(asked, kept, strict=True)]


def _codes(draw: Drawn) -> dict[str, NewValues]:
    parts = draw.target.decoded(draw.after)
    return {name: NewValues(draw.rows, values) for name, values in parts.items()}


def _really(records: CensusStore, name: str, new: NewValues) -> NewValues:
    """New codes without those that are the old ones: of a combination often one part changes."""
    before = records.raw(records.schema.variable(name).entity, name)[new.rows]
    other = before != new.values
    return NewValues(new.rows[other], new.values[other])


def _notes(pairs: Sequence[tuple[Drawn, Drawn]]) -> list[Sentence]:
    notes = []
    for asked, done in pairs:
        if asked.rows.size > done.rows.size:
            notes.append(sentence("pram.notes.kept", name=asked.target.name))
        if not asked.rows.size:
            notes.append(sentence("pram.notes.nothing", name=asked.target.name))
    return notes
