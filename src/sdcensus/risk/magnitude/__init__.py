"""What published sums say about those who contribute most to them.

``attackers`` says who estimates the largest contribution of a cell and how, ``estimation`` how
often that succeeds, ``repeated`` what several cells of one table give together, ``primary_rules``
which cells an office would not show. Everything here is confidential. Noise and its chances are in
``methods/magnitude``, what readers lose in ``utility``.
"""
