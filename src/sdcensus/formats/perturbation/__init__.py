"""Perturbation tables as files: reading, checking and writing what other programs use.

Each layout is a module, and so are the rules that every file has to keep. Designing a table is in
``methods/perturbation``, the noun in ``model/perturbation``; tables of counts are read and written
next door, in ``formats/read`` and ``formats/write``.
"""

from sdcensus.formats.perturbation.check import (
    CheckReport as CheckReport,
    FileFinding as FileFinding,
    RowFacts as RowFacts,
    Severity as Severity,
    check_perturbation as check_perturbation,
)
from sdcensus.formats.perturbation.exchange_format import ExchangeFormat as ExchangeFormat
from sdcensus.formats.perturbation.read import read_perturbation as read_perturbation
from sdcensus.formats.perturbation.write import write_perturbation as write_perturbation
