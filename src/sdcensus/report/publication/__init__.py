"""Pages around a publication.

Notes for readers, and for the office the evaluation with links. The files of tables themselves are
written by ``formats``.
"""
