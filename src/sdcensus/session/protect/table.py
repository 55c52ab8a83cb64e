"""A protected table with its notes."""

from __future__ import annotations

from dataclasses import replace

from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census


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
        spec, method, lambda spec: census.tabulate(spec, engine=engine), counted=cube
    )
    notes = (*notes_for(protected.table, method.claims()), *protected.table.notes)
    return replace(protected, table=replace(protected.table, notes=notes))
