"""``sdcensus serve``: the table builder, for browsers and programs."""

from __future__ import annotations

import gc
import ipaddress
import os
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.builder.served import say_budget, say_offer, say_sums
from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.method_options import (
    CELL_KEY_OPTIONS,
    DEFAULT_METHOD,
    MethodOption,
    with_method_options,
)
from sdcensus.cli.shared.options import Quiet, Store, examples
from sdcensus.cli.shared.run import Interrupted
from sdcensus.errors import MissingExtra, SpecError

if TYPE_CHECKING:
    from sdcensus.model.method.parameter import MethodOptions
    from sdcensus.model.secret import Secret, SubSecret
    from sdcensus.session.answer import TableService
    from sdcensus.session.guard.run import Revision
    from sdcensus.web.settings import Settings

EXAMPLES = examples(
    "sdcensus serve census.store --policy policy.toml --secret server.secret",
    "sdcensus serve census.store --policy policy.toml --plan plan.toml --check",
    "sdcensus serve census.store --policy policy.toml --perturbation noise.csv",
    "sdcensus serve census.store --policy policy.toml --proxy 127.0.0.1",
    "sdcensus serve b.store --policy policy.toml --revision 2027 --old-store a.store",
)

#: The file of the database in the state folder, where no other one is named.
DATABASE = "builder.db"


@with_method_options(CELL_KEY_OPTIONS)
def serve(
    store: Store,
    policy: Annotated[
        Path, typer.Option("--policy", metavar="FILE", help="What may be asked, and by whom.")
    ],
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            help="Protect as this plan of the office does, so that both publish the same numbers.",
        ),
    ] = None,
    registry: Annotated[
        Path | None,
        typer.Option(
            "--registry",
            metavar="FOLDER",
            help="What the office has published, where no plan says it: cells that are closed there"
            " are not served.",
        ),
    ] = None,
    method: MethodOption = DEFAULT_METHOD,
    *,
    method_options: MethodOptions,
    sum_noise: Annotated[
        float | None,
        typer.Option(
            "--sum-noise",
            metavar="SHARE",
            help="How large the noise of sums is, as a share of the largest contribution, where no"
            " plan says it. Else 0.1.",
        ),
    ] = None,
    key_version: int | None = None,
    secret: Annotated[
        Path | None,
        typer.Option(
            "--secret",
            metavar="FILE",
            envvar="SDCENSUS_SECRET_FILE",
            help="The look-up secret (sdcensus secret lookup). Of an office secret only that part"
            " is kept.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address that it listens on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="The port; 0 for any.")
    ] = 8080,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="HOST",
            help="A name under which readers reach it; others are refused. Can be given several"
            " times.",
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy",
            metavar="ADDRESS",
            help="A proxy of the office, which is believed about where readers come from. Can be"
            " given several times.",
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            metavar="N",
            min=0,
            max=65_535,
            help="Show metrics for Prometheus on this port, to this machine only.",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL",
            envvar="SDCENSUS_DATABASE",
            help="Accounts and audit: a file (SQLite), or postgresql://USER@HOST/DATABASE."
            f" Else {DATABASE} in the state folder.",
        ),
    ] = None,
    state: Annotated[
        Path,
        typer.Option(
            "--state",
            metavar="FOLDER",
            help="The folder for what the server keeps: keys of cookies, the chart library and, by"
            " default, the database. Made if it is missing.",
        ),
    ] = Path("sdcensus-server"),
    office: Annotated[
        str,
        typer.Option(
            "--office",
            metavar="NAME",
            help="The name of the office on the pages and, where no plan names it, in files. Else"
            " the plan's.",
        ),
    ] = "",
    feedback: Annotated[
        str,
        typer.Option(
            "--feedback",
            metavar="ADDRESS",
            help="Where readers may write to: mailto:NAME@HOST or https://...",
        ),
    ] = "",
    revision: Annotated[
        str | None,
        typer.Option(
            "--revision",
            metavar="NAME",
            help="The numbers may change, as far as the guard of revisions lets them.",
        ),
    ] = None,
    rekey: Annotated[
        bool,
        typer.Option(
            "--rekey",
            help="With --revision: all numbers are new, under a new key version, as a named event.",
        ),
    ] = False,
    old_store: Annotated[
        Path | None,
        typer.Option(
            "--old-store",
            metavar="PATH",
            help="With --revision: the store that was served before, if it has moved.",
        ),
    ] = None,
    revision_minimum: Annotated[
        int | None,
        typer.Option(
            "--revision-minimum",
            metavar="N",
            min=2,
            help="With --revision: how many changed records must stand behind every changed"
            " number. 10 unless said.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check everything, say what would open, and exit.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Open the census to questions from browsers and programs, every answer protected.

    Computes first how often all tables that the policy opens look at the same count together, and
    stays closed where the noise is too small for that, saying what would do. It keeps in its
    database which numbers it gives out, and gives out others only under a name. Then it answers
    until Ctrl+C, on this machine only unless --host says otherwise. The exit code is then 0, or 8
    if entries of the audit could not be written and are lost.
    """
    from sdcensus.session.guard.run import REVISION_MINIMUM, Revision
    from sdcensus.session.office.secret import find_any_secret

    output = Output(quiet=quiet)
    _load_server_meanwhile()
    settings = _settings(
        host=host,
        port=port,
        names=tuple(name or ()),
        proxies=tuple(proxy or ()),
        metrics_port=metrics_port,
        state=state,
        office=office,
        feedback=_checked_feedback(feedback),
    )
    said = method_options.given() or method != DEFAULT_METHOD or sum_noise is not None
    if plan is not None and said:
        raise SpecError(
            "Say once how tables are protected: --plan FILE, or the options of a method."
        )
    minimum = REVISION_MINIMUM if revision_minimum is None else revision_minimum
    event = Revision(revision, rekey, old_store, minimum)
    where = database or settings.state / DATABASE
    # What is loaded now stays to the end: nothing of it is worth looking through for garbage.
    gc.disable()
    try:
        service = _opened(
            output,
            store,
            policy,
            plan=plan,
            method=method,
            options=method_options,
            sum_noise=sum_noise,
            secret=find_any_secret(secret),
            key_version=key_version,
            office=office,
            registry=registry,
        )
        say_offer(output, service)
        say_budget(output, service)
        say_sums(output, service)
        for caution in service.cautions:
            output.note(f"caution: {caution}")
        if check:
            _check_numbers(output, service, where, event)
            output.say("All is well: it can be opened.")
            return
        _warn(output, settings)
        _run(output, service, settings, where, event)
    finally:
        gc.enable()


def _load_server_meanwhile() -> None:
    """Load what HTTP needs while the census is opened, which mostly waits for other things."""

    def work() -> None:
        # Whoever needs it says what is missing.
        with suppress(ImportError):
            import_module("sdcensus.web.server")

    threading.Thread(target=work, daemon=True).start()


def _settings(
    *,
    host: str,
    port: int,
    names: tuple[str, ...],
    proxies: tuple[str, ...],
    metrics_port: int | None,
    state: Path,
    office: str,
    feedback: str,
) -> Settings:
    try:
        from sdcensus.web.settings import LOOPBACK_HOSTS, Settings
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    hosts: tuple[str, ...] = LOOPBACK_HOSTS
    if names:
        hosts = (*LOOPBACK_HOSTS, *names)
    elif proxies or not _is_loopback(host):
        # Nobody said the name; a proxy has chosen by it already.
        hosts = ("*",)
    return Settings(
        host=host,
        port=port,
        metrics_port=metrics_port,
        hosts=hosts,
        trusted_proxies=proxies,
        state=state,
        office=office,
        feedback=feedback,
    )


def _opened(
    output: Output,
    store: Path,
    policy: Path,
    *,
    plan: Path | None,
    method: str,
    options: MethodOptions,
    sum_noise: float | None,
    secret: Secret | SubSecret,
    key_version: int | None,
    office: str,
    registry: Path | None,
) -> TableService:
    from sdcensus.model.method.parameter import MethodOptions
    from sdcensus.model.secret import Secret
    from sdcensus.session.answer import open_service

    if isinstance(secret, Secret):
        output.note(
            "caution: this is the office secret. A server needs its look-up part only, made with:"
            " sdcensus secret lookup OFFICE_SECRET FILE"
        )
    with Stages(output, "opening the census") as stages:
        return open_service(
            store,
            policy,
            plan=plan,
            method=method,
            options=options,
            sums=MethodOptions(noise_share=sum_noise),
            secret=secret,
            key_version=key_version,
            source=office,
            registry=registry,
            progress=stages,
        )


def _check_numbers(
    output: Output, service: TableService, where: str | Path, event: Revision
) -> None:
    """Compare with what was given out before, if anything was; nothing is made or kept."""
    if "://" not in str(where) and not Path(where).exists():
        return
    try:
        from sdcensus.web.database import Database
        from sdcensus.web.numbers import decide_numbers
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    with (
        Database.open(where, must_exist=True) as opened,
        Stages(output, "comparing with what was served before") as stages,
    ):
        opening = decide_numbers(service, opened, event, progress=stages)
    for note in opening.notes:
        output.note(note)


def _run(
    output: Output,
    service: TableService,
    settings: Settings,
    where: str | Path,
    event: Revision,
) -> None:
    try:
        from sdcensus.web.database import Database
        from sdcensus.web.numbers import open_numbers
        from sdcensus.web.server import RunningServer
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    with Database.open(where) as opened:
        with Stages(output, "comparing with what was served before") as stages:
            opening = open_numbers(service, opened, event, progress=stages)
        for note in opening.notes:
            output.note(note)
        server = RunningServer(service, settings, opened, say=output.say)
        gc.freeze()
        gc.enable()
        try:
            server.run()
        except Interrupted:
            # The server has ended in good order, and gives the signal on that ended it.
            output.say("Stopped.")
    if server.working:
        _leave()


def _leave() -> None:
    """End at once: a count that still runs, in compiled code, must not hold the process.

    Everything is written and closed by now.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)


def _warn(output: Output, settings: Settings) -> None:
    if not _is_loopback(settings.host) and not settings.trusted_proxies:
        output.note(
            "caution: it can be reached from other machines, without encryption. Put a proxy with"
            " TLS in front of it and name that with --proxy ADDRESS: docs/guide/serving.md"
        )


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _checked_feedback(address: str) -> str:
    """An address that a link may have: pages show it to everybody."""
    address = address.strip()
    if "@" in address and ":" not in address:
        address = f"mailto:{address}"
    if address and not address.lower().startswith(("mailto:", "https://", "http://")):
        raise SpecError(
            "--feedback is an address such as mailto:census@office.example or"
            " https://office.example/contact."
        )
    return address


def _missing(error: ModuleNotFoundError) -> Exception:
    if (error.name or "").startswith("sdcensus"):
        return error
    return MissingExtra("web", needed_for="The table builder")
