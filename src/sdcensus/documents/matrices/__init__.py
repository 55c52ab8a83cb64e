"""Matrices that an office writes as small tables: with which probability codes become others.

Codes stand as headings of rows and columns; every mistake is told with its line. What is done with
a matrix is in ``microdata.pram``; files of noise for cells are read by ``formats.perturbation``.
"""
