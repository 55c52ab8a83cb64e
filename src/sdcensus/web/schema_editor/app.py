"""The addresses of the editor: one page, its files, and what it asks for and changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from sdcensus.errors import InputError, SdcensusError
from sdcensus.model.schema.variable import Entity
from sdcensus.session.schema_editing.editing import SchemaEditing, StaleView
from sdcensus.session.schema_editing.saving import ChangedOnDisk
from sdcensus.session.schema_editing.views import ROLES
from sdcensus.web.languages import text, texts
from sdcensus.web.pages import TEMPLATES, data_block
from sdcensus.web.routing import Routes
from sdcensus.web.schema_editor.guard import Admission, Guard
from sdcensus.web.static_files import STATIC, static_file

#: What of the files of the table builder this page uses, too.
_SHARED = ("site.css", "icon.svg", "shared/", "schema_editor/")
_HTML = "text/html; charset=utf-8"
_JSON = "application/json"


@dataclass(slots=True)
class Editor:
    """What the addresses need."""

    editing: SchemaEditing
    language: str
    base: str
    close: Callable[[], None]

    async def call(self, work: Callable[..., Any], *values: Any) -> Any:
        """Do something that takes a moment, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(None, partial(work, *values))


routes = Routes[Editor]()


def create_app(
    editing: SchemaEditing,
    admission: Admission,
    *,
    port: int,
    language: str,
    close: Callable[[], None],
) -> Starlette:
    """The application of the editor.

    Args:
        editing: The schema.
        admission: Who is let in.
        port: The port under which it is known.
        language: The language of the page.
        close: Called when the office is done.
    """
    editor = Editor(editing, language, admission.base, close)
    app = Starlette(routes=routes.of(editor, admission.base))
    app.router.redirect_slashes = False
    app.add_exception_handler(SdcensusError, _failed)
    app.add_middleware(Guard, admission=admission, port=port)
    return app


@routes.get("/")
async def page(editor: Editor, _: Request) -> Response:
    """The page; everything on it is asked for afterwards."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=select_autoescape(default=True)
    )
    words = {
        key: words for key, words in texts(editor.language).items() if key.startswith("editor.")
    }
    body = environment.get_template("schema_editor.html").render(
        t=lambda key, **values: text(editor.language, key, **values),
        language=editor.language,
        base=editor.base,
        texts_json=data_block(words),
        offers_json=data_block({"roles": ROLES, "entities": [kind.value for kind in Entity]}),
    )
    return Response(body, media_type=_HTML)


@routes.get("/static/{path:path}")
async def files(editor: Editor, request: Request) -> Response:
    """A script, a style or a drawing."""
    name = request.path_params["path"]
    path = (STATIC / name).resolve()
    known = name.startswith(_SHARED) and path.is_relative_to(STATIC) and path.is_file()
    if not known:
        return Response(status_code=404)
    file = static_file(name, path.read_bytes())
    return Response(file.body, media_type=file.media_type)


@routes.get("/api/state")
async def state(editor: Editor, _: Request) -> Response:
    """The census and a line for each variable."""
    return _json(await editor.call(editor.editing.state))


@routes.get("/api/variable")
async def variable(editor: Editor, request: Request) -> Response:
    """A variable with its distribution."""
    name = request.query_params.get("name", "")
    return _json(await editor.call(editor.editing.variable, name))


@routes.post("/api/change")
async def change(editor: Editor, request: Request) -> Response:
    """Change something; the answer is what there is now."""
    return await _changed(editor, request, editor.editing.change)


@routes.post("/api/undo")
async def undo(editor: Editor, request: Request) -> Response:
    """Take the last change back."""
    return await _changed(editor, request, editor.editing.undo)


@routes.post("/api/redo")
async def redo(editor: Editor, request: Request) -> Response:
    """Make it again."""
    return await _changed(editor, request, editor.editing.redo)


@routes.post("/api/save")
async def save(editor: Editor, request: Request) -> Response:
    """Write the schema; then go on, or close."""
    members = await _members(request)
    written = await editor.call(editor.editing.save, members)
    if members.get("close") is True:
        editor.close()
    names = [path.name for path in written]
    return _json({"written": names, "state": await editor.call(editor.editing.state)})


@routes.post("/api/close")
async def close(editor: Editor, _: Request) -> Response:
    """End without saving; what was changed is kept beside the schema."""
    editor.close()
    return _json({})


async def _changed(
    editor: Editor, request: Request, work: Callable[[Mapping[str, Any]], None]
) -> Response:
    members = await _members(request)
    await editor.call(work, members)
    answer = {"state": await editor.call(editor.editing.state)}
    shown = members.get("shown")
    if isinstance(shown, str) and shown:
        answer["variable"] = await editor.call(editor.editing.variable, shown)
    return _json(answer)


async def _members(request: Request) -> Mapping[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        members = orjson.loads(await request.body()) if kind == _JSON else None
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        raise InputError("The request is no JSON object.")
    return members


async def _failed(_: Request, error: Exception) -> Response:
    """What the office did wrong, or what another program did to its files."""
    code = "input"
    if isinstance(error, StaleView):
        code = "stale"
    elif isinstance(error, ChangedOnDisk):
        code = "changed"
    status = 400 if code == "input" else 409
    return _json({"error": {"code": code, "message": str(error)}}, status)


def _json(document: object, status: int = 200) -> Response:
    return Response(orjson.dumps(document), status_code=status, media_type=_JSON)
