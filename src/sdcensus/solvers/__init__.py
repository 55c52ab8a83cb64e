"""Linear and integer optimisation behind one interface.

Programs in, solutions out: HiGHS within scipy, OR-tools where it is installed. What is asked of
them is decided in ``methods``, ``risk`` and ``attack``.
"""
