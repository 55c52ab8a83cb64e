"""What an office wants to publish.

Plans, programmes of tables that others define, and mappings between. Documents are read in
``documents``; the work is in ``session/publish``.
"""
