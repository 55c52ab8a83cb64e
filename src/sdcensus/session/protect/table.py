"""A protected table: what it may count, its notes, its files, and apart from them the audit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sdcensus.errors import OutputError, Refused, SpecError
from sdcensus.formats.write import table_target, write_table
from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.schema.entity import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.session.census.census import Census
from sdcensus.session.office.audit_output import write_audit
from sdcensus.session.office.confidential_output import check_target
from sdcensus.store.registry import Registry

#: How a condition that is no universe can be asked for.
_INSTEAD = (
    'Or ask for it in a plan (where = "..."), or in the table builder: it is then a sum of'
    " published values."
)


def published_spec(
    census: Census,
    *by: str,
    of: str | Entity = Entity.PERSON,
    where: str | None = None,
    measure: str = "count",
) -> TableSpec:
    """A table that is to be published: its condition is a universe of the schema, or codes.

    Args:
        census: The census.
        *by: The axes.
        of: What is counted.
        where: The condition, or the name of a universe.
        measure: How it is counted.

    Raises:
        Refused: Nothing declares the condition; the lines that would are part of what is said.
    """
    spec = census.spec(*by, of=of, universe=where, measure=measure)
    if spec.universe.everything:
        return spec
    from sdcensus.documents.schema.universes import check_counted

    try:
        check_counted(spec.universe, census.schema, _INSTEAD)
    except Refused as error:
        raise Refused(f"In the condition {where!r}: {error}") from None
    return spec


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedFiles:
    """Where a protected table goes.

    Attributes:
        out: The new file of the published table.
        format: Its format, where the ending of the file does not tell it.
        title: What stands above the table; by default what it shows, in words.
        language: The language of labels.
        audit: The new file of the audit.
        confidential: Must be true for an audit.
        registry: The folder in which the office records what it publishes; made if it is missing.
            A table that contradicts what was published before is refused.
    """

    out: Path | None = None
    format: str | None = None
    title: Text | None = None
    language: str | None = None
    audit: Path | None = None
    confidential: bool = False
    registry: Path | None = None

    def check(self) -> tuple[Path, ...]:
        """Refuse early what could not be written in the end.

        Returns:
            The public files that will be written: the table, and what stands beside it.
        """
        public = () if self.out is None else table_target(self.out, self.format).files
        if not public and self.registry is not None:
            raise SpecError("--registry records what is published: --out FILE.")
        if not public and self.format is not None:
            raise SpecError("--format is the format of the published table: --out FILE.")
        if self.audit is not None:
            check_target(self.audit, confidential=self.confidential, what="An audit")
            if self.audit.resolve() in [path.resolve() for path in public]:
                raise OutputError("The published table and its audit need files of their own.")
        return public

    def write(self, protected: Protected) -> tuple[Path, ...]:
        """Write the published table, and apart from it the audit: all of them or none.

        Returns:
            The public files.
        """
        table, provenance, public = protected.table, protected.provenance, self.check()
        registry = None
        if self.registry is not None:
            opened = Registry.open if self.registry.exists() else Registry.create
            registry = opened(self.registry)
            registry.refuse_conflicts(table)
        try:
            if self.audit is not None:
                write_audit(
                    protected,
                    self.audit,
                    confidential=self.confidential,
                    language=self.language,
                )
            if self.out is not None:
                write_table(
                    table,
                    self.out,
                    provenance=provenance,
                    format=self.format,
                    title=self.title,
                    language=self.language,
                )
            if registry is not None:
                registry.add(table, provenance=provenance, name=public[0].name)
        except BaseException:
            for path in (*public, *([] if self.audit is None else [self.audit])):
                path.unlink(missing_ok=True)
            raise
        return public
