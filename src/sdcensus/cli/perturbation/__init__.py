"""The commands of ``sdcensus ptable``.

Perturbation tables designed, shown, checked and converted on a console. The design is in
``methods/perturbation``, pictures and pages in ``report/perturbation``.
"""
