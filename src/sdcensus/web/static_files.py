"""Files of the pages, from memory: a name that was not there at the start is nowhere."""

from __future__ import annotations

import asyncio
import mimetypes
import subprocess
import sys
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sdcensus._version import __version__
from sdcensus.errors import SdcensusError
from sdcensus.session.office.private_files import open_private_file
from sdcensus.web.answers import accepts_packed
from sdcensus.web.api.errors import not_found
from sdcensus.web.api.requests import made_response
from sdcensus.web.caching import etag_of, packed

STATIC = Path(__file__).resolve().parent / "static"
#: The library that draws charts and maps comes with an installed package.
VEGA = "vega.js"
_SNIPPET = "window.vegaEmbed = vegaEmbed; window.vega = vega; window.vegaLite = vegaLite;"
_MAKE = (
    "import sys, vl_convert;"
    "sys.stdout.buffer.write(vl_convert.javascript_bundle(sys.argv[1]).encode('utf-8'))"
)
#: Seconds after the start that are left to the first answers.
_LULL = 3.0
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True, eq=False)
class StaticFile:
    """A file as it is sent."""

    body: bytes
    zipped: bytes | None
    media_type: str
    etag: str


def static_file(name: str, body: bytes) -> StaticFile:
    """A file made ready."""
    ending = Path(name).suffix
    kind = _TYPES.get(ending) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return StaticFile(body, packed(body, kind), kind, etag_of(body))


class StaticFiles:
    """The files of a folder: known from the start, read and packed when first asked for.

    Args:
        state: The folder in which what takes long to make is kept.
        folder: The folder of the files.
    """

    def __init__(self, state: Path, folder: Path = STATIC) -> None:
        self._state = state
        self._files: dict[str, StaticFile] = {}
        self._paths = {
            path.relative_to(folder).as_posix(): path
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }

    async def response(self, request: Request) -> Response:
        """A file, or the news that it is known already.

        Raises:
            ApiError: There is no such file (404).
        """
        name = request.path_params["path"]
        file = self._files.get(name)
        if file is None and name in self._paths:
            file = self._files[name] = static_file(name, self._paths[name].read_bytes())
        if file is None and name == VEGA:
            file = await self._vega()
        if file is None:
            raise not_found()
        small = file.zipped is not None and accepts_packed(
            request.headers.get("accept-encoding", "")
        )
        tag = f'"{file.etag}{"-gz" if small else ""}"'
        headers = [
            (b"etag", tag.encode("ascii")),
            (b"cache-control", b"public, max-age=300, must-revalidate"),
            (b"vary", b"Accept-Encoding"),
        ]
        if tag in [known.strip() for known in request.headers.get("if-none-match", "").split(",")]:
            return made_response(304, b"", file.media_type, headers)
        if small and file.zipped is not None:
            headers.append((b"content-encoding", b"gzip"))
            return made_response(200, file.zipped, file.media_type, headers)
        return made_response(200, file.body, file.media_type, headers)

    async def prepare(self, wait: float = _LULL) -> None:
        """Make what takes long to make, a while after the start and before anybody asks for it.

        Args:
            wait: Seconds that belong to the first answers.
        """
        await asyncio.sleep(wait)
        try:
            await self._vega()
        except Exception:
            # Whoever asks for it later is told; nobody has asked yet.
            return

    async def _vega(self) -> StaticFile:
        """The library of charts, in a thread of its own: it takes seconds to make."""
        static_file = await asyncio.shield(asyncio.wrap_future(_bundle(self._state)))
        self._files[VEGA] = static_file
        return static_file


_lock = threading.Lock()
#: The bundle of this process, by the versions that it is made of: all servers in it share it.
_bundles: dict[str, Future[StaticFile]] = {}


def _bundle(state: Path) -> Future[StaticFile]:
    """The bundle, on its way; whoever asks meanwhile waits for the same one."""
    name = f"vega-{__version__}-{version('vl-convert-python')}.js"
    kept = state / name
    with _lock:
        future = _bundles.get(name)
        if future is None or (future.done() and future.exception() is not None):
            future = _bundles[name] = Future()
            # A server that stops does not wait for it.
            threading.Thread(target=_make, args=(kept, future), name="vega", daemon=True).start()
        return future


def _make(kept: Path, made: Future[StaticFile]) -> None:
    """Take the bundle that was kept the last time, or make and keep it. Blocks for seconds."""
    try:
        if kept.is_file():
            made.set_result(static_file(VEGA, kept.read_bytes()))
            return
        # In a process of its own: here it would stop every other thread until it is made.
        call = [sys.executable, "-P", "-c", _MAKE, _SNIPPET]
        done = subprocess.run(call, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        body = done.stdout
        try:
            with open_private_file(kept) as file:
                file.write(body)
        except (SdcensusError, OSError):
            # It works as well without being kept; the next start makes it again.
            pass
        made.set_result(static_file(VEGA, body))
    except BaseException as error:
        made.set_exception(error)
