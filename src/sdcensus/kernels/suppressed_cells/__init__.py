"""Closed cells of tables: which changes of them leave every sum as it is, at the least cost."""
