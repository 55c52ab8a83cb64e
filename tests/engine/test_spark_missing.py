"""What is said where Spark cannot run: which part to install, in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from sdcensus.engine.spark import small_relation
from sdcensus.engine.spark_session import java_version
from tests.architecture.test_optional_parts import ROOT, run_without_extras

OPEN = """
from sdcensus.engine.spark_session import request_session
from sdcensus.errors import SdcensusError

try:
    request_session()
except SdcensusError as error:
    print(type(error).__name__, error)
"""


def test_without_pyspark_the_extra_is_named() -> None:
    done = run_without_extras(OPEN, ROOT / "src")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MissingExtra The engine spark needs an optional part.")
    assert "pip install 'sdcensus[spark]'" in done.stdout


@pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed")
@pytest.mark.parametrize("home", [None, "no such folder"])
def test_without_java_it_is_said_what_to_install(tmp_path: Path, home: str | None) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("JAVA_HOME", "PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS")
    }
    environment |= {"PATH": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    if home is not None:
        environment["JAVA_HOME"] = str(tmp_path / home)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", OPEN],
        env=environment,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("EngineError The engine spark needs Java, and there is none")
    assert "openjdk-17-jre-headless" in done.stdout
    assert ("JAVA_HOME (" in done.stdout) is (home is not None)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("Error: could not find libjava.so", None),
    ],
)
def test_the_version_of_java_is_read(text: str, version: int | None) -> None:
    assert java_version(text) == version


def test_small_relations_are_numbers_of_ours_in_the_text_of_the_query() -> None:
    assert small_relation({"leaf": range(3), "part": [0, 5, 5]}) == (
        "SELECT inline(arrays_zip(from_json('[0, 1, 2]', 'array<bigint>'),"
        " from_json('[0, 5, 5]', 'array<bigint>'))) AS (`leaf`, `part`)"
    )
