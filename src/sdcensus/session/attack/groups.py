"""Groups of few persons that attacks claim, for people and for files. Public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.attack import GroupClaims
from sdcensus.model.quantities import share_text
from sdcensus.model.spec.table_spec import TableSpec

#: Attributes of a group that are shown in a line.
_SHOWN = 6


def cell_texts(spec: TableSpec, cells: npt.NDArray[np.int64]) -> list[str]:
    """Cells in words: the codes of each axis that does not stand at its total."""
    texts = np.full(cells.size, "", dtype=object)
    # A table of one cell has no axes, and so no positions to look for.
    places = np.unravel_index(cells, spec.shape) if spec.axes else ()
    for axis, at in zip(spec.axes, places, strict=True):
        several = len(axis.levels) > 1
        words = [
            ""
            if code.is_total
            else f"{axis.variable.name}{f'@{code.level}' if several else ''}={code.code}, "
            for code in axis.codes
        ]
        texts = texts + np.array(words, dtype=object)[at]
    return [text.removesuffix(", ") or "everybody" for text in texts.tolist()]


def attributes_of(claims: GroupClaims) -> list[dict[str, list[tuple[str, int]]]]:
    """For each group what was read off: by variable the codes, and how many have each."""
    by_claim: list[dict[str, list[tuple[str, int]]]] = [{} for _ in range(claims.count)]
    for traits in claims.traits:
        for owner, code, members in zip(
            traits.owner.tolist(), traits.codes(), traits.members.tolist(), strict=True
        ):
            by_claim[owner].setdefault(traits.variable, []).append((code, members))
    return by_claim


def attribute_text(attributes: dict[str, list[tuple[str, int]]], size: int, most: int = 0) -> str:
    """What was read off a group, in one line."""
    words = []
    for variable, codes in sorted(attributes.items()):
        text = " and ".join(
            code if members == size else f"{code} ({members})" for code, members in codes
        )
        words.append(f"{variable}={text}")
    if most and len(words) > most:
        words = [*words[:most], f"and {len(words) - most} more"]
    return ", ".join(words)


def group_lines(claims: Sequence[GroupClaims], *, most: int) -> list[tuple[str, str, str, str]]:
    """Some groups for people: the smallest, surest and those with most attributes first."""
    ranked = sorted(
        (
            (
                int(claim.sizes[at]),
                -round(float(claim.probability[at]), 2),
                -int(codes[at]),
                number,
                at,
            )
            for number, claim in enumerate(claims)
            for codes in [claim.attributes_of()]
            for at in range(claim.count)
        )
    )
    lines = []
    for size, sure, _, number, at in ranked[:most]:
        group_claims = claims[number]
        text = _cell_text(group_claims, at)
        units = group_claims.spec.of
        persons = f"1 {units.value}" if size == 1 else f"{size} {units.plural}"
        read = attribute_text(attributes_of(group_claims)[at], size, _SHOWN)
        lines.append(
            (
                group_claims.table,
                text,
                f"{persons}: {read}" if read else persons,
                share_text(-sure, digits=0),
            )
        )
    return lines


def _cell_text(claims: GroupClaims, at: int) -> str:
    text = cell_texts(claims.spec, claims.cells[at : at + 1])[0]
    if claims.other_spec is None or claims.other_cells is None:
        return text
    other = cell_texts(claims.other_spec, claims.other_cells[at : at + 1])[0]
    return f"{text} against {other}"


def group_columns(claims: Sequence[GroupClaims]) -> pa.Table:
    """Claims about groups as columns, under the names that claims about counts have too."""
    pieces = []
    for claim in claims:
        read = attributes_of(claim)
        other = [""] * claim.count
        if claim.other_spec is not None and claim.other_cells is not None:
            other = cell_texts(claim.other_spec, claim.other_cells)
        pieces.append(
            pa.table(
                {
                    "attack": pa.array([claim.attack] * claim.count, pa.string()),
                    "table": pa.array([claim.table] * claim.count, pa.string()),
                    "cell": pa.array(cell_texts(claim.spec, claim.cells), pa.string()),
                    "less_table": pa.array([claim.other_table] * claim.count, pa.string()),
                    "lower": pa.array(claim.sizes),
                    "upper": pa.array(claim.sizes),
                    "probability": pa.array(claim.probability.round(4)),
                    "against_cell": pa.array(other, pa.string()),
                    "attributes": pa.array(
                        [
                            attribute_text(codes, size)
                            for codes, size in zip(read, claim.sizes.tolist(), strict=True)
                        ],
                        pa.string(),
                    ),
                }
            )
        )
    if pieces:
        return pa.concat_tables(pieces)
    words = ("attack", "table", "cell", "less_table", "against_cell", "attributes")
    numbers = {name: pa.array([], pa.int64()) for name in ("lower", "upper")}
    empty = {name: pa.array([], pa.string()) for name in words}
    return pa.table({**empty, **numbers, "probability": pa.array([], pa.float64())})


def group_documents(claims: Sequence[GroupClaims]) -> list[dict[str, Any]]:
    """Claims about groups as plain values, with their attributes by variable."""
    documents = []
    for claim in claims:
        read = attributes_of(claim)
        for at, cell in enumerate(cell_texts(claim.spec, claim.cells)):
            document: dict[str, Any] = {
                "table": claim.table,
                "cell": cell,
                "persons": int(claim.sizes[at]),
                "probability": round(float(claim.probability[at]), 4),
                "attributes": {
                    variable: [{"code": code, "persons": members} for code, members in codes]
                    for variable, codes in sorted(read[at].items())
                },
            }
            if claim.other_spec is not None and claim.other_cells is not None:
                other = cell_texts(claim.other_spec, claim.other_cells[at : at + 1])[0]
                document |= {"against_table": claim.other_table, "against_cell": other}
            documents.append(document)
    return documents
