"""Tables that are protected together: their cells as one set, and how these add up.

Which cells are the same and what adds up follows from code lists alone and is public (``tables``);
what was counted in them is not (``cubes``). One table alone is the simplest case. How methods
protect them is in ``methods``, who counts them in ``session/protect``.
"""
