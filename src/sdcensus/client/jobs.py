"""Waiting for a large table."""

from __future__ import annotations

import time

from sdcensus.client.catalogue import understood
from sdcensus.client.failures import ServiceError, StillRunning, failure
from sdcensus.client.transport import Transport
from sdcensus.model.progress import Progress
from sdcensus.model.quantities import waiting_text

#: Pauses between two looks at a job, in seconds: the first, and the longest.
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


def await_job(transport: Transport, job: str, *, wait: float, progress: Progress) -> None:
    """Wait until a job is done.

    Raises:
        StillRunning: It is not done in time.
        Refused: The policy does not allow the table.
        ServiceError: It failed, or the server has forgotten it.
    """
    until = time.monotonic() + wait
    pause = SHORTEST_PAUSE
    while True:
        received = transport.send("GET", transport.address(f"/jobs/{job}"))
        document = received.json()
        with understood():
            state = document["job"]
            status, stage = str(state["status"]), str(state.get("stage") or state["status"])
            done = min(max(float(state.get("progress") or 0.0), 0.0), 1.0)
        if status == "done":
            progress(stage, 1.0)
            return
        if status not in ("waiting", "running"):
            said = state.get("error") if isinstance(state.get("error"), dict) else {}
            if said.get("code") == "refused":
                raise failure(403, {"error": said})
            message = said.get("message") or "Ask again."
            raise ServiceError(f"The large table could not be made: {message}", code=status)
        progress(stage, done)
        left = until - time.monotonic()
        if left <= 0:
            raise StillRunning(
                f"The table is not ready after {waiting_text(wait)}. Give it more time with wait=,"
                " or ask for a smaller table.",
                code=status,
            )
        transport.sleep(min(pause, left))
        pause = min(1.5 * pause, LONGEST_PAUSE)
