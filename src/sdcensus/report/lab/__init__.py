"""The report of changes of records tried against attacks: its lines as csv, and a page with a plot.

What was tried and what it left of the claims comes from ``session.attack``; here it is shown.
"""
