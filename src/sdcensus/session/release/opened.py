"""A document about files for researchers, with the census and the secret that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdcensus.documents.release.document import read_release
from sdcensus.documents.release.groupings import read_groupings
from sdcensus.errors import StoreError
from sdcensus.microdata.method import Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.grouping import Grouping
from sdcensus.model.release.plan import Design, ReleasePlan
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose, Secret
from sdcensus.session.derive.step import store_with_secret
from sdcensus.store.census_store import CensusStore


@dataclass(frozen=True, slots=True, repr=False)
class OpenRelease(Confidential):
    """A plan of files, its census and the office secret.

    Attributes:
        plan: What the document says.
        store: The census.
        secret: The secret with which it was loaded.
        groupings: Groups of categories that the office has approved.
        document: Where the plan was read from; ``None`` for one that was made in a program.
    """

    plan: ReleasePlan
    store: CensusStore
    secret: Secret
    groupings: tuple[Grouping, ...] = ()
    document: Path | None = None

    def __repr__(self) -> str:
        return f"<OpenRelease {self.plan.name!r}: confidential>"

    def draws(self, purpose: Purpose) -> Draws:
        """Random numbers of the office for one purpose."""
        return Draws(self.secret.sub_key(purpose, self.store.manifest.key_version))

    def design(self, design: Design) -> FileDesign:
        """What a design makes of the census, with the groups that were approved."""
        return file_design(self.plan, design, self.store.schema, self.groupings)

    def designs(self) -> tuple[FileDesign, ...]:
        """All designs, resolved; a mistake in any of them is told before anything is drawn."""
        return tuple(map(self.design, self.plan.designs))


def open_release(
    document: str | Path | ReleasePlan, *, secret: Secret | str | Path | None = None
) -> OpenRelease:
    """Read a document about files, and open the census that it names.

    Raises:
        DocumentError: The document has mistakes; all are listed with their lines.
        SecretError: The secret is another one than that of the census.
    """
    path = None if isinstance(document, ReleasePlan) else Path(document)
    plan = document if isinstance(document, ReleasePlan) else read_release(document, schema_of)
    store, key = store_with_secret(plan.store, secret)
    schema = store.schema
    if not any(spec.entity is Entity.PERSON for spec in schema.entities):
        raise StoreError(f"{plan.store} holds no persons, so there is no file to make of it.")
    groupings: tuple[Grouping, ...] = ()
    if plan.thresholds.groupings is not None:
        designs = [file_design(plan, design, schema) for design in plan.designs]
        groupings = read_groupings(plan.thresholds.groupings, designs)
    return OpenRelease(plan, store, key, groupings, path)


def schema_of(store: Path) -> Schema:
    """The schema of a census, for a document that names it."""
    return CensusStore.open(store).schema
