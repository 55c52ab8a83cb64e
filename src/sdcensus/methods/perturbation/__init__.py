"""Perturbation tables: designed, taken from elsewhere, ordered, measured."""
