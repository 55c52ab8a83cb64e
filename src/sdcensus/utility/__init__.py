"""Measures of what protection costs the user of a table; each returns a result dataclass."""
