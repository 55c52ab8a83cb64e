from __future__ import annotations

import importlib.util
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest

from sdcensus.kernels import _compile
from sdcensus.kernels._compile import cache_folder
from sdcensus.kernels.keys import record_keys, siphash

ON_LINUX = pytest.mark.skipif(
    sys.platform != "linux", reason="the variable that moves the user's cache is that of Linux"
)


def module_of(path: Path, text: str) -> ModuleType:
    path.write_text(text, encoding="utf-8", newline="\n")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def kernel(folder: Path) -> Callable[[int], int]:
    """A compiled kernel in a file of its own."""
    folder.mkdir(exist_ok=True)
    text = (
        "from sdcensus.kernels._compile import compiled\n\n"
        "@compiled\ndef doubled(number):\n    return 2 * number\n"
    )
    made: Callable[[int], int] = module_of(folder / "kernel.py", text).doubled
    return made


def test_the_folder_of_the_users_choice_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "chosen"))
    assert kernel(tmp_path / "source")(21) == 42
    assert list((tmp_path / "chosen").rglob("kernel.doubled-*.nbc"))
    assert [one.name for one in (tmp_path / "source").rglob("*.nb?")] == []


@ON_LINUX
def test_by_default_the_folder_is_the_users_own_and_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    (tmp_path / "caches" / "sdcensus").mkdir(parents=True, mode=0o777)
    (tmp_path / "caches" / "sdcensus").chmod(0o777)
    assert cache_folder() == tmp_path / "caches" / "sdcensus" / f"numba-{numba.__version__}"
    assert stat.S_IMODE((tmp_path / "caches" / "sdcensus").stat().st_mode) == 0o700
    assert kernel(tmp_path / "source")(21) == 42
    assert list((tmp_path / "caches").rglob("kernel.doubled-*.nbc"))
    assert [one.name for one in (tmp_path / "source").rglob("*.nb?")] == []


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
def test_without_a_folder_kernels_work_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    if variable == "XDG_CACHE_HOME" and sys.platform != "linux":
        pytest.skip("the variable is that of Linux")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv(variable, str(tmp_path / "file" / "below"))
    assert cache_folder() is None
    assert kernel(tmp_path / "source")(21) == 42
    assert list(tmp_path.rglob("*.nb?")) == []


def test_other_users_of_numba_keep_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: Any = numba.config
    monkeypatch.setattr(settings, "CACHE_DIR", str(tmp_path / "theirs"))
    made: Any = kernel(tmp_path / "source")
    assert str(tmp_path / "theirs") == settings.CACHE_DIR
    assert not str(made.stats.cache_path).startswith(str(tmp_path / "theirs"))


def test_our_kernels_are_cached_outside_of_the_package() -> None:
    package = Path(_compile.__file__).parent
    kernels: list[Any] = [record_keys._digest_all, siphash._hash_rows]
    paths = [
        Path(kernel.stats.cache_path) for kernel in kernels if kernel.stats.cache_path is not None
    ]
    assert len(paths) == (0 if cache_folder() is None else 2)
    # By what the sources say, and not by where this checkout lies.
    assert {path.parent for path in paths} <= {cache_folder()}
    assert not any(path.is_relative_to(package) for path in paths)
    assert not any(path.is_relative_to(Path.cwd()) for path in paths) or "NUMBA_CACHE_DIR" in (
        os.environ
    )


@pytest.mark.parametrize(
    ("imports", "found"),
    [
        ("from sdcensus.kernels._compile import compiled", set()),
        ("from sdcensus.kernels.keys.siphash import siphash_words", {"keys.siphash"}),
        ("import sdcensus.kernels.keys.siphash as hashing", {"keys.siphash"}),
        (
            "from sdcensus.kernels.keys import siphash, links",
            {"keys.siphash", "keys.links", "cells.tabulate", "cells.ranked"},
        ),
        ("from sdcensus.kernels.keys import (\n    siphash,\n)", {"keys.siphash"}),
        (
            "from sdcensus.kernels.cells.sparse import Runs",
            {"cells.sparse", "cells.tabulate", "cells.ranked"},
        ),
    ],
)
def test_kernels_that_a_kernel_calls_are_found_in_their_files(
    tmp_path: Path, imports: str, found: set[str]
) -> None:
    module = module_of(tmp_path / "calling.py", f"{imports}\n\ndef function():\n    return 1\n")
    sources = _compile._sources(module.function)
    assert set(sources) == found
    for name, source in sources.items():
        file = Path(_compile.__file__).parent.joinpath(*name.split(".")).with_suffix(".py")
        assert source == file.read_bytes()
