"""What a pre-tabular method is: frozen parameters in, changes of records out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.keys.siphash import siphash24, siphash24_of_records
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.listed_tables import TableList
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import link_column, value_column

Integers = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NewValues(Confidential):
    """Other values of one variable for some records.

    Attributes:
        rows: The rows of the records, ascending; among those of the variable's own kind of unit.
            A household that moves is one row: its persons have the area of their household.
        values: For a variable with codes the position of the new code in its list, for a weight or
            an amount the new fixed-point value.
    """

    rows: Rows
    values: Integers

    def __repr__(self) -> str:
        return "<NewValues: confidential>"


#: An entry of a table of facts: a text, a whole number, a share or a measure, or nothing.
Fact = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FactTable(Confidential):
    """A small table that a method tells the office: households at risk by level, failures by area.

    Titles and headings are sentences of the catalogues, so that consoles, pages and workbooks show
    them in the office's language.

    Attributes:
        name: What the table is called in files: lower case with dashes.
        title: What it is about, with its base.
        headings: One for each column.
        rows: The lines.
        note: What a reader has to know beside it.
    """

    name: str
    title: Sentence
    headings: tuple[Sentence, ...]
    rows: tuple[tuple[Fact, ...], ...]
    note: Sentence | None = None

    def __post_init__(self) -> None:
        if any(len(row) != len(self.headings) for row in self.rows):
            raise ValueError(f"a line of {self.name} has another length than its headings")

    def __repr__(self) -> str:
        return f"<FactTable {self.name!r}: confidential>"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class OfficeFile(Confidential):
    """A file that the office keeps beside a derived store, such as the pairs of a swap.

    Records are named by the digest of their identity, as 16 hex digits.

    Attributes:
        name: The name of the file, with ``.csv``.
        columns: Its columns by heading, all of one length; unsigned 64-bit columns are digests.
    """

    name: str
    columns: Mapping[str, Integers]

    def __repr__(self) -> str:
        return f"<OfficeFile {self.name!r}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPaper:
    """A text that the office lets everybody read, such as a matrix that it publishes. Public.

    Attributes:
        name: The name of its file.
        content: The text.
    """

    name: str
    content: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class OneKind(Confidential):
    """Records of one kind of unit alone, with some variables; some are there several times.

    Attributes:
        entity: The kind.
        variables: What is kept of each record: its own variables, and inherited ones that become
            its own.
        rows: For each record the row that it is a copy of, ascending: what is left out is not
            there, what is there twice is copied.
        digests, keys: Digest and key of each record: those of its row, and others for copies.
        listed: The tables for which the records were changed.
    """

    entity: Entity
    variables: tuple[str, ...]
    rows: Rows
    digests: Integers
    keys: Integers
    listed: TableList | None = None

    def __repr__(self) -> str:
        return "<OneKind: confidential>"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Changes(Confidential):
    """What a method changes in a store.

    Attributes:
        dropped: The rows of the records that go, by kind of unit. What they hold goes with them.
        codes: New codes, by variable.
        amounts: New fixed-point values of weights and continuous variables, by variable.
        links: New holders, by the kind of the records that are held and the kind that holds them:
            the row of each record's new holder. A household that moves to another dwelling has
            the area of that dwelling, and its persons have it too.
        added: Variables that the store does not have yet, such as a weight, with the fixed-point
            value of each record of their kind.
        variables: Variables of the store with further levels; their codes are as they were.
        imputed: The rows whose value was imputed by the method, by variable. The flag of a variable
            that has one in the store is set; the office's list names them all.
        weights_only: Whether nothing but weighted counts may be published from now on.
        one_kind: Records of one kind that are all that is left; ``None`` where all kinds stay.
        figures: What the method tells the office about its work, as counts by name.
        facts: The same as tables, for the console and the report.
        files: What the office keeps beside the store.
        notes: What else the office should know, such as variables that were not protected.
        public: What the office has decided to let everybody read.
        repeatable: Whether the same call would change the same; not where the clock or a person
            ended a search.
    """

    dropped: Mapping[Entity, Rows] = field(default_factory=dict)
    codes: Mapping[str, NewValues] = field(default_factory=dict)
    amounts: Mapping[str, NewValues] = field(default_factory=dict)
    links: Mapping[tuple[Entity, Entity], NewValues] = field(default_factory=dict)
    added: tuple[tuple[Variable, Integers], ...] = ()
    variables: tuple[Variable, ...] = ()
    imputed: Mapping[str, Rows] = field(default_factory=dict)
    weights_only: bool = False
    one_kind: OneKind | None = None
    figures: Mapping[str, int] = field(default_factory=dict)
    facts: tuple[FactTable, ...] = ()
    files: tuple[OfficeFile, ...] = ()
    notes: tuple[Sentence, ...] = ()
    public: tuple[PublicPaper, ...] = ()
    repeatable: bool = True

    def __repr__(self) -> str:
        return "<Changes: confidential>"

    def drops(self, entity: Entity, size: int) -> Mask:
        """Which records of a kind the method itself drops."""
        mask = np.zeros(size, dtype=bool)
        if entity in self.dropped:
            mask[self.dropped[entity]] = True
        return mask

    def holders(self, store: CensusStore, entity: Entity, parent: Entity) -> Integers:
        """The row of the unit of a kind that holds each record now."""
        rows = store.raw(entity, link_column(parent))
        new = self.links.get((entity, parent))
        if new is not None:
            rows = rows.copy()
            rows[new.rows] = new.values
        return rows

    def columns(self) -> Iterator[tuple[str, str, NewValues]]:
        """Each changed column: its variable, its name in the store, its new values."""
        for variable, new in self.codes.items():
            yield variable, variable, new
        for variable, new in self.amounts.items():
            yield variable, value_column(variable), new


def dropped_with_parents(store: CensusStore, changes: Changes) -> dict[Entity, Mask]:
    """For each kind of unit which records go: those of a method, and all that these hold.

    A record whose parent goes cannot stay: it would lose its place. A parent whose records are all
    gone stays; it may be a dwelling that is empty now.
    """
    gone: dict[Entity, Mask] = {}
    for entity in store.schema.top_down:
        mask = changes.drops(entity, store.rows(entity))
        for parent in store.schema.parents(entity):
            if parent in gone and gone[parent].any() and store.has(entity, link_column(parent)):
                link = changes.holders(store, entity, parent)
                held = link != NO_ROW
                mask[held] |= gone[parent][link[held]]
        gone[entity] = mask
    return gone


def left_empty(store: CensusStore, gone: Mapping[Entity, Mask]) -> dict[Entity, int]:
    """How many records that stay have lost everything of a kind that they held, by kind."""
    emptied: dict[Entity, Mask] = {}
    for entity in store.schema.top_down:
        for parent in store.schema.parents(entity):
            # Of a store of one kind alone nothing is told about the others.
            told = entity in gone and parent in gone
            if not told or not store.has(entity, link_column(parent)):
                continue
            link = store.raw(entity, link_column(parent))
            held = link != NO_ROW
            size = store.rows(parent)
            before = np.bincount(link[held], minlength=size)
            after = np.bincount(link[held & ~gone[entity]], minlength=size)
            lost = (before > 0) & (after == 0) & ~gone[parent]
            emptied[parent] = emptied.get(parent, np.zeros(size, dtype=bool)) | lost
    return {entity: int(mask.sum()) for entity, mask in emptied.items() if mask.any()}


UInt64 = npt.NDArray[np.uint64]


class Draws(Confidential):
    """Random numbers for one purpose, as functions of who a record is about.

    The same record draws the same number whatever the order of the records, however many threads
    ask, and in every store that is derived from the first: digests of identity are kept.

    Args:
        key: The 16 bytes of the purpose, from the office secret.
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        # In a closure, as in the secret: tools that walk over attributes find a function.
        self._key: Callable[[], bytes] = lambda: key

    def __repr__(self) -> str:
        return "<Draws: confidential>"

    def words(self, digests: UInt64, *counters: int | UInt64) -> UInt64:
        """64 random bits for each record: SipHash-2-4 of its digest, followed by counters.

        Args:
            digests: The digests of the records.
            counters: What tells several draws for one record apart: the number of a variable, or
                a number for each record.
        """
        if len(counters) == 1 and not isinstance(counters[0], np.ndarray):
            return siphash24_of_records(self._key(), digests, int(counters[0]))
        columns = [digests, *(np.broadcast_to(np.uint64(each), digests.shape) for each in counters)]
        return siphash24(self._key(), np.stack(columns, axis=1).astype(np.uint64, copy=False))


@runtime_checkable
class PreTabularMethod(Protocol):
    """A way to change records before they are counted.

    A frozen dataclass: its fields are its parameters, those that ``takes`` declares, so that the
    command line, the help and the documentation follow from one table. It reads the store and
    answers with changes; it writes nothing, draws nothing but by ``draws``, and gives the same
    changes for the same records in any order.

    Attributes:
        name: The name under which users know it, and under which it is registered.
        version: Raised when the same parameters give other changes.
        summary: What it does, in one sentence.
        takes: What may be said about it.
        purpose: For which purpose it draws; ``None`` for a method that does not.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    summary: ClassVar[str]
    takes: ClassVar[tuple[Parameter, ...]]
    purpose: ClassVar[Purpose | None]

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """What it changes.

        Args:
            records: The store; read only.
            draws: Random numbers of its purpose; ``None`` without one.
            progress: Told how far it is.
        """
        ...


@runtime_checkable
class Foreseeing(Protocol):
    """A pre-tabular method that can tell before any work what it is going to meet."""

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """What the office should see before it decides: units at risk, donors, what cannot be done.

        Args:
            records: The store; read only.
            draws: Random numbers of its purpose; ``None`` without one.
            progress: Told how far it is.
        """
        ...


@runtime_checkable
class Searching(Protocol):
    """A pre-tabular method that searches for long: a report does not run it again and again."""

    searches: ClassVar[bool]


@runtime_checkable
class NamesFiles(Protocol):
    """A pre-tabular method whose parameters name files: what stands in them is a parameter too."""

    def file_digests(self) -> Mapping[str, tuple[str, ...]]:
        """Parameters that name files, with digests of what these hold in place of their names."""
        ...
