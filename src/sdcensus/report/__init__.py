"""Renders results as html and xlsx; computes nothing."""
