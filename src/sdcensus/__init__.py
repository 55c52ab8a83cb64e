"""sdcensus: publish as much of a census as possible without giving anyone away.

Everything public is here: ``import sdcensus as sc``. Names are loaded when they are first used,
so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sdcensus._version import __version__

if TYPE_CHECKING:
    from sdcensus.api import (
        CellKey,
        Census,
        Cube,
        KeySpace,
        SdcensusError,
        SparseCube,
        TableSpec,
        assess,
        attack,
        connect,
        describe,
        design_perturbation,
        export,
        from_frame,
        load,
        methods,
        new_secret,
        open_files,
        open_parquet,
        open_store,
        perturbation,
        policy,
        publish,
        read_schema,
        read_secret,
        recommend,
        risk,
        study,
        utility,
        write_audit,
        write_confidential,
        write_table,
    )

__all__ = [
    "CellKey",
    "Census",
    "Cube",
    "KeySpace",
    "SdcensusError",
    "SparseCube",
    "TableSpec",
    "__version__",
    "assess",
    "attack",
    "connect",
    "describe",
    "design_perturbation",
    "export",
    "from_frame",
    "load",
    "methods",
    "new_secret",
    "open_files",
    "open_parquet",
    "open_store",
    "perturbation",
    "policy",
    "publish",
    "read_schema",
    "read_secret",
    "recommend",
    "risk",
    "study",
    "utility",
    "write_audit",
    "write_confidential",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("sdcensus.api"), name)
    raise AttributeError(f"module 'sdcensus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
