"""The public names of ``import sdcensus as sc``, each loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sdcensus.attack as attack
    import sdcensus.methods as methods
    import sdcensus.risk as risk
    import sdcensus.session.perturbation as perturbation
    import sdcensus.session.policy as policy
    import sdcensus.session.study as study
    import sdcensus.utility as utility
    from sdcensus.client import connect
    from sdcensus.documents.schema import read_schema
    from sdcensus.errors import SdcensusError
    from sdcensus.formats.tables import write_table
    from sdcensus.methods.cell_key import CellKey
    from sdcensus.methods.perturbation.design import design_perturbation
    from sdcensus.model.cube import Cube
    from sdcensus.model.key_space import KeySpace
    from sdcensus.model.sparse_cube import SparseCube
    from sdcensus.model.table_spec import TableSpec
    from sdcensus.report.assessing import assess
    from sdcensus.report.publishing import publish
    from sdcensus.session.audit_output import write_audit
    from sdcensus.session.census import Census, from_frame, open_files, open_parquet, open_store
    from sdcensus.session.confidential_output import write_confidential
    from sdcensus.session.describing import describe
    from sdcensus.session.exporting import export
    from sdcensus.session.loading import load
    from sdcensus.session.recommending import recommend
    from sdcensus.store.secrets import new_secret, read_secret

#: Where the names come from: modules themselves, and what stands in modules.
_MODULES = {
    "attack": "sdcensus.attack",
    "methods": "sdcensus.methods",
    "perturbation": "sdcensus.session.perturbation",
    "policy": "sdcensus.session.policy",
    "risk": "sdcensus.risk",
    "study": "sdcensus.session.study",
    "utility": "sdcensus.utility",
}
_NAMES = {
    "CellKey": "sdcensus.methods.cell_key",
    "Census": "sdcensus.session.census",
    "Cube": "sdcensus.model.cube",
    "KeySpace": "sdcensus.model.key_space",
    "SdcensusError": "sdcensus.errors",
    "SparseCube": "sdcensus.model.sparse_cube",
    "TableSpec": "sdcensus.model.table_spec",
    "assess": "sdcensus.report.assessing",
    "connect": "sdcensus.client",
    "describe": "sdcensus.session.describing",
    "design_perturbation": "sdcensus.methods.perturbation.design",
    "export": "sdcensus.session.exporting",
    "from_frame": "sdcensus.session.census",
    "load": "sdcensus.session.loading",
    "new_secret": "sdcensus.store.secrets",
    "open_files": "sdcensus.session.census",
    "open_parquet": "sdcensus.session.census",
    "open_store": "sdcensus.session.census",
    "publish": "sdcensus.report.publishing",
    "read_schema": "sdcensus.documents.schema",
    "read_secret": "sdcensus.store.secrets",
    "recommend": "sdcensus.session.recommending",
    "write_audit": "sdcensus.session.audit_output",
    "write_confidential": "sdcensus.session.confidential_output",
    "write_table": "sdcensus.formats.tables",
}

__all__ = [
    "CellKey",
    "Census",
    "Cube",
    "KeySpace",
    "SdcensusError",
    "SparseCube",
    "TableSpec",
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
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
