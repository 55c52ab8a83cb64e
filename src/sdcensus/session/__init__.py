"""The only place that joins engines, methods, microdata, risk and utility.

One folder for each thing that an office does: ``census`` (open, load, describe), ``derive`` a store
from a store, ``protect`` one table, ``publish`` a plan under its ``guard`` and ``gate``, ``answer``
questions of the public under a ``policy`` and a ``watch``, ``commands`` and ``figures`` for both,
``assess``, ``study``, ``attack``, ``looks``, ``recommend``, ``perturbation``, ``office`` for what
only its owner may read, ``demo``. It formats nothing and draws nothing: that is ``formats`` and
``report``.
"""
