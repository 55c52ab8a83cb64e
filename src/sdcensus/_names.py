"""Names of a package that are loaded when they are first used.

A package says once what it offers: in the imports below ``if TYPE_CHECKING:`` of its own source,
where type checkers and readers look. Nothing is imported before somebody asks for a name; the
imports are then read from the source, so that there is no second list beside them.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType, ModuleType
from typing import Any

_NONE: Mapping[str, str] = MappingProxyType({})


def offer(
    package: str, former: Mapping[str, str] = _NONE
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose names are loaded on first use.

    Args:
        package: The name of the package.
        former: Names of the version before, with what they are called now, below the package.
            They still work, with a ``DeprecationWarning``.
    """

    def load(name: str) -> Any:
        if name == "__all__":
            return names()
        if name in former:
            now = f"{package}.{former[name]}"
            note = f"{package}.{name} is now {now}; the old name goes with the next version."
            warnings.warn(note, DeprecationWarning, stacklevel=2)
            return reduce(_member, former[name].split("."), import_module(package))
        # Python asks for names such as __path__ by itself; none of ours looks like that.
        if name.startswith("__") or name not in _places(package):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, member = _places(package)[name]
        if module == package:
            return import_module(f"{package}.{member}")
        return _member(import_module(module), member)

    def names() -> list[str]:
        return sorted(_places(package))

    return load, names


def _member(module: ModuleType, name: str) -> Any:
    """What ``from module import name`` gives: something in a module, or a module in a package."""
    try:
        return getattr(module, name)
    except AttributeError:
        return import_module(f"{module.__name__}.{name}")


@cache
def _places(package: str) -> Mapping[str, tuple[str, str]]:
    """The module and the name in it from which each name of a package comes."""
    spec = find_spec(package)
    source = getattr(spec and spec.loader, "get_source", lambda _: "")(package) or ""
    return MappingProxyType(dict(_imports(ast.parse(source))))


def _imports(source: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for block in source.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for statement in block.body:
                if isinstance(statement, ast.ImportFrom) and statement.module:
                    for alias in statement.names:
                        yield alias.asname or alias.name, (statement.module, alias.name)
