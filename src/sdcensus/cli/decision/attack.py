"""``sdcensus attack``: what an intruder could learn from published tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.decision.attacked import say_found, say_scores
from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import Confidential, Quiet, examples, listed
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import Refused, SpecError
from sdcensus.model.quantities import bytes_text

if TYPE_CHECKING:
    from sdcensus.session.attack.attack import Assumptions, FolderAttack, MenuWalk
    from sdcensus.session.attack.score import Scores

EXAMPLES = examples(
    "sdcensus attack published/",
    "sdcensus attack published/ --max-deviation 3",
    "sdcensus attack published/ --attacks gaps,averaging --limit 0.8 --out found.json",
    "sdcensus attack published/ --score census.store --confidential",
    "sdcensus attack out/ --score c.store --score-derived d.store --confidential",
    "sdcensus attack http://127.0.0.1:8080 --areas parish --tables 276",
    "sdcensus attack census.store --policy policy.toml --plan plan.toml",
)


def attack(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A folder with published tables, .csv or .parquet; the address of a table builder,"
            " whose menu is walked through; or, with --policy, a census store.",
        ),
    ],
    attacks: Annotated[
        str,
        typer.Option(
            "--attacks",
            metavar="NAMES",
            help="Comma-separated: gaps, intervals, margins, differencing, averaging, patterns,"
            " zero-patterns, twins, cliques, identities, key-decoding, withheld. None: all.",
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
    group_limit: Annotated[
        float,
        typer.Option(
            "--group-limit",
            metavar="P",
            help="patterns, zero-patterns, twins, cliques: claim groups that he reckons to get"
            " right with this probability.",
        ),
    ] = 0.5,
    linear_cells: Annotated[
        int,
        typer.Option(
            "--linear-cells",
            metavar="N",
            help="intervals: search tables up to this size by linear programs as well; 0: none.",
        ),
    ] = 1000,
    areas: Annotated[
        str,
        typer.Option(
            "--areas",
            metavar="LEVELS",
            help="A menu: levels of areas, comma-separated, such as country,parish. None: all.",
        ),
    ] = "",
    tables: Annotated[
        int | None,
        typer.Option(
            "--tables",
            metavar="N",
            min=1,
            help="A menu: ask for at most so many tables. None: all of a policy, 300 of an"
            " address.",
        ),
    ] = None,
    dimensions: Annotated[
        int,
        typer.Option(
            "--dimensions", metavar="N", min=1, help="A menu: variables in a table, areas included."
        ),
    ] = 3,
    of: Annotated[
        str, typer.Option("--of", metavar="UNITS", help="A menu: what its tables count.")
    ] = "persons",
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep", metavar="FOLDER", help="An address: keep the downloads in this new folder."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="Walk through the menu of this policy without a server, for the office.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="With --policy: protect as this plan does."),
    ] = None,
    secret: Annotated[
        Path | None,
        typer.Option(
            "--secret",
            metavar="FILE",
            envvar="SDCENSUS_SECRET_FILE",
            help="With --policy: the look-up secret, or the office secret.",
        ),
    ] = None,
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
    score_derived: Annotated[
        Path | None,
        typer.Option(
            "--score-derived",
            metavar="STORE",
            help="The derived store of which the tables were made, where --score names the one it"
            " was derived from: claims are compared with its records and with the residents."
            " Without it, it is looked for beside the other.",
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
    """Attack published tables as an intruder would who has nothing but them.

    Finding something is no error: the exit code is 0 whatever is found. The claims of an intruder
    may be wrong; --score tells the office how many are right.
    """
    from sdcensus.session.attack.attack import (
        Assumptions,
        attack_address,
        attack_folder,
        check_report_target,
        read_noise,
        write_report,
    )

    output = Output(quiet=quiet)
    _check_score(store, score_derived, score_out, confidential)
    if out is not None:
        check_report_target(out)
    assumptions = Assumptions(
        max_deviation=max_deviation,
        variance=variance,
        zeros_known=zeros_known,
        limit=limit,
        group_limit=group_limit,
        linear_cells=linear_cells,
        noise=None if noise is None else read_noise(noise),
    )
    names = listed(attacks)
    if attacks and not names:
        raise SpecError("--attacks needs names, such as gaps,averaging.")
    served = source.startswith(("http://", "https://"))
    walk = _walk(of, areas, tables, dimensions)
    _check_source(served=served, policy=policy, plan=plan, keep=keep)
    with all_or_nothing(), Stages(output, f"reading {source}") as stages:
        if served:
            folder_attack = attack_address(
                source, walk, assumptions, attacks=names or None, keep=keep, progress=stages
            )
        elif policy is not None:
            folder_attack = _menu(
                Path(source), policy, plan, secret, walk, assumptions, names, stages
            )
        else:
            folder_attack = attack_folder(
                source,
                assumptions,
                attacks=names or None,
                skip_unreadable=skip_unreadable,
                progress=stages,
            )
        scores = None if store is None else _scores(folder_attack, store, score_derived, stages)
        written = [] if out is None else [write_report(folder_attack, out)]
        if scores is not None and score_out is not None:
            from sdcensus.session.attack.score import write_scores

            write_scores(scores, score_out, confidential=confidential)
    say_found(output, folder_attack)
    if scores is not None:
        say_scores(output, scores)
    ending = [f"Wrote {path} ({bytes_text(path.stat().st_size)})." for path in written]
    if score_out is not None:
        ending.append(f"Wrote {score_out}. It is confidential: only you can read it.")
    if ending:
        output.say("\n" + "\n".join(ending))


def _walk(of: str, areas: str, tables: int | None, dimensions: int) -> MenuWalk:
    from sdcensus.model.schema.variable import Entity
    from sdcensus.session.attack.attack import MenuWalk

    return MenuWalk(
        of=Entity.parse(of),
        areas=tuple(listed(areas)) or None,
        most_tables=tables,
        dimensions=dimensions,
    )


def _check_source(
    *, served: bool, policy: Path | None, plan: Path | None, keep: Path | None
) -> None:
    if served and policy is not None:
        raise SpecError("--policy is for a census store. An address has a policy of its own.")
    if plan is not None and policy is None:
        raise SpecError("--plan goes with --policy: a store, and what the public may ask of it.")
    if keep is not None and not served:
        raise SpecError("--keep is for the tables that an address answers.")


def _menu(
    store: Path,
    policy: Path,
    plan: Path | None,
    secret: Path | None,
    walk: MenuWalk,
    assumptions: Assumptions,
    names: list[str],
    stages: Stages,
) -> FolderAttack:
    from sdcensus.session.answer.opening import open_service
    from sdcensus.session.attack.attack import attack_menu

    service = open_service(store, policy, plan=plan, secret=secret, progress=stages)
    return attack_menu(service, walk, assumptions, attacks=names or None, progress=stages)


def _check_score(
    store: Path | None, derived: Path | None, score_out: Path | None, confidential: bool
) -> None:
    from sdcensus.session.office.confidential_output import check_target

    if store is None and derived is not None:
        raise SpecError("--score-derived goes with the store it was derived from: --score STORE.")
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
    if derived is not None:
        from sdcensus.session.attack.stores import check_derived

        check_derived(store, derived)


def _scores(
    folder_attack: FolderAttack, store: Path, derived: Path | None, stages: Stages
) -> Scores:
    from sdcensus.session.attack.score import score
    from sdcensus.session.attack.stores import stores_to_score

    census, counted = stores_to_score(folder_attack.tables, store, derived)
    return score(
        folder_attack.report, folder_attack.tables, census, derived=counted, progress=stages
    )
