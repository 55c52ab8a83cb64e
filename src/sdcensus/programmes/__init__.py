"""Ready-made table programmes as data: the EU 2021 census and its 1 km grid."""

from sdcensus.programmes.loading import PROGRAMMES, load_programme

__all__ = ["PROGRAMMES", "load_programme"]
