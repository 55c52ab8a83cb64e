"""What a published file says about itself besides numbers: notes, signs, how it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Flag, SparseTable, Table
from sdcensus.model.spec.document import spec_to_json
from sdcensus.model.spec.headings import table_heading
from sdcensus.model.text import Text


class ReadyText(str):
    """A value of a document that is written already, as JSON."""

    __slots__ = ()


#: The words for what a provenance holds.
MADE = {
    "method": Text.of({"en": "Method", "es": "Método", "fr": "Méthode", "nl": "Methode"}),
    "method_version": Text.of(
        {
            "en": "Version of the method",
            "es": "Versión del método",
            "fr": "Version de la méthode",
            "nl": "Versie van de methode",
        }
    ),
    "fingerprint": Text.of(
        {
            "en": "Fingerprint",
            "es": "Huella de los parámetros",
            "fr": "Empreinte des paramètres",
            "nl": "Vingerafdruk van de parameters",
        }
    ),
    "data_version": Text.of(
        {
            "en": "Version of the data",
            "es": "Versión de los datos",
            "fr": "Version des données",
            "nl": "Versie van de gegevens",
        }
    ),
    "key_version": Text.of(
        {
            "en": "Series of numbers",
            "es": "Serie de números",
            "fr": "Série de nombres",
            "nl": "Reeks getallen",
        }
    ),
    "secret_id": Text.of({"en": "Keys", "es": "Claves", "fr": "Clés", "nl": "Sleutels"}),
    "package_version": Text.of(
        {"en": "sdcensus", "es": "sdcensus", "fr": "sdcensus", "nl": "sdcensus"}
    ),
    "spec_hash": Text.of({"en": "Table", "es": "Tabla", "fr": "Tableau", "nl": "Tabel"}),
    "lineage": Text.of(
        {
            "en": "Records derived by",
            "es": "Registros derivados por",
            "fr": "Enregistrements dérivés par",
            "nl": "Records afgeleid door",
        }
    ),
}

#: What programs read of cells that are not listed.
ZERO, ZERO_OR_SMALL = "published as 0", "published as 0, unless in a group not broken down"
SMALL_GROUPS = "groups_not_broken_down"


def signs_in(table: Table | SparseTable) -> list[Flag]:
    """The flags that stand in a table."""
    if isinstance(table, SparseTable) or table.flags is None:
        return []
    found = set(table.flags.reshape(-1).tolist())
    return [flag for flag in Flag if flag and flag.value in found]


def all_notes(table: Table | SparseTable, more: Sequence[Text] = ()) -> list[Text]:
    """The notes of a table, further ones, and that absent cells are 0 where some are absent."""
    absent = [table.absent] if isinstance(table, SparseTable) else []
    return list(dict.fromkeys([*table.notes, *more, *absent]))


def about(
    table: Table | SparseTable,
    provenance: Provenance,
    notes: Sequence[Text],
    language: str | None,
) -> dict[str, Any]:
    """Everything but the numbers, as plain values: the same for the same table, on any day."""
    spec = table.spec
    return {
        "title": table_heading(spec, language),
        "units": spec.of.plural,
        "measure": spec.measure.value,
        "axes": [_axis(table, at, language) for at in range(len(spec.axes))],
        **_not_listed(table),
        "signs": {flag.sign: languages_of(flag.meaning) for flag in signs_in(table)},
        "notes": [languages_of(note) for note in notes],
        "provenance": provenance.to_json(),
        # Code lists only: what tells which records a cell is about, also to a program.
        "specification": spec_to_json(spec),
    }


def _not_listed(table: Table | SparseTable) -> dict[str, Any]:
    """What cells mean that are not listed, and the small groups outside the table by position."""
    if not isinstance(table, SparseTable):
        return {"cells_not_listed": "none"}
    if table.small is None:
        return {"cells_not_listed": ZERO}
    outside = {
        "smallest_group": table.small.smallest,
        # Positions count from 0: the codes of each level in order, then the total.
        "positions": [[list(group) for group in groups] for groups in table.small.groups],
        "outside_the_table": table.small.cells.tolist(),
    }
    return {"cells_not_listed": ZERO_OR_SMALL, SMALL_GROUPS: outside}


def about_text(content: Mapping[str, Any]) -> str:
    """The same as a document; code lists, which are long, stand on one line."""
    lines = [f" {json.dumps(name)}: {value_text(name, value)}" for name, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def value_text(name: str, value: object) -> str:
    """One value of such a document as text."""
    if isinstance(value, ReadyText):
        return value
    if name in ("specification", SMALL_GROUPS):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False, indent=1).replace("\n", "\n ")


def _axis(table: Table | SparseTable, at: int, language: str | None) -> dict[str, Any]:
    axis = table.spec.axes[at]
    return {
        "variable": axis.variable.name,
        "label": axis.variable.label.show(language) or axis.variable.name,
        "levels": [level.name for level in axis.levels],
        "total": axis.total,
        "positions": len(axis.codes),
    }


def languages_of(text: Text) -> dict[str, str]:
    """A text by language."""
    return dict(text.by_language)
