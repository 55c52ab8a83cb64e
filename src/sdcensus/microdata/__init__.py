"""Pre-tabular perturbation (a store from a store) and release files (files from a store)."""
