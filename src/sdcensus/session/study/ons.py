"""The study of the Office for National Statistics (ONS, 2011) on a census of one's own.

Random and targeted swapping of one household in ten, semi-controlled rounding to base 3, and cell
perturbation with truncated normal noise.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.sources import truncated_normal
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.study.published import ONS_TABLES
from sdcensus.report.study.results import Candidate
from sdcensus.session.census.census import Census
from sdcensus.session.study.candidates import built_method, check_steps, parsed_method
from sdcensus.session.study.tables import listed_tables

#: One household in ten.
RATE = "0.1"
#: The published mean distances fit it; the variance of 2 that the study names does not.
STANDARD_DEVIATION = 2.0

RANDOM, TARGETED = "random-swap", "random-swap (targeted)"
ROUNDING, PERTURBATION = "semi-controlled-rounding", "cell-key (truncated normal)"


def ons_specs(census: Census, given: Sequence[TableSpec], *, of: str) -> tuple[TableSpec, ...]:
    """The tables of the study, by letters: those that are given, or those of the demo country.

    Raises:
        SpecError: None is given, and the census has no such tables.
    """
    if given:
        letters = (chr(ord("A") + at) if at < 26 else f"T{at + 1}" for at in range(len(given)))
        return tuple(
            replace(spec, name=letter) for spec, letter in zip(given, letters, strict=True)
        )
    try:
        specs = listed_tables(census, tuple(ONS_TABLES.values()), of=of)
    except SdcensusError as error:
        raise SpecError(
            "The tables of the ONS study are those of the demo country, and this census has others"
            f" ({error}) Name your own, areas first: --table AXES, several times, or --tables FILE."
        ) from None
    return tuple(replace(spec, name=letter) for letter, spec in zip(ONS_TABLES, specs, strict=True))


def ons_candidates(
    census: Census, specs: Sequence[TableSpec], *, of: str, secret: Path | Secret | None = None
) -> tuple[Candidate, ...]:
    """The four methods of the study.

    Args:
        census: Whose tables.
        specs: The tables; targeted swapping prefers households in their small cells.
        of: What is counted.
        secret: The office secret or its file.
    """
    noise = truncated_normal(STANDARD_DEVIATION)
    swaps = {RANDOM: _swap_text(()), TARGETED: _swap_text(specs)}
    candidates = []
    for name, text in swaps.items():
        asked = parsed_method(text)
        check_steps(census, asked, secret)
        candidates.append(Candidate(name=name, method=None, before=asked.steps))
    rounding = _rounding(census, of=of, secret=secret)
    perturbation = CellKey(noise, lookup=Lookup.ASCENDING)
    return (
        *candidates,
        rounding,
        Candidate(name=PERTURBATION, method=perturbation, perturbation=noise),
    )


def _rounding(census: Census, *, of: str, secret: Path | Secret | None) -> Candidate:
    asked = parsed_method("semi-controlled-rounding base=3")
    return Candidate(name=ROUNDING, method=built_method(census, asked, of=of, secret=secret))


def _swap_text(specs: Sequence[TableSpec]) -> str:
    """Random swapping; targeted by households in small cells where tables are given."""
    words = ["random-swap", f"rate={RATE}"]
    if specs:
        words.append(f"tables={';'.join(map(_axes_text, specs))}")
    return shlex.join(words)


def _axes_text(spec: TableSpec) -> str:
    axes = ",".join(axis.name for axis in spec.axes)
    return axes if spec.of is Entity.PERSON else f"{spec.of.plural}: {axes}"
