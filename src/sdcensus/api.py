"""The public names of ``import sdcensus as sc``."""

from __future__ import annotations

import sdcensus.methods as methods
from sdcensus.documents.schema import read_schema
from sdcensus.errors import SdcensusError
from sdcensus.formats.tables import write_table
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.cube import Cube
from sdcensus.model.key_space import KeySpace
from sdcensus.model.sparse_cube import SparseCube
from sdcensus.model.table_spec import TableSpec
from sdcensus.session import perturbation
from sdcensus.session.audit_output import write_audit
from sdcensus.session.census import Census, from_frame, open_files, open_store
from sdcensus.session.confidential_output import write_confidential
from sdcensus.session.describing import describe
from sdcensus.session.loading import load
from sdcensus.store.secrets import new_secret, read_secret

__all__ = [
    "CellKey",
    "Census",
    "Cube",
    "KeySpace",
    "SdcensusError",
    "SparseCube",
    "TableSpec",
    "describe",
    "design_perturbation",
    "from_frame",
    "load",
    "methods",
    "new_secret",
    "open_files",
    "open_store",
    "perturbation",
    "read_schema",
    "read_secret",
    "write_audit",
    "write_confidential",
    "write_table",
]
