"""``sdcensus assess``: what a table gives away, what its readers lose, on a page to be signed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdcensus.cli.shared.console import Output, Stages, typed
from sdcensus.cli.shared.method_options import (
    ALL_OPTIONS,
    DEFAULT_METHOD,
    Then,
    with_method_options,
)
from sdcensus.cli.shared.options import (
    Axes,
    CensusMeasureOption,
    Confidential,
    Language,
    Quiet,
    SecretFile,
    SmallestGroup,
    Units,
    Where,
    check_language,
    examples,
    listed,
)
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.cli.table.assessed import say_assessment
from sdcensus.errors import OutputError, SpecError
from sdcensus.model.method.registry import Part, built_in
from sdcensus.model.quantities import bytes_text, duration_text, written_as
from sdcensus.model.sentences import speak

if TYPE_CHECKING:
    from sdcensus.model.method.parameter import MethodOptions
    from sdcensus.model.progress import Progress
    from sdcensus.report.magnitude.results import AnyAssessment
    from sdcensus.session.assess.options import AssessOptions, Surroundings
    from sdcensus.session.census.census import Census

#: How files of plans end; a store is a folder.
PLANS = (".toml", ".xlsx", ".xlsm")
#: How a table of sums is protected where nothing is said, and how near an estimate is that counts.
DEFAULT_FOR_SUMS = "cell-key-sums"
WITHIN = 10

EXAMPLES = examples(
    "sdcensus assess census.store --by ed@parish,sex --out check",
    "sdcensus assess census.store --by ed,religion --scheme CP4",
    "sdcensus assess census.store --by ed@parish,sex --measure 'sum(income)'",
    "sdcensus assess census.store --published table.csv",
    "sdcensus assess plan.toml --out check",
    "sdcensus assess plan.toml --table age-by-parish",
    "sdcensus assess census.store --by ed --policy policy.toml",
    "sdcensus assess census.store --by ed --registry published",
)


@with_method_options(ALL_OPTIONS)
def assess(
    source: Annotated[
        Path,
        typer.Argument(metavar="STORE|PLAN", help="A census store, or a plan (plan.toml)."),
    ],
    by: Axes = "",
    of: Units = "persons",
    where: Where = None,
    measure: CensusMeasureOption = None,
    published: Annotated[
        Path | None,
        typer.Option(
            "--published",
            metavar="FILE",
            help="Assess this published .csv or .parquet file instead of protecting a table.",
        ),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            metavar="NAME",
            help="With a plan: only this table. Can be given several times.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help=f"How the table is protected: {', '.join(built_in(Part.METHOD))}."
            f" {DEFAULT_METHOD} if not given.",
        ),
    ] = None,
    secret: SecretFile = None,
    *,
    method_options: MethodOptions,
    then: Then = "",
    smallest_group: SmallestGroup = None,
    registry: Annotated[
        Path | None,
        typer.Option(
            "--registry",
            metavar="FOLDER",
            help="Take the table together with everything that this registry holds.",
        ),
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option(
            "--original",
            metavar="STORE",
            help="The store from which a derived one was made: what is published is compared with"
            " its records as well.",
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="Take it together with every table that this policy opens to the public.",
        ),
    ] = None,
    recovery_limit: Annotated[
        float | None,
        typer.Option(
            "--recovery-limit",
            metavar="CHANCE",
            help="The chance of finding a count by averaging that is accepted; that of the policy"
            " if not given.",
        ),
    ] = None,
    sensitive: Annotated[
        str,
        typer.Option(
            "--sensitive",
            metavar="VARIABLES",
            help="The variables that tell something about people, comma-separated; those that the"
            " schema calls sensitive if not given, else each in turn.",
        ),
    ] = "",
    coalition: Annotated[
        int,
        typer.Option(
            "--coalition",
            metavar="N",
            help="How many members of a group may put together what they know.",
            min=0,
        ),
    ] = 1,
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            metavar="PERCENT",
            help="For a table of sums: how near an estimate of the largest contributor is that"
            " counts. 10 if not given.",
        ),
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--no-exact",
            help="Find intervals by linear programs; by default for small tables only.",
        ),
    ] = None,
    compare: Annotated[
        bool | None,
        typer.Option(
            "--compare/--no-compare",
            help="Show other methods on the same table; by default unless it is very large.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="Write the page to be signed, a public page and the evaluation sheet to a new"
            " folder that only you can open.",
        ),
    ] = None,
    date: Annotated[
        str, typer.Option("--date", metavar="DATE", help="A date for the pages; no clock is read.")
    ] = "",
    confidential: Confidential = False,
    language: Language = None,
    quiet: Quiet = False,
) -> None:
    """Measure what a table would give away, and what its readers would lose.

    Figures are computed from true counts and are for the office only. Single cells are named on
    the screen only if --confidential is said. Files can be read by their owner only; the public
    page among them holds no figure that was computed from a true count.
    """
    from sdcensus.session.assess.options import AssessOptions, Surroundings

    output = Output(quiet=quiet)
    if out is not None and (out.exists() or out.is_symlink()):
        raise OutputError(f"{out} already exists. Choose another folder or remove it first.")
    if out is not None:
        from sdcensus.report.charts import require_libraries

        require_libraries()
    options = AssessOptions(
        sensitive=tuple(listed(sensitive)) or None,
        coalition=coalition,
        compare=compare,
        exact=exact,
        language=language,
        recovery_limit=recovery_limit,
        within=WITHIN if within is None else within,
    )
    around = Surroundings(
        registry=registry, policy=policy, smallest_group=smallest_group, original=original
    )
    chosen = _Chosen(method, listed(then), method_options, secret)
    began = time.perf_counter()
    skipped: tuple[str, ...] = ()
    question = _Question(by, of, where, measure, published, sums_only=within is not None)
    with all_or_nothing(), Stages(output, "reading") as stages:
        if source.suffix.lower() in PLANS:
            if by or where or measure or published is not None or chosen.anything:
                raise SpecError(
                    "A plan says itself which tables there are and how they are protected: leave"
                    " --by, --where, --measure, --published and the options of methods out."
                )
            if original is not None:
                raise SpecError("--original is for a table of a store: sdcensus assess STORE --by.")
            from sdcensus.session.assess.planned import assess_plan

            plan = assess_plan(source, table or [], options, around, secret=secret, progress=stages)
            assessments, skipped = list(plan.tables), plan.skipped
            question.check(sums=any(each.table.spec.amount for _, each in assessments))
        elif table:
            raise SpecError("--table names a table of a plan: sdcensus assess plan.toml.")
        else:
            assessments = [_of_store(source, question, chosen, options, around, stages)]
        again = _typed(source, question, table or [], chosen, options, around)
        written = _write(assessments, out, again, date, language, stages)
    took = time.perf_counter() - began
    for name, assessment in assessments:
        title = name if len(assessments) > 1 else ""
        say_assessment(output, title, assessment, language, examples=confidential)
    for sentence in skipped:
        output.note(speak("assess.console.not_assessed", language, why=sentence))
    for path in written:
        key = "wrote_public" if ".public." in path.name else "wrote"
        size = written_as(bytes_text(path.stat().st_size), language)
        output.say(speak(f"assess.console.{key}", language, path=str(path), size=size))
    if out is None:
        output.say(speak("assess.console.out", language))
    time_taken = written_as(duration_text(took), language)
    output.note(speak("assess.console.office", language, took=time_taken))


@dataclass(frozen=True, slots=True, repr=False)
class _Chosen:
    """What was said about the method."""

    method: str | None
    steps: list[str]
    options: MethodOptions
    secret: Path | None

    def __repr__(self) -> str:
        return f"<_Chosen {self.method}>"

    @property
    def anything(self) -> bool:
        """Whether anything was said about it."""
        return self.method is not None or bool(self.steps) or bool(self.options.given())

    def build(self, census: Census, of: str, *, sums: bool = False) -> Any:
        """The method, which commands only pass on."""
        from sdcensus.session.protect.table import build_method

        return build_method(
            self.method or (DEFAULT_FOR_SUMS if sums else DEFAULT_METHOD),
            census,
            of=of,
            then=self.steps,
            options=self.options,
            secret=self.secret,
        )


@dataclass(frozen=True, slots=True)
class _Question:
    """Which table of a store: its axes, what it counts, where; or a published file."""

    by: str
    of: str
    where: str | None
    measure: str | None
    published: Path | None
    sums_only: bool = False

    def check(self, *, sums: bool) -> None:
        """Refuse what is said about sums where there is none."""
        if self.sums_only and not sums:
            raise SpecError(
                "--within is for tables of sums (--measure 'sum(income)'): how near an estimate of"
                " the largest contributor is that counts. Leave it out."
            )


def _of_store(
    store: Path,
    question: _Question,
    chosen: _Chosen,
    options: AssessOptions,
    around: Surroundings,
    progress: Progress,
) -> tuple[str, AnyAssessment]:
    from sdcensus.session.assess.planned import file_name
    from sdcensus.session.assess.tables import assess_published, assess_spec
    from sdcensus.session.census.census import open_store
    from sdcensus.session.protect.table import published_spec

    by, of, published = question.by, question.of, question.published
    census = open_store(store)
    check_language(census, options.language)
    if published is not None:
        if by or question.where or question.measure:
            raise SpecError(
                "A published file says itself what it shows: leave --by out, --where and --measure"
                " too."
            )
        method = chosen.build(census, of) if chosen.anything else None
        assessment = assess_published(
            census, published, replace(options, method=method), around, progress=progress
        )
        question.check(sums=assessment.table.spec.amount is not None)
        return file_name(published.stem), assessment
    measure = question.measure or "count"
    spec = published_spec(census, *listed(by), of=of, where=question.where, measure=measure)
    question.check(sums=spec.amount is not None)
    method = chosen.build(census, of, sums=spec.amount is not None)
    return file_name(spec.title), assess_spec(
        census, spec, method, options, around, progress=progress
    )


def _write(
    assessments: list[tuple[str, AnyAssessment]],
    out: Path | None,
    reproduce: str,
    date: str,
    language: str | None,
    progress: Progress,
) -> list[Path]:
    if out is None:
        return []
    from sdcensus.report.assessment.files import AssessmentReport, write_reports

    progress("writing", 0.0)
    reports = [
        (name, AssessmentReport(assessment, reproduce, date, language))
        for name, assessment in assessments
    ]
    return write_reports(reports, out)


def _typed(
    source: Path,
    question: _Question,
    tables: list[str],
    chosen: _Chosen,
    options: AssessOptions,
    around: Surroundings,
) -> str:
    """The command that makes it again, for the confidential page: with all its parameters."""
    of, published = question.of, question.published
    words: list[tuple[str, object]] = [("by", question.by), ("of", "" if of == "persons" else of)]
    words += [
        ("where", question.where),
        ("measure", question.measure),
        ("published", published and published.name),
    ]
    words += [("table", table) for table in tables]
    words += [("method", chosen.method), ("then", ",".join(chosen.steps))]
    for name, value in chosen.options.given().items():
        if name not in ALL_OPTIONS:
            words.append(("set", f"{name}={value}"))
            continue
        each = value if isinstance(value, tuple) else (value,)
        words += [(name.replace("_", "-"), part) for part in each]
    words += [("registry", around.registry), ("policy", around.policy)]
    words += [("recovery-limit", options.recovery_limit)]
    words += [("within", f"{options.within:g}" if options.within != WITHIN else None)]
    words += [("original", around.original)]
    words += [("smallest-group", around.smallest_group)]
    parts = [f"sdcensus assess {typed(source.name)}"]
    for name, value in words:
        if value is True:
            parts.append(f"--{name}")
        elif value not in (None, "", False):
            text = value.name if isinstance(value, Path) else str(value)
            parts.append(f"--{name} {typed(text)}")
    return " ".join(parts)
