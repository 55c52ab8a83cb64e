"""The tables that a study is asked for, and studies of tables of sums."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import check_language, listed
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.cli.table.assessed import block_table
from sdcensus.errors import SpecError
from sdcensus.model.quantities import bytes_text, duration_text
from sdcensus.model.sentences import speak

if TYPE_CHECKING:
    from sdcensus.model.spec.table_spec import TableSpec
    from sdcensus.report.study.results import Candidate
    from sdcensus.session.census.census import Census


@dataclass(frozen=True, slots=True)
class TablesAsked:
    """The tables of a study as they are asked for: the first axes of --by, or a list."""

    by: str
    ways: str
    table: tuple[str, ...]
    tables: Path | None
    of: str
    where: str | None
    measure: str

    @property
    def are_sums(self) -> bool:
        """Whether sums are asked for."""
        from sdcensus.model.spec.measures import MeasureOf

        return MeasureOf.parse(self.measure).measure.is_sum

    def specs(self, census: Census, *, optional: bool = False) -> tuple[TableSpec, ...]:
        """The tables; none for a study with its own."""
        from sdcensus.session.study.tables import listed_tables, prefixes, read_tables

        universe = self.where.strip() or None if self.where else None
        if self.table or self.tables is not None:
            for name, given in {"--by": self.by, "--ways": self.ways}.items():
                if given:
                    raise SpecError(
                        f"{name} makes tables itself, and --table and --tables name them. Give one"
                        " of the two."
                    )
            texts = [*self.table, *(read_tables(self.tables) if self.tables is not None else ())]
            return listed_tables(census, texts, of=self.of, universe=universe, measure=self.measure)
        if not listed(self.by) and optional:
            return ()
        if not listed(self.by):
            raise SpecError(
                "Name the tables of the study: --by AXES, --table AXES or --tables FILE."
            )
        return prefixes(
            census,
            listed(self.by),
            _numbers(self.ways),
            of=self.of,
            universe=universe,
            measure=self.measure,
        )


def _numbers(text: str) -> list[int] | None:
    names = listed(text)
    if not names:
        return None
    for name in names:
        if not name.isdecimal():
            raise SpecError(f"--ways takes whole numbers, such as 2,3,4, and not {name!r}.")
    return [int(name) for name in names]


class MethodsAsked(Protocol):
    """The methods of a study as they are asked for."""

    def candidates(
        self, census: Census, specs: tuple[TableSpec, ...], output: Output
    ) -> tuple[tuple[TableSpec, ...], tuple[Candidate, ...], tuple[tuple[str, str], ...]]:
        """Tables, methods, and methods that are left out."""


def _refuse_for_sums(given: Sequence[str]) -> None:
    """Refuse what is for counts alone."""
    if given:
        raise SpecError(
            f"{', '.join(given)}: for tables of counts. On tables of sums name methods, such as"
            " --method 'cell-key-sums noise_share=0.2', or --study methods."
        )


def refuse_for_counts(within: float | None) -> None:
    """Refuse what is for sums alone."""
    if within is not None:
        raise SpecError(
            "--within is for tables of sums (--measure 'sum(income)'): how near an estimate of the"
            " largest contributor is that counts. Leave it out."
        )


@dataclass(frozen=True, slots=True)
class SumStudyTarget:
    """Where a study of sums goes, and how it is told; the percentage that counts as near."""

    folder: Path
    within: float | None
    language: str | None
    output: Output


def say_written(output: Output, written: Sequence[Path], language: str | None) -> None:
    """Say where a study was written."""
    page, *others = written
    size = bytes_text(page.stat().st_size)
    wrote = speak("study.wrote", language, page=str(page), size=size, n=len(others))
    output.say(f"\n{wrote}")


def compare_sums(
    census: Census,
    tables: TablesAsked,
    asked: MethodsAsked,
    target: SumStudyTarget,
    for_counts: Mapping[str, object],
) -> None:
    """Compare methods on tables of sums, write the study, and say what was found.

    Args:
        census: Whose tables.
        tables: Which.
        asked: Which methods.
        target: Where the study goes.
        for_counts: What is for counts alone, by its name, with what was said.
    """
    from sdcensus.report.magnitude.blocks import methods_block
    from sdcensus.report.magnitude.files import write_sum_study
    from sdcensus.report.magnitude.words import study_lead, study_sentences
    from sdcensus.session.study.sums import compare_sums as run

    _refuse_for_sums([name for name, given in for_counts.items() if given])
    output, language = target.output, target.language
    check_language(census, language)
    specs = tables.specs(census)
    _, candidates, left_out = asked.candidates(census, specs, output)
    began = time.perf_counter()
    with all_or_nothing(), Stages(output, "counting") as stages:
        study = run(
            census,
            specs,
            candidates,
            within=target.within,
            left_out=left_out,
            language=language,
            progress=stages,
        )
        written = write_sum_study(study, target.folder, progress=stages)
    took = duration_text(time.perf_counter() - began)
    output.say(speak("sums.page.study_title", language, census=study.census), style="bold")
    output.say(f"{study_lead(study)} {took}")
    table = study.tables[-1]
    block = methods_block(study, table, language)
    output.say(f"\n{table.spec.title}: {block.title(language)}", style="bold")
    output.show(block_table(block, language))
    for sentence in study_sentences(study, table):
        output.say(f"  {sentence}")
    for name, reason in study.left_out:
        output.note(f"{name}: {reason}")
    say_written(output, written, language)
