"""Perturbation tables at work: designed, read, written, checked.

Joins ``methods/perturbation`` with ``formats/perturbation``. Summaries and
pictures are in ``report/perturbation``.
"""
