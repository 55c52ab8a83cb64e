"""What may be said about a method, and which methods there are; the methods are in ``methods``."""
