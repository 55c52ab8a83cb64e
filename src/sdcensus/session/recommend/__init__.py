"""Advice for an office: scheme, policy, tables, a first plan.

With reasons, and made to pass the product's own checks. What advice rests on is measured in
``risk`` and ``session/looks``.
"""
