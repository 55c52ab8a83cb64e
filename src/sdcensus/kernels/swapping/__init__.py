"""Loops of record swapping over arrays: counting likes, drawing orders, and finding partners.

Units, classes and areas are numbers here; what they stand for is said in ``microdata.swapping``.
"""
