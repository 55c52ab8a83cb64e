"""Risks of records in a file: who is alone with what an intruder may know.

``key_column`` is what all of them take: codes of every record of the population. ``ladder`` counts
uniques along a ladder of keys, with missing values: ``combinations`` numbers its cells, ``uniques``
counts them; ``household`` says what members mean to each other;
``composition`` what a neighbour knows; ``diversity`` what a class of equals still gives away;
``special_uniques`` is SUDA; ``sample_only`` is for offices without a census; ``intruder`` matches
with a file from elsewhere. Arrays in, results out; ``session/release`` reads stores for them.
"""
