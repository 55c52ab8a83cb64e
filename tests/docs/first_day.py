"""What an office does by hand on its first day: it goes through the drafted schema on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sdcensus.session.schema_editing.editing import SchemaEditing

#: The changes, as the page of ``schema edit`` asks for them.
CHANGES: tuple[dict[str, Any], ...] = (
    {"what": "census", "setting": "name", "value": "Censo de Población y Vivienda 2024"},
    {"what": "census", "setting": "country", "value": "Puerto Claro"},
    {"what": "census", "setting": "code", "value": "PC2024"},
    {"what": "census", "setting": "reference_date", "value": "2024-04-21"},
    {
        "what": "level",
        "variable": "edad",
        "level": "quinquenal",
        "bounds": "0,5,...,85+",
        "label": {"es": "grupos quinquenales"},
    },
    {
        "what": "level",
        "variable": "edad",
        "level": "grandes",
        "bounds": "0,15,30,45,65+",
        "label": {"es": "grandes grupos"},
    },
    {"what": "role", "variable": "pueblo", "value": "sensitive"},
    {"what": "role", "variable": "discapacidad", "value": "sensitive"},
)


def go_through(schema: Path) -> None:
    """Make the changes, accept everything else as it was guessed, and save."""
    editing = SchemaEditing(schema)

    def ask(request: dict[str, Any]) -> None:
        editing.change({**request, "version": editing.version})

    for request in CHANGES:
        ask(request)
    ask({"what": "accept_rest"})
    for variable in editing.state()["variables"]:
        ask({"what": "accept", "variable": variable["name"]})
    editing.save({"version": editing.version})
