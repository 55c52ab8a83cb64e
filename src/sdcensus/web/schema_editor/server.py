"""Running the editor of a schema, on loopback, until it is closed."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from sdcensus.errors import InputError
from sdcensus.session.schema_editing.editing import SchemaEditing
from sdcensus.web.middleware import protocol
from sdcensus.web.schema_editor.app import create_app
from sdcensus.web.schema_editor.guard import LOOPBACK, Admission

_SECONDS = 20
_HEADER_BYTES = 32 * 1024


class EditorServer:
    """The editor of a schema: listens at once, answers while it runs.

    Args:
        editing: The schema.
        port: The port; 0 for any that is free.
        language: The language of the page.
    """

    def __init__(self, editing: SchemaEditing, *, port: int = 0, language: str = "en") -> None:
        self._socket = _listening(port)
        self._port = int(self._socket.getsockname()[1])
        admission = Admission()
        #: The address to open; it works once.
        self.address = f"http://{LOOPBACK}:{self._port}{admission.address}"
        app = create_app(editing, admission, port=self._port, language=language, close=self.stop)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                http=protocol(_SECONDS, _HEADER_BYTES),
                ws="none",
                lifespan="off",
                # Nothing is logged: addresses and answers are confidential.
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=5,
            )
        )

    @property
    def started(self) -> bool:
        """Whether it answers."""
        return self._server.started

    def run(self, ready: Callable[[], None] | None = None) -> None:
        """Answer until somebody closes the page or stops it.

        Args:
            ready: Called first: the address can be opened.
        """
        try:
            if ready is not None:
                ready()
            with suppress(KeyboardInterrupt):
                self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Stop when the answers that are on their way have been given."""
        self._server.should_exit = True


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port), backlog=64)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).partition(" (while")[0]
        raise InputError(
            f"The page cannot be opened on port {port}: {reason}. Choose another with --port, or"
            " leave it out for any that is free."
        ) from None
