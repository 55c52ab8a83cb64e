"""Attacks on groups of few persons.

Here are the attacks that find one, two or three persons by comparing numbers, with the index of
which cell is broken down by what and the claims they make. Attacks on sums and on keys are in
``attack`` and ``attack/keys``; what a menu gives away without being attacked is measured in
``risk/groups``.
"""
