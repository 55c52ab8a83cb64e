"""What may be said about a method, and which methods there are; the methods are in ``methods``.

Here are parameters as declared tables and the list of built-in methods, without any arithmetic; what
a method does with them is in ``methods``, which of them a plan asks for in ``model/plan``.
"""
