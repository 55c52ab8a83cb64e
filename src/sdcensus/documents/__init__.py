"""The documents that an office writes: read and checked as a whole, mistakes with their lines."""

from sdcensus.documents.schema import read_schema

__all__ = ["read_schema"]
