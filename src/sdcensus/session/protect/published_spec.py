"""What a table that is to be published may count."""

from __future__ import annotations

from sdcensus.documents.schema.undeclared import check_counted
from sdcensus.errors import Refused
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census

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
    try:
        check_counted(spec.universe, census.schema, _INSTEAD)
    except Refused as error:
        raise Refused(f"In the condition {where!r}: {error}") from None
    return spec
