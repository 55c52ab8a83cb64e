"""What may be said about a method, and which methods and steps there are.

Here belong: declared parameters with their values and checks, what a method is built from, and the
registry with the list of what this package brings. The list is light, so that the help and plans
need no method. Not here: the methods themselves (``methods``), how a plan writes their settings
(``documents.plan``), and how they are built for a census (``session.protect``).
"""
