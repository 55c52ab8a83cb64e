"""Coarsening: the finest version of a table that passes rules on true counts.

``rules`` are functions that say how much of a version does not pass. ``axis_versions`` are the ways
in which an axis can be shown with fewer codes, ``labels`` names codes that were put together.
``search`` finds the finest version that passes; ``method`` is the method itself.
"""
