"""The commands, as one program."""

from __future__ import annotations

from typing import Annotated

import typer

from sdcensus._version import __version__
from sdcensus.cli import (
    account,
    approve,
    assess,
    attack,
    compare,
    demo,
    describe,
    export,
    fill,
    load,
    looks,
    plan,
    policy,
    protect,
    ptable,
    publish,
    recommend,
    schema,
    secret,
    serve,
    tabulate,
    verify,
)
from sdcensus.cli.options import examples

app = typer.Typer(
    name="sdcensus",
    help="Publish tables and microdata of a census without giving anyone away.",
    epilog=examples(
        "sdcensus demo",
        "sdcensus schema draft persons.sav --out census",
        "sdcensus secret new office.secret --sheet office-secret-sheet.txt",
        "sdcensus load census/schema.toml --out census.store --secret office.secret",
        "sdcensus tabulate census.store --by ed@parish,sex,age@five_year",
        "sdcensus recommend census.store",
        "sdcensus protect census.store --by ed,sex --method cell-key --out t.xlsx",
        "sdcensus assess census.store --by ed@parish,sex --out check",
        "sdcensus attack published/",
        "sdcensus COMMAND --help",
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sdcensus {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Publish tables and microdata of a census without giving anyone away."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("demo", epilog=demo.EXAMPLES, short_help="Make a fictional country and try it.")(
    demo.demo
)
app.command("load", epilog=load.EXAMPLES, short_help="Check census files and write the store.")(
    load.load
)
app.command("export", epilog=export.EXAMPLES, short_help="Write a store as encoded parquet.")(
    export.export
)
app.command("describe", epilog=describe.EXAMPLES, short_help="Show what a store holds.")(
    describe.describe
)
app.command("tabulate", epilog=tabulate.EXAMPLES, short_help="Count a table exactly.")(
    tabulate.tabulate
)
app.command("protect", epilog=protect.EXAMPLES, short_help="Protect a table and write it.")(
    protect.protect
)
app.command("publish", epilog=publish.EXAMPLES, short_help="Publish all tables of a plan.")(
    publish.publish
)
app.command("fill", epilog=fill.EXAMPLES, short_help="Put published values into a workbook.")(
    fill.fill
)
app.command("verify", epilog=verify.EXAMPLES, short_help="Check the files of a publication.")(
    verify.verify
)
app.command("approve", epilog=approve.EXAMPLES, short_help="Put two names under a publication.")(
    approve.approve
)
app.command("recommend", epilog=recommend.EXAMPLES, short_help="Propose scheme, policy, tables.")(
    recommend.recommend
)
app.command("assess", epilog=assess.EXAMPLES, short_help="Measure risk and utility of a table.")(
    assess.assess
)
app.command("compare", epilog=compare.EXAMPLES, short_help="Compare methods on your own tables.")(
    compare.compare
)
app.command("looks", epilog=looks.EXAMPLES, short_help="How often tables together look at a cell.")(
    looks.looks
)
app.command("attack", epilog=attack.EXAMPLES, short_help="Attack published tables as an intruder.")(
    attack.attack
)
app.command("serve", epilog=serve.EXAMPLES, short_help="Open the table builder in the browser.")(
    serve.serve
)
app.add_typer(plan.app, name="plan", short_help="Draft a plan of tables, or check one.")
app.add_typer(policy.app, name="policy", short_help="Check a policy, or ask it about a table.")
app.add_typer(schema.app, name="schema", short_help="Draft or check a schema.")
app.add_typer(secret.app, name="secret", short_help="Make, check or restore the office secret.")
app.add_typer(ptable.app, name="ptable", short_help="Design and look at perturbation tables.")
app.add_typer(account.app, name="account", short_help="Accounts and audit of a table builder.")
