"""The report on a load: what came into the store, what did not, and what to look at.

The content is put together once and written twice, as a page and as plain text, in the languages of
the catalogue. Nothing is counted here: facts come from ``ingest``. Confidential; ``session`` writes
it where only its owner can read it.
"""
