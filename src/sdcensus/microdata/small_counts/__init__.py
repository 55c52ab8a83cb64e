"""Small count rounding of records: a store in which no count of the listed tables is small.

``records`` finds the sets of records that the tables tell apart, and the copies that are added or
left out; ``small_count_rounding`` is the method. The rule is that of ``model/linked/small_counts``.
"""
