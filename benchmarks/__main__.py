"""Run the benchmarks and write their results: ``python -m benchmarks [--small] [--only NAME]``."""

from __future__ import annotations

import argparse
import datetime
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    audit,
    controlled_rounding,
    country,
    figures,
    grid_map,
    grids,
    groups,
    holes,
    intervals,
    load,
    magnitude,
    peer,
    pram,
    protect,
    publish,
    release,
    safe,
    serve,
    small_counts,
    special_uniques,
    study,
    suppression,
    suppression_intervals,
    suppression_tables,
    swap,
    tabular_adjustment,
    tabulate,
    uniques,
    weights,
)
from benchmarks.measure import REPOSITORY, Line, machine

_RESULTS = REPOSITORY / "benchmarks" / "RESULTS.md"
#: A title, and what measures the figures under it.
Section = tuple[str, Callable[[], list[Line]]]


def sections(folder: Path, *, small: bool) -> dict[str, Section]:
    """Everything that is measured, by a short name."""
    sizes = (100_000, 400_000, 1_750_000) if small else (1_000_000, 4_000_000, 17_500_000)
    millions = f"{sizes[-1] / 1e6:g} million people"
    return {
        "peer": (
            "Against cell-key-perturbation: a million rows, three axes",
            peer.measure,
        ),
        "protect-peer": (
            "Protecting, against cell-key-perturbation: a million rows, three axes",
            protect.measure_peer,
        ),
        "protect": (
            "Protecting ten million cells",
            lambda: protect.measure(sizes[-1] * 4 // 7),
        ),
        "sums-protect": (
            "Protecting sums, against cellKey",
            lambda: magnitude.measure_protect(sizes[0]),
        ),
        "groups": (
            f"The smallest group, {sizes[0]:,} persons",
            lambda: groups.measure(sizes[0]),
        ),
        "grid-map": (
            "A grid as a map in the table builder, in Chromium",
            lambda: grid_map.measure(100 if small else 317),
        ),
        "grids": (
            f"Multilevel grid, {sizes[0]:,} households",
            lambda: grids.measure(sizes[0]),
        ),
        "demo": ("The demo country", lambda: country.measure(sizes[0])),
        "intervals": (
            f"Feasibility intervals: 97 × 2 × 15 × 17 × 7 cells, {sizes[0]:,} persons",
            lambda: intervals.measure(sizes[0]),
        ),
        "special-uniques": (
            "Special uniques (SUDA): six keys",
            lambda: special_uniques.measure((100_000,) if small else (100_000, 1_000_000)),
        ),
        "study": (
            "A complete study",
            lambda: study.measure("small-island" if small else "mid-country"),
        ),
        "holes": (
            "Same people, same number: attacks and remedies on the demo country",
            lambda: holes.measure(folder, small=small),
        ),
        "load": ("Loading from parquet, with keys", lambda: load.measure(folder, sizes)),
        "tabulate": (
            f"Tabulating {millions}: 420 areas × 2 × 101 × 6 × 5",
            lambda: tabulate.measure(folder, sizes[-1]),
        ),
        "figures": (
            f"Figures of an amount by area, {millions}",
            lambda: figures.measure(sizes[-1]),
        ),
        "sums": (
            f"Sums with their largest contributions, {millions}: 420 areas × 2 × 101 × 6 × 5",
            lambda: magnitude.measure_sums(folder, sizes[-1]),
        ),
        "pram": (
            f"PRAM of three variables, {millions}",
            lambda: pram.measure(folder, sizes[-1]),
        ),
        "weights": (
            "Perturbation weights, against a copy of the changed column",
            lambda: weights.measure(folder, sizes),
        ),
        "publish": ("The European programme", lambda: publish.measure(folder, sizes)),
        "swap": (
            "Targeted swapping: three levels, 5 % of the households, two profiles",
            lambda: swap.measure(
                folder,
                (50_000, 100_000) if small else (100_000, 1_000_000, 5_000_000, 17_500_000),
            ),
        ),
        "uniques": (
            "Uniques of a file of records: six keys, and a ladder of ten",
            lambda: uniques.measure(small=small),
        ),
        "suppression": (
            "Files for researchers: blanked keys, amounts in groups and exchanged",
            lambda: suppression.measure(
                folder, (100_000, 200_000) if small else (100_000, 1_000_000)
            ),
        ),
        "suppression-tables": (
            "Cell suppression by elimination, by published cells",
            suppression_tables.measure,
        ),
        "suppression-intervals": (
            "Cell suppression with protection intervals",
            suppression_intervals.measure,
        ),
        "audit": ("Audit of withheld cells", lambda: audit.measure(folder)),
        "tabular-adjustment": ("Controlled tabular adjustment", tabular_adjustment.measure),
        "controlled-rounding": (
            "Controlled rounding, the nearest and at random",
            lambda: controlled_rounding.measure(small=small),
        ),
        "small-counts": (
            "Small count rounding",
            lambda: small_counts.measure(folder, (47_000,) if small else (47_000, 300_000)),
        ),
        "safe": (
            "SAFE: no rare combination of fifteen variables",
            lambda: safe.measure(folder, (10_000, 47_000) if small else (10_000, 47_000, 200_000)),
        ),
        "release": (
            "Files for researchers: whole runs of release assess and release make",
            lambda: release.measure(folder, (13_000, 130_000) if small else (130_000, 1_300_000)),
        ),
        "serve": (
            f"The table builder, {millions}",
            lambda: serve.measure(folder, sizes[-1], minutes=0.5 if small else 5.0),
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the sizes, not recorded")
    parser.add_argument("--folder", type=Path, help="where to keep the data between runs")
    parser.add_argument("--only", help="one section; the others of RESULTS.md stay as they are")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        known = sections(folder, small=arguments.small)
        if arguments.only is not None and arguments.only not in known:
            parser.error(f"--only is one of {', '.join(known)}")
        chosen = [arguments.only] if arguments.only else list(known)
        made = [(known[one][0], known[one][1]()) for one in chosen]
    command = "make bench"
    if arguments.folder:
        command = "python -m benchmarks --folder FOLDER"
    if arguments.only:
        command = f"python -m benchmarks --folder FOLDER --only {arguments.only}"
        text = replaced(_RESULTS.read_text(encoding="utf-8"), made, command=command)
    else:
        text = render(made, command=command)
    print(text)
    if not arguments.small:
        _RESULTS.write_text(text, encoding="utf-8", newline="\n")


def render(made: list[tuple[str, list[Line]]], *, command: str) -> str:
    lines = [
        "# Results of the benchmarks",
        "",
        f"{measured(command)}",
        "Medians of warm repeats; everything that is compared ran in the same run.",
    ]
    return "\n".join(lines) + "\n" + "".join(section(*one) for one in made)


def replaced(text: str, made: list[tuple[str, list[Line]]], *, command: str) -> str:
    """Older results with these sections anew, each saying when it was measured."""
    parts = text.split("\n## ")
    for title, lines in made:
        parts = [part for part in parts if not part.startswith(title)]
        new = section(title, lines, note=measured(command))
        parts.append(new.removeprefix("\n## ").rstrip("\n"))
    return "\n## ".join(part.rstrip("\n") + "\n" for part in parts)


def measured(command: str) -> str:
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"{today}, {machine()}. Command: `{command}`."


def section(title: str, figures: list[Line], *, note: str = "") -> str:
    lines = ["", f"## {title}", "", *([note, ""] if note else [])]
    lines += ["| what | measured | promised | kept |", "|---|---|---|---|"]
    lines += [figure.row() for figure in figures]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
