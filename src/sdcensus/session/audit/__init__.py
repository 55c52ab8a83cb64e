"""Audits of withheld cells: of files that other tools protected, and of our own.

``inputs`` reads files of any kind as tables with states, ``run`` audits them together, ``proofs``
puts the certificates of the solver into codes. The intervals themselves are in ``solvers/audit``,
page, workbook and csv file in ``report/audit``; an intruder who does the same is in ``attack``.
"""

from sdcensus.formats.read.flagged.rows import Columns
from sdcensus.formats.read.flagged.statuses import told_by_user
from sdcensus.session.audit.inputs import ArgusFiles, AuditTable, read_tables
from sdcensus.session.audit.options import AuditOptions
from sdcensus.session.audit.run import audit_tables
from sdcensus.solvers.audit.intervals import CellStatus

__all__ = [
    "ArgusFiles",
    "AuditOptions",
    "AuditTable",
    "CellStatus",
    "Columns",
    "audit_tables",
    "read_tables",
    "told_by_user",
]
