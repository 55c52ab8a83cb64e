"""What is served under a plan is what the plan has published: the office's lock decides.

The numbers of the table builder stand beside published ones. Were they drawn by another look-up or
another version of keys, or from other records, both together would be one more look at everybody;
with a smaller smallest group, what is not broken down in print would be broken down online.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import Refused
from sdcensus.methods.method import Method
from sdcensus.model.perturbation.table import INDEPENDENT_FROM, Lookup
from sdcensus.model.plan.plan import Plan
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import Census
from sdcensus.session.guard.run import (
    folders_of_plan,
    publication_name,
    read_lock,
    series_key_version,
    series_lookup,
)

_OWN_NAME = (
    "or serve without the plan under a key version of its own (--key-version N), which is one more"
    " look"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedSeries:
    """How the plan of a server has published, as far as it has.

    Attributes:
        key_version: The version of keys; ``None`` if nothing is out.
        lookup: How keys were looked up; ``None`` if nothing is out.
        smallest_group: The smallest group; 0 for no rule.
        data_versions: The records of what is out, of the line that was published last.
        office: The folder of the office.
    """

    key_version: int | None = None
    lookup: str | None = None
    smallest_group: int = 0
    data_versions: frozenset[str] = frozenset()
    office: Path | None = None

    @classmethod
    def of(cls, plan: Plan, file: Path, census: Census) -> ServedSeries:
        """What the lock of a plan's office says; nothing where there is none."""
        _, office = folders_of_plan(plan)
        info = census.schema.census
        lock = read_lock(office)
        series, name = lock.series_of(info), publication_name(info, file)
        out = [table for table in lock.tables if table.series == series]
        if not out:
            return cls(office=office)
        # Without what the plan says: that must be the same, and is compared below.
        version = series_key_version(office, None, info=info, plan=name)
        return cls(
            key_version=1 if version is None else version,
            lookup=series_lookup(office, info=info, plan=name),
            smallest_group=lock.smallest_group(series),
            data_versions=frozenset(
                making.data_version
                for making in map(lock.making, out)
                if making.lineage == lock.lineage(series)
            ),
            office=office,
        )

    def refuse_version(self, asked: int | None) -> None:
        """Refuse another version of keys than that of what is out."""
        if self.key_version is not None and asked not in (None, self.key_version):
            raise Refused(
                f"The plan has published with the key version {self.key_version}, and {asked} is"
                " asked for: what is served would have other numbers than what is published."
                " Leave the key version out, for the lock of the office keeps it; or re-key the"
                f" publication by name (publish --revision NAME --rekey); {_OWN_NAME}."
            )

    def refuse_lookup(self, asked: object) -> None:
        """Refuse another look-up than that of what is out."""
        if self.lookup is not None and asked not in (None, self.lookup):
            raise Refused(
                f"The plan has published with the look-up {self.lookup!r}, and names {asked!r} now:"
                " what is served would have other numbers than what is published. Re-key the"
                f" publication by name (publish --revision NAME --rekey); {_OWN_NAME}."
            )

    def refuse_set_keys(self, methods: Mapping[Entity, Method]) -> None:
        """Refuse a series that was published with set keys and large noise."""
        if self.lookup is None or not Lookup(self.lookup).is_set_key:
            return
        if any((method.largest_deviation or 0) >= INDEPENDENT_FROM for method in methods.values()):
            raise Refused(
                f"The series is published with set keys (look-up {self.lookup!r}), which are not"
                " served: equal groups of people have equal numbers in all tables. Served by"
                " definition keys, the same cells would have other numbers than in print. Re-key"
                f" the series by name (publish --revision NAME --rekey); {_OWN_NAME}."
            )

    def refuse_smaller_group(self, smallest: int | None) -> None:
        """Refuse to break down what the publication does not."""
        if (smallest or 0) < self.smallest_group:
            now = "no smallest group" if smallest is None else f"smallest_group = {smallest}"
            raise Refused(
                f"The series is published with smallest_group = {self.smallest_group}, and {now}"
                " would be served: groups that readers were told are not broken down would be."
                f" Set smallest_group = {self.smallest_group} in the policy or the plan; or lower"
                " it by name first (publish --revision NAME)."
            )

    def refuse_other_records(self, census: Census) -> None:
        """Refuse other records than those of what is out."""
        if self.data_versions and census.origin.data_version not in self.data_versions:
            raise Refused(
                "The plan has published from other records than those of this store: whoever"
                " compares what is served with what is published would learn about the records"
                " that differ. Serve the store from which was published; or publish the new one as"
                f" a revision by name first (publish --revision NAME); {_OWN_NAME}."
            )
