"""Ready-made table programmes as data: the EU 2021 census and its 1 km grid.

Facts that others define, one folder for each programme. How the variables of a census become those
of a programme is a mapping (``documents/mapping``); its tables are made in ``session/publish``.
"""

from sdcensus.programmes.loading import PROGRAMMES, load_programme

__all__ = ["PROGRAMMES", "load_programme"]
