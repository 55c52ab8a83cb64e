"""How kernels are compiled, and where the compiled code is kept.

numba keeps compiled code in files that it unpickles when they are used, so whoever can write them
can run code as the user. They therefore live in a cache folder of the user's own that nobody else
can write to; never beside the source, in the working folder or in a store. Where there is no such
folder, every process compiles for itself.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs
from numba.core.caching import UserProvidedCacheLocator

F = TypeVar("F", bound=Callable[..., Any])


def _leave_linear_algebra_for_later() -> None:
    """Let numba look for scipy's linear algebra when somebody multiplies matrices, not before.

    It would look at the first call of any kernel, by loading it: most of the time that numba takes
    to start, for something that no kernel uses. Other users of numba notice nothing: functions
    that need it look again when they are compiled.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    # Inner parts of numba: where another version has them elsewhere, it only starts slower.
    with suppress(ImportError, AttributeError):
        linear_algebra: Any = import_module("numba.np.linalg")
        look = linear_algebra.ensure_blas
        linear_algebra.ensure_blas = lambda: None
        try:
            import_module("numba.np.arraymath").__dict__["ensure_blas"] = look
        finally:
            linear_algebra.ensure_blas = look


_leave_linear_algebra_for_later()

_FOLDER = Path(__file__).parent
_DECORATING = threading.Lock()


class BySources(UserProvidedCacheLocator):
    """Keeps compiled kernels by what their sources say, wherever these lie.

    Another checkout or environment of the same version then has them compiled already.
    """

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(numba.config.CACHE_DIR)


def compiled(function: F) -> F:
    """Compile a kernel when it is first called; it releases the lock of the interpreter.

    numba finds out when the file of a kernel changes, but not when a kernel that it calls changes
    in another file, and it stumbles over a class in a signature that has another name now. The
    folder therefore depends on the sources of all of them.
    """
    folder = cache_folder()
    if folder is None:
        return _compile(function, cache=False)
    own = Path(function.__code__.co_filename)
    digest = hashlib.blake2b(own.read_bytes() if own.is_file() else b"", digest_size=8)
    for name, source in sorted(_sources(function).items()):
        digest.update(name.encode() + b"\0" + source)
    folder = folder / digest.hexdigest()
    # The setting belongs to the whole process: other users of numba must not notice us.
    settings: Any = numba.config
    with _DECORATING:
        before = settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES
        settings.CACHE_DIR = str(folder)
        # Of files elsewhere it is not known what else they import: their place tells them apart.
        if own.is_relative_to(_FOLDER):
            settings.CACHE_LOCATOR_CLASSES = f"{__name__}.{BySources.__name__}"
        try:
            return _compile(function, cache=True)
        except (OSError, RuntimeError):
            return _compile(function, cache=False)
        finally:
            settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES = before


def cache_folder() -> Path | None:
    """Where compiled kernels are kept; None when no folder is private and writable.

    ``NUMBA_CACHE_DIR`` is the user's own choice, and is taken as it is.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return _writable(Path(chosen))
    return _private(Path(platformdirs.user_cache_dir("sdcensus", appauthor=False)))


@functools.cache
def _private(root: Path) -> Path | None:
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only the owner may change the mode, so this also refuses a folder of somebody else's.
        root.chmod(0o700)
    except OSError:
        return None
    return _writable(root / f"numba-{numba.__version__}")


@functools.cache
def _writable(folder: Path) -> Path | None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder


def _compile(function: F, *, cache: bool) -> F:
    return cast(F, numba.njit(cache=cache, nogil=True)(function))


def _sources(function: Callable[..., Any]) -> dict[str, bytes]:
    """Sources of the other kernel modules that the module of a kernel imports, and they in turn.

    The text is searched, not the names in the module: an imported constant, which numba compiles
    in, does not tell where it comes from.
    """
    own = Path(function.__code__.co_filename)
    contents: dict[str, bytes] = {}
    waiting = [own]
    while waiting:
        for name in _imported_kernels(waiting.pop()):
            file = _FOLDER.joinpath(*name.split(".")).with_suffix(".py")
            if name not in contents and file not in (own, Path(__file__)) and file.is_file():
                contents[name] = file.read_bytes()
                waiting.append(file)
    return contents


@functools.cache
def _imported_kernels(file: Path) -> frozenset[str]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return frozenset()
    named = set(re.findall(r"sdcensus\.kernels\.([\w.]+)", text))
    for folder, names in re.findall(
        r"from sdcensus\.kernels((?:\.\w+)*) import (\([^)]*\)|[^\n]*)", text
    ):
        named.update(f"{folder}.{name}".lstrip(".") for name in re.findall(r"\w+", names))
    return frozenset(named)
