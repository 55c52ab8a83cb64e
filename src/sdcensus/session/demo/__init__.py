"""The demo country, from nothing to published tables.

Makes what ``sdcensus demo`` shows. The country itself is in ``demo``.
"""
