"""Files for researchers as users make them: whole runs of ``release assess`` and ``release make``.

On the demo country, whose records have missing values: a ladder of ten keys, four designs, all
measures of the report; then the file of a 10 % sample in four formats with its papers, read back.
Times are those of the processor: other work on the machine does not count.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

from benchmarks.measure import Line, in_own_process, peak_memory
from benchmarks.people import secret_file

_PROMISED = 1_300_000
_PLAN = """
store = "demo-{persons}.store"
office = "release-{persons}-office"
name = "puf"
title = "Public use file"
licence = "public-use"

[risk]
ladder = ["age", "sex", "ed@parish", "marital_status", "occupation@minor", "ethnicity",
          "citizenship", "industry@section", "birthplace", "education"]

[thresholds]
persons = 0
households = 0

[[design]]
name = "single-years"
households = 0.10
drop = ["ed@parish"]
top_code = {{ age = 75 }}

[[design]]
name = "five-years"
households = 0.10
drop = ["ed@parish"]
recode = {{ age = "five_year" }}

[[design]]
name = "larger"
households = 0.20
drop = ["ed@parish"]
[design.recode]
age = "0,5,...,75+"
occupation = "skill"
birthplace = "origin"
industry = "sector"
citizenship = "origin"
education = "broad"

[[design]]
name = "with-areas"
households = 0.05
[design.recode]
age = "0,10,...,70+"
occupation = "skill"
birthplace = "origin"
industry = "sector"
citizenship = "origin"
education = "broad"
religion = "faith"

[make]
design = "five-years"
formats = ["csv", "sav", "dta", "parquet"]
documentation = ["ddi", "html", "nada"]
"""


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Line]:
    """Time and memory of both commands, by persons of the census."""
    lines = []
    for persons in sizes:
        _prepare(folder, persons)
        for command, words in (
            ("assess", "Four designs assessed, ten keys"),
            ("make", "A file of 10 % made, four formats and papers, read back"),
        ):
            took = in_own_process("benchmarks.release", command, str(folder), str(persons))
            duration, memory = took["seconds"], took["memory"] / 2**30
            promised = persons == _PROMISED
            lines.append(
                Line(
                    f"{words}: {persons / 1e6:g} million persons",
                    f"{duration:.1f} s, {memory:.2f} GB",
                    "at most 60 s and 3 GB" if promised else "",
                    duration <= 60 and memory <= 3 if promised else None,
                )
            )
    return lines


def _prepare(folder: Path, persons: int) -> None:
    """A store of the demo country, and the release document; kept between runs."""
    import sdcensus as sc
    from sdcensus.demo import make_country, write_country

    secret = secret_file(folder)
    store = folder / f"demo-{persons}.store"
    if not store.exists():
        country = folder / f"demo-{persons}"
        write_country(country, country=make_country(persons))
        sc.load(country / "schema.toml", store, secret=secret)
        shutil.rmtree(country)
    plan = folder / f"release-{persons}.toml"
    plan.write_text(_PLAN.format(persons=persons), encoding="utf-8")


def main() -> None:
    from sdcensus.cli.shared.run import run

    command, folder, persons = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    out = folder / f"release-{persons}-{command}"
    for place in (out, folder / f"release-{persons}-office"):
        shutil.rmtree(place, ignore_errors=True)
    accept = ["--accept-risk", "Benchmark", "--reason", "time"] if command == "make" else []
    document = str(folder / f"release-{persons}.toml")
    secret = str(folder / "bench.secret")
    sys.argv = ["sdcensus", "release", command, document, "--out", str(out), "--quiet"]
    sys.argv += ["--secret", secret, *accept]
    code = run()
    if code:
        raise SystemExit(code)
    print(json.dumps({"seconds": time.process_time(), "memory": peak_memory()}))


if __name__ == "__main__":
    main()
