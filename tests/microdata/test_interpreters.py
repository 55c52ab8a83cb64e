"""What a method changes is the same in every interpreter, with kernels compiled or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.microdata.every_method import METHODS, main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "setting",
    [
        {"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "1"},
        {"PYTHONHASHSEED": "2", "NUMBA_DISABLE_JIT": "1"},
    ],
    ids=["seed-and-threads", "not-compiled"],
)
def test_hash_seeds_threads_and_compilation_do_not_matter(
    tmp_path: Path, setting: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(tmp_path / "here")
    here = capsys.readouterr().out
    assert len(here.splitlines()) == len(METHODS) + 1  # and a file for researchers
    words = [sys.executable, "-m", "tests.microdata.every_method", str(tmp_path / "there")]
    there = subprocess.run(
        words, cwd=ROOT, env=os.environ | setting, capture_output=True, text=True, check=True
    )
    assert there.stdout == here
