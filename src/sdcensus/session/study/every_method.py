"""All methods side by side: each as an office would begin with it, on tables of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sdcensus.errors import SdcensusError
from sdcensus.model.method.registry import Part, Registered
from sdcensus.model.schema.variable import Role
from sdcensus.model.secret import Secret
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.study.results import Candidate
from sdcensus.session.census.census import Census
from sdcensus.session.study.candidates import method_candidates

#: What is said about methods that need a word, or whose own default is not what is compared: the
#: same base of rounding for all that round.
SETTINGS = {
    "cell-key": "strength=medium",
    "random-rounding": "base=3",
    "semi-controlled-rounding": "base=3",
    "conventional-rounding": "base=3",
    "controlled-rounding": "base=3",
    "controlled-random-rounding": "base=3 infeasible=widen",
    "small-count-rounding": "base=3",
    "per-unit-deviations": "",
}
#: Methods that protect counts and sums, and what is said about them on sums.
ON_SUMS = {"suppression": "percent_rule=10 minimum=3"}
#: Methods that change records, published without anything after them.
BEFORE = ("targeted-swap", "safe")


def method_texts(specs: Sequence[TableSpec]) -> tuple[str, ...]:
    """Every method of this package for such tables, as a study writes it.

    Args:
        specs: The tables of the study: records are changed with them in mind.
    """
    of_sums = any(spec.measure.is_sum for spec in specs)
    methods = [
        name
        for name, known in Registered(Part.METHOD).items()
        if known.for_sums == of_sums and not known.for_samples
    ]
    texts = [f"{name} {SETTINGS.get(name, '')}".strip() for name in methods]
    if of_sums:  # what changes of records do to amounts is not compared
        return (*texts, *(f"{name} {said}" for name, said in ON_SUMS.items()))
    known = Registered(Part.PRE_TABULAR)
    texts += [f"{name} {_settings(name, specs)}".strip() for name in BEFORE if name in known]
    return tuple(texts)


def _settings(name: str, specs: Sequence[TableSpec]) -> str:
    """What a change of records has to be told: the variables, and the tables that count."""
    taken = {parameter.name for parameter in Registered(Part.PRE_TABULAR)[name].takes}
    axes = [axis for spec in specs for axis in spec.axes]
    persons = [axis.variable.name for axis in axes if axis.variable.role is not Role.GEOGRAPHY]
    said = {
        "risk_variables": ",".join(dict.fromkeys(persons)),
        "variables": ",".join(dict.fromkeys(map(_finest, axes))),
        "control": ";".join(",".join(map(_finest, spec.axes)) for spec in specs),
    }
    return " ".join(f"{key}='{value}'" for key, value in said.items() if key in taken and value)


def _finest(axis: Axis) -> str:
    """The finest level of an axis, from which its others add up."""
    return f"{axis.variable.name}@{axis.levels[0].name}"


def every_candidate(
    census: Census, specs: Sequence[TableSpec], *, of: str, secret: Path | Secret | None = None
) -> tuple[tuple[Candidate, ...], tuple[tuple[str, str], ...]]:
    """All methods that can be made for these tables, and the others with the reason.

    Args:
        census: Whose tables.
        specs: The tables.
        of: What is counted.
        secret: The office secret or its file.
    """
    candidates: list[Candidate] = []
    left_out: list[tuple[str, str]] = []
    for text in method_texts(specs):
        try:
            (candidate,) = method_candidates(census, [text], of=of, secret=secret)
        except SdcensusError as error:
            left_out.append((text, str(error)))
            continue
        candidates.append(replace(candidate, optional=True))
    return tuple(candidates), tuple(left_out)
