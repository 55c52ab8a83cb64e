"""Every limit of the server, with its default."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from sdcensus.errors import SpecError, unknown
from sdcensus.model.text import LANGUAGES

Network = IPv4Network | IPv6Network

#: What the server answers for when nothing else is said: itself, on this machine.
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")

#: Numbers that must be at least one for the server to work at all.
_POSITIVE = (
    *("workers", "queue", "jobs_running", "online_cells", "online_workbook_cells", "body_limit"),
    *("address_limit", "header_limit", "cache_bytes", "job_bytes", "job_seconds", "job_limit"),
    *("time_limit", "request_seconds", "keep_alive_seconds", "shutdown_seconds", "connections"),
    *("session_hours", "session_idle_hours", "audit_days", "token_days", "slowest_kept"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a server is set up.

    Attributes:
        host: The address that it listens on; the default is reached from this machine only.
        port: The port of pages and API; 0 for any that is free.
        metrics_port: The port of the metrics, always on loopback; ``None`` for none, 0 for any.
        hosts: Names that it answers for, without ports; ``*`` for all, ``*.example.org`` for those
            of a domain. Requests for other names are refused.
        trusted_proxies: Addresses or networks of the office's own proxies. What they say in
            ``X-Forwarded-For`` and ``X-Forwarded-Proto`` is believed; of others it is not.
        secure: Whether readers come over https: cookies are then for https only, and browsers are
            told to stay with it. ``None``: as a trusted proxy says, request by request.
        state: The folder for what the server keeps: keys of cookies, the bundle of charts.
        office: The name of the office on the pages.
        feedback: Where readers may write to; empty for none.
        languages: The languages of pages and texts, the first for those who prefer none.
        online_cells: Larger tables are made as jobs.
        online_workbook_cells: Larger workbooks are made as jobs: they take longer to write.
        workers: How many tables are counted at the same time.
        queue: How many more may wait; those above are told to come back.
        time_limit: Seconds that a request waits for its table before it becomes a job.
        longest_delay: Seconds by which the watch may slow an answer at most.
        body_limit: Bytes of the body of a request.
        address_limit: Characters of an address with its parameters.
        header_limit: Bytes of the headers of a request.
        request_seconds: Seconds in which headers, and then the body, must arrive.
        keep_alive_seconds: Seconds for which a silent connection is kept.
        connections: Connections at the same time; those above are told to come back.
        shutdown_seconds: Seconds for which running answers are waited for when the server stops.
        cache_bytes: Bytes of finished answers that are kept in memory.
        cache_seconds: Seconds for which readers and proxies may keep an answer.
        job_limit: Jobs of one caller at the same time, where the policy does not say.
        jobs_running: Jobs that are worked on at the same time.
        jobs_waiting: Jobs that may wait, of all callers together.
        job_seconds: Seconds for which the result of a job is kept.
        job_bytes: Bytes of results that are kept; the oldest go first.
        session_hours: Hours after which everybody has to log in again.
        session_idle_hours: Hours without a request after which a session ends.
        token_days: Days that a new token is good for.
        login_attempts: Failed attempts to log in within ``login_seconds``, by name and by address.
        login_seconds: See ``login_attempts``.
        feedback_per_day: Messages that one reader may send in a day.
        audit_days: Days for which the audit is kept, and alarms and messages of readers with it.
        watch_questions: Answered questions of the audit of which the watch is told after a start,
            the newest ones; 0 for none.
        slowest_kept: How many slow questions the staff page shows.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    metrics_port: int | None = 9464
    hosts: tuple[str, ...] = LOOPBACK_HOSTS
    trusted_proxies: tuple[str, ...] = ()
    secure: bool | None = None
    state: Path = field(default_factory=lambda: Path("sdcensus-server"))
    office: str = ""
    feedback: str = ""
    languages: tuple[str, ...] = LANGUAGES
    # A grid of 100,000 squares with those in no square, by sex, with totals.
    online_cells: int = 310_000
    online_workbook_cells: int = 100_000
    workers: int = 2
    queue: int = 64
    time_limit: float = 20.0
    longest_delay: float = 5.0
    body_limit: int = 256 * 1024
    address_limit: int = 16 * 1024
    header_limit: int = 32 * 1024
    request_seconds: float = 20.0
    keep_alive_seconds: int = 30
    connections: int = 1_000
    shutdown_seconds: int = 20
    cache_bytes: int = 128 * 1024 * 1024
    cache_seconds: int = 3_600
    job_limit: int = 2
    jobs_running: int = 1
    jobs_waiting: int = 50
    job_seconds: int = 3_600
    job_bytes: int = 1024 * 1024 * 1024
    session_hours: float = 12.0
    session_idle_hours: float = 2.0
    token_days: int = 365
    login_attempts: int = 5
    login_seconds: int = 900
    feedback_per_day: int = 20
    audit_days: int = 400
    watch_questions: int = 20_000
    slowest_kept: int = 20

    def __post_init__(self) -> None:
        for name in ("hosts", "trusted_proxies", "languages"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "state", Path(self.state))
        for name in _POSITIVE:
            if getattr(self, name) <= 0:
                raise SpecError(f"The setting '{name}' must be larger than 0.")
        for name in (
            *("longest_delay", "cache_seconds", "jobs_waiting", "login_attempts"),
            "watch_questions",
        ):
            if getattr(self, name) < 0:
                raise SpecError(f"The setting '{name}' must not be below 0.")
        if not self.languages:
            raise SpecError("The server needs a language.")
        for language in self.languages:
            if language not in LANGUAGES:
                raise SpecError(unknown("language", language, LANGUAGES))
        for port in (self.port, self.metrics_port):
            if port is not None and not 0 <= port <= 65_535:
                raise SpecError(f"{port} is not a port. Ports are numbers from 1 to 65535.")
        if self.metrics_port and self.metrics_port == self.port:
            raise SpecError("The metrics need a port of their own.")
        _ = self.proxies

    @property
    def proxies(self) -> tuple[Network, ...]:
        """The trusted proxies as networks."""
        networks = []
        for proxy in self.trusted_proxies:
            try:
                networks.append(ip_network(proxy, strict=False))
            except ValueError:
                raise SpecError(
                    f"{proxy!r} is not the address of a proxy. Write an address such as 10.0.0.7"
                    " or a network such as 10.0.0.0/24."
                ) from None
        return tuple(networks)

    @property
    def bare_hosts(self) -> frozenset[str]:
        """The names that the server answers for, in small letters."""
        return frozenset(host.lower().rstrip(".") for host in self.hosts)
