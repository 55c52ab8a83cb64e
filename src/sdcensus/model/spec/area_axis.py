"""Which axis of a table shows areas."""

from __future__ import annotations

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Role
from sdcensus.model.spec.table_spec import TableSpec


def area_axis(
    spec: TableSpec, named: str | None, *, how: str = "area=, on the command line --area"
) -> int:
    """The position of the axis of areas: the named variable, else the first geography.

    Refuses a table without such an axis.

    Args:
        spec: The table.
        named: The variable, if one is named.
        how: How it is named, for the message.
    """
    if named is not None:
        return spec.position(named)
    for position, axis in enumerate(spec.axes):
        if axis.variable.role is Role.GEOGRAPHY:
            return position
    shown = ", ".join(axis.variable.name for axis in spec.axes) or "none"
    raise SpecError(
        f"{spec.title}: no axis of the table is a geography. Its axes are: {shown}. Name the one"
        f" whose codes are areas ({how}), or give its variable the role 'geography' in the schema."
    )
