"""Attacks on everything that is published together, and how right they were.

Walks through a folder, a menu or a served builder, runs ``attack`` and scores the claims with the
truth. The attacks themselves never see the truth.
"""
