"""The files of a protected table: what the public gets, and apart from it the office's audit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError, SpecError
from sdcensus.formats.write.table_file import table_target, write_table
from sdcensus.model.published.protected import Protected
from sdcensus.model.text import Text
from sdcensus.session.office.confidential_output import check_target, write_audit
from sdcensus.store.registry import Registry


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
