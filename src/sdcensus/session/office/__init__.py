"""What only the office may read.

Its secret, true counts on explicit demand, audits, private files of a server. Everything for the
public is written elsewhere.
"""
