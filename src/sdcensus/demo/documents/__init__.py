"""The documents of the demo country.

Its schema, code lists, plans, policy and mapping, as an office would write them by hand. The people
and the land that they describe are in ``demo/people`` and ``demo/land``.
"""
