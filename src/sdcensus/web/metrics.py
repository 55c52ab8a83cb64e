"""What the server measures of itself, for Prometheus, on a private port only. No census figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from socketserver import ThreadingMixIn
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, make_wsgi_app
from prometheus_client.process_collector import ProcessCollector

from sdcensus.web.settings import LOOPBACK_HOSTS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """Counters and clocks in a registry of their own, so that several servers do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._kept: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        ProcessCollector(registry=self.registry)

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"sdcensus_{name}", text, labels, registry=self.registry)

        by = ("route", "method", "status")
        self.requests = counter("requests", "Requests by route, method and status", *by)
        self.latency = Histogram(
            "sdcensus_request_seconds",
            "Time until the answer was sent, by route",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.making = Histogram(
            "sdcensus_table_seconds",
            "Time in which tables were made that were not at hand",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.cache = counter("cache", "Questions whose answer was at hand, or was not", "result")
        self.answers = counter("questions", "Questions by what became of them", "outcome", "role")
        self.refusals = counter("refusals", "Refused questions by reason", "reason")
        self.alarms = counter("alarms", "Alarms by pattern", "pattern")
        self.delays = counter("delay_seconds", "Seconds by which answers were slowed")
        come_back = "Requests that were told to come back, by why"
        self.too_many = counter("turned_away", come_back, "why")
        self.failures = counter("failures", "Requests that failed inside")

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request. Looking up labels takes longer than counting, so they are kept."""
        key = (route, method, status)
        kept = self._kept.get(key)
        if kept is None:
            counter = self.requests.labels(route, method, str(status))
            kept = self._kept[key] = (counter, self.latency.labels(route))
        kept[0].inc()
        kept[1].observe(seconds)

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Show a number that is read when it is asked for."""
        Gauge(f"sdcensus_{name}", text, registry=self.registry).set_function(value)

    def refused(self) -> dict[str, int]:
        """Refused questions by reason, since the start."""
        return {reason: int(value) for reason, value in _by_label(self.refusals, "reason")}

    def outcomes(self) -> dict[str, int]:
        """Questions by what became of them, since the start."""
        counts: dict[str, int] = {}
        for outcome, value in _by_label(self.answers, "outcome"):
            counts[outcome] = counts.get(outcome, 0) + int(value)
        return counts

    def cached(self) -> dict[str, int]:
        """Questions whose answer was at hand, or was not, since the start."""
        return {result: int(value) for result, value in _by_label(self.cache, "result")}

    def serve(self, port: int) -> tuple[WSGIServer, int]:
        """Show the metrics on a port of this machine, to this machine only.

        A page that a browser of this machine shows must not read them: by a name of its own that
        leads here it could, so only names of this machine are answered.
        """
        app = _to_this_machine(make_wsgi_app(self.registry))
        server = make_server(
            "127.0.0.1", port, app, server_class=_Server, handler_class=_SilentHandler
        )
        Thread(target=server.serve_forever, daemon=True).start()
        return server, int(server.server_address[1])


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _SilentHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _to_this_machine(app: WSGIApplication) -> WSGIApplication:
    """The same application, for requests that name this machine."""

    def checked(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "")
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        if host and name.lower() not in LOOPBACK_HOSTS:
            start_response("421 Misdirected Request", [("Content-Type", "text/plain")])
            return [b"The metrics are shown under the names of this machine only.\n"]
        return app(environ, start_response)

    return checked


def _by_label(counter: Counter, label: str) -> Iterator[tuple[str, float]]:
    for family in counter.collect():
        for sample in family.samples:
            if sample.name.endswith("_total"):
                yield sample.labels[label], sample.value
