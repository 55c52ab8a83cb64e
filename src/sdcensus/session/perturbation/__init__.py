"""Perturbation tables at work: designed, read, written, checked, summarised.

Joins ``methods/perturbation`` with ``formats/perturbation``. Pictures are in
``report/perturbation``.
"""
