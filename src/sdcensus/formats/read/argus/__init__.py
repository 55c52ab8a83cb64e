"""Files of tau-ARGUS: metadata (.rda), hierarchies (.hrc), what was known before (.hst), batches.

Read by what their documentation and files say; nothing of its program is used. A table that was
protected with it becomes one of ``formats/read/flagged``.
"""
