"""What was done to records before they were counted, in words that anybody may read. Public.

A lineage names the methods; readers are told their kinds: no rate, no parameter, no count. The
same method with any parameters has the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from sdcensus.errors import Sentence
from sdcensus.model.published.provenance import methods_of
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.listed_tables import ListedTables, unlisted
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text

#: Tables that a caution names at most.
_MOST_NAMED = 5


class RecordChange(StrEnum):
    """A kind of pre-tabular method; the order is that in which readers are told."""

    PLACES = "places"
    MOVED = "moved"
    ATTRIBUTES = "attributes"
    AMOUNTS = "amounts"
    PRAM = "pram"
    SAFE = "safe"
    IMPUTATION = "imputation"
    WEIGHTS = "weights"
    SAMPLE = "sample"
    SMALL_COUNTS = "small_counts"
    RECORDS = "records"
    GROUPED = "grouped"


_KINDS = {
    "targeted-swap": RecordChange.PLACES,
    "random-swap": RecordChange.PLACES,
    "proportional-swap": RecordChange.PLACES,
    "geographic-pram": RecordChange.MOVED,
    "attribute-swap": RecordChange.ATTRIBUTES,
    "microaggregation": RecordChange.AMOUNTS,
    "rank-swap": RecordChange.AMOUNTS,
    "pram": RecordChange.PRAM,
    "safe": RecordChange.SAFE,
    "over-imputation": RecordChange.IMPUTATION,
    "returned-imputation": RecordChange.IMPUTATION,
    "perturbation-weights": RecordChange.WEIGHTS,
    "systematic-sample": RecordChange.SAMPLE,
    "small-count-rounding": RecordChange.SMALL_COUNTS,
    "drop-records": RecordChange.RECORDS,
    "multilevel-grid": RecordChange.GROUPED,
}


def record_changes(lineage: str) -> tuple[RecordChange, ...]:
    """The kinds of method in a lineage, each once; of another package's method the general one.

    Examples:
        >>> [*map(str, record_changes("pram 1 0a → targeted-swap 1 0b → of-others 1 0c"))]
        ['places', 'pram', 'records']
        >>> record_changes("")
        ()
    """
    kinds = {_KINDS.get(method, RecordChange.RECORDS) for method in methods_of(lineage)}
    return tuple(kind for kind in RecordChange if kind in kinds)


def sentence_name(change: RecordChange) -> str:
    """Where the catalogues keep what readers are told about a kind of method."""
    return f"notes.before.{change.value}"


def notes_of_lineage(lineage: str) -> tuple[Text, ...]:
    """What readers of a table should know about its records; nothing of an original store."""
    return tuple(Text.named(sentence_name(change)) for change in record_changes(lineage))


def notes_of_records(
    lineage: str, listed: ListedTables | None, specs: Sequence[TableSpec]
) -> tuple[Text, ...]:
    """The same of some tables: also whether small counts were rounded for other tables than these.

    Args:
        lineage: How the records were derived, as published files name it.
        listed: The tables for which small counts were rounded, if that is still known.
        specs: The tables.
    """
    notes = notes_of_lineage(lineage)
    if RecordChange.SMALL_COUNTS in record_changes(lineage) and unlisted(listed, specs):
        notes = (*notes, Text.named("notes.before.not_listed"))
    return (*notes, *notes_of_code_lists(specs))


def notes_of_code_lists(specs: Sequence[TableSpec]) -> tuple[Text, ...]:
    """What readers should know about variables whose code list is what occurs in the records."""
    shown = {axis.variable.name: axis.variable for spec in specs for axis in spec.axes}
    names = sorted(name for name, variable in shown.items() if variable.codes_from_records)
    return tuple(Text.named("notes.inhabited").filled(variable=name) for name in names)


def cautions_of_records(
    lineage: str, listed: ListedTables | None, specs: Sequence[TableSpec]
) -> tuple[Sentence, ...]:
    """What the office should know before it relies on tables of derived records.

    Where small counts were rounded, that holds for the tables that were listed, and for no other.
    """
    if RecordChange.SMALL_COUNTS not in record_changes(lineage):
        return ()
    if listed is None:
        return (sentence("small_counts.store.void"),)
    others = unlisted(listed, specs)
    if not others:
        return ()
    named = [f"{spec.title!r}" for spec in others[:_MOST_NAMED]]
    if len(others) > _MOST_NAMED:
        named.append(f"… ({len(others)})")
    return (sentence("small_counts.store.unlisted", tables=", ".join(named)),)
