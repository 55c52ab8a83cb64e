"""Small count rounding: smallest groups of records are rounded until no published cell is small.

``incidence`` knows which published cells count each group, ``selection`` chooses the groups of one
pass that are rounded up, ``differences`` and ``combinations`` find groups that published cells give
away, and ``rounding`` runs passes until nothing small is left. What the groups are is known to
``model/linked``.
"""
