"""hypothesis strategies and conformance suites, for us and for authors of methods and engines.

May import everything, and nothing imports it. Tests themselves are in ``tests``.
"""
