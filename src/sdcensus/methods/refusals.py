"""Which cubes a method refuses: what it is not made for, and keys of another secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus.errors import Refused, SecretError, SpecError
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.vocabulary import Measure

if TYPE_CHECKING:
    from sdcensus.methods.method import Method

#: Methods that protect sums.
FOR_SUMS = "'cell-key-sums', 'abs-top-contributors' or 'suppression'"


def refuse_unsuitable(method: Method, cube: AnyCube) -> None:
    """Refuse a cube that a method cannot protect."""
    given: object = cube
    if not isinstance(given, AnyCube):
        raise SpecError(
            f"The method {method.name!r} protects a cube: method.protect(census.tabulate(...))."
        )
    _refuse_measure(method, cube)
    cube.origin.refuse_records(cube.spec)
    if cube.dense is None and not method.claims().takes_sparse:
        raise SpecError(
            f"{cube.spec.title}: the table is too large to be held whole, which"
            f" {method.described_name!r} needs. Take fewer or coarser axes, or the method"
            " 'cell-key' alone."
        )
    made_with = cube.origin.secret_id
    if method.secret is not None and made_with and made_with != method.secret.id:
        raise SecretError(
            f"The record keys of this table were made with the secret {made_with}, and the"
            f" secret at hand is {method.secret.id}. Numbers would not agree with those that were"
            " published before. Give the secret with which the store was loaded, or load it"
            " again."
        )


def _refuse_measure(method: Method, cube: AnyCube) -> None:
    """Refuse sums for methods of counts, counts for methods of sums, and weights."""
    spec = cube.spec
    amount = "" if spec.amount is None else spec.amount.name
    beside = ", ".join(repr(name) for name, _ in cube.values.sums if name != amount)
    if beside:
        raise Refused(
            f"{spec.title}: sums of {beside} stand beside what the table shows, and would not be"
            " protected. Ask for a table of sums by its measure, such as sum(income)."
        )
    if spec.measure.is_sum and not method.takes_sums:
        raise Refused(
            f"{spec.title}: the method {method.name!r} is for counts, and the table shows sums of"
            f" {amount!r}. Sums are protected by the methods {FOR_SUMS}."
        )
    if method.for_sums and not spec.measure.is_sum:
        raise SpecError(
            f"{spec.title}: the method {method.name!r} is for sums of amounts, and the table shows"
            " counts. Counts are protected by the method 'cell-key'; or ask for a table of sums by"
            " its measure, such as sum(income)."
        )
    if method.for_samples and not spec.measure.is_weighted:
        raise Refused(
            f"{spec.title}: the method {method.name!r} is for estimates of a weighted sample, and"
            " rounding alone protects no table of records: whoever is in it is known to be. Ask"
            ' for weighted counts (measure = "weighted", on the command line --measure weighted) or'
            " weighted sums, or take the method 'cell-key'."
        )
    if spec.measure is Measure.WEIGHTED and not method.takes_weights:
        raise SpecError(
            f"The method {method.name!r} is for counts of records. Weighted counts are protected"
            " by the method 'cell-key', or of a sample by 'sample-rounding'."
        )
