from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

#: The lists of tests that a quicker run leaves out, by the mark that does so.
LISTS = {"soak": "only_in_soak.txt", "slow": "slow.txt"}

# Machines differ in speed, and a slow one is not a mistake in the code: no deadlines anywhere.
settings.register_profile(
    "ci",
    max_examples=10,
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# Where CI is set, hypothesis itself would draw the same examples again and again.
settings.register_profile("dev", deadline=None, print_blob=True, derandomize=False)
# `make soak` gives it a seed, the date: new examples every day, and any day's once more.
settings.register_profile("soak", parent=settings.get_profile("dev"), max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


class Examples:
    """Looks for doctests only in files with an example, which saves each worker five seconds."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        collectors = yield
        if file_path.suffix != ".py" or ">>> " in file_path.read_text(encoding="utf-8"):
            return collectors
        return [collector for collector in collectors if type(collector) is pytest.Module]


def pytest_configure(config: pytest.Config) -> None:
    """A hook of this file itself would not be asked about files outside of this folder."""
    config.pluginmanager.register(Examples())
    # What is collected stays until the end; to look through it again and again finds nothing.
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are processors: tests that wait for a browser leave theirs idle."""
    waits = "not slow" not in config.option.markexpr
    return (os.cpu_count() or 1) + waits


def listed(mark: str) -> tuple[str, ...]:
    """The tests, or the beginnings of their names, that stand in a list."""
    lines = (ROOT / "tests" / LISTS[mark]).read_text(encoding="utf-8").splitlines()
    return tuple(line for line in map(str.strip, lines) if line and not line.startswith("#"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what stands in a list."""
    for mark in LISTS:
        names = listed(mark)
        for item in items:
            if item.nodeid.startswith(names):
                item.add_marker(getattr(pytest.mark, mark))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of published real data that stands beside the repository on some machines."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder with real data (../shared/data) is not here")
    return folder
