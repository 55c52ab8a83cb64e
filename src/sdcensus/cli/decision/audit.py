"""``sdcensus audit``: what anybody can compute about the cells that tables withhold."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.decision.audited import say_audited
from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import Quiet, SpokenLanguage, check_spoken, examples, listed
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import Refused, SpecError
from sdcensus.model.quantities import bytes_text

if TYPE_CHECKING:
    from sdcensus.session.audit import ArgusFiles, AuditOptions, Columns

EXAMPLES = examples(
    "sdcensus audit protected.csv",
    "sdcensus audit protected.csv --hrc region=region.hrc --out audit.html",
    "sdcensus audit table.tab --rda table.rda --hst before.hst",
    "sdcensus audit batch.arb",
    "sdcensus audit published/ --percent 5 --out audit.xlsx",
    "sdcensus audit a.csv b.csv c.csv --atoms",
    "sdcensus audit t.csv --codes region,size --value turnover --status flag",
)


def audit(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILES...",
            help="Tables of which cells are withheld: .csv or .parquet of any tool, .tab or .csv of"
            " tau-ARGUS with --rda, its batch files (.arb), or a folder of published tables."
            " All are audited together.",
            show_default=False,
        ),
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option("--published", metavar="FOLDER", help="A folder of published tables."),
    ] = None,
    rda: Annotated[
        Path | None,
        typer.Option("--rda", metavar="FILE", help="tau-ARGUS: the metadata of the tables."),
    ] = None,
    hrc: Annotated[
        list[str] | None,
        typer.Option(
            "--hrc",
            metavar="COLUMN=FILE",
            help="The hierarchy of a column: a code in each line, behind one @ for each level."
            " Repeat it for several columns.",
        ),
    ] = None,
    hst: Annotated[
        Path | None,
        typer.Option("--hst", metavar="FILE", help="tau-ARGUS: what was said of cells before."),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option("--separator", metavar="SIGN", help="What separates the fields of --hst."),
    ] = None,
    codes: Annotated[
        str,
        typer.Option("--codes", metavar="COLUMNS", help="The columns of codes. None: found."),
    ] = "",
    value: Annotated[
        str | None, typer.Option("--value", metavar="COLUMN", help="The column of values.")
    ] = None,
    status: Annotated[
        str | None, typer.Option("--status", metavar="COLUMN", help="The column of statuses.")
    ] = None,
    shown: Annotated[
        str,
        typer.Option("--shown", metavar="WORDS", help="Statuses of cells that are shown."),
    ] = "",
    withheld: Annotated[
        str,
        typer.Option("--withheld", metavar="WORDS", help="Statuses of cells that are withheld."),
    ] = "",
    total: Annotated[
        list[str] | None,
        typer.Option(
            "--total",
            metavar="COLUMN=CODE",
            help="The code of the total of a column, where it is not Total or _T.",
        ),
    ] = None,
    absent: Annotated[
        str,
        typer.Option(
            "--absent",
            metavar="WHAT",
            help="Combinations that a file does not list: 'zero' or 'withheld'. None: withheld; in"
            " tables of tau-ARGUS, zero.",
        ),
    ] = "",
    percent: Annotated[
        str,
        typer.Option(
            "--percent",
            metavar="P",
            help="Nearly disclosed: the middle of the interval is off by at most P percent.",
        ),
    ] = "10",
    width: Annotated[
        str,
        typer.Option(
            "--width", metavar="N", help="Nearly disclosed: the interval is narrower than this."
        ),
    ] = "0",
    tolerance: Annotated[
        str,
        typer.Option(
            "--tolerance",
            metavar="N",
            help="Go on although sums of published values fail by up to N, as they are rounded.",
        ),
    ] = "0",
    lowest: Annotated[
        str,
        typer.Option(
            "--lowest", metavar="N", help="The least that a cell can be; none: it may be negative."
        ),
    ] = "0",
    withheld_from: Annotated[
        int | None,
        typer.Option(
            "--withheld-from",
            metavar="N",
            min=0,
            help="Everybody knows that no withheld cell is below N: 1 where empty cells are shown.",
        ),
    ] = None,
    withheld_below: Annotated[
        int | None,
        typer.Option(
            "--withheld-below",
            metavar="N",
            min=1,
            help="Everybody knows that a rule withholds cells below N.",
        ),
    ] = None,
    atoms: Annotated[
        bool,
        typer.Option(
            "--atoms/--sums",
            help="Linked tables: also use that every combination of their codes is at least 0, up"
            " to 100,000 of them. Narrower, and slower.",
        ),
    ] = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole-numbers",
            help="Move bounds to where a table of whole numbers reaches them. Slower.",
        ),
    ] = False,
    separately: Annotated[
        bool, typer.Option("--separately", help="Audit every table by itself.")
    ] = False,
    proofs: Annotated[
        int,
        typer.Option(
            "--proofs",
            metavar="N",
            min=0,
            help="Name for so many cells the published cells that disclose them.",
        ),
    ] = 100,
    most: Annotated[
        int, typer.Option("--show", metavar="N", min=0, help="Show the N worst cells.")
    ] = 10,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write all withheld cells to a new .html, .xlsx or .csv file that only you can"
            " read. Repeat it for several.",
        ),
    ] = None,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Find the smallest and the largest value of every withheld cell, and which are disclosed.

    Works on tables of any tool. The exit code is 4 if a withheld cell can be computed exactly.
    The report says how: it is for the office alone.
    """
    from sdcensus.report.audit.files import check_audit_target, write_audit
    from sdcensus.session.audit import CellStatus, audit_tables, read_tables

    output = Output(quiet=quiet)
    check_spoken(language)
    paths = [*(files or []), *([published] if published is not None else [])]
    if not paths:
        raise SpecError("Name a table, or a folder of published tables.")
    targets = [check_audit_target(path) for path in out or []]
    belongs = _files(rda, hrc or [], hst, separator, total or [], absent)
    columns = _columns(codes, value, status, shown, withheld)
    options = _options(
        numbers={"percent": percent, "width": width, "tolerance": tolerance},
        lowest=lowest,
        withheld_from=withheld_from,
        withheld_below=withheld_below,
        atoms=atoms,
        whole=whole,
        separately=separately,
        proofs=max(proofs, most) if proofs else 0,
    )
    with all_or_nothing(), Stages(output, "reading tables") as stages:
        tables, notes = read_tables(paths, belongs, columns, progress=stages)
        findings = audit_tables(tables, options, notes=notes, progress=stages)
        written = [write_audit(findings, target, language) for target in targets]
    say_audited(output, findings, most=most, language=language)
    if written:
        named = ", ".join(f"{path} ({bytes_text(path.stat().st_size)})" for path in written)
        output.say(f"\nWrote {named}. It says how to compute withheld cells: only you can read it.")
    if findings.count(CellStatus.DISCLOSED):
        raise typer.Exit(Refused.exit_code)


def _files(
    rda: Path | None,
    hrc: Sequence[str],
    hst: Path | None,
    separator: str | None,
    total: Sequence[str],
    absent: str,
) -> ArgusFiles:
    from sdcensus.session.audit import ArgusFiles

    trees = {}
    for text in hrc:
        column, _, file = text.rpartition("=")
        trees[column or Path(file).stem] = Path(file)
    totals = {}
    for text in total:
        column, equals, code = text.partition("=")
        if not equals or not column or not code:
            raise SpecError(f"--total {text!r}: write COLUMN=CODE, such as region=All.")
        totals[column] = code
    if absent not in ("", "zero", "withheld"):
        raise SpecError(
            f"--absent {absent!r}: combinations that are not listed are 'zero' or 'withheld'."
        )
    return ArgusFiles(
        metadata=rda,
        trees=trees,
        history=hst,
        separator=separator,
        totals=totals,
        empty=None if not absent else absent == "zero",
    )


def _columns(
    codes: str, value: str | None, status: str | None, shown: str, withheld: str
) -> Columns:
    from sdcensus.session.audit import Columns, told_by_user

    words = told_by_user(listed(shown), listed(withheld)) if shown or withheld else None
    return Columns(codes=tuple(listed(codes)), value=value, status=status, words=words)


def _options(
    *,
    numbers: dict[str, str],
    lowest: str,
    withheld_from: int | None,
    withheld_below: int | None,
    atoms: bool,
    whole: bool,
    separately: bool,
    proofs: int,
) -> AuditOptions:
    from sdcensus.session.audit import AuditOptions

    read = {name: _number(name, text) for name, text in numbers.items()}
    least: int | None = None
    if lowest.strip().lower() != "none":
        number = _number("lowest", lowest, negative=True)
        if number.denominator != 1:
            raise SpecError(f"--lowest {lowest!r}: give a whole number, or none.")
        least = number.numerator
    return AuditOptions(
        percent=read["percent"],
        width=read["width"],
        tolerance=read["tolerance"],
        lowest=least,
        withheld_from=withheld_from,
        withheld_below=withheld_below,
        atoms=atoms,
        whole=whole,
        separately=separately,
        proofs=proofs,
    )


def _number(name: str, text: str, *, negative: bool = False) -> Fraction:
    try:
        number = Fraction(text.strip().removesuffix("%").strip().replace(",", "."))
    except (ValueError, ZeroDivisionError):
        raise SpecError(f"--{name} {text!r} is no number.") from None
    if number < 0 and not negative:
        raise SpecError(f"--{name} {text!r}: give 0 or more.")
    return number
