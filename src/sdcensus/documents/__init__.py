"""The documents that an office writes: read and checked as a whole, mistakes with their lines."""
