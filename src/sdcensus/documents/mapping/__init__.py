"""The mapping of a census to a programme of tables.

Which variables and codes of the census become those of a programme such as the European one. The
programme itself is data in ``programmes``; its tables are made in ``session/publish``.
"""
