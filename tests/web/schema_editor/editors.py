"""The editor of a schema, for tests: a real one, on a free port, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sdcensus.session.schema_editing.editing import SchemaEditing
from sdcensus.web.schema_editor.server import EditorServer
from tests.web.servers import PATIENCE, until


@dataclass(frozen=True, slots=True)
class RunningEditor:
    """An editor that answers."""

    schema: Path
    editing: SchemaEditing
    server: EditorServer
    thread: threading.Thread

    @property
    def address(self) -> str:
        """The address that works once."""
        return self.server.address

    @property
    def origin(self) -> str:
        """Scheme, name and port."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def base(self) -> str:
        """The path under which everything lies."""
        return urlsplit(self.address).path.rstrip("/")


@contextmanager
def opened_editor(schema: Path, *, language: str = "en") -> Iterator[RunningEditor]:
    """An editor until the end of the block."""
    editing = SchemaEditing(schema)
    server = EditorServer(editing, language=language)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        yield RunningEditor(schema, editing, server, thread)
    finally:
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
