"""A protected table with its notes, and the files in which it is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sdcensus.errors import OutputError
from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census

if TYPE_CHECKING:
    from sdcensus.store.registry import Registry


def protect_table(
    census: Census,
    spec: TableSpec,
    method: Method,
    *,
    engine: str | None = None,
    smallest_group: int | None = None,
    progress: Progress = no_progress,
) -> Protected:
    """Count a table, protect it, and add the notes that its readers need.

    Groups that are published below ``smallest_group`` are not broken down further.
    """
    from sdcensus.session.protect.smallest_group import GroupRule

    rule = GroupRule(smallest_group)
    progress(f"counting {spec.title}", 0.0)
    cube = census.tabulate(rule.counted(spec), engine=engine)
    progress("protecting", 0.0)
    protected = rule.protect(
        spec, method, lambda one: census.tabulate(one, engine=engine), counted=cube
    )
    notes = (*notes_for(protected.table, method.claims()), *protected.table.notes)
    return replace(protected, table=replace(protected.table, notes=notes))


def check_targets(out: Path | None, audit: Path | None, *, confidential: bool) -> None:
    """Refuse early what could not be written in the end."""
    from sdcensus.formats.tables import check_table_target
    from sdcensus.session.office.confidential_output import check_target

    if out is not None:
        check_table_target(out)
    if audit is not None:
        check_target(audit, confidential=confidential, what="An audit")
        if out is not None and audit.resolve() == out.resolve():
            raise OutputError("The published table and its audit need files of their own.")


def write_protected(
    protected: Protected,
    out: Path | None = None,
    *,
    audit: Path | None = None,
    registry: Path | None = None,
    confidential: bool = False,
    language: str | None = None,
) -> tuple[Path, ...]:
    """Write the published table, and apart from it the audit; both or neither.

    Args:
        protected: What a method made.
        out: The new file of the published table.
        audit: The new file of the audit.
        registry: The folder in which the office records what it publishes; made if it is missing.
            A table that contradicts what was published before is refused.
        confidential: Must be true for an audit.
        language: The language of labels.

    Returns:
        The public files: the table, and what stands beside a csv file.
    """
    # Here and not above: whoever only protects needs nothing that writes.
    from sdcensus.formats.tables import about_file, write_table
    from sdcensus.session.office.audit_output import write_audit

    check_targets(out, audit, confidential=confidential)
    record = None if registry is None else _registry(registry, protected)
    if audit is not None:
        write_audit(protected, audit, confidential=confidential, language=language)
    if out is None:
        return ()
    try:
        write_table(protected.table, out, provenance=protected.provenance, language=language)
    except BaseException:
        if audit is not None:
            audit.unlink(missing_ok=True)
        raise
    written = (out, about_file(out)) if out.suffix.lower() == ".csv" else (out,)
    if record is not None:
        try:
            record.add(protected.table, provenance=protected.provenance, name=out.name)
        except BaseException:
            for path in (*written, *([] if audit is None else [audit])):
                path.unlink(missing_ok=True)
            raise
    return written


def _registry(folder: Path, protected: Protected) -> Registry:
    """The registry of an office, if nothing in it contradicts a table."""
    from sdcensus.store.registry import Registry

    record = Registry.open(folder) if folder.exists() else Registry.create(folder)
    record.refuse_conflicts(protected.table)
    return record
