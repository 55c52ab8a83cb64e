"""Files for researchers: designed, made, checked and registered; dummy files; who holds what.

``release`` has the commands about a file, ``licence`` those about its holders, of which
``handing`` has agreements and copies; ``dummy`` makes a file of nobody. What they
do is in ``session/release`` and ``session/licence``.
"""
