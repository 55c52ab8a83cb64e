"""From raw census files to a store: readers, checks, encoding, record keys."""
