"""What a plan will take: tables, cells, passes over the records, memory, time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table_format import table_format
from sdcensus.model.quantities import parse_bytes
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import LONGEST, Secret
from sdcensus.risk.groups.broken_down import BrokenDown
from sdcensus.session.census.census import Census, default_threads
from sdcensus.session.census.secret_file import SECRET_VARIABLE
from sdcensus.session.gate.gate import GateReport
from sdcensus.session.gate.group_risk import (
    EVALUATION_WORK,
    PlanLooks,
    builder_cautions,
    figures_of,
    gate_of,
    looks_of,
    measures_of,
)
from sdcensus.session.gate.sum_looks import PlanSumLooks
from sdcensus.session.guard.run import series_lookup
from sdcensus.session.policy.small_codes import undecided, undecided_lines
from sdcensus.session.publish.linked_groups import LinkedGroups
from sdcensus.session.publish.products import Product, StatisticsProduct, TableProduct
from sdcensus.session.publish.resolution import Resolved, resolve
from sdcensus.session.publish.run import DEFAULT_MEMORY, scheduled

# Seconds of one core, measured: before and behind the tables, and for each product.
_ONCE, _PRODUCT = 2.0, 0.05


@dataclass(frozen=True, slots=True)
class CheckedProduct:
    """One product of a plan.

    Attributes:
        name, title: What it is called.
        of: What it counts.
        axes: Its axes in the grammar of plans; of a programme, by its own names.
        cells: How many cells are delivered.
        streamed: Whether it is too large to be held, so that only non-empty cells are written.
    """

    name: str
    title: str
    of: str
    axes: tuple[str, ...]
    cells: int
    streamed: bool


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class PlanCheck(Confidential):
    """What a plan will take.

    Attributes:
        file: The plan.
        publication: What it publishes.
        products: Every product, in the order of the plan.
        method: How tables are protected, by name.
        policy: The policy that it obeys; empty for none.
        formats, languages: Of the files.
        published, office: Where to.
        scans: How often the records are gone through.
        workers: How many tables are in work at the same time.
        peak_bytes: About how much memory it takes at most.
        seconds: About how long it takes on an ordinary machine.
        enough: Whether the memory that may be taken is enough.
        gate: What keeps the plan from being published, if anything does.
        figures: What its tables break down, if the gate refuses that: by kind of unit the sentence
            with which publish refuses it.
        looks: Its noise against its look budget.
        measures: What its tables together break down.
        census: The census that it is about.
        cautions: What to know before relying on what is published.
        undecided: Rules of design time that nobody has decided, and what would do.
    """

    file: Path
    publication: str
    products: tuple[CheckedProduct, ...]
    method: str
    policy: str
    formats: tuple[str, ...]
    languages: tuple[str, ...]
    published: Path
    office: Path
    scans: int
    workers: int
    peak_bytes: int
    seconds: float
    enough: bool
    gate: GateReport
    census: Census
    figures: Mapping[Entity, str] = field(default_factory=dict)
    looks: tuple[PlanLooks | PlanSumLooks, ...] = ()
    measures: tuple[BrokenDown, ...] = ()
    cautions: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<PlanCheck of {self.file.name}: {len(self.products)} products>"

    @property
    def cells(self) -> int:
        """How many cells are delivered."""
        return sum(product.cells for product in self.products)


def check_plan(
    plan: str | Path,
    *,
    out: str | Path | None = None,
    secret: str | Path | None = None,
    memory: str | int = DEFAULT_MEMORY,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> PlanCheck:
    """Check a plan in full: what it takes, and what it would give away.

    Args:
        plan: The plan.
        out: The published folder, instead of the one that the plan names.
        secret: The file of the office secret, if it is at hand: it is not needed here.
        memory: How much memory the run may take.
        threads: How many threads would work.
        progress: Told how far it is.
    """
    # Nothing is drawn here, so whoever writes a plan need not have the secret.
    named = secret or os.environ.get(SECRET_VARIABLE) or Secret(bytes(LONGEST))
    resolved = resolve(
        plan,
        out=out,
        secret=named,
        lookup=lambda office, info, publication: series_lookup(office, info=info, plan=publication),
    )
    limit = parse_bytes(memory)
    gate = gate_of(resolved, progress)
    schedule = scheduled(resolved, memory=limit, threads=threads or default_threads())
    together = LinkedGroups(resolved, resolved.specs()).bytes
    return PlanCheck(
        file=resolved.file,
        publication=resolved.publication,
        products=tuple(_checked(product) for product in resolved.products),
        method=", ".join(
            dict.fromkeys(method.name for method in resolved.methods.used(resolved.specs()))
        ),
        policy="" if resolved.policy is None else resolved.policy.name,
        formats=tuple(resolved.output.formats),
        languages=tuple(resolved.output.languages),
        published=resolved.published,
        office=resolved.office,
        scans=len(schedule.scans),
        workers=schedule.workers,
        peak_bytes=schedule.peak_bytes + together,
        seconds=schedule.seconds + _writing(resolved) / schedule.workers,
        enough=schedule.needed_bytes + together <= limit,
        gate=gate,
        figures=figures_of(resolved, progress) if gate.breaks_down else {},
        census=resolved.census,
        looks=looks_of(resolved),
        measures=measures_of(resolved, most_work=EVALUATION_WORK, progress=progress),
        cautions=(
            *resolved.check_identities(),
            *resolved.cautions(),
            *builder_cautions(resolved),
        ),
        undecided=_undecided(resolved),
    )


def _undecided(resolved: Resolved) -> tuple[str, ...]:
    policy = resolved.policy
    if policy is None:
        return ()
    return undecided_lines(policy, undecided(policy, resolved.census, resolved.specs()))


def _checked(product: Product) -> CheckedProduct:
    specs = product.specs
    return CheckedProduct(
        name=product.name,
        title=str(product.title) or specs[0].title,
        of=" and ".join(dict.fromkeys(spec.of.plural for spec in specs)),
        axes=_axes(product),
        cells=product.cells,
        streamed=any(spec.cells > LARGEST_DENSE_GRID for spec in specs),
    )


def _axes(product: Product) -> tuple[str, ...]:
    if isinstance(product, StatisticsProduct):
        return product.table.areas.column, product.table.column
    if isinstance(product, TableProduct) and not product.own:
        return tuple(axis.column for axis in product.table.axes)
    return tuple(dict.fromkeys(axis.name for spec in product.specs for axis in spec.axes))


def _writing(resolved: Resolved) -> float:
    """About how long one core works on files, besides counting, protecting and csv."""
    cells = sum(_checked(product).cells for product in resolved.products)
    languages = max(len(resolved.output.languages), 1)
    seconds = sum(
        written.seconds_per_cell * (languages if written.each_language else 1)
        for written in map(table_format, resolved.output.formats)
    )
    return _ONCE + _PRODUCT * len(resolved.products) + cells * seconds
