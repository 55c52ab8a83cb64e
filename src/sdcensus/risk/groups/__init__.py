"""How many small groups the tables break down.

Measured on the records, without attacking anything. The attacks are in ``attack/groups``; the gate
that uses the measure is ``session/gate``.
"""
