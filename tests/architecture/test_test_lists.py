"""What quicker and longer runs of the tests are made of: lists, marks, and examples."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from tests.conftest import LISTS, listed

ROOT = Path(__file__).resolve().parents[2]

#: Whatever is named so says that something confidential stays inside, or that a guard holds.
GUARDS = (
    *("confidential", "leak", "canary", "guard", "only_the_owner", "only_its_owner", "is_hidden"),
    *("never_written", "tells_nothing", "tell_nothing", "true_count", "are_text_on"),
)


@cache
def named_tests(path: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {node.name: node for node in functions if node.name.startswith("test_")}


def guards(name: str) -> bool:
    """Whether a test, by its full name, is one that no office can do without."""
    return name.startswith("tests/leaks/") or any(word in name for word in GUARDS)


def marked_for_soak() -> list[str]:
    """The tests that are marked where they stand, as a whole or one of their cases."""
    return [
        f"{path.relative_to(ROOT).as_posix()}::{name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "mark.soak" in path.read_text(encoding="utf-8")
        for name, node in named_tests(path).items()
        if any("mark.soak" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]


@pytest.mark.parametrize("mark", LISTS)
def test_every_line_names_a_test(mark: str) -> None:
    lines = listed(mark)
    assert len(set(lines)) == len(lines)
    unknown = []
    for line in lines:
        path, _, name = line.partition("::")
        if not (ROOT / path).is_file() or (
            name and name.partition("[")[0] not in named_tests(ROOT / path)
        ):
            unknown.append(line)
    assert unknown == []


def test_no_test_of_a_leak_runs_only_in_soak() -> None:
    kept = [*listed("soak"), *marked_for_soak()]
    assert [name for name in kept if guards(name)] == []


@pytest.mark.parametrize(
    "name",
    [
        "tests/leaks/test_server.py::test_anything",
        "tests/cli/census/test_demo.py::test_what_is_for_the_office_only_its_owner_can_read",
        "tests/ingest/test_draft.py::test_texts_that_may_be_names_are_never_written",
    ],
)
def test_a_test_of_a_leak_is_known_by_its_name(name: str) -> None:
    assert guards(name)


def test_marks_in_tests_are_seen() -> None:
    assert any("test_fifty_kills_change_nothing" in name for name in marked_for_soak())


@pytest.mark.parametrize(("given", "seed"), [([], r"\d{8}"), (["SEED=7"], "7")])
def test_soak_draws_new_examples_every_day_and_says_how_to_draw_them_again(
    given: list[str], seed: str
) -> None:
    dry = ["make", "--dry-run", "soak", *given]
    said = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.search(rf"--hypothesis-seed={seed}$", said, re.MULTILINE)
    assert re.search(rf"SEED={seed} make soak", said)


def test_ci_draws_the_same_examples_every_time_and_soak_does_not() -> None:
    assert settings.get_profile("ci").derandomize
    assert not settings.get_profile("soak").derandomize
    assert settings.get_profile("soak").max_examples > settings.get_profile("ci").max_examples
