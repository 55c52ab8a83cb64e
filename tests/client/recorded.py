"""A small server that answers from a list: for what a real one does not do when it is asked to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What the server says once."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    #: A length other than that of the content: a connection that breaks.
    length: int | None = None

    @property
    def content(self) -> bytes:
        return json.dumps(self.body).encode() if self.raw is None else self.raw


@dataclass
class Request:
    """What the server was asked."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Recorded:
    """The server: its address, what it was asked, what it will say."""

    url: str
    answers: list[Answer]
    requests: list[Request] = field(default_factory=list)


@contextmanager
def recorded(*answers: Answer) -> Iterator[Recorded]:
    """Run a server that gives these answers in their order, and the last one ever after."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            server.requests.append(
                Request(self.command, self.path, dict(self.headers), self.rfile.read(size))
            )
            answer = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(answer.status)
            if answer.status != 304:
                length = len(answer.content) if answer.length is None else answer.length
                self.send_header("Content-Length", str(length))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if answer.status != 304:
                self.wfile.write(answer.content)

        do_GET = do_POST = do_DELETE = handle_any  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Recorded(f"http://127.0.0.1:{listening.server_port}", left)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def dataset(**changes: Any) -> dict[str, Any]:
    """A table as the API gives it: two parishes and a total, by sex with a total."""
    about = {
        "question": {"of": "persons", "by": ["ed@parish", "sex"]},
        "link": "/api/v1/tables?of=persons&by=ed%40parish&by=sex",
        "cells": 9,
        "outcome": "withheld",
        "areas": {"all": 2, "available": 1},
        "reasons": [{"code": "sparse-area", "text": "Too few persons.", "variables": ["ed"]}],
        "remedies": [
            {
                "kinds": ["fewer-variables"],
                "text": "Leave out sex.",
                "question": {"of": "persons", "by": ["ed@parish"]},
                "available": 2,
                "areas": 2,
            }
        ],
        "parts": None,
        "versions": {"data": "1", "keys": 1},
    }
    made = {
        "version": "2.0",
        "class": "dataset",
        "label": "Persons by parish and sex",
        "note": ["Totals are published on their own."],
        "id": ["ed", "sex", "MEASURE"],
        "size": [3, 3, 1],
        "role": {"metric": ["MEASURE"], "geo": ["ed"]},
        "dimension": {
            "ed": {
                "label": "Area",
                "category": {
                    "index": ["_T", "01", "02"],
                    "label": {"_T": "Total", "01": "North", "02": "South"},
                },
                "extension": {"total": "_T"},
            },
            "sex": {
                "label": "Sex",
                "category": {
                    "index": ["_T", "1", "2"],
                    "label": {"_T": "Total", "1": "Male", "2": "Female"},
                },
                "extension": {"total": "_T"},
            },
            "MEASURE": {
                "label": "Measure",
                "category": {
                    "index": ["VALUE"],
                    "label": {"VALUE": "persons"},
                    "unit": {"VALUE": {"decimals": 0, "label": "persons"}},
                },
            },
        },
        "value": [30, 14, 17, 20, 9, 11, None, None, None],
        "status": {"4": "( )", "6": ".", "7": ".", "8": "."},
        "extension": {"status": {"label": {".": "not published"}}, "sdcensus": about},
    }
    return {**made, **changes}


def error(status: int, code: str, message: str = "No.", **more: Any) -> Answer:
    """An error in the one shape."""
    headers = more.pop("headers", {})
    said = {"status": status, "code": code, "message": message, "place": None, "at": None}
    said |= {"reasons": [], "remedies": [], "request": "r-1", **more}
    return Answer(status, {"error": said}, headers)
