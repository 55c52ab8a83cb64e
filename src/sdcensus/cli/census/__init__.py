"""Commands about the census itself.

From raw files to a store and to true counts for the office: ``demo``, ``schema``, ``secret``,
``load``, ``describe``, ``tabulate``, ``export``. Commands that protect something are in
``cli/table`` and ``cli/publication``.
"""
