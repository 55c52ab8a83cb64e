"""The land of the demo country.

Faces, borders, areas and the map. Who lives there is decided in ``demo/people``.
"""
