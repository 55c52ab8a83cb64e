"""The identifiers of a delivered table in SDMX, where few signs are allowed.

Identifiers of components begin with a letter and go on with letters, digits, ``_`` and ``-``;
codes may also have ``@`` and ``$`` and begin with any of these. Other signs become ``_``, and where
that makes two codes the same, the later one gets a number. The structure message keeps the code as
it was beside every code that had to change.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from sdcensus.formats.write.identifiers import at_least_one_axis, distinct, unique_codes
from sdcensus.model.published.delivery import DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark

#: The version of all artefacts: a table that changes is another publication, not another version.
VERSION = "1.0"
MEASURE, STATUS, CONFIDENTIALITY = "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"
POPULATED, DECIMALS, UNIT = "POPULATED", "DECIMALS", "UNIT_MEASURE"

#: Columns that are no dimensions.
RESERVED = (
    *("STRUCTURE", "STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "SERIES_KEY", "OBS_KEY", "DATAFLOW"),
    *(MEASURE, STATUS, CONFIDENTIALITY, POPULATED, DECIMALS, UNIT),
)
#: For each mark the code of the observation's status and that of its confidentiality, of the lists
#: that the SDMX community keeps (CL_OBS_STATUS, CL_CONF_STATUS).
STATUS_OF = {
    Mark.NONE: ("A", "F"),
    Mark.WITHHELD: ("Q", "C"),
    Mark.BELOW_THRESHOLD: ("Q", "A"),
    Mark.REFUSED: ("Q", "N"),
    Mark.NOT_AVAILABLE: ("O", "F"),
    Mark.LOW_RELIABILITY: ("U", "F"),
    Mark.POPULATED: ("A", "F"),
    Mark.NOT_BROKEN_DOWN: ("Q", "D"),
}


@dataclass(frozen=True, slots=True)
class SdmxNames:
    """The identifiers of a table.

    Attributes:
        agency: Who maintains the artefacts.
        table: The part that the artefacts of the table have in common.
        dimensions: The dimensions, in the order of the axes.
        codes: For each axis, the identifiers of its codes.
        unit: The unit of measure.
        populated: Whether some cells are marked as populated.
    """

    agency: str
    table: str
    dimensions: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    unit: str
    populated: bool

    @property
    def dataflow(self) -> str:
        """The dataflow."""
        return f"DF_{self.table}"

    @property
    def data_structure(self) -> str:
        """The data structure definition."""
        return f"DSD_{self.table}"

    @property
    def concepts(self) -> str:
        """The scheme of concepts."""
        return f"CS_{self.table}"

    def code_list(self, component: str) -> str:
        """The code list of a dimension or attribute."""
        return f"CL_{self.table}_{component}"


def sdmx_names(table: DeliveredTable) -> SdmxNames:
    """The identifiers of a table, the same whenever and wherever it is written."""
    axes = at_least_one_axis(table)
    columns = [_component(axis.column) for axis in axes]
    return SdmxNames(
        agency=_agency(table),
        table=_table(table.name),
        dimensions=distinct(columns, taken=RESERVED),
        codes=tuple(code_ids(axis) for axis in axes),
        unit=_plain(table.unit.show("en")).upper() or "NUMBER",
        populated=Mark.POPULATED in table.used_marks(),
    )


def code_ids(axis: DeliveredAxis) -> tuple[str, ...]:
    """The codes of an axis as identifiers of SDMX, none twice.

    Codes that need no change keep their identifier, whatever the others are.
    """
    codes = unique_codes(axis)
    safe = [re.sub(r"[^A-Za-z0-9_@$-]", "_", code) or "_" for code in codes]
    kept = {one for one, code in zip(safe, codes, strict=True) if one == code}
    changed = [one for one, code in zip(safe, codes, strict=True) if one != code]
    new = iter(distinct(changed, taken=kept))
    return tuple(one if one == code else next(new) for one, code in zip(safe, codes, strict=True))


def _plain(text: str) -> str:
    """A text in letters, digits and underscores, without accents."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "_", letters).strip("_")


def _component(column: str) -> str:
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", column)
    return safe if re.match(r"[A-Za-z]", safe) else f"D_{safe}"


def _table(name: str) -> str:
    """The name of a table; where more than points has to change, a digest keeps tables apart."""
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    if safe == name.replace(".", "_"):
        return safe
    return f"{safe}_{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"


def _agency(table: DeliveredTable) -> str:
    """The office, as the plan calls it."""
    name = _plain(table.source.show("en")).upper()[:50].strip("_")
    if not name:
        return "OFFICE"
    return name if name[0].isalpha() else f"A_{name}"
