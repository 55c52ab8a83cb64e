"""Attacking what is published together: a folder, or the menu of a table builder.

What an intruder finds is found in published tables alone. A store is opened only where the office
wants to attack a menu without a server: its answers are then those that the public would get.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sdcensus.attack import (
    ATTACKS,
    GROUP_ATTACKS,
    Assumptions,
    AttackReport,
    AttackResult,
    CellClaims,
    KnownNoise,
    run_attacks,
)
from sdcensus.attack.targets import MOST_CELLS
from sdcensus.errors import OutputError
from sdcensus.formats.perturbation.read import read_perturbation
from sdcensus.formats.read.tables import PublishedFolder, SkippedFile, scan_published
from sdcensus.formats.shared.arrow_columns import write_csv
from sdcensus.formats.write import check_new, new_file
from sdcensus.model.perturbation.table import Perturbation, PerturbationTable
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import lines_of
from sdcensus.model.published.table import PublishedTable
from sdcensus.model.quantities import share_text
from sdcensus.session.answer.service import TableService
from sdcensus.session.attack.crawl import Crawl, MenuWalk, crawl_menu
from sdcensus.session.attack.groups import (
    cell_texts,
    group_columns,
    group_documents,
    group_lines,
)

__all__ = [
    "ATTACK_NAMES",
    "GROUP_ATTACKS",
    "Assumptions",
    "FolderAttack",
    "MenuWalk",
    "attack_address",
    "attack_folder",
    "attack_menu",
    "check_report_target",
    "claim_lines",
    "known_noise",
    "read_noise",
    "write_report",
]

#: The names of all attacks.
ATTACK_NAMES = tuple(ATTACKS)
_ENDINGS = (".json", ".csv")


@dataclass(frozen=True, slots=True, eq=False)
class FolderAttack:
    """What attacks on a folder or a menu found. Public.

    Attributes:
        folder: The folder, or the address or policy whose menu was walked through.
        tables: The published tables in it.
        report: What was found.
        skipped: Files that were not read, and why.
        notes: What is to be known about how the tables were come by.
    """

    folder: Path | str
    tables: tuple[PublishedTable, ...]
    report: AttackReport
    skipped: tuple[SkippedFile, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<FolderAttack on {len(self.tables)} tables>"


def attack_folder(
    folder: str | Path,
    assumptions: Assumptions | None = None,
    *,
    attacks: Sequence[str] | None = None,
    skip_unreadable: bool = False,
    progress: Progress = no_progress,
) -> FolderAttack:
    """Read all published tables of a folder and attack them together.

    Args:
        folder: What anybody can download.
        assumptions: What the intruder takes to be known.
        attacks: Names of attacks; all of them if not given.
        skip_unreadable: Go on without files that cannot be read.
        progress: Told how far it is.
    """
    published_folder: PublishedFolder = scan_published(
        folder, skip_unreadable=skip_unreadable, most_cells=MOST_CELLS, progress=progress
    ).of_counts(folder)
    report = run_attacks(published_folder.tables, assumptions, attacks=attacks, progress=progress)
    tables = published_folder.tables
    return FolderAttack(
        Path(folder), tables, report, published_folder.skipped, _about_lines(tables)
    )


def attack_address(
    address: str,
    walk: MenuWalk | None = None,
    assumptions: Assumptions | None = None,
    *,
    attacks: Sequence[str] | None = None,
    keep: str | Path | None = None,
    progress: Progress = no_progress,
) -> FolderAttack:
    """Walk through the menu of a table builder by its public API, and attack what it answers.

    Args:
        address: Its address.
        walk: Which part of the menu.
        assumptions: What the intruder takes to be known.
        attacks: Names of attacks; all of them if not given.
        keep: A new folder for the downloads; they are not kept otherwise.
        progress: Told how far it is.
    """
    # Here and not above: who attacks a folder needs no connection to anything.
    from sdcensus.session.attack.crawl_served import crawl_served

    crawl = crawl_served(address, walk, keep=keep, progress=progress)
    return _attacked(address, crawl, assumptions, attacks, progress)


def attack_menu(
    service: TableService,
    walk: MenuWalk | None = None,
    assumptions: Assumptions | None = None,
    *,
    attacks: Sequence[str] | None = None,
    progress: Progress = no_progress,
) -> FolderAttack:
    """Walk through the menu of a service without a server, and attack what the public would get.

    Args:
        service: The service.
        walk: Which part of the menu.
        assumptions: What the intruder takes to be known.
        attacks: Names of attacks; all of them if not given.
        progress: Told how far it is.
    """
    crawl = crawl_menu(service, walk, progress=progress)
    return _attacked(f"the menu of {service.policy.name!r}", crawl, assumptions, attacks, progress)


def _attacked(
    source: str,
    crawl: Crawl,
    assumptions: Assumptions | None,
    attacks: Sequence[str] | None,
    progress: Progress,
) -> FolderAttack:
    report = run_attacks(crawl.tables, assumptions, attacks=attacks, progress=progress)
    notes = (*crawl.sentences, *_about_lines(crawl.tables))
    return FolderAttack(source, crawl.tables, report, (), notes)


def _about_lines(tables: Sequence[PublishedTable]) -> tuple[str, ...]:
    """That tables were not made from the same records, where that is so."""
    lines = lines_of(table.provenance for table in tables)
    if len(lines) < 2:
        return ()
    return (
        f"These tables were made from several lines of records: {'; '.join(lines)}. The attacks"
        " take them for tables of the same records, so what they claim from tables of several"
        " lines together can be wrong, and what their differences tell about changed records is"
        " not looked for. Attack the tables of each line in a folder of its own.",
    )


def read_noise(path: str | Path) -> KnownNoise:
    """The perturbation table that an intruder has got hold of."""
    return known_noise(read_perturbation(path, allow_bias=True))


def known_noise(noise: Perturbation) -> KnownNoise:
    """What an intruder knows who has got hold of a design or a table."""
    if isinstance(noise, PerturbationTable):
        rows = tuple(
            tuple((v, w / noise.modulus) for v, w in zip(row.deviations, row.widths, strict=True))
            for row in noise.rows
        )
    else:
        rows = tuple(
            tuple((value, float(chance)) for value, chance in noise.distribution(row))
            for row in range(noise.tail.rows)
        )
    return KnownNoise(rows, noise.tail.start, noise.tail.period, noise.tail.first)


def claim_lines(result: AttackResult, *, most: int) -> list[tuple[str, str, str, str]]:
    """Some claims for people, the surest and smallest first: table, cell, count, how sure."""
    lines: list[tuple[float, int, tuple[str, str, str, str]]] = []
    for claim in result.claims:
        sure = np.ones(claim.count) if claim.probability is None else claim.probability
        order = np.lexsort((claim.lower, claim.lower == 0, -sure))[:most]
        texts = cell_texts(claim.spec, claim.cells[order])
        for row, text in zip(order.tolist(), texts, strict=True):
            low, high = int(claim.lower[row]), int(claim.upper[row])
            count = f"{low:,}" if low == high else f"{low:,} or {high:,}"
            how = (
                "certain*" if claim.probability is None else share_text(float(sure[row]), digits=0)
            )
            less = f" less {claim.less.table}" if claim.less is not None else ""
            rank = float(-sure[row]) + (0.5 if low == 0 else 0.0)
            lines.append((rank, low, (f"{claim.table}{less}", text, count, how)))
    lines.sort(key=lambda line: line[:2])
    counts = [line for _, _, line in lines[:most]]
    return [*counts, *group_lines(result.groups, most=most - len(counts))]


def check_report_target(path: str | Path) -> Path:
    """Refuse early what could not be written in the end."""
    target = Path(path)
    if target.suffix.lower() not in _ENDINGS:
        raise OutputError(f"{target}: write what attacks find as .json (all) or .csv (claims).")
    check_new(target)
    return target


def write_report(found: FolderAttack, path: str | Path) -> Path:
    """Write what attacks found to a new file.

    A ``.json`` file holds everything; a ``.csv`` file one line for each claim. Both are made from
    published tables alone.
    """
    target = check_report_target(path)
    with new_file(target) as file:
        if target.suffix.lower() == ".json":
            text = json.dumps(_document(found), ensure_ascii=False, indent=1)
            file.write(f"{text}\n".encode())
        else:
            results = found.report.results
            counts = _columns([claim for result in results for claim in result.claims])
            groups = group_columns([group for result in results for group in result.groups])
            both = pa.concat_tables([counts, groups], promote_options="default")
            write_csv(iter([both]), file)
    return target


def _document(found: FolderAttack) -> dict[str, Any]:
    report = found.report
    return {
        "assumptions": {
            **{
                name: getattr(report.assumptions, name)
                for name in type(report.assumptions).__dataclass_fields__
                if name != "noise"
            },
            "noise_known": report.assumptions.noise is not None,
        },
        "tables": list(report.tables),
        "cells": report.cells,
        "attacks": [
            {
                "attack": result.attack,
                "found": list(result.sentences),
                "figures": dict(result.figures),
                "counts_claimed": result.exact,
                "claimed_as_0_or_1": result.narrow,
                "claims": _columns(result.claims).to_pylist(),
                "groups_claimed": result.groups_claimed,
                "codes_read_off": result.codes_read_off,
                "groups": group_documents(result.groups),
            }
            for result in report.results
        ],
        "notes": list(found.notes),
        "not_attacked": [
            *report.left_out,
            *(f"{skipped_file.name}: {skipped_file.reason}" for skipped_file in found.skipped),
        ],
    }


def _columns(claims: Sequence[CellClaims]) -> pa.Table:
    """Claims as columns."""
    pieces = [
        pa.table(
            {
                "attack": pa.array([claim.attack] * claim.count, pa.string()),
                "table": pa.array([claim.table] * claim.count, pa.string()),
                "cell": pa.array(cell_texts(claim.spec, claim.cells), pa.string()),
                "less_table": pa.array(
                    ["" if claim.less is None else claim.less.table] * claim.count, pa.string()
                ),
                "lower": pa.array(claim.lower),
                "upper": pa.array(claim.upper),
                "probability": pa.array(
                    np.ones(claim.count)
                    if claim.probability is None
                    else claim.probability.round(4),
                    mask=np.full(claim.count, claim.probability is None),
                ),
            }
        )
        for claim in claims
    ]
    if pieces:
        return pa.concat_tables(pieces)
    words = ("attack", "table", "cell", "less_table")
    empty = {name: pa.array([], pa.string()) for name in words}
    numbers = {name: pa.array([], pa.int64()) for name in ("lower", "upper")}
    return pa.table({**empty, **numbers, "probability": pa.array([], pa.float64())})
