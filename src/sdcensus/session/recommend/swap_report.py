"""The report of changes of records that were tried against attacks. For the office."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sdcensus.model.quantities import decimal_text, number_text, share_text
from sdcensus.model.sentences import Value, speak
from sdcensus.report.lab.page import lab_page
from sdcensus.report.lab.results import LabLine, LabReport, as_csv
from sdcensus.report.new_folder import write_new_folder
from sdcensus.session.attack.residents import COUNTRY
from sdcensus.session.attack.swapped import SwappedAttacks, SwapTrial
from sdcensus.session.census.census import Census

PAGE, LINES = "swapping.html", "swapping.csv"
_SIZES = (1, 2, 3)


def lab_report(lab: SwappedAttacks, census: Census, language: str | None) -> LabReport:
    """What trials have shown, line by line and in sentences."""
    trials = [*lab.trials, *([lab.contrast] if lab.contrast is not None else [])]
    smallest = lab.smallest
    return LabReport(
        census=census.schema.census.name_in(language),
        limit=lab.limit,
        tables=lab.trials[0].tables,
        lines=tuple(line for trial in trials for line in _lines(trial)),
        chosen=None if smallest is None else smallest.step,
        findings=tuple(_findings(lab, language)),
        language=language,
    )


def write_lab(report: LabReport, folder: str | Path) -> tuple[Path, ...]:
    """Write the page and the lines to a new folder that only its owner can read."""
    contents = {PAGE: lab_page(report).encode("utf-8"), LINES: as_csv(report)}
    return write_new_folder(folder, contents)


def _lines(trial: SwapTrial) -> Iterator[LabLine]:
    """A line for each level and size; one without claims where there are none at all."""
    shown = [(level, size) for level in trial.levels for size in _SIZES if trial.of(level, size)[0]]
    for level, size in shown or [(COUNTRY, 1)]:
        claims, right = trial.of(level, size)
        yield LabLine(
            change=trial.step,
            measured=not trial.foreseen,
            touched=trial.touched,
            touched_share=trial.share_touched,
            level=level,
            size=size,
            claims=claims,
            right=right,
            worst=trial.worst_below_country,
            mean_distance=trial.mean_absolute_distance,
            hellinger=trial.hellinger,
            combined=trial.combined,
        )


def _findings(lab: SwappedAttacks, language: str | None) -> Iterator[str]:
    def word(key: str, **values: Value) -> str:
        return speak(f"combined.lab.{key}", language, **values)

    limit = share_text(lab.limit, language, digits=0)
    first, smallest = lab.trials[0], lab.smallest
    if smallest is None:
        yield word("not_enough", limit=limit)
    elif smallest is first:
        yield word("as_it_is", limit=limit)
    else:
        yield word("smallest", limit=limit, step=smallest.step)
        if smallest.touched is not None:
            share = share_text(smallest.share_touched, language)
            yield word("touches", n=number_text(smallest.touched, language), share=share)
        if lab.milder is not None:
            worst = share_text(lab.milder.worst_below_country, language)
            yield word("milder", step=lab.milder.step, share=worst)
        yield word(
            "cost",
            distance=decimal_text(smallest.mean_absolute_distance, 3, language),
            before=decimal_text(first.mean_absolute_distance, 3, language),
            hellinger=decimal_text(smallest.hellinger, 3, language),
            hellinger_before=decimal_text(first.hellinger, 3, language),
        )
    if lab.out_of_reach:
        yield word("cannot", levels=", ".join(lab.out_of_reach))
    yield word("country")
    if lab.contrast is not None:
        yield word(
            "contrast",
            step=lab.contrast.step,
            before=share_text(first.worst(COUNTRY), language),
            after=share_text(lab.contrast.worst(COUNTRY), language),
            distance=decimal_text(lab.contrast.mean_absolute_distance, 3, language),
        )
    if any(trial.foreseen for trial in lab.trials):
        yield word("outlook")
