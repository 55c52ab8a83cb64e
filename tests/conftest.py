from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

# Machines differ in speed, and a slow one is not a mistake in the code: no deadlines anywhere.
settings.register_profile(
    "ci",
    max_examples=10,
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("dev", deadline=None, print_blob=True)
settings.register_profile("soak", parent=settings.get_profile("dev"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: tests that wait for a browser leave theirs idle."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is listed as only for soak."""
    lines = (ROOT / "tests" / "only_in_soak.txt").read_text(encoding="utf-8").splitlines()
    listed = tuple(one for one in map(str.strip, lines) if one and not one.startswith("#"))
    for item in items:
        if item.nodeid.startswith(listed):
            item.add_marker(pytest.mark.soak)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of published real data that stands beside the repository on some machines."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder with real data (../shared/data) is not here")
    return folder
