"""A file with its papers, on disk.

``making`` makes it, or nothing; ``papers`` writes what is public, ``steps`` tells the office what
was done, ``checking`` reads it back, ``shown`` keeps who is in it, ``registering`` says that it is
out, ``harmonisation`` adds international codes.
"""
