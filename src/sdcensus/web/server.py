"""Running the server: one process, one port for everybody, one on loopback for the metrics."""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn

from sdcensus.errors import InputError
from sdcensus.session.answer import TableService
from sdcensus.session.watch import Watch
from sdcensus.web.api.site import Site
from sdcensus.web.app import create_app
from sdcensus.web.database import Database
from sdcensus.web.middleware import protocol
from sdcensus.web.numbers import open_numbers
from sdcensus.web.settings import Settings

#: Told what the server is doing, a line at a time.
Say = Callable[[str], None]

#: After how many seconds threads take turns.
SWITCH_SECONDS = 0.0005


def say_nothing(line: str) -> None:
    """Say nothing."""


class RunningServer:
    """A server that can be started, asked where it is, and stopped.

    Args:
        service: What answers.
        settings: Every limit.
        database: Accounts and audit; whoever opened it closes it.
        watch: Looks at series of questions; by default one for this menu.
        say: Told what the server is doing.
    """

    def __init__(
        self,
        service: TableService,
        settings: Settings,
        database: Database,
        *,
        watch: Watch | None = None,
        say: Say = say_nothing,
    ) -> None:
        self._settings, self._say = settings, say
        # Whoever has a name for other numbers has said it before; here nobody does.
        open_numbers(service, database)
        self.app = create_app(service, settings, database, watch=watch)
        self.site: Site = self.app.state.site
        self._server = _Server(self.site, _config(self.app, settings))
        self._socket = _listening(settings)
        self.metrics_port: int | None = None

    @property
    def url(self) -> str:
        """The address of the first page."""
        host, port = self._socket.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{port}"

    @property
    def started(self) -> bool:
        """Whether it answers."""
        return self._server.started

    def run(self) -> None:
        """Serve until somebody stops it, by a signal or by ``stop``."""
        metrics = None
        try:
            if self._settings.metrics_port is not None:
                try:
                    metrics, self.metrics_port = self.site.metrics.serve(
                        self._settings.metrics_port
                    )
                except OSError as error:
                    raise _taken("127.0.0.1", self._settings.metrics_port, error) from None
                self._say(f"Metrics on http://127.0.0.1:{self.metrics_port} (this machine only)")
            self._say(f"Table builder on {self.url}")
            # The audit is written in a thread of its own. With Python's usual 5 ms a request would
            # wait that long for it, again and again.
            sys.setswitchinterval(SWITCH_SECONDS)
            with suppress(KeyboardInterrupt):
                self._server.run(sockets=[self._socket])
            self._say("Stopped.")
        finally:
            self._socket.close()
            # In a hurry (a second Ctrl+C) the application is not told that it ends.
            self.site.end()
            if metrics is not None:
                metrics.shutdown()
                metrics.server_close()
            if self.site.lost is not None:
                # Whoever started it must not take this for a good end.
                raise self.site.lost

    def stop(self) -> None:
        """Stop: answers that are being made are finished, as long as there is time."""
        self.site.begin_to_stop()
        self._server.should_exit = True

    @property
    def working(self) -> bool:
        """Whether it has ended, and a count still runs that there was no time to wait for."""
        return self.site.working


class _Server(uvicorn.Server):
    """Takes no new questions from the moment of a signal on."""

    def __init__(self, site: Site, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._site = site

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._site.begin_to_stop()
        super().handle_exit(sig, frame)


def serve(
    service: TableService,
    settings: Settings,
    database: Database,
    *,
    watch: Watch | None = None,
    say: Say = say_nothing,
) -> None:
    """Serve until somebody stops it.

    Args:
        service: What answers.
        settings: Every limit.
        database: Accounts and audit; whoever opened it closes it.
        watch: Looks at series of questions; by default one for this menu.
        say: Told what the server is doing, a line at a time.

    Raises:
        InputError: The port is taken, or this machine has no such address.
    """
    RunningServer(service, settings, database, watch=watch, say=say).run()


def _config(app: object, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=protocol(settings.request_seconds, settings.header_limit + settings.address_limit),
        loop="auto",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=1_024,
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.shutdown_seconds,
        h11_max_incomplete_event_size=settings.header_limit + settings.address_limit,
    )


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        bound = socket.create_server((settings.host, settings.port), family=family, backlog=1_024)
    except OSError as error:
        raise _taken(settings.host, settings.port, error) from None
    bound.set_inheritable(True)
    return bound


def _taken(host: str, port: int, error: OSError) -> InputError:
    if error.errno in (errno.EADDRNOTAVAIL, socket.EAI_NONAME):
        return InputError(
            f"The server cannot listen on {host}: this machine has no such address. Name one that"
            " it has with --host, or leave it out to be reached from this machine only."
        )
    # Python adds to the words of the system which address it tried, which stands here already.
    reason = (error.strerror or type(error).__name__).partition(" (while")[0]
    return InputError(
        f"The server cannot listen on {host}, port {port}: {reason}. Choose another port, or stop"
        " what uses it."
    )
