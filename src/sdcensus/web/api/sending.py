"""The answer that says: your table is being made."""

from __future__ import annotations

from starlette.responses import Response

from sdcensus.web.api.answering import told_job
from sdcensus.web.api.requests import json_response
from sdcensus.web.api.site import Site
from sdcensus.web.identity import CLIENT_COOKIE, Caller
from sdcensus.web.jobs import Job


def job_response(site: Site, caller: Caller, job: Job) -> Response:
    """Where to look for a table that is being made."""
    headers = [
        (b"location", f"/api/v1/jobs/{job.id}".encode("ascii")),
        (b"retry-after", b"1"),
        (b"preference-applied", b"respond-async"),
        *site.quotas.headers(caller.who, site.rules(caller.role)),
    ]
    if not caller.owner:
        # Somebody without an account is known again by a cookie, from the first job on.
        value = site.identities.signed_client(job.owner.removeprefix("client:"))
        cookie = site.identities.cookie(CLIENT_COOKIE, value, caller.secure, None)
        headers.append((b"set-cookie", cookie.encode("latin-1")))
    return json_response(told_job(job), 202, headers)
