"""Pictures and pages of a perturbation.

Only their owner can read them. The summary comes from ``session/perturbation``.
"""
