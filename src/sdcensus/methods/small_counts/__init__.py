"""Small count rounding: tables in which no count is small and everything adds up.

The rule itself is in ``model/linked/small_counts``, since the method for records in ``microdata``
follows it too.
"""
