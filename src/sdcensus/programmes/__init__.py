"""Ready-made table programmes as data: the EU 2021 census and its 1 km grid."""
