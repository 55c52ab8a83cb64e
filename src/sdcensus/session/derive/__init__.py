"""Stores from stores: a pre-tabular method joined with a store and the office secret.

Here: checking what is said about a method, looking at what it would meet, running it, measuring
what it does to tables, and keeping what only the office may see. The methods are in ``microdata``,
the report in ``report.derivation``; what is published from a derived store passes
``session.guard``.
"""

from sdcensus.microdata.method import FactTable
from sdcensus.session.derive.blanks import ExportedBlanks, export_blanks
from sdcensus.session.derive.derivation import DerivationReport, derive
from sdcensus.session.derive.effects import measured_effects
from sdcensus.session.derive.looking import earlier_pairs, foreseen, without_libraries
from sdcensus.session.derive.questions import EffectQuestions
from sdcensus.session.derive.step import Step, prepared, step_from_text

__all__ = [
    "DerivationReport",
    "EffectQuestions",
    "ExportedBlanks",
    "FactTable",
    "Step",
    "derive",
    "earlier_pairs",
    "export_blanks",
    "foreseen",
    "measured_effects",
    "prepared",
    "step_from_text",
    "without_libraries",
]
