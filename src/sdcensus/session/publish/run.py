"""``sdcensus publish``: a plan becomes a published folder, whole or not at all."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.lock import LOCK_FILE
from sdcensus.model.quantities import parse_bytes
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import option, with_settings
from sdcensus.session.census.census import Census, EngineName, default_threads, open_parquet
from sdcensus.session.gate.gate import (
    AcceptedRisk,
    accepted_also,
    nothing_to_accept,
    refuse_publishing,
    willing_to_accept,
)
from sdcensus.session.gate.group_risk import Foretelling, figures_of, foretold, gate_of, looks_of
from sdcensus.session.guard.closed import CLOSED_LATE
from sdcensus.session.guard.guard import (
    REVISION_MINIMUM,
    Guard,
    Revision,
    TableChanges,
    open_guard,
    series_key_version,
    series_lookup,
)
from sdcensus.session.policy.small_codes import refuse_undecided
from sdcensus.session.publish.interruption import kept_or_forgotten, told_to_go_on
from sdcensus.session.publish.last_files import LastFiles, evaluation_cautions, write_last_files
from sdcensus.session.publish.linked_groups import (
    LinkedGroups,
    counted_for,
    remarks_of,
    to_make,
)
from sdcensus.session.publish.product_files import Maker
from sdcensus.session.publish.refusals import check_sizes
from sdcensus.session.publish.resolution import Resolved, resolve
from sdcensus.session.publish.schedule import Schedule, schedule
from sdcensus.session.publish.workplace import (
    MANIFEST,
    OFFICE_FILE,
    Finished,
    Workplace,
    WrittenFile,
    read_json,
)

#: Memory that a run keeps within unless it is told otherwise.
DEFAULT_MEMORY = "4GB"
#: How many times slower other engines go through the records than the engine memory.
_SLOWER = 10.0


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class PublishReport(Confidential):
    """What a run has done.

    Attributes:
        published: The folder that everybody can see.
        office: What the office keeps about this publication.
        products: What was published, by name, in the order of the plan.
        made: How many of them this run made; the others were finished by an interrupted one.
        cells: How many cells were delivered.
        files, size: How many files, and their bytes.
        scans: How often the records were gone through.
        changed: How many numbers that were published before have changed.
        warnings: What the office should know.
        looks: The noise against the look budget of the tables, in sentences.
        remarks: What methods have to say of how the numbers were found.
        cautions: What to know before relying on what is published.
        seconds: How long it took.
        unchanged: Whether everything was published already.
    """

    published: Path
    office: Path
    products: tuple[str, ...]
    made: int
    cells: int
    files: int
    size: int
    scans: int
    changed: int
    warnings: tuple[str, ...]
    seconds: float
    cautions: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    unchanged: bool = False

    def __repr__(self) -> str:
        return f"<PublishReport of {len(self.products)} products: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """How a plan is published.

    Attributes:
        out: The published folder, instead of the one that the plan names.
        secret: The file of the office secret; else ``SDCENSUS_SECRET_FILE`` names it.
        engine: Where tables are counted: ``memory``, ``duckdb`` or ``spark``; the numbers are the
            same.
        data: Encoded files that ``sdcensus export`` wrote, instead of the store of the plan.
        memory: How much memory the run keeps within, such as ``"4GB"``.
        threads: How many threads work; as many as there are processors by default.
        revision: The name of a revision: published numbers may change, as far as the guard lets
            them.
        rekey: Change every number as a named event.
        old_store: The store that was published before, if it is not where it was.
        revision_minimum: How many changed records must stand behind every changed number.
        restart: Throw away what an interrupted run has left.
        accept_risk: The name of who accepts that the plan would give people away, where it would.
        reason: Why; kept with the name for those who approve.
        yes: Whether tables of very many cells are written.
        two_lines: Whether tables of another line of records stay out, by the name of the revision.
    """

    out: str | Path | None = None
    secret: str | Path | None = None
    engine: str | None = None
    data: str | None = None
    memory: str | int = DEFAULT_MEMORY
    threads: int | None = None
    revision: str | None = None
    rekey: bool = False
    old_store: str | Path | None = None
    revision_minimum: int | None = None
    restart: bool = False
    accept_risk: str | None = None
    reason: str = ""
    yes: bool = False
    two_lines: bool = False

    def __post_init__(self) -> None:
        parse_bytes(self.memory, what="The memory")
        if type(self.workers) is not int or self.workers < 1:
            raise SpecError("Tables need at least one thread.")
        if self.engine is not None:
            option(EngineName, "engine", self.engine)

    @property
    def memory_limit(self) -> int:
        """The memory in bytes."""
        return parse_bytes(self.memory, what="The memory")

    @property
    def workers(self) -> int:
        """How many threads work."""
        return default_threads() if self.threads is None else self.threads

    @property
    def event(self) -> Revision:
        """How published numbers may change."""
        store = None if self.old_store is None else Path(self.old_store)
        minimum = REVISION_MINIMUM if self.revision_minimum is None else self.revision_minimum
        return Revision(self.revision, self.rekey, store, minimum, self.two_lines)


def publish(
    plan: str | Path,
    options: PublishOptions | None = None,
    *,
    secret: str | Path | None = None,
    progress: Progress = no_progress,
    before: Foretelling | None = None,
    **settings: Any,
) -> PublishReport:
    """Publish everything that a plan names, with notes and, if it asks for it, an evaluation.

    Args:
        plan: The plan: ``.toml``, or an Excel workbook.
        options: How it is published.
        secret: The file of the office secret; the same as in the options.
        progress: Called with the stage and how much of it is done.
        before: Told what a first publication decides for good, before anything is written.
        settings: Fields of the options by their names, such as ``revision="2022"``.

    Raises:
        Refused: The policy, the lock, the gate or the revision guard does not let it pass.
        Unconfirmed: A table has very many cells, and ``yes`` was not said.
    """
    began = time.perf_counter()
    said = with_settings(options or PublishOptions(), settings)
    said = said if secret is None else replace(said, secret=secret)
    willing = willing_to_accept(said.accept_risk, said.reason)
    census = _other_census(said)
    progress("checking the plan", 0.0)
    resolved = _resolved(plan, said, census, progress)
    workplace = Workplace(resolved.published, resolved.office, resolved.publication)
    _check_published(resolved, workplace)
    with workplace.taken():
        if workplace.complete():
            # What was published meanwhile decides which series of numbers goes on.
            resolved = _resolved(plan, said, census, progress)
        _check_published(resolved, workplace)
        guard = open_guard(
            resolved.office,
            resolved.census,
            resolved.method,
            plan=resolved.publication,
            specs=resolved.specs(),
            date=resolved.heading.date,
            revision=said.event,
            accepts=willing is not None,
            progress=progress,
        )
        ties = resolved.check_identities(guard.registry.specs())
        identity = resolved.identity()
        if not said.restart and _is_published(resolved, workplace, identity):
            workplace.forget()
            guard.registry.batch().forget_others()
            return _unchanged(resolved, workplace, time.perf_counter() - began)
        ahead = foretold(resolved, before)
        accepted = _accepted(resolved, willing, progress)
        with told_to_go_on(workplace):
            finished = _begun(resolved, workplace, guard, said, identity)
        with kept_or_forgotten(workplace, guard):
            made, scans = _make(resolved, workplace, guard, finished, said, progress)
            ordered = [finished[product.name] for product in resolved.products]
            progress("comparing with what was published", 0.0)
            changes = list(_changes(ordered))
            warnings = guard.decide(changes)
            accepted = accepted_also(accepted, willing, (CLOSED_LATE,) * guard.closed_late)
            progress("putting it into its place", 0.0)
            files = write_last_files(resolved, workplace, ordered, identity, accepted)
            _commit(workplace, guard, changes, files)
    return PublishReport(
        published=resolved.published,
        office=workplace.own,
        products=tuple(product.name for product in ordered),
        made=made,
        cells=sum(int(product.public["cells"]) for product in ordered),
        files=len(files.public) + 1,
        size=sum(file.size for file in files.public),
        scans=scans,
        changed=sum(table.changed for table in changes),
        warnings=(*warnings, *nothing_to_accept(willing, accepted)),
        cautions=(*ahead, *ties, *resolved.cautions(), *evaluation_cautions(ordered)),
        seconds=time.perf_counter() - began,
        looks=tuple(looks.sentence for looks in looks_of(resolved)),
        remarks=remarks_of(ordered),
    )


def _other_census(said: PublishOptions) -> Census | None:
    """Records that are counted instead of those of the store."""
    if said.data is None:
        return None
    return open_parquet(
        said.data, engine=said.engine or "duckdb", memory_limit=f"{said.memory_limit}B"
    )


def _resolved(
    plan: str | Path, said: PublishOptions, census: Census | None, progress: Progress
) -> Resolved:
    """The plan, with the series of numbers that goes on, and a census whose bytes are verified."""
    resolved = resolve(
        plan,
        out=said.out,
        secret=said.secret,
        census=census,
        memory_limit=f"{said.memory_limit}B",
        key_version=lambda office, asked, info, publication: series_key_version(
            office, asked, info=info, plan=publication, revision=said.revision, rekey=said.rekey
        ),
        lookup=lambda office, info, publication: series_lookup(
            office, info=info, plan=publication, rekey=said.rekey
        ),
    )
    if not said.yes:
        check_sizes(resolved.products, resolved.output, resolved.census, resolved.labels)
    for counted in (resolved.census, resolved.original):
        if counted is not None:
            counted.verify(progress)
    return resolved


def _accepted(
    resolved: Resolved, willing: AcceptedRisk | None, progress: Progress
) -> AcceptedRisk | None:
    """Refuse what gives people away, unless somebody accepts that by name."""
    refuse_undecided(resolved.policy, resolved.census, resolved.specs())
    return refuse_publishing(
        gate_of(resolved, progress), willing, partial(figures_of, resolved, progress)
    )


def _begun(
    resolved: Resolved,
    workplace: Workplace,
    guard: Guard,
    said: PublishOptions,
    identity: Mapping[str, Any],
) -> dict[str, Finished]:
    """Begin, or go on where the same run was interrupted; gives what is finished."""
    return workplace.begin(
        {
            **identity,
            "the revision": [said.revision or "", said.rekey, said.two_lines],
            "what was published before": _digest_of(resolved.office / LOCK_FILE),
        },
        restart=said.restart,
        usable=lambda product: _is_usable(product, guard),
    )


def _commit(
    workplace: Workplace, guard: Guard, changes: Sequence[TableChanges], files: LastFiles
) -> None:
    """Put everything into its place, with what the guard recorded."""
    recorded = guard.prepare(changes, workplace.notes)
    if not recorded:
        guard.registry.batch().forget_others()
    own = workplace.own.name
    kept = {name: f"{own}/{name}" for name in (OFFICE_FILE, *files.office)}
    workplace.commit({**kept, **recorded})


def scheduled(
    resolved: Resolved,
    *,
    memory: int,
    threads: int,
    engine: str | None = None,
    specs: Sequence[TableSpec] | None = None,
) -> Schedule:
    """How the tables of a plan, or what else is named, are counted."""
    chosen = EngineName(engine) if engine else resolved.census.default_engine
    every = resolved.specs()
    return schedule(
        counted_for(resolved, LinkedGroups(resolved, every), every) if specs is None else specs,
        rows=resolved.census.rows,
        memory=memory,
        threads=threads,
        slower=1.0 if chosen is EngineName.MEMORY else _SLOWER,
    )


def _make(
    resolved: Resolved,
    workplace: Workplace,
    guard: Guard,
    finished: dict[str, Finished],
    said: PublishOptions,
    progress: Progress,
) -> tuple[int, int]:
    """Make every product that is not finished; how many these are, and how many scans it took."""
    missing, anew = to_make(resolved, finished)
    if not missing:
        return 0, 0
    for name in anew:
        workplace.unfinish(finished.pop(name))
    total = len(resolved.products)

    def done(product: Finished) -> None:
        finished[product.name] = product
        progress("making the tables", len(finished) / total)

    memory, threads, engine = said.memory_limit, said.workers, said.engine
    maker = Maker(resolved, workplace, guard, missing, done, memory=memory)
    maker.groups.check_memory(memory)
    room = memory - maker.groups.bytes
    plan = scheduled(resolved, memory=room, threads=threads, engine=engine, specs=maker.counted())
    progress("making the tables", max(len(finished) / total, 1e-9))
    maker.count(plan, engine=engine, threads=threads)
    maker.finish_groups(progress)
    return len(missing), len(plan.scans)


def _changes(products: Sequence[Finished]) -> Iterator[TableChanges]:
    """What the guard said about each table, once: several products may stand on one table."""
    seen: set[str] = set()
    for entry in (table for product in products for table in product.office["tables"]):
        table_changes = TableChanges.from_json(entry["changes"])
        if table_changes.spec_hash not in seen:
            seen.add(table_changes.spec_hash)
            yield table_changes


def _is_usable(product: Finished, guard: Guard) -> bool:
    """Whether the registry still has what an interrupted run has put into it."""
    try:
        for entry in product.office["tables"]:
            guard.registry.entry(TableChanges.from_json(entry["changes"]).entry)
    except (SdcensusError, LookupError, TypeError, ValueError):
        return False
    return True


def _check_published(resolved: Resolved, workplace: Workplace) -> None:
    """Refuse a folder of something else; a plan that was edited is the same plan."""
    known = read_json(workplace.own / OFFICE_FILE).get("plan") or {}
    path, digest = str(resolved.file.resolve()), _digest_of(resolved.file)
    workplace.check_published(
        {product.name for product in resolved.products},
        same_plan=known.get("path") == path or known.get("sha256") == digest,
    )


def _is_published(resolved: Resolved, workplace: Workplace, identity: Mapping[str, Any]) -> bool:
    """Whether exactly this was published before and is still there."""
    known = read_json(workplace.own / OFFICE_FILE)
    if known.get("identity") != identity:
        return False
    manifest = WrittenFile.from_json(known["manifest"])
    if not manifest.fits(resolved.published):
        return False
    listed = read_json(resolved.published / MANIFEST).get("files", [])
    kept = [WrittenFile.from_json(file) for file in known["office"]]
    return all(WrittenFile.from_json(file).fits(resolved.published) for file in listed) and all(
        written_file.fits(workplace.own) for written_file in kept
    )


def _unchanged(resolved: Resolved, workplace: Workplace, seconds: float) -> PublishReport:
    manifest = read_json(resolved.published / MANIFEST)
    return PublishReport(
        published=resolved.published,
        office=workplace.own,
        products=tuple(str(table["name"]) for table in manifest["tables"]),
        made=0,
        cells=sum(int(table["cells"]) for table in manifest["tables"]),
        files=len(manifest["files"]) + 1,
        size=sum(int(file["bytes"]) for file in manifest["files"]),
        scans=0,
        changed=0,
        warnings=(),
        seconds=seconds,
        unchanged=True,
    )


def _digest_of(path: Path) -> str:
    return WrittenFile.of(path).sha256 if path.is_file() else ""
