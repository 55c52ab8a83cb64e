"""PRAM: values become others with known probabilities, and households move to other areas.

Here: which variables change and how they are coded (``targets``), what is said about each
(``settings``), matrices from probabilities to stay (``design``), the draws (``drawing``), records
that keep their value because of an edit rule (``kept_values``), what the office is told
(``facts``), expectation ratios, what may be published (``papers``), and the methods ``pram``
(``method``) and ``geographic-pram`` (``geographic``, with its ``areas``). Matrices themselves are
in ``model.perturbation``, their files in ``documents.matrices``, and estimation for readers in
``session.derive.estimation``.
"""
