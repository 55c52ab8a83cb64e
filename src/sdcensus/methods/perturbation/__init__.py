"""Perturbation tables: designed, taken from elsewhere, ordered, measured.

From what an office asks for to rows of deviations. The nouns are in ``model/perturbation``, files
of other tools in ``formats/perturbation``.
"""
