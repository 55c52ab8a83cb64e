"""The look budget of a policy or of a plan.

Joins ``risk/looks`` with schema, menu and records, and finds the noise that keeps the budget within
a limit.
"""
