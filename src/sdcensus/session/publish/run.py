"""``sdcensus publish``: a plan becomes a published folder, whole or not at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import OutputError, Refused, SdcensusError, SpecError
from sdcensus.formats.shared.files import new_file
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.options import option
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.lock import LOCK_FILE
from sdcensus.model.quantities import parse_bytes
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census, EngineName, default_threads
from sdcensus.session.gate.gate import (
    AcceptedRisk,
    nothing_to_accept,
    refuse_publishing,
    willing_to_accept,
)
from sdcensus.session.gate.group_risk import gate_of, looks_of
from sdcensus.session.guard.guard import (
    REVISION_MINIMUM,
    Guard,
    TableChanges,
    open_guard,
    series_key_version,
    series_lookup,
)
from sdcensus.session.policy.builder_rules import withholds_households
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.session.publish.counting import count_tables
from sdcensus.session.publish.manifest import as_bytes, manifest_of
from sdcensus.session.publish.office_folder import ACCEPTED_RISK, OFFICE_FILE
from sdcensus.session.publish.product_files import Maker
from sdcensus.session.publish.resolution import Resolved, resolve
from sdcensus.session.publish.schedule import Schedule, schedule
from sdcensus.session.publish.workplace import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    Finished,
    Workplace,
    WrittenFile,
    read_json,
)
from sdcensus.store.owner_only import write_owner_only

#: Gives further files of a publication, by name.
Pages = Callable[[Resolved, Sequence[Finished]], Mapping[str, bytes]]
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
    unchanged: bool = False

    def __repr__(self) -> str:
        return f"<PublishReport of {len(self.products)} products: confidential>"


def publish(
    plan: str | Path,
    *,
    out: str | Path | None = None,
    secret: str | Path | None = None,
    census: Census | None = None,
    engine: str | None = None,
    memory: str | int = DEFAULT_MEMORY,
    threads: int | None = None,
    revision: str | None = None,
    rekey: bool = False,
    old_store: str | Path | None = None,
    revision_minimum: int | None = None,
    restart: bool = False,
    accept_risk: str | None = None,
    reason: str = "",
    pages: Pages | None = None,
    office_pages: Pages | None = None,
    progress: Progress = no_progress,
) -> PublishReport:
    """Publish everything that a plan names.

    Args:
        plan: The plan: ``.toml``, or an Excel workbook.
        out: The published folder, instead of the one that the plan names.
        secret: The file of the office secret; else ``SDCENSUS_SECRET_FILE`` names it.
        census: The census, if it is not the store that the plan names.
        engine: Where tables are counted; the numbers are the same.
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
        pages: Gives further public files: names and contents, made from what is published.
        office_pages: The same for files that only the office may see.
        progress: Called with the stage and how much of it is done.

    Raises:
        Refused: The policy, the lock, the gate or the revision guard does not let it pass.
    """
    began = time.perf_counter()
    limit = parse_bytes(memory, what="The memory")
    workers = default_threads() if threads is None else threads
    if type(workers) is not int or workers < 1:
        raise SpecError("Tables need at least one thread.")
    if engine is not None:
        option(EngineName, "engine", engine)
    willing = willing_to_accept(accept_risk, reason)

    def ready() -> Resolved:
        return resolve(
            plan,
            out=out,
            secret=secret,
            census=census,
            memory_limit=f"{limit}B",
            key_version=lambda office, asked, info, publication: series_key_version(
                office, asked, info=info, plan=publication, revision=revision, rekey=rekey
            ),
            lookup=lambda office, info, publication: series_lookup(
                office, info=info, plan=publication, rekey=rekey
            ),
        )

    progress("checking the plan", 0.0)
    resolved = ready()
    workplace = Workplace(resolved.published, resolved.office, resolved.publication)
    _check_published(resolved, workplace)
    with workplace.taken():
        if workplace.complete():
            # What was published meanwhile decides which series of numbers goes on.
            resolved = ready()
        _check_published(resolved, workplace)
        guard = open_guard(
            resolved.office,
            resolved.census,
            resolved.method,
            plan=resolved.publication,
            specs=resolved.specs(),
            date=resolved.heading.date,
            revision=revision,
            rekey=rekey,
            old_store=None if old_store is None else Path(old_store),
            minimum=REVISION_MINIMUM if revision_minimum is None else revision_minimum,
            progress=progress,
        )
        ties = resolved.check_identities(guard.registry.specs())
        identity = resolved.identity()
        if not restart and _is_published(resolved, workplace, identity):
            workplace.forget()
            guard.registry.batch().forget_others()
            return _unchanged(resolved, workplace, time.perf_counter() - began)
        accepted = refuse_publishing(gate_of(resolved, progress), willing)
        finished = workplace.begin(
            {
                **identity,
                "the revision": [revision or "", rekey],
                "what was published before": _digest_of(resolved.office / LOCK_FILE),
            },
            restart=restart,
            usable=lambda one: _is_usable(one, guard),
        )
        resumed = len(finished)
        with _kept_or_forgotten(workplace, guard):
            scans = _make(
                resolved,
                workplace,
                guard,
                finished,
                engine=engine,
                memory=limit,
                threads=workers,
                progress=progress,
            )
            ordered = [finished[product.name] for product in resolved.products]
            progress("comparing with what was published", 0.0)
            changes = list(_changes(ordered))
            warnings = guard.decide(changes)
            progress("putting it into its place", 0.0)
            files = _prepare(resolved, workplace, ordered, identity, accepted, pages, office_pages)
            recorded = guard.prepare(changes, workplace.notes)
            if not recorded:
                guard.registry.batch().forget_others()
            own = workplace.own.name
            kept = {name: f"{own}/{name}" for name in (OFFICE_FILE, *files.office)}
            workplace.commit({**kept, **recorded})
    return PublishReport(
        published=resolved.published,
        office=workplace.own,
        products=tuple(one.name for one in ordered),
        made=len(ordered) - resumed,
        cells=sum(int(one.public["cells"]) for one in ordered),
        files=len(files.public) + 1,
        size=sum(one.size for one in files.public),
        scans=scans,
        changed=sum(one.changed for one in changes),
        warnings=(*warnings, *nothing_to_accept(willing, accepted)),
        cautions=(*ties, *resolved.cautions()),
        seconds=time.perf_counter() - began,
        looks=tuple(one.sentence for one in looks_of(resolved)),
    )


@contextmanager
def _kept_or_forgotten(workplace: Workplace, guard: Guard) -> Iterator[None]:
    """Around the work itself: what is done of it is kept if somebody can go on with it."""
    try:
        yield
    except (Refused, SpecError):
        # Nobody will: something else has to be asked for.
        workplace.forget()
        guard.registry.batch().forget_others()
        raise
    except OutputError as error:
        if workplace.is_being_completed:
            raise
        raise OutputError(
            f"{error} What was published before is as it was. When the cause is gone, the same"
            " command goes on where it stopped."
        ) from error


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
    return schedule(
        [GroupRule(resolved.smallest_group).counted(spec) for spec in resolved.specs()]
        if specs is None
        else specs,
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
    *,
    engine: str | None,
    memory: int,
    threads: int,
    progress: Progress,
) -> int:
    """Make every product that is not finished; returns how many scans that took."""
    missing = [one for one in resolved.products if one.name not in finished]
    if not missing:
        return 0
    total = len(resolved.products)

    def done(one: Finished) -> None:
        finished[one.name] = one
        progress("making the tables", len(finished) / total)

    maker = Maker(resolved, workplace, guard, missing, done, memory=memory)
    specs = maker.specs()
    plan = scheduled(resolved, memory=memory, threads=threads, engine=engine, specs=maker.counted())
    progress("making the tables", max(len(finished) / total, 1e-9))

    def work(index: int, cube: Cube | SparseCube) -> None:
        maker.take(specs[index], cube)

    households = withholds_households(resolved.policy)
    count_tables(resolved.census, plan, work, engine=engine, threads=threads, households=households)
    return len(plan.scans)


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a publication: all public ones, and the names of the office's pages."""

    public: list[WrittenFile]
    office: tuple[str, ...]


def _prepare(
    resolved: Resolved,
    workplace: Workplace,
    products: Sequence[Finished],
    identity: Mapping[str, Any],
    accepted: AcceptedRisk | None,
    pages: Pages | None,
    office_pages: Pages | None,
) -> _Files:
    """Write the last public files, the manifest, and what the office keeps."""
    files = [one for product in products for one in product.files]
    for name, content in ({} if pages is None else pages(resolved, products)).items():
        with new_file(workplace.hidden / name) as file:
            file.write(content)
        files.append(WrittenFile.of(workplace.hidden / name))
    with new_file(workplace.hidden / MANIFEST) as file:
        file.write(manifest_of(resolved, products, files))
    private = {} if office_pages is None else office_pages(resolved, products)
    for name, content in private.items():
        write_owner_only(workplace.notes / name, content)
    policy = resolved.plan.policy
    kept = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "publication": resolved.publication,
        "identity": dict(identity),
        "manifest": WrittenFile.of(workplace.hidden / MANIFEST).to_json(),
        "plan": _named(resolved.file),
        "policy": None if policy is None else _named(resolved.plan.path(policy.file)),
        "office": [WrittenFile.of(workplace.notes / name).to_json() for name in private],
    }
    if accepted is not None:
        kept[ACCEPTED_RISK] = accepted.to_json()
    write_owner_only(workplace.notes / OFFICE_FILE, as_bytes(kept))
    return _Files(files, tuple(private))


def _named(path: Path) -> dict[str, str | int]:
    """A document that a publication was made from: what it held, and where it lies."""
    return {**WrittenFile.of(path).to_json(), "path": str(path.resolve())}


def _changes(products: Sequence[Finished]) -> Iterator[TableChanges]:
    """What the guard said about each table, once: several products may stand on one table."""
    seen: set[str] = set()
    for one in (table for product in products for table in product.office["tables"]):
        found = TableChanges.from_json(one["changes"])
        if found.spec_hash not in seen:
            seen.add(found.spec_hash)
            yield found


def _is_usable(product: Finished, guard: Guard) -> bool:
    """Whether the registry still has what an interrupted run has put into it."""
    try:
        for one in product.office["tables"]:
            guard.registry.entry(TableChanges.from_json(one["changes"]).entry)
    except (SdcensusError, LookupError, TypeError, ValueError):
        return False
    return True


def _check_published(resolved: Resolved, workplace: Workplace) -> None:
    """Refuse a folder of something else; a plan that was edited is the same plan."""
    known = read_json(workplace.own / OFFICE_FILE).get("plan") or {}
    path, digest = str(resolved.file.resolve()), _digest_of(resolved.file)
    workplace.check_published(
        {one.name for one in resolved.products},
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
    kept = [WrittenFile.from_json(one) for one in known["office"]]
    return all(WrittenFile.from_json(one).fits(resolved.published) for one in listed) and all(
        one.fits(workplace.own) for one in kept
    )


def _unchanged(resolved: Resolved, workplace: Workplace, seconds: float) -> PublishReport:
    manifest = read_json(resolved.published / MANIFEST)
    return PublishReport(
        published=resolved.published,
        office=workplace.own,
        products=tuple(str(one["name"]) for one in manifest["tables"]),
        made=0,
        cells=sum(int(one["cells"]) for one in manifest["tables"]),
        files=len(manifest["files"]) + 1,
        size=sum(int(one["bytes"]) for one in manifest["files"]),
        scans=0,
        changed=0,
        warnings=(),
        seconds=seconds,
        unchanged=True,
    )


def _digest_of(path: Path) -> str:
    return WrittenFile.of(path).sha256 if path.is_file() else ""
