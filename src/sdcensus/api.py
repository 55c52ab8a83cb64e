"""The public names of ``import sdcensus as sc``, each loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sdcensus.attack as attack
    import sdcensus.methods as methods
    import sdcensus.risk as risk
    import sdcensus.session.perturbation.tables as perturbation
    import sdcensus.session.policy as policy
    import sdcensus.session.study.study as study
    import sdcensus.utility as utility
    from sdcensus.client import connect
    from sdcensus.documents.schema.document import read_schema
    from sdcensus.errors import SdcensusError
    from sdcensus.formats.write.table_file import write_table
    from sdcensus.methods.cell_key import CellKey
    from sdcensus.methods.perturbation.design import design_perturbation
    from sdcensus.model.cube.cube import Cube
    from sdcensus.model.cube.sparse_cube import SparseCube
    from sdcensus.model.schema.key_space import KeySpace
    from sdcensus.model.spec.table_spec import TableSpec
    from sdcensus.session.assess.assessment import assess
    from sdcensus.session.census.census import (
        Census,
        from_frame,
        open_files,
        open_parquet,
        open_store,
    )
    from sdcensus.session.census.description import describe
    from sdcensus.session.census.export import export
    from sdcensus.session.census.load import load
    from sdcensus.session.office.audit_output import write_audit
    from sdcensus.session.office.confidential_output import write_confidential
    from sdcensus.session.publish.run import publish
    from sdcensus.session.recommend.recommendation import recommend
    from sdcensus.store.secrets import new_secret, read_secret

#: Where the names come from: modules themselves, and what stands in modules.
_MODULES = {
    "attack": "sdcensus.attack",
    "methods": "sdcensus.methods",
    "perturbation": "sdcensus.session.perturbation.tables",
    "policy": "sdcensus.session.policy",
    "risk": "sdcensus.risk",
    "study": "sdcensus.session.study.study",
    "utility": "sdcensus.utility",
}
_NAMES = {
    "CellKey": "sdcensus.methods.cell_key",
    "Census": "sdcensus.session.census.census",
    "Cube": "sdcensus.model.cube.cube",
    "KeySpace": "sdcensus.model.schema.key_space",
    "SdcensusError": "sdcensus.errors",
    "SparseCube": "sdcensus.model.cube.sparse_cube",
    "TableSpec": "sdcensus.model.spec.table_spec",
    "assess": "sdcensus.session.assess.assessment",
    "connect": "sdcensus.client",
    "describe": "sdcensus.session.census.description",
    "design_perturbation": "sdcensus.methods.perturbation.design",
    "export": "sdcensus.session.census.export",
    "from_frame": "sdcensus.session.census.census",
    "load": "sdcensus.session.census.load",
    "new_secret": "sdcensus.store.secrets",
    "open_files": "sdcensus.session.census.census",
    "open_parquet": "sdcensus.session.census.census",
    "open_store": "sdcensus.session.census.census",
    "publish": "sdcensus.session.publish.run",
    "read_schema": "sdcensus.documents.schema.document",
    "read_secret": "sdcensus.store.secrets",
    "recommend": "sdcensus.session.recommend.recommendation",
    "write_audit": "sdcensus.session.office.audit_output",
    "write_confidential": "sdcensus.session.office.confidential_output",
    "write_table": "sdcensus.formats.write.table_file",
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
