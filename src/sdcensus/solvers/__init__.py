"""Linear and integer optimisation behind one interface."""
