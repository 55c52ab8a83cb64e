"""Counting tables that are protected together, and protecting them."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.errors import SpecError
from sdcensus.methods.linked import LinkedMethod
from sdcensus.methods.method import Method
from sdcensus.methods.pipeline import Pipeline
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.elsewhere import NOTHING_ELSEWHERE, CellsElsewhere
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census


def count_linked(
    census: Census,
    specs: Sequence[TableSpec],
    *,
    engine: str | None = None,
    households: bool = False,
    elsewhere: CellsElsewhere = NOTHING_ELSEWHERE,
) -> LinkedCubes:
    """Count tables with everything that is needed to protect them together.

    Args:
        census: The records.
        specs: The tables.
        engine: Who counts, as for ``Census.tabulate``.
        households: Also find which cells of persons are one household.
        elsewhere: What other products show and close of their cells.
    """

    def count(spec: TableSpec) -> AnyCube:
        return census.tabulate(
            spec, engine=engine, households=households and spec.of is Entity.PERSON
        )

    return LinkedCubes.counted(specs, count, elsewhere=elsewhere)


def linked_method(method: Method) -> LinkedMethod | None:
    """The part of a method that protects tables together, if it has one."""
    first = method.first
    return first if isinstance(first, LinkedMethod) else None


def protect_together(
    census: Census,
    specs: Sequence[TableSpec],
    method: Method,
    *,
    engine: str | None = None,
    elsewhere: CellsElsewhere = NOTHING_ELSEWHERE,
    progress: Progress = no_progress,
) -> tuple[Protected, ...]:
    """Count tables and protect them together, in their order.

    Args:
        census: The records.
        specs: The tables.
        method: A method that does so.
        engine: Who counts, as for ``Census.tabulate``.
        elsewhere: What other products show and close of their cells.
        progress: Told how far it is.
    """
    households = method.needs_households
    linked = count_linked(census, specs, engine=engine, households=households, elsewhere=elsewhere)
    progress("protecting", 0.0)
    return protect_linked(method, linked, progress)


def refuse_smallest_group(method: Method) -> None:
    """Refuse the rule of the smallest group for methods that look at all cells at once.

    Raises:
        SpecError: It is one.
    """
    if linked_method(method) is not None:
        raise SpecError(
            f"smallest_group reads the published number of every group, and {method.first.name!r}"
            " looks at all cells at once: what it shows of a group depends on the other cells, and"
            " groups that it closes have no number. It protects small groups itself. Leave"
            " smallest_group out; in a plan, say it in the section of other tables, and publish"
            " these by a plan of their own where the policy has it."
        )


def protect_linked(
    method: Method, linked: LinkedCubes, progress: Progress = no_progress
) -> tuple[Protected, ...]:
    """Protect tables together, with the steps after the method.

    Args:
        method: The method.
        linked: The tables.
        progress: Told how far the search is.

    Raises:
        SpecError: It protects every table for itself.
    """
    first = linked_method(method)
    if first is None:
        raise SpecError(f"{method.described_name!r} protects every table for itself.")
    done = first.protect_together(linked, progress)
    if isinstance(method, Pipeline):
        done = tuple(method.stepped(protected) for protected in done)
    return done
