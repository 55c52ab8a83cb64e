"""The two answers to a claim as text and html: one for anybody, one for the office.

``answer`` has the public one, which cannot hold a true count; ``facts`` the confidential one.
Nothing is computed here: ``session/claim`` fills both.
"""
