"""``sdcensus attack``: what an intruder could learn from published tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.console import Output, bytes_text, plain_table
from sdcensus.cli.options import Confidential, Quiet, examples, listed
from sdcensus.cli.progress import Stages
from sdcensus.cli.running import all_or_nothing
from sdcensus.errors import Refused, SpecError

if TYPE_CHECKING:
    from sdcensus.session.attacking import FolderAttack
    from sdcensus.session.scoring import Scores

EXAMPLES = examples(
    "sdcensus attack published/",
    "sdcensus attack published/ --max-deviation 3",
    "sdcensus attack published/ --attacks gaps,averaging --limit 0.8 --out found.json",
    "sdcensus attack published/ --score census.store --confidential",
)

#: Claims of each attack that are shown.
SHOWN = 5


def attack(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A folder with published tables, .csv or .parquet."),
    ],
    attacks: Annotated[
        str,
        typer.Option(
            "--attacks",
            metavar="NAMES",
            help="Comma-separated: gaps, intervals, margins, differencing, averaging, identities,"
            " key-decoding. None: all.",
        ),
    ] = "",
    max_deviation: Annotated[
        int | None,
        typer.Option(
            "--max-deviation",
            metavar="N",
            help="The intruder knows that no count was changed by more. Without it, he finds out.",
        ),
    ] = None,
    variance: Annotated[
        float | None,
        typer.Option(
            "--variance",
            metavar="V",
            help="The intruder knows the variance of the change of a count. Without it, he finds"
            " out.",
        ),
    ] = None,
    noise: Annotated[
        Path | None,
        typer.Option(
            "--knows-noise",
            metavar="FILE",
            help="The intruder has this perturbation table: key-decoding needs it, identities gain"
            " by it.",
        ),
    ] = None,
    zeros_known: Annotated[
        bool,
        typer.Option(
            "--zeros-known/--zeros-unknown",
            help="Whether he knows that empty cells are published as 0.",
        ),
    ] = True,
    limit: Annotated[
        float,
        typer.Option(
            "--limit",
            metavar="P",
            help="averaging: claim what he reckons to get right with this probability.",
        ),
    ] = 0.9,
    linear_cells: Annotated[
        int,
        typer.Option(
            "--linear-cells",
            metavar="N",
            help="intervals: search tables up to this size by linear programs as well; 0: none.",
        ),
    ] = 1000,
    skip_unreadable: Annotated[
        bool,
        typer.Option("--skip-unreadable", help="Go on without files that cannot be read."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write everything that was found to a new .json file, or all claims to a new .csv"
            " file.",
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            "--score",
            metavar="STORE",
            help="Compare with the truth in this census store. Needs --confidential.",
        ),
    ] = None,
    score_out: Annotated[
        Path | None,
        typer.Option(
            "--score-out",
            metavar="FILE",
            help="Write the scores to a new .csv or .parquet file that only you can read.",
        ),
    ] = None,
    confidential: Confidential = False,
    quiet: Quiet = False,
) -> None:
    """Attack published tables as an intruder would who has nothing but these files.

    Finding something is no error: the exit code is 0 whatever is found. The claims of an intruder
    may be wrong; --score tells the office how many are right.
    """
    from sdcensus.session.attacking import (
        Assumptions,
        attack_folder,
        check_report_target,
        read_noise,
        write_report,
    )

    output = Output(quiet=quiet)
    _check_score(store, score_out, confidential)
    if out is not None:
        check_report_target(out)
    assumptions = Assumptions(
        max_deviation=max_deviation,
        variance=variance,
        zeros_known=zeros_known,
        limit=limit,
        linear_cells=linear_cells,
        noise=None if noise is None else read_noise(noise),
    )
    names = listed(attacks)
    if attacks and not names:
        raise SpecError("--attacks needs names, such as gaps,averaging.")
    with all_or_nothing(), Stages(output, f"reading {folder}") as stages:
        found = attack_folder(
            folder,
            assumptions,
            attacks=names or None,
            skip_unreadable=skip_unreadable,
            progress=stages,
        )
        scores = None if store is None else _scores(found, store, stages)
        written = [] if out is None else [write_report(found, out)]
        if scores is not None and score_out is not None:
            from sdcensus.session.scoring import write_scores

            write_scores(scores, score_out, confidential=confidential)
    _say_found(output, found)
    if scores is not None:
        _say_scores(output, scores)
    ending = [f"Wrote {path} ({bytes_text(path.stat().st_size)})." for path in written]
    if score_out is not None:
        ending.append(f"Wrote {score_out}. It is confidential: only you can read it.")
    if ending:
        output.say("\n" + "\n".join(ending))


def _check_score(store: Path | None, score_out: Path | None, confidential: bool) -> None:
    from sdcensus.session.confidential_output import check_target

    if store is None:
        if score_out is not None:
            raise SpecError("--score-out is for scores: --score STORE.")
        return
    if not confidential:
        raise Refused(
            "How right an intruder is says something about true counts. If you may see that, and"
            " nobody else looks at your screen, add --confidential."
        )
    if score_out is not None:
        check_target(score_out, confidential=confidential, what="A score")


def _scores(found: FolderAttack, store: Path, stages: Stages) -> Scores:
    from sdcensus.session.census import open_store
    from sdcensus.session.scoring import score

    return score(found.report, found.tables, open_store(store), progress=stages)


def _say_found(output: Output, found: FolderAttack) -> None:
    from sdcensus.session.attacking import claim_lines

    report = found.report
    tables = len(report.tables)
    output.say(
        f"Attacks on {tables} published table{'s' if tables != 1 else ''} in {found.folder},"
        f" {report.cells:,} cell{'s' if report.cells != 1 else ''}",
        style="bold",
    )
    summary = plain_table()
    for name in ("attack", "counts claimed", "as 0 or 1"):
        summary.add_column(name, justify="left" if name == "attack" else "right")
    for one in report.results:
        summary.add_row(one.attack, f"{one.exact:,}", f"{one.narrow:,}")
    output.show(summary)
    for one in report.results:
        output.say(f"\n{one.attack}", style="bold")
        for sentence in one.sentences:
            output.say(f"  {sentence}")
        lines = claim_lines(one, most=SHOWN)
        if not lines:
            continue
        table = plain_table()
        for name in ("table", "cell", "claimed", "how sure"):
            table.add_column(name, overflow="fold")
        for line in lines:
            table.add_row(*line)
        output.show(table)
        if any(line[-1].endswith("*") for line in lines):
            output.say("  * if what the intruder takes to be known is true")
    output.say(
        "\nThis is what these attacks find in these tables. Others, and other tables, may find"
        " more."
    )
    for text in (*report.left_out, *_passed_over(found)):
        output.note(f"note: {text}")


def _passed_over(found: FolderAttack) -> list[str]:
    """Files that were not read, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for one in found.skipped:
        reason = one.reason.removeprefix(f"{found.folder / one.name} ").rstrip(".")
        reasons.setdefault(reason, []).append(one.name)
    return [
        f"{names[0]}: {reason}."
        if len(names) == 1
        else f"{len(names):,} files ({names[0]} to {names[-1]}): {reason}."
        for reason, names in reasons.items()
    ]


def _say_scores(output: Output, scores: Scores) -> None:
    output.say("\nBeside the truth (confidential)", style="bold")
    table = plain_table()
    names = ("attack", "true count", "cells", "claimed", "right", "wrong", "missed", "0 or 1")
    for name in names:
        table.add_column(name, justify="left" if name in names[:2] else "right")
    for one in scores.attacks:
        if not any(size.claims or size.narrow for size in one.sizes):
            cells = "-" if one.cells is None else f"{one.cells:,}"
            table.add_row(one.attack, "all", cells, "0", "0", "0", cells, "-")
            table.add_section()
            continue
        for size in one.sizes:
            known = (size.cells, size.claims, size.hits, size.false_claims, size.misses)
            numbers = ["-" if number is None else f"{number:,}" for number in known]
            narrow = f"{size.narrow_hits:,} of {size.narrow:,}" if size.narrow else "-"
            table.add_row(one.attack, size.size, *numbers, narrow)
        table.add_section()
    output.show(table)
    for text in scores.left_out:
        output.note(f"note: {text}")
