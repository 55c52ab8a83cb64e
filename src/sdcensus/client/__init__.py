"""The Python client of the web API."""
