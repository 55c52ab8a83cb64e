"""What the engines with protection intervals have in common.

A *change* of closed cells that leaves every sum as it is and no cell below what it can be makes
another table that the public cannot tell from the true one. A cell is protected by changes: one
that makes it as large as is required, one that makes it as small, and for everybody who is alone in
a closed cell one that moves it without touching what that person knows. Changes are whole numbers
and checked as such, so a pattern of closed cells carries its own proof.

``task`` is what has to be done, with cells that always change together as one. ``leeway`` finds
changes, ``changes`` keeps them, ``closing`` closes cells until every cell that has to be is
protected, ``opening`` opens what was closed for nothing. ``cuts`` turns the proof that a pattern
fails into something that every pattern has to keep to. ``neighbourhoods`` says which cells of large
tables are looked at for one of them, ``reasons`` why a cell cannot be protected at all, ``effort``
when it is time to end.
"""
