"""Small files of tau-ARGUS, written by hand from what its documentation says."""

from __future__ import annotations

from pathlib import Path

METADATA = """\
   <SEPARATOR> ";"
   <SAFE> "S"
   <UNSAFE> "U"
   <PROTECT> "P"
Size "99"
    <RECODEABLE>
    <TOTCODE> "Total"
Region "99"
    <RECODEABLE>
    <TOTCODE> "Total"
    <HIERARCHICAL>
    <HIERCODELIST> "region.hrc"
    <HIERLEADSTRING> "@"
Turnover
    <NUMERIC>
    <DECIMALS> 1
Number
    <FREQUENCY>
Cost
    <NUMERIC> <COSTVAR>
State
    <STATUS>
Down
    <NUMERIC> <LOWERPL>
Up
    <NUMERIC> <UPPERPL>
"""

#: Two regions of two parts each, and one that is not divided.
HIERARCHY = "North\n@ N1\n@ N2\nSouth\n@ S1\n@ S2\nIsland\n"

#: Values by size and region; the total of the sizes follows.
VALUES = {
    "small": {"N1": 20, "N2": 50, "S1": 8, "S2": 19, "Island": 22},
    "large": {"N1": 17, "N2": 32, "S1": 12, "S2": 5, "Island": 40},
}
WITHHELD = {
    ("small", "N1"): "U",
    ("small", "S1"): "M",
    ("large", "N1"): "M",
    ("large", "S1"): "M",
    ("small", "North"): "M",
    ("small", "South"): "M",
    ("large", "North"): "M",
    ("large", "South"): "M",
}


def cells() -> dict[tuple[str, str], int]:
    """Every cell of the table with its value."""
    sizes = {
        **VALUES,
        "Total": {part: VALUES["small"][part] + VALUES["large"][part] for part in VALUES["small"]},
    }
    found = {}
    for size, parts in sizes.items():
        whole = dict(parts)
        whole["North"] = parts["N1"] + parts["N2"]
        whole["South"] = parts["S1"] + parts["S2"]
        whole["Total"] = sum(parts.values())
        found.update({(size, part): value for part, value in whole.items()})
    return found


def write(folder: Path, *, metadata: str = METADATA, table: str | None = None) -> Path:
    """Write metadata, hierarchy and table; returns the table."""
    (folder / "regions.rda").write_text(metadata, encoding="utf-8")
    (folder / "region.hrc").write_text(HIERARCHY, encoding="utf-8")
    lines = []
    for (size, part), value in cells().items():
        state = WITHHELD.get((size, part), "S")
        level = "2,5" if state == "U" else "0,0"
        fields = (f'"{size}"', f'"{part}"', f"{value},0", "7", f"{value},0", state, level, level)
        lines.append(";".join(fields))
    file = folder / "regions.tab"
    file.write_text(table if table is not None else "\n".join(lines) + "\n", encoding="utf-8")
    return file
