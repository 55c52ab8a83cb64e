"""SAFE: every combination of listed variables occurs not at all, or often enough.

Here: which variables are listed and which of them can change (``variables``), control tables with
weights (``controls``, ``layers``), the combinations that occur (``combinations``), who may have
which of them without breaking an edit rule (``rule_classes``), the problem as arrays
(``problem``), looking for a solution (``searching``), integer programs (``exact``) and what no
solution is below (``bounds``), new codes (``leaves``), what the office is told (``facts``), and the
method itself (``method``). The loops are in ``kernels.safe``.
"""
