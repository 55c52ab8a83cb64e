"""True counts and keys of tables. Confidential.

Dense and sparse cubes, what they add up, where their cells lie and how these add up to each other.
Published numbers are in ``model/published``; what cells mean is in ``model/spec``.
"""
