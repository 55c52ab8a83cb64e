"""The people of the demo country and their homes.

Households, families, persons, dwellings, and how often things occur. Areas come from ``demo/land``,
questions and code lists from ``demo/documents``.
"""
