"""A complete study: eight schemes on four tables of a country of 303 thousand, drawn three ways."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Line, in_own_process, peak_memory

_MOST_SECONDS = 120
_SECRET = bytes(range(32))


def measure(preset: str = "mid-country") -> list[Line]:
    """The study of one preset, from the store to the last file."""
    took = in_own_process("benchmarks.study", preset)
    whole = took["compared"] + took["written"]
    cells = f"{took['cells']:,.0f} interior cells in the largest table"
    return [
        Line(
            f"8 schemes × 4 tables × 3 draws on {preset}, {cells}",
            f"{took['compared']:.1f} s, {took['memory'] / 1e9:.2f} GB",
        ),
        Line("Page, workbook and csv files of it", f"{took['written']:.1f} s"),
        Line("Both", f"{whole:.1f} s", f"at most {_MOST_SECONDS} s", whole <= _MOST_SECONDS),
    ]


def main() -> None:
    from sdcensus.demo import make_country, write_country
    from sdcensus.model.secret import Secret
    from sdcensus.model.vocabulary import NoiseDraw
    from sdcensus.report.study.files import write_study
    from sdcensus.session.census.census import load, open_store
    from sdcensus.session.study.candidates import scheme_candidates
    from sdcensus.session.study.study import compare
    from sdcensus.session.study.tables import prefixes

    secret = Secret(_SECRET)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        made = write_country(folder / "country", country=make_country(sys.argv[1]))
        load(made.schema, folder / "census.store", secret=secret)
        census = open_store(folder / "census.store")
        start = time.perf_counter()
        specs = prefixes(census, made.study_axes)
        study = compare(census, specs, scheme_candidates(draws=list(NoiseDraw), secret=secret))
        compared = time.perf_counter()
        write_study(study, folder / "study")
        written = time.perf_counter()
    print(
        json.dumps(
            {
                "compared": compared - start,
                "written": written - compared,
                "memory": peak_memory(),
                "cells": specs[-1].base_cells,
            }
        )
    )


if __name__ == "__main__":
    main()
