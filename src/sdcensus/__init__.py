"""sdcensus: publish as much of a census as possible without giving anyone away.

Everything public is here: ``import sdcensus as sc``. Names are loaded when they are first used,
so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer
from sdcensus._version import __version__ as __version__

if TYPE_CHECKING:
    from sdcensus import (
        attack as attack,
        census as census,
        confidential as confidential,
        methods as methods,
        risk as risk,
        utility as utility,
    )
    from sdcensus.client import connect as connect
    from sdcensus.errors import SdcensusError as SdcensusError
    from sdcensus.formats.write import write_table as write_table
    from sdcensus.session import perturbation as perturbation, policy as policy, study as study
    from sdcensus.session.assess.assessment import assess as assess
    from sdcensus.session.census.census import (
        from_frame as from_frame,
        load as load,
        open_store as open_store,
    )
    from sdcensus.session.publish.run import publish as publish
    from sdcensus.store.secrets import read_secret as read_secret

#: Names of version 0.1, with what they are called now.
_FORMER = {
    "CellKey": "methods.CellKey",
    "Census": "census.Census",
    "Cube": "confidential.Cube",
    "KeySpace": "census.KeySpace",
    "SparseCube": "confidential.SparseCube",
    "TableSpec": "census.TableSpec",
    "describe": "confidential.describe",
    "design_perturbation": "perturbation.design",
    "export": "census.export",
    "new_secret": "census.new_secret",
    "open_files": "census.open_files",
    "open_parquet": "census.open_parquet",
    "read_schema": "census.read_schema",
    "recommend": "study.recommend",
    "write_audit": "confidential.write_audit",
    "write_confidential": "confidential.write_confidential",
}

__getattr__, __dir__ = offer(__name__, _FORMER)
