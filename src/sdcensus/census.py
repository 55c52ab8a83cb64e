"""A census and what it is made of: its schema, its keys and secrets, its files, tables to ask for.

What public and confidential things have in common; true counts are in ``sdcensus.confidential``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.documents.schema.document import read_schema as read_schema
    from sdcensus.model.schema.schema import KeySpace as KeySpace
    from sdcensus.model.spec.table_spec import TableSpec as TableSpec
    from sdcensus.session.census.census import (
        Census as Census,
        open_files as open_files,
        open_parquet as open_parquet,
    )
    from sdcensus.session.census.export import export as export
    from sdcensus.store.secrets import new_secret as new_secret

__getattr__, __dir__ = offer(__name__)
