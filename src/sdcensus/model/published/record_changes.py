"""What was done to records before they were counted, in words that anybody may read. Public.

A lineage names the methods; readers are told their kinds: no rate, no parameter, no count. The
same method with any parameters has the same words.
"""

from __future__ import annotations

from enum import StrEnum

from sdcensus.model.published.provenance import methods_of
from sdcensus.model.text import Text


class RecordChange(StrEnum):
    """A kind of pre-tabular method; the order is that in which readers are told."""

    PLACES = "places"
    MOVED = "moved"
    ATTRIBUTES = "attributes"
    AMOUNTS = "amounts"
    PRAM = "pram"
    IMPUTATION = "imputation"
    WEIGHTS = "weights"
    SAMPLE = "sample"
    RECORDS = "records"


_KINDS = {
    "targeted-swap": RecordChange.PLACES,
    "random-swap": RecordChange.PLACES,
    "proportional-swap": RecordChange.PLACES,
    "geographic-pram": RecordChange.MOVED,
    "attribute-swap": RecordChange.ATTRIBUTES,
    "microaggregation": RecordChange.AMOUNTS,
    "rank-swap": RecordChange.AMOUNTS,
    "pram": RecordChange.PRAM,
    "over-imputation": RecordChange.IMPUTATION,
    "returned-imputation": RecordChange.IMPUTATION,
    "perturbation-weights": RecordChange.WEIGHTS,
    "systematic-sample": RecordChange.SAMPLE,
    "drop-records": RecordChange.RECORDS,
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
