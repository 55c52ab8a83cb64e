"""Noise of sums: products beyond 64 bits, numeric rows, keys of contributions, many cells at once.

Amounts, shares and scales are whole numbers here; what they mean is in ``methods/magnitude``.
"""
