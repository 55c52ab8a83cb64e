"""What selects units for a swap and makes them alike, beyond levels of risk and profiles.

Of whom units consist and how rare these are, small cells of named tables, shares of areas in the
number of swaps, attributes and what edit rules ask of them. The search for partners itself is one
room up.
"""
