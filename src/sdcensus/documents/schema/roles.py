"""``[roles]`` of a schema or a plan: which variable is the age, which the sex."""

from __future__ import annotations

from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import SpecError
from sdcensus.model.schema.roles import IndicatorRole, wrong_role
from sdcensus.model.schema.schema import Schema


def read_roles(
    raw: object, schema: Schema | None, mistakes: Mistakes
) -> tuple[tuple[str, str], ...]:
    """The roles that a document gives to variables; all mistakes with their lines.

    Args:
        raw: The table ``[roles]``, as it is written.
        schema: Whose variables are named; ``None`` if that is not known.
        mistakes: Is told what is wrong.
    """
    if not isinstance(raw, dict):
        mistakes.add(("roles",), 'write it as a table: [roles], and in it age = "..."')
        return ()
    roles = []
    for role, name in raw.items():
        path = ("roles", role)
        if role not in list(IndicatorRole):
            mistakes.add(path, wrong_role(role))
        elif not isinstance(name, str):
            mistakes.add(path, f"{role!r} should be the name of a variable in double quotes")
        else:
            try:
                if schema is not None:
                    schema.variable(name)
            except SpecError as error:
                mistakes.add(path, str(error))
            else:
                roles.append((role, name))
    return tuple(roles)
