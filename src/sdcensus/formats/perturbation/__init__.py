"""Perturbation tables as files: reading, checking and writing what other programs use."""

from sdcensus.formats.perturbation.check import (
    CheckReport,
    Finding,
    RowFacts,
    Severity,
    check_perturbation,
)
from sdcensus.formats.perturbation.exchange_format import ExchangeFormat
from sdcensus.formats.perturbation.read import read_perturbation
from sdcensus.formats.perturbation.write import write_perturbation

__all__ = [
    "CheckReport",
    "ExchangeFormat",
    "Finding",
    "RowFacts",
    "Severity",
    "check_perturbation",
    "read_perturbation",
    "write_perturbation",
]
