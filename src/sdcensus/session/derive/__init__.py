"""Stores from stores: a pre-tabular method joined with a store and the office secret.

Here: checking what is said about a method, running it, and keeping what only the office may see.
The methods are in ``microdata``; what is published from a derived store passes ``session.guard``.
"""

from sdcensus.session.derive.blanks import ExportedBlanks, export_blanks
from sdcensus.session.derive.derivation import DerivationReport, derive
from sdcensus.session.derive.step import Step, prepared, step_from_text

__all__ = [
    "DerivationReport",
    "ExportedBlanks",
    "Step",
    "derive",
    "export_blanks",
    "prepared",
    "step_from_text",
]
