"""Measures of disclosure risk; each returns a result dataclass."""
