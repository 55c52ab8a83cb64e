"""From a plan to published files.

A plan is resolved, scheduled, counted, protected, delivered and put in its place, whole or not at
all; then verified and approved. Whether numbers may change is asked of ``session/guard``, whether
they give somebody away of ``session/gate``.
"""
