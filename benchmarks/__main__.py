"""Run the benchmarks and write their results: ``python -m benchmarks [--small] [--keep]``."""

from __future__ import annotations

import argparse
import datetime
import tempfile
from pathlib import Path

from benchmarks import country, intervals, load, peer, protect, publish, serve, study, tabulate
from benchmarks.measure import REPOSITORY, Line, machine

_RESULTS = REPOSITORY / "benchmarks" / "RESULTS.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the sizes, not recorded")
    parser.add_argument("--folder", type=Path, help="where to keep the data between runs")
    arguments = parser.parse_args()
    sizes = (1_000_000, 4_000_000, 17_500_000)
    if arguments.small:
        sizes = (100_000, 400_000, 1_750_000)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        sections = [
            ("Against cell-key-perturbation: a million rows, three axes", peer.measure()),
            (
                "Protecting, against cell-key-perturbation: a million rows, three axes",
                protect.measure_peer(),
            ),
            ("Protecting ten million cells", protect.measure(sizes[-1] * 4 // 7)),
            ("The demo country", country.measure(sizes[0])),
            (
                f"Feasibility intervals: 97 × 2 × 15 × 17 × 7 cells, {sizes[0]:,} persons",
                intervals.measure(sizes[0]),
            ),
            (
                "A complete study",
                study.measure("small-island" if arguments.small else "mid-country"),
            ),
            ("Loading from parquet, with keys", load.measure(folder, sizes)),
            (
                f"Tabulating {sizes[-1] / 1e6:g} million people: 420 areas × 2 × 101 × 6 × 5",
                tabulate.measure(folder, sizes[-1]),
            ),
            ("The European programme", publish.measure(folder, sizes)),
            (
                f"The table builder, {sizes[-1] / 1e6:g} million people",
                serve.measure(folder, sizes[-1], minutes=0.5 if arguments.small else 5.0),
            ),
        ]
    kept = "python -m benchmarks --folder FOLDER" if arguments.folder else "make bench"
    text = render(sections, command=kept)
    print(text)
    if not arguments.small:
        _RESULTS.write_text(text, encoding="utf-8", newline="\n")


def render(sections: list[tuple[str, list[Line]]], *, command: str) -> str:
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    lines = [
        "# Results of the benchmarks",
        "",
        f"{today}, {machine()}. Command: `{command}`.",
        "Medians of warm repeats; everything that is compared ran in the same run.",
    ]
    for title, figures in sections:
        lines += [
            "",
            f"## {title}",
            "",
            "| what | measured | promised | kept |",
            "|---|---|---|---|",
        ]
        lines += [figure.row() for figure in figures]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
