"""What a mapping says about areas and cells of a grid: codes of their own, each once."""

from __future__ import annotations

import re
from collections import Counter

from sdcensus.documents.mapping.codes import listed
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.model.plan.mapping import UNALLOCATED, MappedGeography, cell_of
from sdcensus.model.schema.variable import Variable

#: Cells of 1 km² in the European projection, as the regulation names them.
_CELL = re.compile(r"CRS3035RES1000mN[0-9]+000E[0-9]+000")


def check_areas(geography: MappedGeography, country: str, mistakes: Mistakes) -> None:
    """Refuse codes that stand at two levels, in one message for each pair of levels."""
    levels = {"the country": {country}}
    for name, level in geography.levels:
        shown = geography.variable.level(level).codes
        codes = [code.code for code in shown if not code.is_missing]
        for other, taken in levels.items():
            both = [code for code in codes if code in taken]
            if both:
                mistakes.add(
                    ("geography", name),
                    f"{listed(both)} {'is a code' if len(both) == 1 else 'are codes'} of {other} as"
                    f" well as of {name}. Areas of all levels need codes of their own: change them"
                    " in the schema.",
                )
        levels[name] = set(codes)


def check_cells(variable: Variable, country: str, path: KeyPath, mistakes: Mistakes) -> bool:
    """Whether the codes of a variable are cells of the grid, none of them twice."""
    cells = [(code.code, cell_of(code, country)) for code in variable.codes]
    named = [(code, cell) for code, cell in cells if cell]
    other = [code for code, cell in named if _CELL.fullmatch(cell) is None]
    if other:
        mistakes.add(
            path,
            f"{listed(other)} of {variable.name!r} are no cells of"
            f" 1 km² of {country or 'the country'}. Cells are called as"
            " CRS3035RES1000mN2689000E4337000, by the metres of their corner in EPSG 3035, with or"
            f" without {country}_ in front; {UNALLOCATED!r} stands for none.",
        )
        return False
    times = Counter(cell for _, cell in named)
    twice = [code for code, cell in named if times[cell] > 1]
    if twice:
        mistakes.add(
            path,
            f"{listed(twice)} of {variable.name!r} are the same cell. Leave one of them in the"
            " schema.",
        )
    return not twice
