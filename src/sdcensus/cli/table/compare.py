"""``sdcensus compare``: methods on the office's own tables, as the founding study compared them."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table
from sdcensus.cli.shared.options import (
    CensusMeasureOption,
    Language,
    Quiet,
    SecretFile,
    SmallestGroup,
    Store,
    Units,
    Where,
    check_language,
    complete_axes,
    examples,
    listed,
)
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.cli.table.study_tables import (
    SumStudyTarget,
    TablesAsked,
    compare_sums,
    refuse_for_counts,
    say_written,
)
from sdcensus.errors import UnknownName
from sdcensus.model.quantities import NOTHING, duration_text, share_text
from sdcensus.model.sentences import speak
from sdcensus.model.vocabulary import NoiseDraw, RiskAxis

if TYPE_CHECKING:
    from sdcensus.model.spec.table_spec import TableSpec
    from sdcensus.report.study.results import Candidate, Study
    from sdcensus.session.census.census import Census

EXAMPLES = examples(
    "sdcensus compare census.store --by ed@parish,sex,age --out study",
    "sdcensus compare census.store --by ed@parish,sex --schemes CP1,CP3 --out study",
    "sdcensus compare census.store --by age,sex,ed --ways 2,3 --out study",
    "sdcensus compare census.store --table ed,sex --table age --out study",
    "sdcensus compare census.store --by ed,sex --method light-touch --out study",
    "sdcensus compare c.store --by ed --method 'systematic-sample | cell-key' --out s",
    "sdcensus compare c.store --by ed --grid 'max_deviation=3,4 variance=1,2' --out s",
    "sdcensus compare census.store --study ons --secret office.secret --out study",
    "sdcensus compare c.store --by ed,sex --study methods --secret s.secret --out s",
    "sdcensus compare c.store --by ed,sex --measure 'sum(income)' --secret s --out s",
    "sdcensus compare census.store --tables tables.txt --lookups hashed --out study",
)


class StudyPreset(StrEnum):
    """Methods that can be asked for by one word: those of a printed study, or all there are."""

    ONS = "ons"
    METHODS = "methods"


def compare(
    store: Store,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FOLDER", help="A new folder, for its owner only."),
    ],
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="AXES",
            help="Axes, comma-separated: the tables are those by the first two, three ... of them.",
            autocompletion=complete_axes,
        ),
    ] = "",
    ways: Annotated[
        str,
        typer.Option(
            "--ways",
            metavar="NUMBERS",
            help="How many axes the tables have, comma-separated; 2 to 5 if not given.",
        ),
    ] = "",
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            metavar="AXES",
            help="A table of your own, instead of --by. Can be given several times.",
            autocompletion=complete_axes,
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--tables",
            metavar="FILE",
            help="Tables of your own from a text file: the axes of one in a line.",
        ),
    ] = None,
    schemes: Annotated[
        str,
        typer.Option(
            "--schemes", metavar="NAMES", help="Schemes, comma-separated; all if not given."
        ),
    ] = "",
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="TEXT",
            help="Also a method as it is, with what is said about it: 'random-rounding base=5'."
            " Changes of records stand in front: 'random-swap rate=0.1 | cell-key'. Can be given"
            " several times.",
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="TEXT",
            help="Every combination of values of parameters, over each --method or over cell-key:"
            " 'rate=0.02,0.05 max_deviation=3,4 variance=1,2 blocked=0,2'.",
        ),
    ] = None,
    study_name: Annotated[
        StudyPreset | None,
        typer.Option(
            "--study",
            help="ons: the methods of a printed study, swapping, semi-controlled rounding and cell"
            " perturbation of the ONS (2011), on its tables or on yours. methods: every method of"
            " this package side by side, on your tables.",
        ),
    ] = None,
    risk: Annotated[
        RiskAxis,
        typer.Option(
            "--risk",
            help="What stands for risk on the maps and on the frontier: R, the composite risk; DR,"
            " untouched records of small cells; claim, the chance that a claim about a published 1,"
            " 2 or 3 is right.",
        ),
    ] = RiskAxis.COMPOSITE,
    lookups: Annotated[
        str,
        typer.Option(
            "--lookups",
            metavar="NAMES",
            help="How noise is drawn, comma-separated: ascending, independent, hashed. All if not"
            " given; hashed needs the secret.",
        ),
    ] = "",
    zeros_known: Annotated[
        bool,
        typer.Option(
            "--zeros-known",
            help="The intruder also knows that empty cells are published as 0.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Compare a grid of more than a hundred points as well.")
    ] = False,
    smallest_group: SmallestGroup = None,
    of: Units = "persons",
    where: Where = None,
    measure: CensusMeasureOption = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            metavar="PERCENT",
            help="For tables of sums: how near an estimate of the largest contributor is that"
            " counts. 10 if not given.",
        ),
    ] = None,
    secret: SecretFile = None,
    language: Language = None,
    quiet: Quiet = False,
) -> None:
    """Compare methods on tables of a census, and write a study for the office.

    Each table is protected by each scheme, and by each method that you name. What a single table
    gives away stands beside what users lose: a page with maps, a workbook and csv files, in the
    layout of the founding study (ECLAC 2020). All of it is computed from true counts: only you can
    read the folder.
    """
    from sdcensus.report.study.files import check_study_target, write_study
    from sdcensus.report.study.words import say
    from sdcensus.session.census.census import open_store
    from sdcensus.session.census.secret_file import find_secret
    from sdcensus.session.study.candidates import scheme_candidates
    from sdcensus.session.study.study import compare as run

    output = Output(quiet=quiet)
    check_study_target(out)
    tables_of = TablesAsked(by, ways, tuple(table or ()), tables, of, where, measure or "count")
    asked = _Asked(tuple(method or ()), tuple(grid or ()), study_name, of, secret, yes)
    if tables_of.are_sums:
        for_counts = {
            "--schemes": schemes,
            "--lookups": lookups,
            "--zeros-known": zeros_known,
            "--smallest-group": smallest_group,
            "--risk": risk is not RiskAxis.COMPOSITE,
            "--study ons": study_name is StudyPreset.ONS,
        }
        target = SumStudyTarget(out, within, language, output)
        compare_sums(open_store(store), tables_of, asked.of_sums(), target, for_counts)
        return
    refuse_for_counts(within)
    plain = asked.plain and not schemes
    chosen = _lookups(lookups, has_secret=secret is not None)
    needed = secret is not None or NoiseDraw.HASHED in chosen
    candidates = scheme_candidates(
        scheme_names(schemes) or (_all_schemes() if plain else ()),
        [noise_draw.value for noise_draw in chosen],
        secret=find_secret(secret) if needed else None,
        zeros_known=zeros_known,
    )
    census = open_store(store)
    check_language(census, language)
    specs = tables_of.specs(census, optional=study_name is StudyPreset.ONS)
    specs, more, left_out = asked.candidates(census, specs, output)
    candidates += more
    changes_records = any(candidate.before for candidate in candidates)
    began = time.perf_counter()
    with all_or_nothing(), Stages(output, "counting") as stages:
        study = run(
            census,
            specs,
            candidates,
            smallest_group=smallest_group,
            secret=find_secret(secret) if changes_records else None,
            left_out=left_out,
            preset=study_name.value if study_name else "",
            risk_axis=risk,
            language=language,
            progress=stages,
        )
        written = write_study(study, out, progress=stages)
    _say(output, study, time.perf_counter() - began)
    say_written(output, written, language)
    unused = unused_axes(listed(by), max(len(spec.axes) for spec in specs))
    if unused:
        output.note(say(study, "unused", axes=", ".join(unused)))
    if NoiseDraw.HASHED not in chosen and not lookups and study.draws:
        output.note(say(study, "hashed_left_out"))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for beside schemes."""

    methods: tuple[str, ...]
    grid: tuple[str, ...]
    preset: StudyPreset | None
    of: str
    secret: Path | None
    agreed: bool

    @property
    def plain(self) -> bool:
        """Whether schemes are meant where none is named."""
        return not self.grid and self.preset is None

    def of_sums(self) -> _Asked:
        """The same for tables of sums: methods for them where none is named."""
        from sdcensus.session.study.sums import SCHEMES

        return replace(self, methods=SCHEMES) if self.plain and not self.methods else self

    def candidates(
        self, census: Census, specs: tuple[TableSpec, ...], output: Output
    ) -> tuple[tuple[TableSpec, ...], tuple[Candidate, ...], tuple[tuple[str, str], ...]]:
        """The tables, the methods that are no schemes, and points of the grid that are left out."""
        from sdcensus.session.study.candidates import method_candidates
        from sdcensus.session.study.every_method import every_candidate
        from sdcensus.session.study.grid import check_points, grid_candidates, read_grid
        from sdcensus.session.study.ons import ons_candidates, ons_specs

        every: tuple[Candidate, ...] = ()
        left_out: tuple[tuple[str, str], ...] = ()
        if self.preset is StudyPreset.ONS:
            specs = ons_specs(census, specs, of=self.of)
            every += ons_candidates(census, specs, of=self.of, secret=self.secret)
        elif self.preset is StudyPreset.METHODS:
            every, left_out = every_candidate(census, specs, of=self.of, secret=self.secret)
        if not self.grid:
            every += method_candidates(census, self.methods, of=self.of, secret=self.secret)
            return specs, every, left_out
        grid = read_grid(self.grid)
        number = grid.points * max(1, len(self.methods))
        check_points(number, agreed=self.agreed)
        points, impossible = grid_candidates(
            census, grid, self.methods, of=self.of, secret=self.secret
        )
        records = len({candidate.before for candidate in points if candidate.before})
        output.note(speak("study.points", None, n=number, records=records))
        return specs, every + points, (*left_out, *impossible)


def scheme_names(text: str) -> list[str]:
    """Names of schemes in a comma-separated list; a comma in brackets belongs to a name.

    Examples:
        >>> scheme_names("CP1, CP3(1,2),rr5")
        ['CP1', 'CP3(1,2)', 'rr5']
    """
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def unused_axes(by: list[str], most: int) -> list[str]:
    """Axes that were named, and stand behind those of the largest table.

    Examples:
        >>> unused_axes(["ed", "sex", "age"], 2), unused_axes([], 2)
        (['age'], [])
    """
    return by[most:]


def _all_schemes() -> tuple[str, ...]:
    from sdcensus.session.perturbation import SCHEMES

    return tuple(SCHEMES)


def _lookups(text: str, *, has_secret: bool) -> list[NoiseDraw]:
    names = listed(text)
    if not names:
        return [
            noise_draw
            for noise_draw in NoiseDraw
            if has_secret or noise_draw is not NoiseDraw.HASHED
        ]
    noise_draws = []
    for name in names:
        try:
            noise_draws.append(NoiseDraw(name.lower()))
        except ValueError:
            raise UnknownName("look-up of a study", name, known=list(NoiseDraw)) from None
    return list(dict.fromkeys(noise_draws))


def _number(study: Study, value: float | None, digits: int) -> str:
    from sdcensus.report.study.words import fixed

    return NOTHING if value is None else fixed(study, value, digits)


def _say(output: Output, study: Study, took: float) -> None:
    """The most detailed table on the console, and the findings in words."""
    from sdcensus.report.study.frontier import shown_results
    from sdcensus.report.study.published import published_for
    from sdcensus.report.study.withheld import withheld_figures
    from sdcensus.report.study.words import by_axes, called, drawn, say, sentences

    table, language = study.tables[-1], study.language
    output.say(say(study, "printed_title", census=study.census), style="bold")
    number = len(study.tables)
    tables = say(study, "facts.numbered" if number > 1 else "facts.numbered_one", n=number)
    methods = say(study, "facts.methods", n=len(study.names))
    output.say(f"{tables}, {methods}, {duration_text(took)}")
    title = called(study, table)
    if study.main is not None:
        title += ", " + say(study, "facts.by_draw", draw=drawn(study, study.main))
    output.say(f"\n{by_axes(study, table)} ({title})", style="bold")
    shown = plain_table()
    method = say(study, "head.method")
    shown.add_column(f"{method}: {study.grid_names}" if study.has_grid else method)
    # A console has room for one of the two.
    last = "hidden_printed" if study.withholds else "hellinger"
    for name in ("given_away", "of_small", "risk_printed", "change_printed", last):
        shown.add_column(say(study, f"head.{name}"), justify="right")
    for main in shown_results(study, table):
        hidden = (withheld_figures(main)["withheld_cells_pct"] or 0.0) / 100
        shown.add_row(
            main.candidate.label,
            share_text(main.share, language, digits=2),
            share_text(main.small_share, language, digits=2),
            _number(study, main.risk, 3),
            _number(study, main.loss, 2),
            share_text(hidden, language) if study.withholds else _number(study, main.hellinger, 3),
        )
    output.show(shown)
    output.say()
    for head, text in sentences(study, published_for(study)):
        output.say(f"  {head} {text}")
    if not study.has_grid:  # points of a grid stand in the workbook: they may be many
        for name, reason in study.left_out:
            output.note(f"{name}: {reason}")
