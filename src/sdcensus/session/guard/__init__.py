"""The guard over numbers that are out: they stay, or change on purpose and safely.

The same for what is published and what is served: lock, revisions, changed records, other
publications of the same people. What would be given away by a first publication is the business of
``session/gate``.
"""
