"""Which axis of a table shows areas, for methods that work area by area."""

from __future__ import annotations

from sdcensus.errors import SpecError
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.variable import Role


def area_axis(spec: TableSpec, area: str | None) -> int:
    """The position of the axis of areas: the named variable, else the first geography.

    Refuses a table without such an axis.
    """
    if area is not None:
        return spec.position(area)
    for position, axis in enumerate(spec.axes):
        if axis.variable.role is Role.GEOGRAPHY:
            return position
    shown = ", ".join(axis.variable.name for axis in spec.axes) or "none"
    raise SpecError(
        f"{spec.title}: no axis of the table is a geography. Its axes are: {shown}. Name the one"
        " whose codes are areas (area=, on the command line --area), or give its variable the role"
        " 'geography' in the schema."
    )
