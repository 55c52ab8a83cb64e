"""What only the office may see: true counts and cell keys, and files that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.model.cube.cube import Cube as Cube
    from sdcensus.model.cube.sparse_cube import SparseCube as SparseCube
    from sdcensus.session.census.description import describe as describe
    from sdcensus.session.licence.register import LicenceRegister as LicenceRegister
    from sdcensus.session.office.confidential_output import (
        write_audit as write_audit,
        write_confidential as write_confidential,
    )
    from sdcensus.session.release.release import Release as Release

__getattr__, __dir__ = offer(__name__)
