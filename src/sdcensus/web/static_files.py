"""Files of the pages, from memory: a name that was not there at the start is nowhere."""

from __future__ import annotations

import asyncio
import mimetypes
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sdcensus._version import __version__
from sdcensus.errors import SdcensusError
from sdcensus.session.private_files import open_private_file
from sdcensus.web.answers import accepts_packed
from sdcensus.web.api.errors import not_found
from sdcensus.web.api.requests import made_response
from sdcensus.web.caching import etag_of, packed

STATIC = Path(__file__).resolve().parent / "static"
#: The library that draws charts and maps comes with an installed package.
VEGA = "vega.js"
_SNIPPET = "window.vegaEmbed = vegaEmbed; window.vega = vega; window.vegaLite = vegaLite;"
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
    """Every file of a folder, read once.

    Args:
        state: The folder in which what takes long to make is kept.
        folder: The folder of the files.
    """

    def __init__(self, state: Path, folder: Path = STATIC) -> None:
        self._state = state
        self._files: dict[str, StaticFile] = {}
        self._making: asyncio.Task[StaticFile] | None = None
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                name = path.relative_to(folder).as_posix()
                self._files[name] = static_file(name, path.read_bytes())

    async def response(self, request: Request) -> Response:
        """A file, or the news that it is known already.

        Raises:
            ApiError: There is no such file (404).
        """
        name = request.path_params["path"]
        found = self._files.get(name)
        if found is None and name == VEGA:
            found = await self._vega()
        if found is None:
            raise not_found()
        small = found.zipped is not None and accepts_packed(
            request.headers.get("accept-encoding", "")
        )
        tag = f'"{found.etag}{"-gz" if small else ""}"'
        headers = [
            (b"etag", tag.encode("ascii")),
            (b"cache-control", b"public, max-age=300, must-revalidate"),
            (b"vary", b"Accept-Encoding"),
        ]
        if tag in [one.strip() for one in request.headers.get("if-none-match", "").split(",")]:
            return made_response(304, b"", found.media_type, headers)
        if small and found.zipped is not None:
            headers.append((b"content-encoding", b"gzip"))
            return made_response(200, found.zipped, found.media_type, headers)
        return made_response(200, found.body, found.media_type, headers)

    async def _vega(self) -> StaticFile:
        """The library of charts; it takes seconds to make, so it is made once, in a thread."""
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(_bundle, self._state))
        try:
            self._files[VEGA] = await asyncio.shield(self._making)
        except Exception:
            self._making = None
            raise
        return self._files[VEGA]


def _bundle(state: Path) -> StaticFile:
    """The bundle: kept from the last time, or made and kept. Blocks for seconds."""
    import vl_convert

    kept = state / f"vega-{__version__}-{version('vl-convert-python')}.js"
    if kept.is_file():
        return static_file(VEGA, kept.read_bytes())
    body = vl_convert.javascript_bundle(_SNIPPET).encode("utf-8")
    try:
        with open_private_file(kept) as file:
            file.write(body)
    except SdcensusError:
        # It works as well without being kept; the next start makes it again.
        return static_file(VEGA, body)
    return static_file(VEGA, body)
