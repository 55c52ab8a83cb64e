"""What an intruder knows, and which true counts fit.

Knowledge about changes, and intervals that follow from it. Exact intervals by programs are in
``solvers``, measures in ``risk``.
"""
