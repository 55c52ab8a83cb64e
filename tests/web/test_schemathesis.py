"""The document of the API against a real server: every example, every edge, and chance.

All checks of schemathesis: documented statuses, types and shapes, nothing wrong accepted, nothing
right refused, no failure inside, no way past the login.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from schemathesis.engine import events, from_schema

from tests.web.servers import Place, opened

PHASES = ("examples", "coverage", "fuzzing", "stateful")


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server that does not slow down whoever asks for a thousand things."""
    folder: Path = tmp_path_factory.mktemp("schemathesis")
    with opened(folder, longest_delay=0, feedback_per_day=1_000_000, job_limit=10_000) as place:
        yield place


def failures(
    place: Place, *phases: str, examples: int, seed: int, token: str | None
) -> tuple[int, list[str]]:
    """How many requests were checked, and what was wrong with which of them."""
    config = schemathesis.Config.from_dict(
        {
            "seed": seed,
            "continue-on-failure": True,
            "headers": {} if token is None else {"Authorization": token},
            "generation": {"max-examples": examples, "database": "none"},
            "phases": {one: {"enabled": one in phases} for one in PHASES},
        }
    )
    address = f"{place.server.url}/api/v1/openapi.json"
    schema = schemathesis.openapi.from_url(address, config=config)
    found, checked = [], 0
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError):
            found.append(f"{event.label}: {event.value}")
        if isinstance(event, events.FatalError):
            found.append(str(event.exception))
        if not isinstance(event, events.ScenarioFinished):
            continue
        for checks in event.recorder.checks.values():
            checked += 1
            found += [
                f"{event.recorder.label}: {check.name}: {check.failure_info.failure.message}"
                f"\n{check.failure_info.code_sample}"
                for check in checks
                if check.failure_info is not None
            ]
    return checked, found


def test_the_server_keeps_what_its_document_promises(tested: Place) -> None:
    checked, found = failures(tested, "examples", "fuzzing", examples=4, seed=1, token=None)
    assert not found, "\n\n".join(found)
    assert checked > 60
    assert tested.client.get("/ready").status_code == 200


def test_the_server_keeps_its_promises_to_the_staff(tested: Place) -> None:
    token = tested.token("boss", "staff")["authorization"]
    checked, found = failures(tested, "examples", "fuzzing", examples=3, seed=2, token=token)
    assert not found, "\n\n".join(found)
    assert checked > 60


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("known", [False, True])
def test_the_server_keeps_its_promises_for_long(tested: Place, seed: int, known: bool) -> None:
    token = tested.token(f"soak{seed}", "staff")["authorization"] if known else None
    phases = PHASES if seed == 0 else PHASES[2:]
    checked, found = failures(tested, *phases, examples=60, seed=seed, token=token)
    assert not found, "\n\n".join(found)
    assert checked > 500
    assert not tested.database.audit.verify().findings
