"""Controlled rounding: tables of multiples that add up, the nearest ones or drawn without bias.

``problem`` says what every cell may become and what adds up; ``network``, ``search``, ``blocks``
and ``program`` find the nearest table, each for the tables it is good at. Kernels are in
``kernels/controlled_rounding``, solvers behind ``solvers``.
"""
